/*
 * savings.c — see savings.h.
 */
#include "savings.h"

#include <math.h>
#include <stdlib.h>

#include "clock.h"
#include "replay.h"

/* No program is to wait longer for its report than that, for this. */
static const int64_t MOST_NS = 500000000;

/* Of a place. */
enum { MOST_OF_A_SITE = 8 };

int pat_savings_begin(pat_savings *s, MPI_Comm all, int nodes)
{
    int ranks, good, least = 0;
    PMPI_Comm_size(all, &ranks);
    *s = (pat_savings){.ranks = 0};
    const bool can = ranks >= 2 && ranks <= PAT_REPLAY_RANKS && nodes == ranks;
    if (can)
        s->own_and_all = malloc(2 * ((size_t)ranks + 1) * sizeof(*s->own_and_all));
    good = s->own_and_all != NULL;
    const int rc = PMPI_Allreduce(&good, &least, 1, MPI_INT, MPI_MIN, all);
    s->ranks = rc == MPI_SUCCESS && least ? ranks : 0;
    return rc;
}

/* Not every so many: a program's own period may be a multiple of that. */
bool pat_savings_wants(const pat_savings *s, uint64_t comm, int64_t turn, int64_t calls)
{
    const uint64_t x = (comm ^ (uint64_t)turn) * UINT64_C(0x9e3779b97f4a7c15),
                   each = (uint64_t)calls / PAT_SAVINGS_SAMPLES + 1;
    return s->ranks > 0 && s->num_asked < PAT_SAVINGS_SAMPLES && (x ^ x >> 29) % each == 0;
}

int pat_savings_add(pat_savings *s, MPI_Comm all, const pat_savings_sample *call, int64_t start_ns,
                    int64_t time_ns)
{
    int rank;
    int64_t *own = s->own_and_all, *every = own + 2;
    PMPI_Comm_rank(all, &rank);
    s->num_asked++;
    own[0] = start_ns;
    own[1] = time_ns;
    const int rc = PMPI_Gather(own, 2, MPI_INT64_T, every, 2, MPI_INT64_T, 0, all);
    if (rc != MPI_SUCCESS || rank != 0)
        return rc;
    pat_savings_sample *sample = &s->samples[s->num];
    *sample = *call;
    sample->took_ns = 0;
    sample->arrival_ns = malloc((size_t)s->ranks * sizeof(*sample->arrival_ns));
    if (!sample->arrival_ns)
        return rc;
    for (int r = 0; r < s->ranks; r++) {
        sample->arrival_ns[r] = every[2 * r] - every[0]; /* on no clock, but no two differ by much */
        sample->took_ns += (double)every[2 * r + 1] / s->ranks;
    }
    s->num++;
    return rc;
}

/* Some samples of a site, from its first call to its last. Returns how many. */
static int choose(const pat_savings *s, int site, const pat_savings_sample *chosen[MOST_OF_A_SITE])
{
    const pat_savings_sample *all[PAT_SAVINGS_SAMPLES];
    int num = 0;
    for (int i = 0; i < s->num; i++)
        if (s->samples[i].site == site)
            all[num++] = &s->samples[i];
    const int some = num < MOST_OF_A_SITE ? num : MOST_OF_A_SITE;
    for (int i = 0; i < some; i++)
        chosen[i] = all[(2 * i + 1) * num / (2 * some)];
    return some;
}

/* What one took by another algorithm; NaN: it is not known. */
static double replay(const pat_savings *s, const pat_savings_sample *sample, const pat_algorithm *alg,
                     const pat_one_way *link)
{
    const double latency_ns = pat_one_way_ns(link, 0), ns = pat_one_way_ns(link, (double)sample->bytes);
    const pat_replay call = {.op = alg->op,
                             .num_ranks = s->ranks,
                             .root = sample->root,
                             .bytes = sample->bytes,
                             .alpha_ns = (int64_t)latency_ns,
                             .beta_ps = (int64_t)(1000 * fmax(0, ns - latency_ns) / (double)sample->bytes),
                             .arrival_ns = sample->arrival_ns};
    return pat_replay_ns(&call, alg);
}

static void find_best(const pat_savings *s, int number, pat_site *site, const pat_one_way *link,
                      int64_t until_ns)
{
    const enum pat_op op = pat_replay_op(site->call);
    const pat_savings_sample *samples[MOST_OF_A_SITE];
    const int num = op == PAT_NUM_OPS ? 0 : choose(s, number, samples);
    for (int i = 0; i < num; i++)
        site->took_ns += samples[i]->took_ns / num;
    for (int a = 0; a < pat_algorithm_count() && num > 0 && pat_clock_local_ns() < until_ns; a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        double ns = 0;
        if (alg->op != op || !pat_replay_can(alg))
            continue;
        for (int i = 0; i < num; i++)
            ns += replay(s, samples[i], alg, link) / num;
        if (ns >= 0 && (!site->best || ns < site->best_ns)) {
            site->best = alg;
            site->best_ns = ns;
        }
    }
}

void pat_savings_find(const pat_savings *s, pat_sites *sites, const pat_one_way *link)
{
    const int64_t until_ns = pat_clock_local_ns() + MOST_NS;
    for (int i = 0; i < sites->num && link->num > 0; i++)
        find_best(s, i, &sites->sites[i], link, until_ns);
}

void pat_savings_end(pat_savings *s)
{
    for (int i = 0; i < s->num; i++)
        free(s->samples[i].arrival_ns);
    free(s->own_and_all);
}
