/*
 * reduce_tree.c — reduce to rank 0 up a tree, in segments: binomial, chain.
 *
 * What:     every rank joins what its children send with what it has, and passes the sum on to its parent, segment by segment: while
 *           one goes up, the next ones come in.
 * Source:   the usual ones (Open MPI's coll/base has both: binomial, pipeline).
 * Cost:     binomial: the root takes in the vector log2(P) times; chain: each rank once, and with n segments n + P - 2 of them follow
 *           one another.
 * Memory:   two segments for each child, and the vector on ranks that are neither the root nor a leaf.
 * Order:    children are joined in turn, each on the right of what there is, so that the operation must commute. It is the same in every
 *           run.
 * Limits:   ranks are counted from the root, as everywhere, whatever nodes they are on.
 * Example:  P = 4, two segments a and b. "1>0 a1": segment a with rank 1's contribution.
 *           chain  3>2 a3 | 2>1 a23, 3>2 b3 | 1>0 a123, 2>1 b23 | 1>0 b123
 */
#include "parts.h"
#include "tree.h"

enum { NONE = -1, SLOTS = 2 };

/* One rank's plan as it is built. */
typedef struct reduction {
    pat_plan *plan;
    const pat_tree *tree;
    int rank, children;
    int64_t segment;                          /* bytes, whole elements */
    int arrive, copy;                         /* the copy brings the own contribution to the result */
    pat_address in;                           /* SLOTS segments for each child */
    int joined[PAT_TREE_MAX_CHILDREN][SLOTS]; /* the last reduction that has read each of them */
} reduction;

/* The sum of a segment, once the children's are in. Returns the node that completes it. */
static int join_children(reduction *r, int slot, int64_t at, int64_t length)
{
    int last = r->copy;
    for (int i = 0; i < r->children; i++) {
        const pat_address in = {r->in.space, r->in.offset + (i * SLOTS + slot) * r->segment};
        const int recv = pat_plan_recv_to(r->plan, pat_tree_child(r->tree, r->rank, i), in, length);
        const bool first = r->joined[i][slot] == NONE;
        pat_plan_after(r->plan, recv, first ? r->arrive : r->joined[i][slot]);
        const int joined = pat_plan_reduce(r->plan, in, pat_result(at), length);
        pat_plan_after(r->plan, joined, recv);
        if (i > 0 || first) /* else the last one's segment has waited for the copy */
            pat_plan_after(r->plan, joined, last);
        last = r->joined[i][slot] = joined;
    }
    return last;
}

/* Segments of so many bytes, in whole elements. */
static int64_t whole_elements(const pat_job *job, int64_t bytes)
{
    const int64_t element = job->element_bytes > 0 ? job->element_bytes : 1,
                  whole = bytes / element * element;
    return whole > 0 ? whole : element;
}

static int64_t tree_segment(const pat_job *job)
{
    const bool cut = job->segment_bytes > 0 && job->segment_bytes < job->block_bytes;
    return cut ? whole_elements(job, job->segment_bytes) : job->block_bytes;
}

/*
 * Shorter segments reach the root sooner, but each costs a latency: together that is least where the root of what follows says. Below LEAST a rank's
 * thread would wake too often.
 */
static int64_t chain_segment(const pat_job *job)
{
    enum { LEAST = 4096 };
    const int64_t others = job->num_ranks - 2, most = job->most_messages;
    int64_t bytes = job->block_bytes;
    if (others < 1 || job->alpha_ns < 1 || job->beta_ps < 1)
        return tree_segment(job);
    const int64_t of_latency =
        pat_part_least(job->alpha_ns * 1000 / job->beta_ps, INT32_MAX); /* bytes that take as long */
    bytes = pat_part_root(of_latency * bytes / others);
    bytes = pat_part_least(bytes > LEAST ? bytes : LEAST, pat_part_unasked(job));
    bytes = whole_elements(job, pat_part_least(bytes, job->block_bytes));
    if (most > 0 && (job->block_bytes - 1) / bytes >= most)
        bytes = whole_elements(job, (job->block_bytes - 1) / most + 1 + job->element_bytes);
    return bytes;
}

static void build(pat_plan *plan, const pat_job *job, int rank, const pat_tree *tree, int64_t segment)
{
    const int64_t bytes = job->block_bytes;
    const int parent = pat_tree_parent(tree, rank);
    reduction r = {.plan = plan,
                   .tree = tree,
                   .rank = rank,
                   .children = pat_tree_num_children(tree, rank),
                   .segment = segment};
    r.in = pat_plan_scratch(plan, r.children * SLOTS * r.segment);
    for (int i = 0; i < r.children; i++)
        r.joined[i][0] = r.joined[i][1] = NONE;
    r.arrive = pat_plan_arrive(plan);
    r.copy = pat_plan_copy(plan, pat_own(0), pat_result(0), bytes);
    pat_plan_after(plan, r.copy, r.arrive);
    int slot = 0;
    for (int64_t at = 0; at < bytes; at += r.segment) {
        const int64_t length = pat_part_least(r.segment, bytes - at);
        const int sum = join_children(&r, slot, at, length);
        if (parent >= 0)
            pat_plan_after(plan, pat_plan_send(plan, parent, at, length), sum);
        slot = (slot + 1) % SLOTS;
    }
}

void pat_reduce_binomial_build(pat_plan *plan, const pat_job *job, int rank)
{
    const pat_tree tree = {.kind = PAT_TREE_BINOMIAL, .num_ranks = job->num_ranks};
    build(plan, job, rank, &tree, tree_segment(job));
}

void pat_reduce_chain_build(pat_plan *plan, const pat_job *job, int rank)
{
    const pat_tree tree = {.kind = PAT_TREE_CHAIN, .num_ranks = job->num_ranks, .fanout = 1};
    build(plan, job, rank, &tree, chain_segment(job));
}

/* So many segments, one after the other, of which `pieces` only follow another one. */
static void add_segments(pat_formula *formula, int64_t segments, int64_t bytes, int64_t pieces)
{
    pat_part_add(formula, 1, segments, segments * bytes);
    pat_part_follow(formula, 1, pieces);
}

static int64_t num_segments(const pat_job *job, int64_t bytes)
{
    return (job->block_bytes - 1) / bytes + 1;
}

/* The root takes in all segments of each child; while it does they come up the children's own trees. */
void pat_reduce_binomial_formula(pat_formula *formula, const pat_job *job)
{
    const int64_t bytes = tree_segment(job), segments = num_segments(job, bytes),
                  children = pat_part_log_up(job->num_ranks);
    add_segments(formula, children * segments, bytes, children * (segments - 1));
}

void pat_reduce_chain_formula(pat_formula *formula, const pat_job *job)
{
    const int64_t bytes = chain_segment(job), segments = num_segments(job, bytes);
    add_segments(formula, job->num_ranks + segments - 2, bytes, segments - 1);
}
