/*
 * plan_judge.h — for unit tests: executes plans with made-up bytes in many random orders and says whether every rank ended
 * with what it should. It only samples, and takes each node for done at one instant, so what it clears is not proven. It must
 * share nothing with the checker that it is held against but the table of collectives.
 */
#ifndef PAT_TESTS_PLAN_JUDGE_H
#define PAT_TESTS_PLAN_JUDGE_H

#include <string.h>
#include "check.h"
#include "plan_set.h"

enum { MOST_RANKS = 16, JUDGED_ORDERS = 200 };

typedef struct set {
    pat_plan plans[MOST_RANKS];
    int num_ranks;
    uint64_t random;
} set;

static inline pat_node *other_end(set *s, const pat_plan *p, const pat_node *n)
{
    pat_plan *q = &s->plans[n->peer];
    for (int i = 0; i < q->num_nodes; i++)
        if (pat_is_message(&q->nodes[i]) && q->nodes[i].kind != n->kind && q->nodes[i].peer == p->rank &&
            q->nodes[i].match == n->match)
            return &q->nodes[i];
    abort();
}

enum { WAITING, READY, DONE };

/* What a unit of bytes holds; all zero: nothing. */
typedef struct cell {
    uint64_t expression; /* a number that different ways to join contributions do not share */
    uint32_t ranks;      /* whose contributions are in it */
    int64_t unit;        /* which of theirs */
} cell;

typedef struct judge {
    const set *set;
    cell *held[MOST_RANKS]; /* of every rank: its own units, its result's and its scratch's */
    char *state[MOST_RANKS];
    int *missing[MOST_RANKS];
    bool arrived[MOST_RANKS];
    int64_t unit; /* bytes that always go together */
} judge;

static inline int64_t common_divisor(int64_t a, int64_t b)
{
    return b ? common_divisor(b, a % b) : a;
}

static inline uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t state = a * 3 + b;
    return random_bits(&state) | 1;
}

static inline cell contribution(int rank, int64_t unit)
{
    return (cell){mix((uint64_t)rank, (uint64_t)unit << 8), UINT32_C(1) << rank, unit};
}

static inline int64_t units_before(const judge *j, int rank, enum pat_space space)
{
    const pat_plan *p = &j->set->plans[rank];
    return space == PAT_SPACE_OWN      ? 0
           : space == PAT_SPACE_RESULT ? p->own_bytes / j->unit
                                       : (p->own_bytes + p->block_bytes * p->num_ranks) / j->unit;
}

static inline cell *cells_at(const judge *j, int rank, pat_address at)
{
    return j->held[rank] + units_before(j, rank, at.space) + at.offset / j->unit;
}

static inline bool may_read(const judge *j, int rank, const pat_node *n)
{
    const cell *from = cells_at(j, rank, n->from);
    bool right = n->from.space != PAT_SPACE_OWN || j->arrived[rank];
    for (int64_t b = 0; b < n->length / j->unit; b++)
        right = right && from[b].ranks != 0;
    return right;
}

/* What node n of a rank reads comes to where node m of another, or itself, writes. What it brings must be new. */
static inline bool deliver(const judge *j, int rank, const pat_node *n, int other, const pat_node *m)
{
    const cell *from = cells_at(j, rank, n->from);
    cell *to = cells_at(j, other, m->to);
    bool right = may_read(j, rank, n);
    for (int64_t b = 0; b < n->length / j->unit; b++) {
        right = right && (from[b].expression != to[b].expression);
        to[b] = from[b];
    }
    return right;
}

static inline bool reduce(const judge *j, int rank, const pat_node *n)
{
    const cell *from = cells_at(j, rank, n->from);
    cell *to = cells_at(j, rank, n->to);
    bool right = may_read(j, rank, n);
    for (int64_t b = 0; b < n->length / j->unit; b++) {
        right = right && to[b].ranks != 0 && (to[b].ranks & from[b].ranks) == 0 && to[b].unit == from[b].unit;
        to[b].expression = mix(from[b].expression, to[b].expression);
        to[b].ranks |= from[b].ranks;
    }
    return right;
}

static inline void finish_node(judge *j, int r, int i)
{
    const pat_plan *p = &j->set->plans[r];
    j->state[r][i] = DONE;
    for (int e = p->succ_at[i]; e < p->succ_at[i + 1]; e++)
        if (--j->missing[r][p->succ[e]] == 0)
            j->state[r][p->succ[e]] = READY;
}

static inline bool window_open(const judge *j, int r, const pat_node *n)
{
    const pat_plan *p = &j->set->plans[r];
    for (int i = 0; i < p->num_nodes; i++)
        if (p->nodes[i].kind == PAT_NODE_SEND && p->nodes[i].peer == n->peer &&
            p->nodes[i].match <= n->match - PAT_SEND_WINDOW && j->state[r][i] != DONE)
            return false;
    return true;
}

/* Do what this node does, if its time has come. *right becomes false when it does what it must not. */
static inline bool act(judge *j, set *s, int r, int i, bool *right)
{
    const pat_node *n = &s->plans[r].nodes[i];
    if (j->state[r][i] != READY || n->kind == PAT_NODE_RECV)
        return false;
    if (n->kind == PAT_NODE_SEND) {
        if (!window_open(j, r, n))
            return false;
        *right = *right && may_read(j, r, n);
        const pat_node *o = other_end(s, &s->plans[r], n);
        int end = (int)(o - s->plans[n->peer].nodes);
        if (j->state[n->peer][end] != READY)
            return false;
        *right = *right && deliver(j, r, n, n->peer, o);
        finish_node(j, n->peer, end);
    } else if (n->kind == PAT_NODE_COPY) {
        *right = *right && deliver(j, r, n, r, n);
    } else if (n->kind == PAT_NODE_REDUCE) {
        *right = *right && reduce(j, r, n);
    } else if (n->kind == PAT_NODE_ARRIVE) {
        j->arrived[r] = true;
    }
    finish_node(j, r, i);
    return true;
}

static inline int64_t num_cells(const judge *j, int rank)
{
    return units_before(j, rank, PAT_SPACE_SCRATCH) + j->set->plans[rank].scratch_bytes / j->unit;
}

/* No node has run, and every rank holds what it contributes. Returns how many nodes there are. */
static inline int begin_execution(judge *j, const pat_collective *collective)
{
    int num_nodes = 0;
    for (int r = 0; r < j->set->num_ranks; r++) {
        const pat_plan *p = &j->set->plans[r];
        num_nodes += p->num_nodes;
        memset(j->held[r], 0, (size_t)num_cells(j, r) * sizeof(cell));
        for (int64_t b = 0; b < pat_collective_own_bytes(collective, p) / j->unit; b++)
            j->held[r][b] = contribution(r, b);
        j->arrived[r] = false;
        for (int i = 0; i < p->num_nodes; i++) {
            j->missing[r][i] = p->num_preds[i];
            j->state[r][i] = p->num_preds[i] ? WAITING : READY;
        }
    }
    return num_nodes;
}

/* One execution; in each round the nodes have their turn in another random order, some of them often last. */
static inline bool execute(judge *j, set *s, const pat_collective *collective)
{
    bool right = true;
    int num_done = 0, (*order)[2], at = 0;
    const int num_nodes = begin_execution(j, collective);
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

/* Does the rank end with what it should, and with the same bits as rank 0? */
static inline bool ends_right(const judge *j, const pat_collective *collective, int rank)
{
    const pat_plan *p = &j->set->plans[rank];
    const int64_t block = p->block_bytes / j->unit,
                  share = pat_collective_share_start(collective, p) / j->unit;
    const cell *mine = cells_at(j, rank, pat_result(0)), *model = cells_at(j, 0, pat_result(0));
    for (int64_t b = 0; b < pat_collective_blocks(collective, p->num_ranks) * block; b++) {
        const cell giver = contribution((int)(b / block), share + b % block);
        const uint32_t wanted = collective->reduces ? (UINT32_C(1) << p->num_ranks) - 1 : giver.ranks;
        if (mine[b].ranks != wanted || mine[b].unit != giver.unit ||
            (!collective->personal && mine[b].expression != model[b].expression))
            return false;
    }
    return true;
}

static inline int64_t common_unit(const set *s)
{
    int64_t unit = s->plans[0].block_bytes;
    for (int r = 0; r < s->num_ranks; r++)
        for (int i = 0; i < s->plans[r].num_nodes; i++) {
            const pat_node *n = &s->plans[r].nodes[i];
            unit = common_divisor(common_divisor(unit, n->from.offset), n->to.offset);
            unit = common_divisor(unit, n->length);
        }
    return unit;
}

static inline void judge_begin(judge *j, const set *s)
{
    *j = (judge){.set = s, .unit = common_unit(s)};
    for (int r = 0; r < s->num_ranks; r++) {
        size_t nodes = (size_t)s->plans[r].num_nodes;
        j->held[r] = malloc((size_t)num_cells(j, r) * sizeof(cell));
        j->state[r] = malloc(nodes);
        j->missing[r] = malloc(nodes * sizeof(int));
    }
}

static inline void judge_end(judge *j)
{
    for (int r = 0; r < j->set->num_ranks; r++) {
        free(j->held[r]);
        free(j->state[r]);
        free(j->missing[r]);
    }
}

static inline bool still_right(set *s, const pat_collective *collective)
{
    judge j;
    bool right = true;
    judge_begin(&j, s);
    for (int k = 0; right && k < JUDGED_ORDERS; k++) {
        right = execute(&j, s, collective);
        for (int r = 0; right && r < s->num_ranks; r++)
            right = !pat_collective_gets(collective, &s->plans[r]) || ends_right(&j, collective, r);
    }
    judge_end(&j);
    return right;
}

#endif
