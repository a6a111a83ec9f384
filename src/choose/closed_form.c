/*
 * closed_form.c — see closed_form.h. Numbers in brackets are the thesis' equations. P ranks, n segments of s bytes, m
 * bytes in all, flr and cei the binary logarithm of P rounded down and up.
 *
 * Corrected against the print:
 *  - binomial [4.7] ends in a "-1" that no term of its derivation stands for: two ranks and one segment would cost
 *    nothing;
 *  - K-chain [4.11]: with K chains the longest has (P-1)/K ranks rounded up, not down;
 *  - the root has no more children than there are ranks: two ranks and one segment are one message on any tree;
 *  - binomial gather [4.15] is summed up as if P were a power of two; the root takes P-1 blocks;
 *  - split-binary [4.9] runs as a chain when half the message is less than a segment, and counts the segments of a half.
 */
#include "closed_form.h"

#include <string.h>

#include "tree.h"

double pat_gamma_of(const pat_gamma *g, int p)
{
    if (p <= 2 || g->count < 1)
        return 1;
    if (p - 2 < g->count)
        return g->at[p - 2];
    double n = g->count, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
    for (int i = 0; i < g->count; i++) {
        sum_x += i;
        sum_y += g->at[i];
        sum_xx += (double)i * i;
        sum_xy += i * g->at[i];
    }
    double spread = n * sum_xx - sum_x * sum_x;
    double slope = spread > 0 ? (n * sum_xy - sum_x * sum_y) / spread : 0;
    return (sum_y - slope * sum_x) / n + slope * (p - 2);
}

static int log2_down(int n)
{
    int log = 0;
    for (; n > 1; n /= 2)
        log++;
    return log;
}

static double segments(const pat_form_job *job)
{
    return job->segment_bytes > 0 ? (double)((job->bytes - 1) / job->segment_bytes + 1) : 1;
}

/* `stages` messages of a segment one after the other. */
static pat_form_cost stages(const pat_form_job *job, double count)
{
    double segment = job->segment_bytes > 0 && job->segment_bytes < job->bytes ? (double)job->segment_bytes
                                                                               : (double)job->bytes;
    return (pat_form_cost){count, count * segment};
}

static pat_form_cost binomial(const pat_form_job *job, int flr, int cei)
{
    double count = segments(job) * pat_gamma_of(&job->gamma, cei + 1); /* while the root is the dearest */
    for (int i = 1; i < flr; i++)                                      /* the last segment on its way down */
        count += pat_gamma_of(&job->gamma, cei - i + 1);
    return stages(job, job->literal ? count - 1 : count);
}

/* Each side of the tree carries half the message, in segments of its own; corrected, also where these are short. */
static pat_form_cost split(const pat_form_job *job, int flr)
{
    double half = (double)job->bytes / 2;
    if (job->literal) {
        pat_form_cost cost = stages(job, 2 * (flr + segments(job) / 2 - 1));
        return (pat_form_cost){cost.messages + 1, cost.bytes + half};
    }
    if (job->bytes < 2 || (job->segment_bytes > 0 && job->bytes < 2 * job->segment_bytes))
        return pat_closed_form(PAT_FORM_BCAST_CHAIN, job);
    pat_form_job side = {.bytes = (job->bytes + 1) / 2, .segment_bytes = job->segment_bytes};
    pat_form_cost cost = stages(&side, (job->num_ranks > 2 ? 2 : 1) * (flr + segments(&side) - 1));
    return (pat_form_cost){cost.messages + 1, cost.bytes + half};
}

/*
 * The whole result down a chain from rank 0, on each hop without the block that its end has: P-1 blocks leave rank 0, and
 * the last segment goes P-3 hops further, to the last rank that has not brought it itself.
 */
static pat_form_cost chain_of_result(const pat_form_job *job)
{
    const double parts = segments(job), more = job->num_ranks > 3 ? job->num_ranks - 3 : 0;
    const double count = (job->num_ranks - 1) * parts + more;
    return (pat_form_cost){count, count * (double)job->bytes / parts};
}

/* Gathers that ask take three messages for a block: signal, short part, rest. */
static pat_form_cost gather_and_broadcast(const pat_form_job *job, double messages)
{
    const pat_form_cost chain = chain_of_result(job);
    return (pat_form_cost){messages * (job->num_ranks - 1) + chain.messages,
                           (double)((job->num_ranks - 1) * job->bytes) + chain.bytes};
}

bool pat_form_find(const char *algorithm, enum pat_form *form)
{
    static const char *const names[] = {[PAT_FORM_BCAST_LINEAR] = "bcast_linear",
                                        [PAT_FORM_BCAST_CHAIN] = "bcast_chain",
                                        [PAT_FORM_BCAST_KCHAIN] = "bcast_kchain",
                                        [PAT_FORM_BCAST_BINARY] = "bcast_binary",
                                        [PAT_FORM_BCAST_SPLIT] = "bcast_split",
                                        [PAT_FORM_BCAST_BINOMIAL] = "bcast_binomial",
                                        [PAT_FORM_GATHER_LINEAR] = "gather_linear",
                                        [PAT_FORM_GATHER_SYNC] = "gather_sync",
                                        [PAT_FORM_GATHER_BINOMIAL] = "gather_binomial",
                                        [PAT_FORM_RING] = "ring",
                                        [PAT_FORM_NEX] = "nex",
                                        [PAT_FORM_LNBC] = "lnbc",
                                        [PAT_FORM_BDR] = "bdr",
                                        [PAT_FORM_BSLB] = "bslb",
                                        [PAT_FORM_RELAY] = "relay",
                                        [PAT_FORM_ALLREDUCE_DOUBLING] = "allreduce_doubling",
                                        [PAT_FORM_ALLREDUCE_RING] = "allreduce_ring",
                                        [PAT_FORM_ALLREDUCE_CONVERGE] = "allreduce_converge"};
    for (int i = 0; i < PAT_NUM_FORMS; i++)
        if (!strcmp(names[i], algorithm)) {
            *form = (enum pat_form)i;
            return true;
        }
    return false;
}

pat_form_cost pat_closed_form(enum pat_form form, const pat_form_job *job)
{
    int P = job->num_ranks, flr = log2_down(P), cei = flr + ((1 << flr) < P);
    int chains = job->literal || P > PAT_TREE_CHAINS ? PAT_TREE_CHAINS : P - 1,
        pair = job->literal || P > 2 ? 2 : 1; /* children */
    int length = job->literal ? (P - 1) / chains : (P - 1 + chains - 1) / chains;
    double n = segments(job), m = (double)job->bytes;
    switch (form) {
    case PAT_FORM_BCAST_LINEAR:  /* [4.1] */
    case PAT_FORM_GATHER_LINEAR: /* [4.12] */
    case PAT_FORM_RING:          /* P-1 steps, a block in each */
    case PAT_FORM_BDR:           /* with all at once it is the ring */
    case PAT_FORM_RELAY: /* pieces are under way side by side: what a link is busy for, and a latency for each block */
        break;
    case PAT_FORM_NEX: /* one block, then two in each step */
        return (pat_form_cost){P % 2 ? P - 1 : P / 2, (P - 1) * m};
    case PAT_FORM_LNBC:
        return gather_and_broadcast(job, 1);
    case PAT_FORM_BSLB:
        return gather_and_broadcast(job, 3);
    case PAT_FORM_ALLREDUCE_DOUBLING: /* two more for the ranks beyond the power of two */
        return (pat_form_cost){flr + 2 * (cei - flr), (flr + 2 * (cei - flr)) * m};
    case PAT_FORM_ALLREDUCE_RING: /* twice round */
        return (pat_form_cost){2 * (P - 1), 2 * (P - 1) * m / P};
    case PAT_FORM_ALLREDUCE_CONVERGE: /* the sums of log2(P) halves come in at rank 0; the last piece goes down the chain */
        return (pat_form_cost){cei * n + P - 1, (cei + (P - 1) / n) * m};
    case PAT_FORM_BCAST_CHAIN: /* [4.8] */
        return stages(job, P + n - 2);
    case PAT_FORM_BCAST_KCHAIN: /* [4.11] */
        return stages(job, length + n * pat_gamma_of(&job->gamma, chains + 1) - 1);
    case PAT_FORM_BCAST_BINARY: /* [4.10] */
        return stages(job, pat_gamma_of(&job->gamma, pair + 1) * (flr + n - 1));
    case PAT_FORM_BCAST_SPLIT: /* [4.9] */
        return split(job, flr);
    case PAT_FORM_BCAST_BINOMIAL: /* [4.7] */
        return binomial(job, flr, cei);
    case PAT_FORM_GATHER_SYNC: /* [4.13], [4.14] */
        if (m / 2 > (double)job->eager_bytes)
            return (pat_form_cost){2.0 * (P - 1), (P - 1) * m};
        return (pat_form_cost){P - 1, (P - 1) * m / 2};
    case PAT_FORM_GATHER_BINOMIAL: /* [4.15] */
        return (pat_form_cost){cei, (job->literal ? (1 << cei) - 1 : P - 1) * m};
    }
    return (pat_form_cost){P - 1, (P - 1) * m};
}
