/*
 * check_order.c — the part of the checker that looks at the order within each rank's plan: of two nodes that touch the same
 * byte, one of them writing, one must wait for the other, over any number of edges. Then all orders of events end with the
 * same values, and whoever looks at one order has seen all. Must never rely on an order that no edge enforces.
 *
 * Edges lead from lower to higher numbers, so a pass over the nodes by number has seen all that a node may wait for. It is
 * enough to hold a read against the last write before it, and a write against the last one and the reads since: what is
 * older has been held against these.
 *
 * The points are found by a table of our own: with qsort and bsearch instead unit_check_all took 1.4 times as long.
 */
#include "check_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    int node, next; /* next: an older reader of the same interval; -1: none */
} reader;

typedef struct order {
    const check *c;

    /* The points where any range begins or ends cut the bytes of all spaces into intervals, numbered from 0. */
    int64_t *table_key; /* open hash: point, -1 for an empty slot */
    int *table_index;
    size_t table_size, num_points;
    int64_t *points; /* ascending */

    /* Of the rank that is looked at. */
    int rank, arrive;
    const pat_plan *plan;
    size_t words;
    uint64_t *before; /* per node: the nodes that are surely complete when it starts */
    int *writer;      /* per interval: the last node so far that writes it, -1: none */
    int *readers;     /* per interval: who has read it since, as a place in the pool; -1: nobody */
    reader *pool;
    size_t num_pool, cap_pool;
    int *step_at, *step_nodes;
    int *awaits, num_awaits;
} order;

/* ---- Points and intervals ---- */

static size_t find_point(const order *o, int64_t point)
{
    size_t at = (size_t)(((uint64_t)point * 0x9E3779B97F4A7C15u) >> 32) & (o->table_size - 1);
    while (o->table_key[at] != point && o->table_key[at] >= 0)
        at = (at + 1) & (o->table_size - 1);
    return at;
}

static int grow_table(order *o)
{
    size_t old_size = o->table_size;
    int64_t *old = o->table_key;
    o->table_size = old_size ? 4 * old_size : 256;
    o->table_key = malloc(o->table_size * sizeof(*o->table_key));
    if (!o->table_key) {
        o->table_key = old;
        return ENOMEM;
    }
    memset(o->table_key, -1, o->table_size * sizeof(*o->table_key));
    for (size_t i = 0; i < old_size; i++)
        if (old[i] >= 0)
            o->table_key[find_point(o, old[i])] = old[i];
    free(old);
    return 0;
}

static int add_point(order *o, int64_t point)
{
    size_t at = find_point(o, point);
    if (o->table_key[at] == point)
        return 0;
    o->table_key[at] = point;
    return 2 * ++o->num_points > o->table_size ? grow_table(o) : 0;
}

static int add_range(order *o, pat_address at, int64_t length)
{
    const int64_t begin = pat_check_byte(o->c, at);
    int error = add_point(o, begin);
    return error ? error : add_point(o, begin + length);
}

static int compare_points(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int interval_at(const order *o, int64_t point)
{
    return o->table_index[find_point(o, point)];
}

static int collect_points(order *o)
{
    int error = grow_table(o);
    for (int node = 0; node < o->c->num_nodes && !error; node++) {
        const pat_node *n = pat_check_node(o->c, node);
        if (pat_check_reads(n))
            error = add_range(o, n->from, n->length);
        const bool known = n->kind == PAT_NODE_RECV && n->length > 0 &&
                           pat_check_byte(o->c, n->to) ==
                               pat_check_byte(o->c, pat_check_node(o->c, o->c->partner[node])->from);
        if (!error && pat_check_writes(n) && !known)
            error = add_range(o, n->to, n->length);
    }
    return error;
}

static int cut_intervals(order *o)
{
    int error = collect_points(o);
    if (error)
        return error;
    o->points = malloc((o->num_points + 1) * sizeof(*o->points));
    o->table_index = malloc(o->table_size * sizeof(*o->table_index));
    if (!o->points || !o->table_index)
        return ENOMEM;
    size_t used = 0;
    for (size_t i = 0; i < o->table_size; i++)
        if (o->table_key[i] >= 0)
            o->points[used++] = o->table_key[i];
    qsort(o->points, used, sizeof(*o->points), compare_points);
    for (size_t i = 0; i < used; i++)
        o->table_index[find_point(o, o->points[i])] = (int)i;
    return 0;
}

/* ---- Who waits for whom ---- */

/* Does the node surely start when the other is complete? */
static bool waits_for(const order *o, int node, int other)
{
    return o->before[(size_t)node * o->words + (size_t)(other / 64)] >> (other % 64) & 1;
}

/* All nodes before this one are known: hand them on, and itself, to those that wait for it. */
static void hand_on(const order *o, int node)
{
    uint64_t *mine = o->before + (size_t)node * o->words;
    mine[node / 64] |= (uint64_t)1 << (node % 64);
    for (int s = o->plan->succ_at[node]; s < o->plan->succ_at[node + 1]; s++) {
        uint64_t *next = o->before + (size_t)o->plan->succ[s] * o->words;
        for (size_t w = 0; w <= (size_t)node / 64; w++)
            next[w] |= mine[w];
    }
}

/* ---- Bytes ---- */

static int refuse_byte(const order *o, int node, const char *what, int interval, int other)
{
    const char *name = pat_check_name(o->c, o->points[interval]);
    if (other < 0)
        return pat_check_refuse(o->c, o->rank, node, "%s %s", name, what);
    return pat_check_refuse(o->c, o->rank, node, "%s %s node %d", name, what, other);
}

static int note_reader(order *o, int node, int interval)
{
    if (o->num_pool == o->cap_pool) {
        const size_t wanted = o->cap_pool ? 2 * o->cap_pool : 1024;
        reader *pool = realloc(o->pool, wanted * sizeof(*pool));
        if (!pool)
            return ENOMEM;
        o->pool = pool;
        o->cap_pool = wanted;
    }
    o->pool[o->num_pool] = (reader){node, o->readers[interval]};
    o->readers[interval] = (int)o->num_pool++;
    return 0;
}

/* The node reads an interval: what it reads must surely be there. */
static int check_there(const order *o, int node, int interval)
{
    const int writer = o->writer[interval];
    if (writer < 0 || !waits_for(o, node, writer))
        return refuse_byte(o, node, "need not be here by then", interval, -1);
    return 0;
}

static int read_range(order *o, int node, pat_address at, int64_t length)
{
    if (at.space == PAT_SPACE_OWN)
        return waits_for(o, node, o->arrive)
                   ? 0
                   : pat_check_refuse(o->c, o->rank, node, "does not wait for ARRIVE");
    const int64_t begin = pat_check_byte(o->c, at);
    const int high = interval_at(o, begin + length);
    int error = 0;
    for (int k = interval_at(o, begin); k < high && !error; k++) {
        error = check_there(o, node, k);
        if (!error)
            error = note_reader(o, node, k);
    }
    return error;
}

static int write_interval(order *o, int node, int interval)
{
    const int writer = o->writer[interval];
    if (writer >= 0 && !waits_for(o, node, writer))
        return refuse_byte(o, node, "is written in no fixed order with", interval, writer);
    for (int k = o->readers[interval]; k >= 0; k = o->pool[k].next)
        if (!waits_for(o, node, o->pool[k].node))
            return refuse_byte(o, node, "is overwritten, but may still be read by", interval,
                               o->pool[k].node);
    o->writer[interval] = node;
    o->readers[interval] = -1;
    return 0;
}

static int write_range(order *o, int node, const pat_node *n)
{
    const int64_t begin = pat_check_byte(o->c, n->to);
    const int high = interval_at(o, begin + n->length);
    int error = 0;
    for (int k = interval_at(o, begin); k < high && !error; k++) {
        if (n->kind == PAT_NODE_REDUCE)
            error = check_there(o, node, k);
        if (!error)
            error = write_interval(o, node, k);
    }
    return error;
}

/* ---- Steps and signals ---- */

/* Sort the nodes by step: those of step s are step_nodes[step_at[s] .. step_at[s+1]-1]. Labels have no gaps.
 */
static int sort_steps(const order *o)
{
    const pat_plan *p = o->plan;
    int num_steps = 0;
    memset(o->step_at, 0, ((size_t)p->num_nodes + 2) * sizeof(*o->step_at));
    int *start = o->step_at + 1;
    for (int i = 0; i < p->num_nodes; i++) {
        int step = p->nodes[i].step;
        if (step < 0)
            continue;
        start[step + 1]++;
        num_steps = step >= num_steps ? step + 1 : num_steps;
    }
    for (int s = 0; s < num_steps; s++) {
        if (start[s + 1] == 0)
            return pat_check_refuse(o->c, o->rank, -1, "rank %d: no node in step %d, but in a later one",
                                    o->rank, s);
        start[s + 1] += start[s];
    }
    for (int i = 0; i < p->num_nodes; i++)
        if (p->nodes[i].step >= 0)
            o->step_nodes[start[p->nodes[i].step]++] = i;
    return 0;
}

static int check_step(const order *o, int i)
{
    const pat_node *n = &o->plan->nodes[i];
    if (n->step <= 0 || n->kind == PAT_NODE_ARRIVE ||
        (n->kind == PAT_NODE_COPY && o->plan->nodes[o->arrive].step == n->step))
        return 0;
    for (int s = o->step_at[n->step - 1]; s < o->step_at[n->step]; s++)
        if (!waits_for(o, i, o->step_nodes[s]))
            return pat_check_refuse(o->c, o->rank, i, "does not wait for node %d of the step before",
                                    o->step_nodes[s]);
    return 0;
}

/* Does the node send what its rank contributes, and not only what it passes on? */
static bool sends_own(const order *o, const pat_node *n)
{
    if (n->kind != PAT_NODE_SEND || n->length == 0 || n->from.space == PAT_SPACE_OWN)
        return n->kind == PAT_NODE_SEND && n->length > 0;
    if (o->c->collective->reduces || n->from.space != PAT_SPACE_RESULT ||
        !pat_collective_gives(o->c->collective, o->plan))
        return false;
    const int own = pat_collective_own_block(o->c->collective, o->rank);
    return n->from.offset < pat_plan_block_start(o->plan, own + 1) &&
           n->from.offset + n->length > pat_plan_block_start(o->plan, own);
}

/*
 * Whoever is to be signalled by a peer may not send it own bytes unasked: that is what the signal is for. And
 * a signal that nothing waits for is a node with an edge missing. What waits may be a message of which nothing is left.
 */
static int check_awaits(const order *o, int i)
{
    const pat_node *n = &o->plan->nodes[i];
    if (n->kind != PAT_NODE_SEND && n->kind != PAT_NODE_NONE)
        return 0;
    for (int k = 0; k < o->num_awaits; k++) {
        const bool heeded = o->awaits[k] < 0; /* something waits for it */
        const int await = heeded ? -1 - o->awaits[k] : o->awaits[k];
        if (o->plan->nodes[await].peer != n->peer)
            continue;
        if (waits_for(o, i, await))
            o->awaits[k] = -1 - await;
        else if (sends_own(o, n))
            return pat_check_refuse(o->c, o->rank, i, "does not wait for that rank's signal, node %d", await);
    }
    return 0;
}

/* ---- One rank's plan ---- */

static int check_node(order *o, int i)
{
    const pat_node *n = &o->plan->nodes[i];
    const bool early = i != o->arrive && !waits_for(o, i, o->arrive);
    int error = 0;
    if (n->early != early)
        return pat_check_refuse(o->c, o->rank, i,
                                n->early ? "marked early, but waits for ARRIVE" : "early, but not marked so");
    if (pat_check_reads(n))
        error = read_range(o, i, n->from, n->length);
    if (!error && pat_check_writes(n))
        error = write_range(o, i, n);
    if (!error)
        error = check_awaits(o, i);
    return error ? error : check_step(o, i);
}

static int begin_rank(order *o, int rank)
{
    o->rank = rank;
    o->plan = &o->c->plans[rank];
    o->words = (size_t)(o->plan->num_nodes + 63) / 64;
    o->num_pool = 0;
    o->num_awaits = 0;
    memset(o->before, 0, (size_t)o->plan->num_nodes * o->words * sizeof(*o->before));
    memset(o->writer, -1, o->num_points * sizeof(*o->writer));
    memset(o->readers, -1, o->num_points * sizeof(*o->readers));
    for (int i = 0; i < o->plan->num_nodes; i++) {
        if (o->plan->nodes[i].kind == PAT_NODE_ARRIVE)
            o->arrive = i;
        if (o->plan->nodes[i].kind == PAT_NODE_RECV && o->plan->nodes[i].length == 0)
            o->awaits[o->num_awaits++] = i;
    }
    return sort_steps(o);
}

/* What the plan says of itself as a whole. */
static int check_counts(const order *o)
{
    const pat_plan *p = o->plan;
    int num_early = 0;
    bool has_control = false;
    for (int i = 0; i < p->num_nodes; i++) {
        num_early += p->nodes[i].early;
        has_control = has_control || (pat_is_message(&p->nodes[i]) && p->nodes[i].length == 0);
    }
    if (num_early != p->num_early || has_control != p->has_control)
        return pat_check_refuse(
            o->c, o->rank, -1, "rank %d: counts %d early nodes and %s signals, has %d and %s", o->rank,
            p->num_early, p->has_control ? "has" : "no", num_early, has_control ? "some" : "none");
    return 0;
}

static int check_rank(order *o, int rank)
{
    int error = begin_rank(o, rank);
    for (int i = 0; i < o->plan->num_nodes && !error; i++) {
        error = check_node(o, i);
        hand_on(o, i);
    }
    if (error)
        return error;
    for (int k = 0; k < o->num_awaits; k++)
        if (o->awaits[k] >= 0)
            return pat_check_refuse(o->c, rank, o->awaits[k], "no message to that rank waits for it");
    return check_counts(o);
}

static int reserve(order *o)
{
    const size_t nodes = (size_t)o->c->max_nodes;
    int error = cut_intervals(o);
    if (error)
        return error;
    o->before = malloc(nodes * ((nodes + 63) / 64) * sizeof(*o->before));
    o->writer = malloc((o->num_points + 1) * sizeof(*o->writer));
    o->readers = malloc((o->num_points + 1) * sizeof(*o->readers));
    o->step_at = malloc((nodes + 2) * sizeof(*o->step_at));
    o->step_nodes = malloc(nodes * sizeof(*o->step_nodes));
    o->awaits = malloc(nodes * sizeof(*o->awaits));
    return o->before && o->writer && o->readers && o->step_at && o->step_nodes && o->awaits ? 0 : ENOMEM;
}

int pat_check_order(const check *c)
{
    order o = {.c = c};
    int error = reserve(&o);
    for (int r = 0; r < c->num_ranks && !error; r++)
        error = check_rank(&o, r);
    free(o.table_key);
    free(o.table_index);
    free(o.points);
    free(o.before);
    free(o.writer);
    free(o.readers);
    free(o.pool);
    free(o.step_at);
    free(o.step_nodes);
    free(o.awaits);
    return error;
}
