/*
 * info_auto.c — see info_auto.h.
 */
#include "info_auto.h"

#include <limits.h>
#include <stdlib.h>

#include "info_calibration.h"
#include "link.h"
#include "nodes.h"
#include "pat.h"
#include "runtime.h"
#include "select.h"
#include "sockets.h"

enum { LEAST_BYTES = 1, MOST_BYTES = 1 << 30, RANKS_ALONE = 4, PACKET_ALONE = 1448 };

static json_t *not_known(const char *why)
{
    return json_pack("{s:s}", "not_known", why);
}

/* Who runs calls of this length on a communicator that has seen none yet. */
static const char *runner(const pat_comm *c, enum pat_op op, int64_t bytes)
{
    const pat_judged judged = pat_select_verdict(c, op, bytes);
    if (judged.verdict == PAT_RELAY_BY_ARRIVALS)
        return "by arrivals";
    if (judged.verdict != PAT_RELAY_ALWAYS)
        return "native";
    return judged.first ? judged.contender->name : "by measurement";
}

/* The longest block from `low` on that is run as `low` is, where `high` is not. */
static int64_t last_alike(const pat_comm *c, enum pat_op op, int64_t low, int64_t high)
{
    const char *const who = runner(c, op, low);
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (runner(c, op, middle) == who)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Lengths double; where the answer changes, the place is narrowed down. */
static json_t *ranges_of(const pat_comm *c, enum pat_op op)
{
    json_t *list = json_array();
    int64_t from = LEAST_BYTES;
    for (int64_t bytes = LEAST_BYTES; bytes < MOST_BYTES; bytes *= 2)
        if (runner(c, op, bytes) != runner(c, op, 2 * bytes)) {
            const int64_t last = last_alike(c, op, bytes, 2 * bytes);
            json_array_append_new(list,
                                  json_pack("{s:I, s:I, s:s}", "from_bytes", (json_int_t)from, "to_bytes",
                                            (json_int_t)last, "runs", runner(c, op, bytes)));
            from = last + 1;
        }
    json_array_append_new(list, json_pack("{s:I, s:n, s:s}", "from_bytes", (json_int_t)from, "to_bytes",
                                          "runs", runner(c, op, MOST_BYTES)));
    return list;
}

/* Of every collective in which somebody contends with the MPI library. */
static json_t *ranges(const pat_comm *c)
{
    json_t *all = json_object();
    for (int op = 0; op < PAT_NUM_OPS; op++)
        if (pat_algorithm_contender((enum pat_op)op))
            json_object_set_new(all, pat_collective_of((enum pat_op)op)->title,
                                ranges_of(c, (enum pat_op)op));
    return all;
}

/* How the ranks are placed; one of them alone, as some would be on nodes of their own. Collective over comm. */
static pat_placing find_placing(MPI_Comm comm, int ranks)
{
    pat_placing placing = {RANKS_ALONE, 1, PAT_NODE_BY_NODE};
    int mates;
    if (ranks > 1 && pat_nodes_find_placing(comm, &mates, &placing) != MPI_SUCCESS)
        placing = (pat_placing){.ranks = ranks}; /* it is not known */
    return placing;
}

/*
 * What all ranks know of the network's packets and of the eager limit, as a communicator's state has it; 0: they do not go by TCP, it is
 * not known. Collective over comm.
 */
static void agree_on_limits(MPI_Comm comm, pat_link *link)
{
    pat_sockets *sockets = pat_sockets_create();
    if (sockets)
        pat_sockets_scan(sockets);
    const int mine[2] = {pat_sockets_packet_bytes(sockets), pat_link_eager_bytes()};
    int least[2];
    MPI_Allreduce(mine, least, 2, MPI_INT, MPI_MIN, comm);
    pat_sockets_free(sockets);
    link->packet_bytes = least[0] == INT_MAX ? 0 : least[0];
    link->eager_bytes = least[1] == INT_MAX ? 0 : least[1];
}

json_t *info_auto(MPI_Comm comm, const pat_config *config, bool copies, json_t **calibration)
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
    const pat_placing placing = find_placing(comm, ranks);
    const bool one_node = pat_placing_on_one_node(&placing);
    if (ranks < 2 && !config->link_set)
        why = "there is one rank, so there is no link to measure: start several, or set PAT_LINK";
    else if (one_node && !config->link_set && !config->calibration[0])
        why = ranks > 2 && copies && config->single_copy
                  ? "all ranks are on one node and copy from each other's memory: auto tries relay in "
                    "all-gathers of which a rank receives 1 MiB or more, and leaves everything else to the "
                    "MPI library, unless PAT_LINK or PAT_CALIBRATION says what the link between them does"
                  : "all ranks are on one node, where auto leaves everything to the MPI library, unless "
                    "PAT_LINK or PAT_CALIBRATION says what the link between them does";
    else if (pat_link_find(&link, config, comm, NULL) != MPI_SUCCESS)
        why = "the link cannot be measured";
    agree_on_limits(comm, &link); /* connections are open now */
    if (ranks < 2)
        link.packet_bytes = PACKET_ALONE;
    *calibration =
        info_calibration(comm, config, &(pat_store_wish){placing, why ? 0 : pat_link_mbit(&link)}, &taken);
    if (!why && taken.error != MPI_SUCCESS)
        why = PAT_Error_string(taken.error);
    if (!all)
        why = "some rank has no background thread, so the MPI library runs everything";
    json_t *told;
    if (why) {
        told = not_known(why);
    } else {
        /* What is asked below goes by these, as after PAT_Init. */
        pat_rt.config = *config;
        pat_rt.calibration = taken.given;
        /* One rank alone: as if there were some, each on a node of its own, and messages by TCP. */
        c->size = ranks < 2 ? RANKS_ALONE : ranks;
        c->layout.one_node = one_node;
        c->layout.one_a_node = placing.ranks_per_node == 1;
        c->layout.blocks_in = c->size - 1; /* with several ranks a node fewer, which changes nothing here */
        c->background = true;
        c->link = link;
        c->calibration = taken.calibration;
        c->calibrated = pat_calibration_knows(c->calibration, PAT_OP_ALLGATHER);
        told = json_pack("{s:i, s:b, s:f, s:f, s:b, s:b, s:b, s:o}", "ranks", c->size, "alone", ranks < 2,
                         "latency_us", (double)link.alpha_ns / 1e3, "mbit_per_s", pat_link_mbit(&link),
                         "measured", !config->link_set, "by_calibration", taken.calibration != NULL,
                         "reorder", config->reorder, "ranges", ranges(c));
    }
    pat_rt.calibration = NULL;
    free(taken.given);
    free(taken.stored);
    free(c);
    return told;
}
