/*
 * unit_mutants.c — is the checker any good? Right plans are broken in one place at random, and it must notice
 * every time.
 *
 * A change that breaks nothing is no trial. An edge that another path implies is not picked. Three swaps may
 * turn out to leave every rank with all bytes in time: the same block sent to two ranks in the other order,
 * as in the pre-steps of bdr, two messages exchanged, or two contributions that are joined next to each other, each received where
 * the other was to be. That cannot be told by looking at the swap, so a
 * judge of its own has the word on those that the checker lets pass: it executes the plans with real bytes in
 * many random orders. It only samples; what it clears is counted and printed, never taken for caught.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>
#include "plan_judge.h"

#ifdef SLOW_BUILD
enum { TRIALS = 20 };
#else
enum { TRIALS = 60 };
#endif
enum { MOST_TRIES = 3 * TRIALS, ELEMENT = 8 };

static pat_node *pick_node(set *s, pat_plan **plan)
{
    *plan = &s->plans[random_below(&s->random, s->num_ranks)];
    return &(*plan)->nodes[random_below(&s->random, (*plan)->num_nodes)];
}

static bool same_range(const pat_node *a, const pat_node *b)
{
    const pat_address x = pat_node_address(a), y = pat_node_address(b);
    return x.space == y.space && x.offset == y.offset && a->length == b->length;
}

/* The match numbers the plan would have been given, had it been built as it is now. */
static void number_messages(pat_plan *p)
{
    int count[2][MOST_RANKS] = {0};
    for (int i = 0; i < p->num_nodes; i++)
        if (pat_is_message(&p->nodes[i]))
            p->nodes[i].match = count[p->nodes[i].kind == PAT_NODE_SEND][p->nodes[i].peer]++;
}

/* ---- What can be broken. Each returns false when its random pick is no trial; then it has changed nothing.
 * ---- */

static bool remove_node(set *s)
{
    pat_plan *p;
    const pat_node *node = pick_node(s, &p);
    int gone = (int)(node - p->nodes), kept = 0;
    for (int e = 0; e < p->num_edges; e++) {
        pat_edge edge = p->edges[e];
        if (edge.from == gone || edge.to == gone)
            continue;
        p->edges[kept++] = (pat_edge){edge.from - (edge.from > gone), edge.to - (edge.to > gone)};
    }
    p->num_edges = kept;
    memmove(&p->nodes[gone], &p->nodes[gone + 1], (size_t)(p->num_nodes - gone - 1) * sizeof(*p->nodes));
    p->num_nodes--;
    number_messages(p);
    return true;
}

static bool path_without(const pat_plan *p, int without)
{
    bool *reached = calloc((size_t)p->num_nodes, sizeof(*reached)), found;
    int from = p->edges[without].from, to = p->edges[without].to;
    reached[from] = true;
    for (bool more = true; more;) {
        more = false;
        for (int e = 0; e < p->num_edges; e++)
            if (e != without && reached[p->edges[e].from] && !reached[p->edges[e].to])
                more = reached[p->edges[e].to] = true;
    }
    found = reached[to];
    free(reached);
    return found;
}

/*
 * Pieces of what is reduced wait for others so that few are awaited at once, or for the call so that none comes in before it, and for nothing else: that
 * breaks nothing.
 */
static bool only_paces(const pat_plan *p, pat_edge edge)
{
    const pat_node *from = &p->nodes[edge.from], *to = &p->nodes[edge.to];
    return p->element_bytes > 0 && to->step == PAT_STEP_FREE && to->kind == PAT_NODE_RECV &&
           (from->kind == PAT_NODE_RECV || from->kind == PAT_NODE_ARRIVE);
}

static bool remove_edge(set *s)
{
    pat_plan *p = &s->plans[random_below(&s->random, s->num_ranks)];
    int gone = (int)random_below(&s->random, p->num_edges);
    if (path_without(p, gone) || only_paces(p, p->edges[gone]))
        return false;
    memmove(&p->edges[gone], &p->edges[gone + 1], (size_t)(p->num_edges - gone - 1) * sizeof(*p->edges));
    p->num_edges--;
    return true;
}

/* An edge on the way from ARRIVE over COPY to a message. */
static bool remove_arrive_edge(set *s)
{
    pat_plan *p = &s->plans[random_below(&s->random, s->num_ranks)];
    int gone = (int)random_below(&s->random, p->num_edges);
    enum pat_node_kind from = p->nodes[p->edges[gone].from].kind;
    if ((from != PAT_NODE_ARRIVE && from != PAT_NODE_COPY) || path_without(p, gone) ||
        only_paces(p, p->edges[gone]))
        return false;
    p->edges[gone] = p->edges[--p->num_edges];
    return true;
}

static bool swap_peers(set *s)
{
    pat_plan *p;
    pat_node *a = pick_node(s, &p), *b = &p->nodes[random_below(&s->random, p->num_nodes)];
    if (!pat_is_message(a) || !pat_is_message(b) || a->peer == b->peer)
        return false;
    int peer = a->peer;
    a->peer = b->peer;
    b->peer = peer;
    number_messages(p);
    return true;
}

static void set_range(pat_node *n, pat_address at, int64_t length)
{
    *(n->kind == PAT_NODE_SEND ? &n->from : &n->to) = at;
    n->length = length;
}

static void exchange_ranges(pat_node *a, pat_node *b)
{
    const pat_node keep = *a;
    set_range(a, pat_node_address(b), b->length);
    set_range(b, pat_node_address(&keep), keep.length);
}

/* At one end only, as if one rank had mixed them up. */
static bool swap_ranges(set *s)
{
    pat_plan *p;
    pat_node *a = pick_node(s, &p), *b = &p->nodes[random_below(&s->random, p->num_nodes)];
    if (!pat_is_message(a) || !pat_is_message(b) || same_range(a, b))
        return false;
    exchange_ranges(a, b);
    return true;
}

/* At both ends, so that sender and receiver agree: the algorithm itself has them mixed up. */
static bool swap_blocks(set *s)
{
    pat_plan *p, *q;
    pat_node *a = pick_node(s, &p), *b = pick_node(s, &q);
    if (!pat_is_message(a) || !pat_is_message(b) || same_range(a, b))
        return false;
    pat_node *a_end = other_end(s, p, a), *b_end = other_end(s, q, b);
    exchange_ranges(a, b);
    exchange_ranges(a_end, b_end);
    return true;
}

static pat_address *pick_address(set *s, pat_node *n)
{
    const bool reads = n->kind != PAT_NODE_RECV, writes = n->kind != PAT_NODE_SEND;
    return reads && (!writes || random_below(&s->random, 2)) ? &n->from : &n->to;
}

static bool change_space(set *s)
{
    pat_plan *p;
    pat_node *n = pick_node(s, &p);
    if (n->length == 0)
        return false;
    pat_address *at = pick_address(s, n);
    at->space = (enum pat_space)((at->space + 1 + random_below(&s->random, 2)) % 3);
    return true;
}

static bool shift_address(set *s)
{
    pat_plan *p;
    pat_node *n = pick_node(s, &p);
    if (n->length == 0)
        return false;
    const int64_t by = p->element_bytes > 0 ? p->element_bytes : ELEMENT;
    pick_address(s, n)->offset += random_below(&s->random, 2) ? by : -by;
    return true;
}

/* ---- The same for plans that reduce ---- */

static bool swap_operands(set *s)
{
    pat_plan *p;
    pat_node *n = pick_node(s, &p);
    if (n->kind != PAT_NODE_REDUCE)
        return false;
    const pat_address from = n->from;
    n->from = n->to;
    n->to = from;
    return true;
}

/* A REDUCE only copies, or a COPY reduces. */
static bool change_kind(set *s)
{
    pat_plan *p;
    pat_node *n = pick_node(s, &p);
    if (n->kind != PAT_NODE_REDUCE && n->kind != PAT_NODE_COPY)
        return false;
    n->kind = n->kind == PAT_NODE_COPY ? PAT_NODE_REDUCE : PAT_NODE_COPY;
    return true;
}

/* A contribution in one element more or less. */
static bool change_length(set *s)
{
    pat_plan *p;
    pat_node *n = pick_node(s, &p);
    if (n->kind != PAT_NODE_REDUCE)
        return false;
    const int64_t by = p->element_bytes;
    n->length += n->length == by || random_below(&s->random, 2) ? by : -by;
    return true;
}

/* ---- Trials ---- */

/* May it turn out to break nothing? Contributions that are joined next to each other may be received in each other's place. */
enum judged { NEVER, WHERE_REDUCED, EVERYWHERE };

typedef struct mutation {
    const char *name;
    bool (*apply)(set *);
    enum judged judged;
    bool reduces; /* only plans that reduce have something to break */
} mutation;

static const mutation mutations[] = {
    {"a node removed", remove_node, NEVER, false},
    {"an edge removed", remove_edge, NEVER, false},
    {"an edge from ARRIVE or COPY removed", remove_arrive_edge, NEVER, false},
    {"two peers swapped", swap_peers, EVERYWHERE, false},
    {"two ranges swapped at one end", swap_ranges, WHERE_REDUCED, false},
    {"two blocks swapped", swap_blocks, EVERYWHERE, false},
    {"bytes of another space", change_space, EVERYWHERE, true},
    {"bytes of another address", shift_address, NEVER, false},
    {"operands swapped", swap_operands, NEVER, true},
    {"REDUCE for COPY or COPY for REDUCE", change_kind, NEVER, true},
    {"another length reduced", change_length, NEVER, true},
};

/*
 * The judge looks at every piece of bytes that always go together. So the vector of a reduction is short, and yet is cut into
 * pieces, and a long block is cut into segments of whole sixteenths; short blocks are cut anywhere.
 */
static void build_victim(const pat_algorithm *alg, set *s, uint64_t *seed)
{
    int64_t arrival[MOST_RANKS];
    s->num_ranks = 2 + (int)random_below(seed, MOST_RANKS - 1);
    pat_job job = random_job(seed, (int)random_below(seed, 81), s->num_ranks, arrival);
    if (pat_collective_of(alg->op)->reduces) {
        job.element_bytes = 1024;
        job.block_bytes = (1 + random_below(seed, 12)) * job.element_bytes;
        job.tau_ns = job.alpha_ns + job.block_bytes * job.beta_ps / 1000;
    } else if (job.block_bytes > 4096) {
        const int64_t sixteenth = job.block_bytes / 16; /* all the long ones are multiples of 16 */
        job.segment_bytes = (job.segment_bytes + sixteenth - 1) / sixteenth * sixteenth;
    }
    plan_set_build(alg, &job, s->plans);
}

/* Was every one of the trials caught? Some algorithms have nothing that could be broken so: all messages alike. */
static bool try_mutation(const pat_algorithm *alg, const mutation *m, uint64_t *seed)
{
    const pat_collective *collective = pat_collective_of(alg->op);
    int caught = 0, harmless = 0, trial = 0;
    for (int tries = 0; trial < TRIALS && (trial > 0 || tries < MOST_TRIES); tries++) {
        char why[256];
        set s = {0};
        build_victim(alg, &s, seed);
        s.random = *seed;
        bool changed = false;
        /* Some plans have nothing of the kind to break: give up after a while and take another. */
        for (int pick = 0; !changed && pick < 1000; pick++)
            changed = m->apply(&s);
        for (int r = 0; r < s.num_ranks; r++)
            pat_plan_finish(&s.plans[r]); /* may refuse by itself; the checker must see that too */
        int error = changed ? pat_check(s.plans, s.num_ranks, collective, why, sizeof(why)) : 0;
        const bool judged = m->judged == EVERYWHERE || (m->judged == WHERE_REDUCED && collective->reduces);
        if (changed && !error && judged && still_right(&s, collective)) {
            harmless++;
        } else if (changed) {
            trial++;
            caught += error != 0;
            if (!error)
                print_error("%s, %s, %d ranks, %lld bytes: not noticed\n", alg->name, m->name, s.num_ranks,
                            (long long)s.plans[0].block_bytes);
        }
        plan_set_free(s.plans, s.num_ranks);
    }
    print_message("%-18s %-36s caught %d of %d", alg->name, m->name, caught, trial);
    print_message(harmless ? ", %d more changed nothing\n" : "\n", harmless);
    return caught == trial && (trial > 0 || strcmp(alg->name, "bcast_linear") == 0);
}

static bool try_all(const pat_algorithm *alg, uint64_t *seed)
{
    bool all = true;
    for (size_t m = 0; m < sizeof(mutations) / sizeof(mutations[0]); m++)
        if (pat_collective_of(alg->op)->reduces || !mutations[m].reduces)
            all = try_mutation(alg, &mutations[m], seed) && all;
    return all;
}

static void test_every_mutation_is_caught(void **state)
{
    uint64_t seed = 20210711;
    bool all = true;
    (void)state;
    for (int a = 0; a < pat_algorithm_count(); a++)
        if (pat_algorithm_at(a)->build)
            all = try_all(pat_algorithm_at(a), &seed) && all;
    assert_true(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_mutation_is_caught)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
