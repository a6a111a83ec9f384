/*
 * check_flow.c — the part of the checker that follows bytes: what a rank surely has before each node of its
 * plan, on every order of events. Must never rely on an order that no edge enforces.
 *
 * The points are found by a table of our own: with qsort and bsearch instead unit_check took 1.4 times as long.
 */
#include "check_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Bytes: points and intervals ---- */

static size_t find_point(const check *c, int64_t point)
{
    size_t at = (size_t)(((uint64_t)point * 0x9E3779B97F4A7C15u) >> 32) & (c->table_size - 1);
    while (c->table_key[at] != point && c->table_key[at] >= 0)
        at = (at + 1) & (c->table_size - 1);
    return at;
}

static int grow_table(check *c)
{
    size_t old_size = c->table_size;
    int64_t *old = c->table_key;
    c->table_size = old_size ? 4 * old_size : 256;
    c->table_key = malloc(c->table_size * sizeof(*c->table_key));
    if (!c->table_key) {
        c->table_key = old;
        return ENOMEM;
    }
    memset(c->table_key, -1, c->table_size * sizeof(*c->table_key));
    for (size_t i = 0; i < old_size; i++)
        if (old[i] >= 0)
            c->table_key[find_point(c, old[i])] = old[i];
    free(old);
    return 0;
}

static int add_point(check *c, int64_t point)
{
    size_t at = find_point(c, point);
    if (c->table_key[at] == point)
        return 0;
    c->table_key[at] = point;
    return 2 * ++c->num_points > c->table_size ? grow_table(c) : 0;
}

static int compare_points(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int interval_at(const check *c, int64_t point)
{
    return c->table_index[find_point(c, point)];
}

int pat_check_cut_intervals(check *c)
{
    int error = grow_table(c);
    for (int r = 0; !error && r <= c->num_ranks; r++)
        error = add_point(c, pat_plan_block_start(&c->plans[0], r));
    for (int r = 0; r < c->num_ranks; r++)
        for (int i = 0; !error && i < c->plans[r].num_nodes; i++) {
            const pat_node *n = &c->plans[r].nodes[i];
            if (n->length == 0 || n->kind == PAT_NODE_RECV) /* a RECV's points are its SEND's */
                continue;
            error = add_point(c, pat_node_address(n).offset);
            if (!error)
                error = add_point(c, pat_node_address(n).offset + n->length);
        }
    if (error)
        return error;
    c->points = malloc(c->num_points * sizeof(*c->points));
    c->table_index = malloc(c->table_size * sizeof(*c->table_index));
    if (!c->points || !c->table_index)
        return ENOMEM;
    size_t used = 0;
    for (size_t i = 0; i < c->table_size; i++)
        if (c->table_key[i] >= 0)
            c->points[used++] = c->table_key[i];
    qsort(c->points, used, sizeof(*c->points), compare_points);
    for (size_t i = 0; i < used; i++)
        c->table_index[find_point(c, c->points[i])] = (int)i;
    c->set_words = (used + 63) / 64;
    for (int r = 0; r < c->num_ranks; r++)
        for (int i = 0; i < c->plans[r].num_nodes; i++) {
            const pat_node *n = &c->plans[r].nodes[i];
            int node = c->first[r] + i;
            c->low[node] = c->high[node] = 0;
            if (n->length > 0 && n->kind != PAT_NODE_RECV) {
                c->low[node] = interval_at(c, pat_node_address(n).offset);
                c->high[node] = interval_at(c, pat_node_address(n).offset + n->length);
            }
        }
    for (int node = 0; node < c->num_nodes; node++)
        if (c->plans[c->owner[node]].nodes[node - c->first[c->owner[node]]].kind == PAT_NODE_RECV) {
            c->low[node] = c->low[c->partner[node]];
            c->high[node] = c->high[c->partner[node]];
        }
    return 0;
}

/* ---- Sets ---- */

static bool has(const uint64_t *set, int i)
{
    return set[i / 64] >> (i % 64) & 1;
}

static void add(uint64_t *set, int i)
{
    set[i / 64] |= (uint64_t)1 << (i % 64);
}

/* The bits of word w that lie in [low, high), which reaches into it. */
static uint64_t mask_in_word(int w, int low, int high)
{
    uint64_t from = low > w * 64 ? ~(uint64_t)0 << (low - w * 64) : ~(uint64_t)0;
    uint64_t to = high < (w + 1) * 64 ? ~(~(uint64_t)0 << (high - w * 64)) : ~(uint64_t)0;
    return from & to;
}

/* The first of low .. high-1 that is in the set (wanted true) or not in it; high when there is none. */
static int find_in(const uint64_t *set, int low, int high, bool wanted)
{
    for (int w = low / 64; w * 64 < high; w++) {
        uint64_t hits = (wanted ? set[w] : ~set[w]) & mask_in_word(w, low, high);
        if (hits)
            return w * 64 + __builtin_ctzll(hits);
    }
    return high;
}

static void add_range(uint64_t *set, int low, int high)
{
    for (int w = low / 64; w * 64 < high; w++)
        set[w] |= mask_in_word(w, low, high);
}

/* ---- One rank's plan: what each node may rely on ---- */

/* Sort the nodes by step: those of step s are step_nodes[step_at[s] .. step_at[s+1]-1]. Labels have no gaps.
 */
static int sort_steps(const check *c, int r)
{
    const pat_plan *p = &c->plans[r];
    int num_steps = 0;
    memset(c->step_at, 0, ((size_t)p->num_nodes + 2) * sizeof(*c->step_at));
    int *start = c->step_at + 1;
    for (int i = 0; i < p->num_nodes; i++) {
        int step = p->nodes[i].step;
        if (step < 0)
            continue;
        start[step + 1]++;
        num_steps = step >= num_steps ? step + 1 : num_steps;
    }
    for (int s = 0; s < num_steps; s++) {
        if (start[s + 1] == 0)
            return pat_check_refuse(c, r, -1, "rank %d: no node in step %d, but in a later one", r, s);
        start[s + 1] += start[s];
    }
    for (int i = 0; i < p->num_nodes; i++)
        if (p->nodes[i].step >= 0)
            c->step_nodes[start[p->nodes[i].step]++] = i;
    return 0;
}

static int check_step(const check *c, int r, int i, int arrive, const uint64_t *before)
{
    const pat_node *n = &c->plans[r].nodes[i];
    if (n->step <= 0 || n->kind == PAT_NODE_ARRIVE ||
        (n->kind == PAT_NODE_COPY && c->plans[r].nodes[arrive].step == n->step))
        return 0;
    for (int s = c->step_at[n->step - 1]; s < c->step_at[n->step]; s++)
        if (!has(before, c->step_nodes[s]))
            return pat_check_refuse(c, r, i, "does not wait for node %d of the step before",
                                    c->step_nodes[s]);
    return 0;
}

/*
 * Whoever is to be signalled by a peer may not send it own bytes unasked: that is what the signal is for. And
 * a signal that nothing waits for is a node with an edge missing.
 */
static int check_awaits(const check *c, int r, int i, const uint64_t *before, bool own_bytes)
{
    const pat_plan *p = &c->plans[r];
    for (int k = 0; k < c->num_awaits; k++) {
        int await =
            c->awaits[k] < 0 ? -1 - c->awaits[k] : c->awaits[k]; /* negative: something waits for it */
        if (p->nodes[await].peer != p->nodes[i].peer)
            continue;
        if (has(before, await))
            c->awaits[k] = -1 - await;
        else if (own_bytes)
            return pat_check_refuse(c, r, i, "does not wait for that rank's signal, node %d", await);
    }
    return 0;
}

static int check_node(const check *c, int r, int i, int arrive, const uint64_t *set)
{
    const pat_node *n = &c->plans[r].nodes[i];
    const uint64_t *before = set + c->set_words;
    int low = c->low[c->first[r] + i], high = c->high[c->first[r] + i], missing;
    int own_low = interval_at(c, pat_plan_block_start(&c->plans[r], r));
    int own_high = interval_at(c, pat_plan_block_start(&c->plans[r], r + 1));
    bool after_arrive = has(before, arrive);
    if (n->early != (i != arrive && !after_arrive))
        return pat_check_refuse(c, r, i,
                                n->early ? "marked early, but waits for ARRIVE" : "early, but not marked so");
    switch (n->kind) {
    case PAT_NODE_ARRIVE:
    case PAT_NODE_REDUCE: /* not proven yet: check.c has refused it */
        break;
    case PAT_NODE_NONE: /* what was to be sent may have been asked for */
        if (check_awaits(c, r, i, before, false))
            return EINVAL;
        break;
    case PAT_NODE_COPY:
        if (!after_arrive)
            return pat_check_refuse(c, r, i, "does not wait for ARRIVE");
        if (low < high && (low < own_low || high > own_high))
            return pat_check_refuse(c, r, i, "bytes that are not this rank's own");
        break;
    case PAT_NODE_SEND:
        missing = find_in(set, low, high, false);
        if (missing < high)
            return pat_check_refuse(c, r, i, "byte %lld need not be here by then",
                                    (long long)c->points[missing]);
        if (check_awaits(c, r, i, before, low < own_high && high > own_low))
            return EINVAL;
        break;
    case PAT_NODE_RECV:
        if (low < own_high && high > own_low)
            return pat_check_refuse(c, r, i, "bytes that are this rank's own");
        break;
    }
    return check_step(c, r, i, arrive, before);
}

/* Everything the rank must have in the end has been delivered. That nothing was delivered twice is seen on
 * the way. */
static int check_result(const check *c, int r)
{
    const pat_plan *p = &c->plans[r];
    int first = r, last = r; /* blocks */
    if (c->op == PAT_OP_BCAST) {
        first = last = 0;
    } else if (c->op == PAT_OP_ALLGATHER || r == 0) {
        first = 0;
        last = c->num_ranks - 1;
    }
    int low = interval_at(c, pat_plan_block_start(p, first));
    int high = interval_at(c, pat_plan_block_start(p, last + 1));
    int missing = find_in(c->have, low, high, false);
    if (missing < high)
        return pat_check_refuse(c, r, -1, "rank %d never gets bytes %lld to %lld", r,
                                (long long)c->points[missing], (long long)c->points[missing + 1] - 1);
    return 0;
}

/*
 * What is surely here when a node starts, on every order of events, is what the nodes that it has a path from
 * have delivered, and no more: any other delivery can be made to come later. So the sets are handed on along
 * the edges.
 */
int pat_check_flow(check *c, int r)
{
    const pat_plan *p = &c->plans[r];
    size_t words = c->set_words + (size_t)(p->num_nodes + 63) / 64;
    int arrive = 0, num_early = 0;
    bool has_control = false;
    int error = sort_steps(c, r);
    if (error)
        return error;
    memset(c->sets, 0, (size_t)p->num_nodes * words * sizeof(*c->sets));
    memset(c->have, 0, c->set_words * sizeof(*c->have));
    c->num_awaits = 0;
    for (int i = 0; i < p->num_nodes; i++) {
        if (p->nodes[i].kind == PAT_NODE_ARRIVE)
            arrive = i;
        if (p->nodes[i].kind == PAT_NODE_RECV && p->nodes[i].length == 0)
            c->awaits[c->num_awaits++] = i;
    }
    for (int i = 0; i < p->num_nodes; i++) {
        const pat_node *n = &p->nodes[i];
        uint64_t *set = c->sets + (size_t)i * words;
        error = check_node(c, r, i, arrive, set);
        if (error)
            return error;
        num_early += n->early;
        has_control = has_control || (pat_is_message(n) && n->length == 0);
        if (n->kind == PAT_NODE_COPY || n->kind == PAT_NODE_RECV) {
            int low = c->low[c->first[r] + i], high = c->high[c->first[r] + i];
            int twice = find_in(c->have, low, high, true);
            if (twice < high)
                return pat_check_refuse(c, r, i, "byte %lld is delivered a second time",
                                        (long long)c->points[twice]);
            add_range(c->have, low, high);
            add_range(set, low, high);
        }
        add(set + c->set_words, i);
        for (int s = p->succ_at[i]; s < p->succ_at[i + 1]; s++) {
            uint64_t *next = c->sets + (size_t)p->succ[s] * words;
            for (size_t w = 0; w < words; w++)
                next[w] |= set[w];
        }
    }
    for (int k = 0; k < c->num_awaits; k++)
        if (c->awaits[k] >= 0)
            return pat_check_refuse(c, r, c->awaits[k], "no message to that rank waits for it");
    if (num_early != p->num_early || has_control != p->has_control)
        return pat_check_refuse(c, r, -1, "rank %d: counts %d early nodes and %s signals, has %d and %s", r,
                                p->num_early, p->has_control ? "has" : "no", num_early,
                                has_control ? "some" : "none");
    return check_result(c, r);
}
