/*
 * info_auto.c — see info_auto.h.
 */
#include "info_auto.h"

#include <stdlib.h>

#include "info_calibration.h"
#include "link.h"
#include "nodes.h"
#include "pat.h"
#include "runtime.h"
#include "select.h"

enum { LEAST_BYTES = 1, MOST_BYTES = 1 << 30, RANKS_ALONE = 4 };

static json_t *not_known(const char *why)
{
    return json_pack("{s:s}", "not_known", why);
}

/* Who runs a block of this length on a communicator that has seen none yet. */
static const char *runner(const pat_comm *c, int64_t bytes)
{
    const pat_judged judged = pat_select_verdict(c, bytes);
    if (judged.verdict == PAT_RELAY_BY_ARRIVALS)
        return "by arrivals";
    return judged.verdict == PAT_RELAY_ALWAYS ? judged.contender->name : "native";
}

/* The longest block from `low` on that is run as `low` is, where `high` is not. */
static int64_t last_alike(const pat_comm *c, int64_t low, int64_t high)
{
    const char *const who = runner(c, low);
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (runner(c, middle) == who)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Lengths double; where the answer changes, the place is narrowed down. */
static json_t *ranges(const pat_comm *c)
{
    json_t *list = json_array();
    int64_t from = LEAST_BYTES;
    for (int64_t bytes = LEAST_BYTES; bytes < MOST_BYTES; bytes *= 2)
        if (runner(c, bytes) != runner(c, 2 * bytes)) {
            const int64_t last = last_alike(c, bytes, 2 * bytes);
            json_array_append_new(list, json_pack("{s:I, s:I, s:s}", "from_bytes", (json_int_t)from,
                                                  "to_bytes", (json_int_t)last, "runs", runner(c, bytes)));
            from = last + 1;
        }
    json_array_append_new(list, json_pack("{s:I, s:n, s:s}", "from_bytes", (json_int_t)from, "to_bytes",
                                          "runs", runner(c, MOST_BYTES)));
    return list;
}

/* Collective over comm. */
static bool on_one_node(MPI_Comm comm, int ranks)
{
    MPI_Comm node;
    int *node_of = NULL;
    bool one = pat_nodes_find(comm, &node, &node_of) == MPI_SUCCESS;
    for (int r = 1; one && r < ranks; r++)
        one = node_of[r] == node_of[0];
    if (node_of)
        MPI_Comm_free(&node);
    free(node_of);
    return one;
}

json_t *info_auto(MPI_Comm comm, const pat_config *config, json_t **calibration)
{
    pat_comm *c = calloc(1, sizeof(*c));
    pat_link link = {.beta_ps = 1};
    info_taken taken = {.calibration = NULL};
    int ranks, level, mine, all;
    const char *why = NULL;
    MPI_Comm_size(comm, &ranks);
    MPI_Query_thread(&level);
    mine = c && config->background && level == MPI_THREAD_MULTIPLE;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
    if (ranks < 2 && !config->link_set)
        why = "there is one rank, so there is no link to measure: start several, or set PAT_LINK";
    else if (on_one_node(comm, ranks) && !config->link_set && !config->calibration[0])
        why =
            "all ranks are on one node, where auto leaves everything to the MPI library, unless PAT_LINK or "
            "PAT_CALIBRATION says what the link between them does";
    else if (pat_link_find(&link, config, comm, NULL) != MPI_SUCCESS)
        why = "the link cannot be measured";
    *calibration = info_calibration(comm, config, why ? 0 : pat_link_mbit(&link), &taken);
    if (!why && taken.error != MPI_SUCCESS)
        why = PAT_Error_string(taken.error);
    if (!all)
        why = "some rank has no background thread, so the MPI library runs everything";
    json_t *told;
    if (why) {
        told = not_known(why);
    } else {
        c->size = ranks < 2 ? RANKS_ALONE : ranks;
        c->background = true;
        c->link = link;
        c->calibration = taken.calibration;
        told = json_pack("{s:i, s:f, s:f, s:b, s:b, s:o}", "ranks", c->size, "latency_us",
                         (double)link.alpha_ns / 1e3, "mbit_per_s", pat_link_mbit(&link), "measured",
                         !config->link_set, "by_calibration", taken.calibration != NULL, "ranges", ranges(c));
    }
    free(taken.given);
    free(taken.stored);
    free(c);
    return told;
}
