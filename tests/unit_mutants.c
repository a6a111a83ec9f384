/*
 * unit_mutants.c — is the checker any good? Right plans are broken in one place at random, and it must notice
 * every time.
 *
 * A change that breaks nothing is no trial. An edge that another path implies is not picked. Two swaps may
 * turn out to leave every rank with all bytes in time: the same block sent to two ranks in the other order,
 * as in the pre-steps of bdr, or two messages exchanged. That cannot be told by looking at the swap, so a
 * judge of its own has the word on those that the checker lets pass: it executes the plans with real bytes in
 * many random orders. It only samples; what it clears is counted and printed, never taken for caught.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>
#include "check.h"
#include "plan_set.h"

#ifdef SLOW_BUILD
enum { TRIALS = 20 };
#else
enum { TRIALS = 100 };
#endif
enum { MOST_RANKS = 16, JUDGED_ORDERS = 200, MOST_TRIES = 3 * TRIALS };

typedef struct set {
    pat_plan plans[MOST_RANKS];
    int num_ranks;
    uint64_t random;
} set;

static pat_node *pick_node(set *s, pat_plan **plan)
{
    *plan = &s->plans[random_below(&s->random, s->num_ranks)];
    return &(*plan)->nodes[random_below(&s->random, (*plan)->num_nodes)];
}

static bool same_range(const pat_node *a, const pat_node *b)
{
    return pat_node_address(a).offset == pat_node_address(b).offset && a->length == b->length;
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

static bool remove_edge(set *s)
{
    pat_plan *p = &s->plans[random_below(&s->random, s->num_ranks)];
    int gone = (int)random_below(&s->random, p->num_edges);
    if (path_without(p, gone))
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
    if ((from != PAT_NODE_ARRIVE && from != PAT_NODE_COPY) || path_without(p, gone))
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

static pat_node *other_end(set *s, const pat_plan *p, const pat_node *n)
{
    pat_plan *q = &s->plans[n->peer];
    for (int i = 0; i < q->num_nodes; i++)
        if (pat_is_message(&q->nodes[i]) && q->nodes[i].kind != n->kind && q->nodes[i].peer == p->rank &&
            q->nodes[i].match == n->match)
            return &q->nodes[i];
    abort();
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

/* ---- The judge ---- */

enum { WAITING, READY, DONE };

typedef struct judge {
    const set *set;
    bool *here[MOST_RANKS]; /* every unit of the rank's result */
    char *state[MOST_RANKS];
    int *missing[MOST_RANKS];
    bool arrived[MOST_RANKS];
    int64_t unit, total; /* bytes that always go together, and how many such units a result has */
} judge;

static int64_t common_divisor(int64_t a, int64_t b)
{
    return b ? common_divisor(b, a % b) : a;
}

static bool deliver(judge *j, int r, const pat_node *n)
{
    for (int64_t b = pat_node_address(n).offset / j->unit;
         b < (pat_node_address(n).offset + n->length) / j->unit; b++) {
        if (j->here[r][b])
            return false;
        j->here[r][b] = true;
    }
    return true;
}

static void finish_node(judge *j, int r, int i)
{
    const pat_plan *p = &j->set->plans[r];
    j->state[r][i] = DONE;
    for (int e = p->succ_at[i]; e < p->succ_at[i + 1]; e++)
        if (--j->missing[r][p->succ[e]] == 0)
            j->state[r][p->succ[e]] = READY;
}

static bool window_open(const judge *j, int r, const pat_node *n)
{
    const pat_plan *p = &j->set->plans[r];
    for (int i = 0; i < p->num_nodes; i++)
        if (p->nodes[i].kind == PAT_NODE_SEND && p->nodes[i].peer == n->peer &&
            p->nodes[i].match <= n->match - PAT_SEND_WINDOW && j->state[r][i] != DONE)
            return false;
    return true;
}

/* Do what this node does, if its time has come. *right becomes false when it does what it must not. */
static bool act(judge *j, set *s, int r, int i, bool *right)
{
    const pat_node *n = &s->plans[r].nodes[i];
    if (j->state[r][i] != READY || n->kind == PAT_NODE_RECV)
        return false;
    if (n->kind == PAT_NODE_SEND) {
        if (!window_open(j, r, n))
            return false;
        for (int64_t b = pat_node_address(n).offset / j->unit;
             b < (pat_node_address(n).offset + n->length) / j->unit; b++)
            *right = *right && j->here[r][b];
        const pat_node *o = other_end(s, &s->plans[r], n);
        int end = (int)(o - s->plans[n->peer].nodes);
        if (j->state[n->peer][end] != READY)
            return false;
        *right = *right && deliver(j, n->peer, o);
        finish_node(j, n->peer, end);
    } else if (n->kind == PAT_NODE_COPY) {
        *right = *right && j->arrived[r] && deliver(j, r, n);
    } else {
        j->arrived[r] = true;
    }
    finish_node(j, r, i);
    return true;
}

/* One execution; in each round the nodes have their turn in another random order, some of them often last. */
static bool execute(judge *j, set *s)
{
    bool right = true;
    int num_nodes = 0, num_done = 0, (*order)[2], at = 0;
    for (int r = 0; r < s->num_ranks; r++) {
        const pat_plan *p = &s->plans[r];
        num_nodes += p->num_nodes;
        memset(j->here[r], 0, (size_t)j->total);
        j->arrived[r] = false;
        for (int i = 0; i < p->num_nodes; i++) {
            j->missing[r][i] = p->num_preds[i];
            j->state[r][i] = p->num_preds[i] ? WAITING : READY;
        }
    }
    order = malloc((size_t)num_nodes * sizeof(*order));
    for (int r = 0; r < s->num_ranks; r++)
        for (int i = 0; i < s->plans[r].num_nodes; i++, at++) {
            int other = (int)random_below(&s->random, at + 1);
            memcpy(order[at], order[other], sizeof(*order));
            order[other][0] = r;
            order[other][1] = i;
        }
    /* Always the first in the order that can: the later a node's place, the longer it is held back. */
    for (int k = 0; right && k < num_nodes; k++)
        if (act(j, s, order[k][0], order[k][1], &right))
            k = -1;
    for (int r = 0; r < s->num_ranks; r++)
        for (int i = 0; i < s->plans[r].num_nodes; i++)
            num_done += j->state[r][i] == DONE;
    free(order);
    return right && num_done == num_nodes;
}

static bool still_right(set *s, enum pat_op op)
{
    judge j = {.set = s, .unit = s->plans[0].block_bytes};
    bool right = true;
    for (int r = 0; r < s->num_ranks; r++)
        for (int i = 0; i < s->plans[r].num_nodes; i++) {
            const pat_node *n = &s->plans[r].nodes[i];
            j.unit = common_divisor(common_divisor(j.unit, pat_node_address(n).offset), n->length);
        }
    j.total = s->num_ranks * s->plans[0].block_bytes / j.unit;
    for (int r = 0; r < s->num_ranks; r++) {
        size_t nodes = (size_t)s->plans[r].num_nodes;
        j.here[r] = malloc((size_t)j.total);
        j.state[r] = malloc(nodes);
        j.missing[r] = malloc(nodes * sizeof(int));
    }
    for (int k = 0; right && k < JUDGED_ORDERS; k++) {
        right = execute(&j, s);
        for (int r = 0; right && r < s->num_ranks; r++) {
            bool whole = op == PAT_OP_ALLGATHER || (op == PAT_OP_GATHER && r == 0);
            int64_t block = s->plans[r].block_bytes / j.unit;
            int64_t first = whole || op == PAT_OP_BCAST ? 0 : r * block;
            for (int64_t b = first; b < (whole ? j.total : first + block); b++)
                right = right && j.here[r][b];
        }
    }
    for (int r = 0; r < s->num_ranks; r++) {
        free(j.here[r]);
        free(j.state[r]);
        free(j.missing[r]);
    }
    return right;
}

/* ---- Trials ---- */

typedef struct mutation {
    const char *name;
    bool (*apply)(set *);
    bool judged; /* may turn out to break nothing */
} mutation;

static const mutation mutations[] = {
    {"a node removed", remove_node, false},
    {"an edge removed", remove_edge, false},
    {"an edge from ARRIVE or COPY removed", remove_arrive_edge, false},
    {"two peers swapped", swap_peers, true},
    {"two ranges swapped at one end", swap_ranges, false},
    {"two blocks swapped", swap_blocks, true},
};

/* Was every one of the trials caught? Some algorithms have nothing that could be broken so: all messages alike. */
static bool try_mutation(const pat_algorithm *alg, const mutation *m, uint64_t *seed)
{
    int caught = 0, harmless = 0, trial = 0;
    for (int tries = 0; trial < TRIALS && (trial > 0 || tries < MOST_TRIES); tries++) {
        int64_t arrival[MOST_RANKS];
        char why[256];
        set s = {.num_ranks = 2 + (int)random_below(seed, MOST_RANKS - 1)};
        pat_job job = random_job(seed, (int)random_below(seed, 81), s.num_ranks, arrival);
        plan_set_build(alg, &job, s.plans);
        s.random = *seed;
        bool changed = false;
        /* Some plans have nothing of the kind to break: give up after a while and take another. */
        for (int pick = 0; !changed && pick < 1000; pick++)
            changed = m->apply(&s);
        for (int r = 0; r < s.num_ranks; r++)
            pat_plan_finish(&s.plans[r]); /* may refuse by itself; the checker must see that too */
        int error = changed ? pat_check(s.plans, s.num_ranks, pat_goal_of(alg->op), why, sizeof(why)) : 0;
        if (changed && !error && m->judged && still_right(&s, alg->op)) {
            harmless++;
        } else if (changed) {
            trial++;
            caught += error != 0;
            if (!error)
                print_error("%s, %s, %d ranks, %lld bytes: not noticed\n", alg->name, m->name, s.num_ranks,
                            (long long)job.block_bytes);
        }
        plan_set_free(s.plans, s.num_ranks);
    }
    print_message("%-15s %-36s caught %d of %d", alg->name, m->name, caught, trial);
    print_message(harmless ? ", %d more changed nothing\n" : "\n", harmless);
    return caught == trial && (trial > 0 || strcmp(alg->name, "bcast_linear") == 0);
}

static void test_every_mutation_is_caught(void **state)
{
    uint64_t seed = 20210711;
    bool all = true;
    (void)state;
    for (int a = 0; a < pat_algorithm_count(); a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        for (size_t m = 0; alg->build && m < sizeof(mutations) / sizeof(mutations[0]); m++)
            all = try_mutation(alg, &mutations[m], &seed) && all;
    }
    assert_true(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_mutation_is_caught)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
