/*
 * savings.c — see savings.h.
 */
#include "savings.h"

#include <math.h>
#include <stdlib.h>

#include "clock.h"

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
bool pat_savings_wants(const pat_savings *s, enum pat_op op, uint64_t comm, int64_t turn, int64_t calls)
{
    const uint64_t x = (comm ^ (uint64_t)turn) * UINT64_C(0x9e3779b97f4a7c15),
                   each = (uint64_t)calls / PAT_SAVINGS_SAMPLES + 1;
    return s->ranks > 0 && op != PAT_NUM_OPS && s->num_asked[op] < PAT_SAVINGS_SAMPLES &&
           (x ^ x >> 29) % each == 0;
}

int pat_savings_add(pat_savings *s, MPI_Comm all, enum pat_op op, const pat_savings_sample *call,
                    int64_t start_ns, int64_t time_ns)
{
    int rank;
    int64_t *own = s->own_and_all, *every = own + 2;
    PMPI_Comm_rank(all, &rank);
    s->num_asked[op]++;
    own[0] = start_ns;
    own[1] = time_ns;
    const int rc = PMPI_Gather(own, 2, MPI_INT64_T, every, 2, MPI_INT64_T, 0, all);
    if (rc != MPI_SUCCESS || rank != 0)
        return rc;
    pat_savings_sample *sample = &s->samples[op][s->num[op]];
    *sample = *call;
    sample->took_ns = 0;
    sample->arrival_ns = malloc((size_t)s->ranks * sizeof(*sample->arrival_ns));
    if (!sample->arrival_ns)
        return rc;
    for (int r = 0; r < s->ranks; r++) {
        sample->arrival_ns[r] = every[2 * r] - every[0]; /* on no clock, but no two differ by much */
        sample->took_ns += (double)every[2 * r + 1] / s->ranks;
    }
    s->num[op]++;
    return rc;
}

/* Some samples of a site, from its first call to its last. Returns how many. */
static int choose(const pat_savings *s, enum pat_op op, int site,
                  const pat_savings_sample *chosen[MOST_OF_A_SITE])
{
    const pat_savings_sample *all[PAT_SAVINGS_SAMPLES];
    int num = 0;
    for (int i = 0; i < s->num[op]; i++)
        if (s->samples[op][i].site == site)
            all[num++] = &s->samples[op][i];
    const int some = num < MOST_OF_A_SITE ? num : MOST_OF_A_SITE;
    for (int i = 0; i < some; i++)
        chosen[i] = all[(2 * i + 1) * num / (2 * some)];
    return some;
}

/* What one took by another algorithm; NaN: it is not known. */
static double replay(const pat_savings *s, const pat_savings_sample *sample, const pat_algorithm *alg,
                     const pat_one_way *link)
{
    pat_replay call = {.op = alg->op,
                       .num_ranks = s->ranks,
                       .root = sample->root,
                       .bytes = sample->bytes,
                       .arrival_ns = sample->arrival_ns};
    pat_replay_link(&call, pat_one_way_ns(link, 0), pat_one_way_ns(link, (double)sample->bytes));
    return pat_replay_ns(&call, alg);
}

/* The mean over some samples; NaN: it is not known, or there is no more time. */
static double mean_of(const pat_savings *s, const pat_savings_sample *samples[], int num,
                      const pat_algorithm *alg, const pat_one_way *link, int64_t until_ns)
{
    double ns = 0;
    for (int i = 0; i < num && ns >= 0; i++)
        ns += pat_clock_local_ns() < until_ns ? replay(s, samples[i], alg, link) / num : NAN;
    return ns;
}

/* Where time ends with some algorithms still to be looked at nothing is known. */
static void find_best(const pat_savings *s, int number, pat_site *site, const pat_one_way *link,
                      int64_t until_ns)
{
    const enum pat_op op = pat_replay_op(site->call);
    const pat_savings_sample *samples[MOST_OF_A_SITE];
    const int num = op == PAT_NUM_OPS ? 0 : choose(s, op, number, samples);
    for (int i = 0; i < num; i++)
        site->took_ns += samples[i]->took_ns / num;
    for (int a = 0; a < pat_algorithm_count() && num > 0; a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        if (alg->op != op || !pat_replay_can(alg))
            continue;
        const double ns = mean_of(s, samples, num, alg, link, until_ns);
        if (ns >= 0 && (!site->best || ns < site->best_ns)) {
            site->best = alg;
            site->best_ns = ns;
        }
        if (ns >= 0 && 2 * site->sums.alg_calls[a] >
                           site->sums.calls) /* it ran most of them: the model is held against itself */
            site->took_ns = ns;
    }
    if (pat_clock_local_ns() >= until_ns)
        site->best = NULL;
}

static int longest_first(const void *a, const void *b, void *sites)
{
    const pat_site *x = &((pat_sites *)sites)->sites[*(const int *)a],
                   *y = &((pat_sites *)sites)->sites[*(const int *)b];
    return (x->sums.time_ns < y->sums.time_ns) - (x->sums.time_ns > y->sums.time_ns);
}

void pat_savings_find(const pat_savings *s, pat_sites *sites, const pat_one_way *link)
{
    const int64_t until_ns = pat_clock_local_ns() + MOST_NS;
    int *order = s->ranks > 0 && link->num > 0 ? malloc(((size_t)sites->num + 1) * sizeof(*order)) : NULL;
    for (int i = 0; i < sites->num && order; i++)
        order[i] = i;
    if (order)
        qsort_r(order, (size_t)sites->num, sizeof(*order), longest_first, sites);
    for (int i = 0; i < sites->num && order; i++)
        find_best(s, order[i], &sites->sites[order[i]], link, until_ns);
    free(order);
}

void pat_savings_end(pat_savings *s)
{
    for (int op = 0; op < PAT_NUM_OPS; op++)
        for (int i = 0; i < s->num[op]; i++)
            free(s->samples[op][i].arrival_ns);
    free(s->own_and_all);
}
