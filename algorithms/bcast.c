/*
 * bcast.c — broadcast of the whole result from rank 0: the second half of lnbc and bslb.
 *
 * What:     Blocks up to 2 KiB as Open MPI broadcasts a message as long as the result: below 2 KiB down a
 *           binomial tree, else in segments of 1 KiB down a binary tree of which each side has half of it
 *           (spread.h); from 370728 bytes on, and longer blocks always, down a pipelined chain 0 > 1 > ... > P-1.
 *           There the result is cut into segments; a rank passes a segment on as soon as it has it. On the hop
 *           to rank r, of a tree or the chain, the bytes of block r are left out: r has them, and in a plan every
 *           byte gets to a rank exactly once. What a later rank needs of block r, rank r sends from its own
 *           copy.
 * Source:   BSLB in Proficz 2021 calls MPI_Bcast; the trees and the lengths are those of Open MPI's coll/tuned.
 *           The chain: textbook ("pipeline" in MPI libraries), the regular broadcast for large messages. By the
 *           predictor each is the better one where it is taken: docs/models.md.
 * Cost:     the chain: with n segments of s bytes n+P-2 rounds of alpha + s*beta each. Each rank receives P-1 blocks
 *           and, but for the last, sends as much. With total = n*s the time is least at
 *           s = sqrt(alpha*total / ((P-2)*beta)). s is kept between 4 and 64 KiB, and n at most the larger
 *           of 256 and P so that plans stay small. Segments are either equal parts of one block or whole
 *           blocks, so that leaving out block r makes no crumbs.
 * Memory:   none beyond the result.
 * Limits:   the chain's length: the last rank waits for P-1 hops. Two ranks have one hop, so s is at its
 *           largest.
 * Example:  the chain: P = 4, one segment a block, numbered as the blocks.
 *           round 1  0>1 (0)   1>2 (1)   2>3 (2)        block 1 is rank 1's own, and so on
 *           round 2  0>1 (2)   1>2 (0)   2>3 (1)
 *           round 3  0>1 (3)             2>3 (0)        0>1 has nothing to do in round 4
 *           round 4            1>2 (3)
 */
#include "spread.h"

/* What Open MPI takes for short messages and for those of middle length. */
enum { SHORT_BLOCK = 2048, WHOLE_BELOW = 2048, SPLIT_BELOW = 370728, SPLIT_SEGMENT = 1024 };
enum { SEGMENT_MIN = 4096, SEGMENT_MAX = 65536, SEGMENTS_MAX = 256 };

typedef struct range {
    int64_t from, to;
} range;

/* How the result is cut: every block into `parts`, or `blocks` blocks to a segment; one of them is 1. */
typedef struct cut {
    int parts, blocks, count;
} cut;

static int64_t best_segment_bytes(const pat_job *job)
{
    int hops_more = job->num_ranks - 2;
    if (hops_more == 0 || job->beta_ps < 1)
        return SEGMENT_MAX;
    /* alpha / beta is the bytes a link carries in one latency. Both factors cut, so that the product fits. */
    int64_t latency_bytes = pat_part_least(job->alpha_ns, INT64_MAX / 1000) * 1000 / job->beta_ps;
    int64_t share = job->num_ranks * job->block_bytes / hops_more;
    int64_t bytes =
        pat_part_root(pat_part_least(latency_bytes, INT32_MAX) * pat_part_least(share, INT32_MAX));
    return bytes < SEGMENT_MIN ? SEGMENT_MIN : pat_part_least(bytes, SEGMENT_MAX);
}

static cut cut_result(const pat_job *job)
{
    int64_t bytes = best_segment_bytes(job);
    cut c = {.parts = 1, .blocks = 1};
    if (bytes < job->block_bytes) {
        int most = job->num_ranks < SEGMENTS_MAX ? SEGMENTS_MAX / job->num_ranks : 1;
        c.parts = (int)pat_part_least((job->block_bytes - 1) / bytes + 1, most);
        c.count = job->num_ranks * c.parts;
    } else {
        c.blocks = (int)pat_part_least(bytes / job->block_bytes, job->num_ranks);
        c.count = (job->num_ranks - 1) / c.blocks + 1;
    }
    return c;
}

static range segment_at(const pat_job *job, const cut *c, int number)
{
    int64_t bytes = job->block_bytes;
    if (c->parts > 1) {
        int64_t size = (bytes - 1) / c->parts + 1;
        int64_t first = number / c->parts * bytes;
        int64_t at = number % c->parts * size;
        return (range){first + pat_part_least(at, bytes), first + pat_part_least(at + size, bytes)};
    }
    int first = number * c->blocks;
    int blocks = (int)pat_part_least(c->blocks, job->num_ranks - first);
    return (range){first * bytes, (first + blocks) * bytes};
}

/* The segment without one rank's block: up to two pieces. Returns how many. */
static int without_block(range segment, int rank, int64_t block_bytes, range piece[2])
{
    range hole = {rank * block_bytes, (rank + 1) * block_bytes};
    int count = 0;
    range low = {segment.from, pat_part_least(segment.to, hole.from)};
    range high = {segment.from > hole.to ? segment.from : hole.to, segment.to};
    if (low.from < low.to)
        piece[count++] = low;
    if (high.from < high.to)
        piece[count++] = high;
    return count;
}

static void send_piece(pat_plan *plan, int rank, range piece, const range *have, const int *have_node,
                       int num_have)
{
    int send = pat_plan_send(plan, rank + 1, piece.from, piece.to - piece.from);
    bool waits = false;
    for (int i = 0; i < num_have; i++) {
        if (have[i].from < piece.to && piece.from < have[i].to) {
            pat_plan_after(plan, send, have_node[i]);
            waits = true;
        }
    }
    /* Nothing but bytes this rank has had since before the broadcast: they go when the broadcast begins. */
    if (!waits)
        pat_plan_in_step(plan, send);
}

static void chain(pat_plan *plan, const pat_job *job, int rank)
{
    cut c = cut_result(job);
    pat_plan_next_step(plan);
    for (int k = 0; k < c.count; k++) {
        range segment = segment_at(job, &c, k);
        range in[2], out[2];
        int in_node[2];
        int num_in = rank > 0 ? without_block(segment, rank, job->block_bytes, in) : 0;
        for (int i = 0; i < num_in; i++) {
            in_node[i] = pat_plan_recv(plan, rank - 1, in[i].from, in[i].to - in[i].from);
            pat_plan_in_step(plan, in_node[i]);
        }
        int num_out = rank < job->num_ranks - 1 ? without_block(segment, rank + 1, job->block_bytes, out) : 0;
        for (int i = 0; i < num_out; i++)
            send_piece(plan, rank, out[i], in, in_node, num_in);
    }
}

/* Does it go down a tree, and how? */
static bool takes_tree(const pat_job *job, pat_spread *what)
{
    const int64_t bytes = job->num_ranks * job->block_bytes;
    *what = (pat_spread){bytes, bytes < WHOLE_BELOW ? bytes : SPLIT_SEGMENT, job->block_bytes};
    return job->block_bytes <= SHORT_BLOCK && bytes < SPLIT_BELOW;
}

void pat_part_bcast(pat_plan *plan, const pat_job *job, int rank)
{
    pat_spread what;
    const pat_tree tree = {.kind = PAT_TREE_BINOMIAL, .num_ranks = job->num_ranks};
    if (!takes_tree(job, &what))
        chain(plan, job, rank);
    else if (what.segment == what.bytes)
        pat_spread_tree(plan, &what, &tree);
    else
        pat_spread_split(plan, &what);
}

/*
 * On each hop the result goes without the block that its end has: P-1 blocks leave rank 0, and the last segment goes P-3 hops
 * further, to the last rank that has not brought it itself.
 */
static void chain_formula(pat_formula *formula, const pat_job *job)
{
    const int blocks = job->num_ranks - 1, hops = job->num_ranks > 3 ? job->num_ranks - 3 : 0;
    const int64_t segments = pat_part_segments(job);
    pat_part_add(formula, 1, blocks * segments + hops,
                 blocks * job->block_bytes + hops * job->block_bytes / segments);
}

void pat_part_bcast_formula(pat_formula *formula, const pat_job *job)
{
    pat_spread what;
    const bool tree = takes_tree(job, &what);
    const pat_job message = {
        .num_ranks = job->num_ranks, .block_bytes = what.bytes, .segment_bytes = what.segment};
    if (!tree)
        chain_formula(formula, job);
    else if (what.segment == what.bytes)
        pat_bcast_binomial_formula(formula, &message);
    else
        pat_bcast_split_formula(formula, &message);
}
