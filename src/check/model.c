/*
 * model.c — see model.h. An event-driven walk over the plans of all ranks. It must
 * never use floating point: two ranks that predict must come to the same answer.
 *
 * Where the walk must decide who goes first, the message that has been ready longest does, then the lower
 * sending rank, then the lower node: one answer for one input. (Of unordered sends to one peer the engine takes the
 * lower node first, which is the same unless ports are behind.) A port is never left idle while a message that
 * needs only free ports waits.
 */
#include "model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

enum { SEND_SIDE, RECV_SIDE, NUM_SIDES };
enum progress { NOT_READY, WAITING, STARTED };

typedef struct message {
    int node[NUM_SIDES]; /* of the sender and of the receiver, numbered over all ranks; -1: there is none */
    int rank[NUM_SIDES];
    int prev[NUM_SIDES], next[NUM_SIDES]; /* neighbours in the queue of either port, while WAITING */
    int64_t busy_ns;                      /* how long it keeps its ports; 0: it needs none */
    int64_t ready_ns;                     /* since when it waits for its ports */
    int64_t here_ns;                      /* when it is at the receiver, once STARTED */
    enum progress progress;
    bool eager, send_posted, recv_posted;
} message;

typedef struct port {
    int head, tail; /* messages waiting for it, longest first */
    bool busy;
} port;

/* Binary heap: smallest key first, then smallest id. */
typedef struct entry {
    int64_t key;
    int id, port;
} entry;

typedef struct heap {
    entry *entries;
    size_t size;
} heap;

typedef struct walk {
    const pat_plan *plans;
    const int64_t *arrival_ns;
    const pat_cost *cost;
    pat_span *const *spans;
    int num_ranks, num_nodes, num_messages, num_done;
    int *first;   /* first[r] + i is the number of rank r's node i over all ranks */
    int *missing; /* predecessors not yet complete */
    int *owner;   /* rank of every node */
    int *message_of;
    message *messages; /* in order of sending rank, then node */
    int *lane_at;      /* messages of the pair (s, d), by match: lane[lane_at[s*P+d]] up to the next pair's */
    int *lane, *lane_low;
    int *lane_of;          /* pair of every message */
    port *ports;           /* of rank r: 2r sends, 2r+1 receives */
    int *freed, num_freed; /* ports that became free at this instant */
    int *fresh, num_fresh; /* messages that became ready at this instant */
    heap events, candidates;
    int64_t *end_ns;     /* per rank: the last of its nodes so far */
    int64_t *reduced_ns; /* per rank: when the last REDUCE that was ready ends */
} walk;

static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Nanoseconds for `bytes` at beta, rounded up: pieces of a block must not be faster than the block. */
static int64_t busy_time(int64_t bytes, int64_t beta_ps)
{
    wide ns = ((wide)bytes * beta_ps + 999) / 1000;
    return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

/* ---- Heap ---- */

static bool before(const entry *a, const entry *b)
{
    return a->key < b->key || (a->key == b->key && a->id < b->id);
}

static void heap_push(heap *h, entry e)
{
    size_t at = h->size++;
    for (size_t up; at > 0 && (up = (at - 1) / 2, before(&e, &h->entries[up])); at = up)
        h->entries[at] = h->entries[up];
    h->entries[at] = e;
}

static entry heap_pop(heap *h)
{
    entry top = h->entries[0], last = h->entries[--h->size];
    size_t at = 0;
    for (size_t down; (down = 2 * at + 1) < h->size; at = down) {
        if (down + 1 < h->size && before(&h->entries[down + 1], &h->entries[down]))
            down++;
        if (!before(&h->entries[down], &last))
            break;
        h->entries[at] = h->entries[down];
    }
    h->entries[at] = last;
    return top;
}

/* ---- Queues of the ports ---- */

static port *port_of(walk *w, const message *m, int side)
{
    return &w->ports[2 * m->rank[side] + side];
}

static bool ports_free(walk *w, const message *m)
{
    return !port_of(w, m, SEND_SIDE)->busy && !port_of(w, m, RECV_SIDE)->busy;
}

static void enqueue(walk *w, int id, int side)
{
    message *m = &w->messages[id];
    port *p = port_of(w, m, side);
    int left = p->tail;
    /* Only those that became ready at the same instant can belong behind it. */
    while (left >= 0 && w->messages[left].ready_ns == m->ready_ns && left > id)
        left = w->messages[left].prev[side];
    int right = left >= 0 ? w->messages[left].next[side] : p->head;
    m->prev[side] = left;
    m->next[side] = right;
    *(left >= 0 ? &w->messages[left].next[side] : &p->head) = id;
    *(right >= 0 ? &w->messages[right].prev[side] : &p->tail) = id;
}

static void dequeue(walk *w, const message *m, int side)
{
    port *p = port_of(w, m, side);
    int left = m->prev[side], right = m->next[side];
    *(left >= 0 ? &w->messages[left].next[side] : &p->head) = right;
    *(right >= 0 ? &w->messages[right].prev[side] : &p->tail) = left;
}

/* ---- Nodes and messages ---- */

static pat_span *span_of(const walk *w, int node)
{
    int rank = w->owner[node];
    return w->spans ? &w->spans[rank][node - w->first[rank]] : NULL;
}

static void start_at(const walk *w, int node, int64_t now)
{
    pat_span *span = span_of(w, node);
    if (span)
        span->start_ns = now;
}

static void end_at(walk *w, int node, int64_t at)
{
    heap_push(&w->events, (entry){.key = at, .id = node});
}

static void start_message(walk *w, message *m, int64_t now)
{
    m->progress = STARTED;
    if (m->busy_ns > 0)
        for (int side = 0; side < NUM_SIDES; side++)
            port_of(w, m, side)->busy = true;
    int64_t there = plus(now, w->cost->alpha_ns);
    m->here_ns = plus(there, m->busy_ns);
    start_at(w, m->node[SEND_SIDE], now);
    start_at(w, m->node[RECV_SIDE], there);
    end_at(w, m->node[SEND_SIDE], plus(now, m->busy_ns));
    if (m->recv_posted)
        end_at(w, m->node[RECV_SIDE], m->here_ns);
}

static void message_ready(walk *w, int id, int64_t now)
{
    message *m = &w->messages[id];
    m->ready_ns = now;
    if (m->busy_ns == 0) {
        start_message(w, m, now);
        return;
    }
    m->progress = WAITING;
    for (int side = 0; side < NUM_SIDES; side++)
        enqueue(w, id, side);
    w->fresh[w->num_fresh++] = id;
}

static bool in_window(const walk *w, int id)
{
    int lane = w->lane_of[id], rank = w->messages[id].rank[SEND_SIDE];
    const pat_node *n = &w->plans[rank].nodes[w->messages[id].node[SEND_SIDE] - w->first[rank]];
    return n->unordered || n->match - w->lane_low[lane] < PAT_SEND_WINDOW;
}

static void try_message(walk *w, int id, int64_t now)
{
    message *m = &w->messages[id];
    if (m->progress == NOT_READY && m->send_posted && (m->eager || m->recv_posted) && in_window(w, id))
        message_ready(w, id, now);
}

/* The rank reduces one node after the other, in the order in which they became ready. */
static void reduce_from(walk *w, int node, int64_t now)
{
    const int rank = w->owner[node];
    const int64_t bytes = w->plans[rank].nodes[node - w->first[rank]].length;
    const int64_t start = now > w->reduced_ns[rank] ? now : w->reduced_ns[rank];
    w->reduced_ns[rank] = plus(start, busy_time(bytes, w->cost->gamma_ps));
    start_at(w, node, start);
    end_at(w, node, w->reduced_ns[rank]);
}

static void node_ready(walk *w, int node, int64_t now)
{
    int rank = w->owner[node], id = w->message_of[node];
    message *m = id >= 0 ? &w->messages[id] : NULL;
    start_at(w, node, now);
    switch (w->plans[rank].nodes[node - w->first[rank]].kind) {
    case PAT_NODE_ARRIVE:
        now = now < w->arrival_ns[rank] ? w->arrival_ns[rank] : now;
        start_at(w, node, now);
        end_at(w, node, now);
        break;
    case PAT_NODE_COPY:
    case PAT_NODE_NONE:
        end_at(w, node, now);
        break;
    case PAT_NODE_REDUCE:
        reduce_from(w, node, now);
        break;
    case PAT_NODE_SEND:
        m->send_posted = true;
        try_message(w, id, now);
        break;
    case PAT_NODE_RECV:
        m->recv_posted = true;
        if (m->progress == STARTED) { /* eager: it is on its way, or came unexpected */
            int64_t there = m->here_ns - m->busy_ns;
            start_at(w, node, now < there ? there : now);
            end_at(w, node, now < m->here_ns ? m->here_ns : now);
        } else {
            try_message(w, id, now);
        }
        break;
    }
}

/* A send is complete: its ports are free, and the window of its pair may have moved on. */
static void send_done(walk *w, int id, int64_t now)
{
    const message *m = &w->messages[id];
    int lane = w->lane_of[id], at = w->lane_at[lane], count = w->lane_at[lane + 1] - at;
    if (m->busy_ns > 0)
        for (int side = 0; side < NUM_SIDES; side++) {
            port_of(w, m, side)->busy = false;
            w->freed[w->num_freed++] = 2 * m->rank[side] + side;
        }
    int low = w->lane_low[lane], old_end = low + PAT_SEND_WINDOW;
    while (low < count && w->missing[w->messages[w->lane[at + low]].node[SEND_SIDE]] < 0)
        low++;
    w->lane_low[lane] = low;
    for (int k = old_end; k < count && k < low + PAT_SEND_WINDOW; k++)
        try_message(w, w->lane[at + k], now);
}

static void node_done(walk *w, int node, int64_t now)
{
    int rank = w->owner[node];
    const pat_plan *p = &w->plans[rank];
    int local = node - w->first[rank];
    pat_span *span = span_of(w, node);
    if (span)
        span->end_ns = now;
    if (w->end_ns[rank] < now)
        w->end_ns[rank] = now;
    w->missing[node] = -1;
    w->num_done++;
    if (p->nodes[local].kind == PAT_NODE_SEND)
        send_done(w, w->message_of[node], now);
    for (int s = p->succ_at[local]; s < p->succ_at[local + 1]; s++) {
        int next = w->first[rank] + p->succ[s];
        if (--w->missing[next] == 0)
            node_ready(w, next, now);
    }
}

/* ---- Who goes first ---- */

/* The first message from `id` on in a port's queue that could start now becomes a candidate on that port's
 * behalf. */
static void nominate(walk *w, int id, int port_id)
{
    while (id >= 0 && !ports_free(w, &w->messages[id]))
        id = w->messages[id].next[port_id % NUM_SIDES];
    if (id >= 0)
        heap_push(&w->candidates, (entry){.key = w->messages[id].ready_ns, .id = id, .port = port_id});
}

/*
 * Start what can start, longest ready first. Only messages at a port that has just become free, or just ready
 * themselves, can: every other one has been looked at before and lacked a port that is still busy.
 */
static void dispatch(walk *w, int64_t now)
{
    for (int i = 0; i < w->num_freed; i++)
        nominate(w, w->ports[w->freed[i]].head, w->freed[i]);
    for (int i = 0; i < w->num_fresh; i++)
        heap_push(&w->candidates,
                  (entry){.key = w->messages[w->fresh[i]].ready_ns, .id = w->fresh[i], .port = -1});
    w->num_freed = w->num_fresh = 0;
    while (w->candidates.size > 0) {
        entry c = heap_pop(&w->candidates);
        message *m = &w->messages[c.id];
        if (m->progress == STARTED)
            continue;
        if (ports_free(w, m)) {
            for (int side = 0; side < NUM_SIDES; side++)
                dequeue(w, m, side);
            start_message(w, m, now);
        } else if (c.port >= 0 && !w->ports[c.port].busy) {
            nominate(w, m->next[c.port % NUM_SIDES], c.port);
        }
    }
}

/* ---- Setting up ---- */

/* Number the messages and find both ends of each. Returns EDEADLK when one has no partner: it can never
 * complete. */
static int match_messages(walk *w)
{
    int num_ranks = w->num_ranks, id = 0;
    for (int r = 0; r < num_ranks; r++)
        for (int i = 0; i < w->plans[r].num_nodes; i++) {
            const pat_node *n = &w->plans[r].nodes[i];
            int node = w->first[r] + i;
            w->owner[node] = r;
            w->missing[node] = w->plans[r].num_preds[i];
            w->message_of[node] = -1;
            if (!pat_is_message(n))
                continue;
            if (n->peer < 0 || n->peer >= num_ranks)
                return EDEADLK;
            if (n->kind == PAT_NODE_RECV)
                continue;
            w->message_of[node] = id;
            w->lane_of[id] = r * num_ranks + n->peer;
            w->lane_at[r * num_ranks + n->peer + 1]++;
            w->messages[id++] = (message){.node = {node, -1},
                                          .rank = {r, n->peer},
                                          .busy_ns = busy_time(n->length, w->cost->beta_ps),
                                          .eager = n->length <= w->cost->eager_bytes && !n->sync};
        }
    for (int l = 0; l < num_ranks * num_ranks; l++)
        w->lane_at[l + 1] += w->lane_at[l];
    memset(w->lane, -1, (size_t)w->num_messages * sizeof(*w->lane));
    for (int m = 0; m < w->num_messages; m++) {
        int l = w->lane_of[m], r = w->messages[m].rank[SEND_SIDE];
        int match = w->plans[r].nodes[w->messages[m].node[SEND_SIDE] - w->first[r]].match;
        if (match < 0 || match >= w->lane_at[l + 1] - w->lane_at[l] || w->lane[w->lane_at[l] + match] >= 0)
            return EDEADLK;
        w->lane[w->lane_at[l] + match] = m;
    }
    int num_received = 0;
    for (int r = 0; r < num_ranks; r++)
        for (int i = 0; i < w->plans[r].num_nodes; i++) {
            const pat_node *n = &w->plans[r].nodes[i];
            if (n->kind != PAT_NODE_RECV)
                continue;
            int l = n->peer * num_ranks + r;
            if (n->match < 0 || n->match >= w->lane_at[l + 1] - w->lane_at[l])
                return EDEADLK;
            int m = w->lane[w->lane_at[l] + n->match];
            if (w->messages[m].node[RECV_SIDE] >= 0)
                return EDEADLK;
            w->messages[m].node[RECV_SIDE] = w->first[r] + i;
            w->message_of[w->first[r] + i] = m;
            num_received++;
        }
    return num_received == w->num_messages ? 0 : EDEADLK;
}

static int walk_init(walk *w)
{
    size_t num_ranks = (size_t)w->num_ranks, nodes = 0, messages = 0;
    w->first = malloc(num_ranks * sizeof(*w->first));
    if (!w->first)
        return ENOMEM;
    for (size_t r = 0; r < num_ranks; r++) {
        w->first[r] = (int)nodes;
        nodes += (size_t)w->plans[r].num_nodes;
        for (int i = 0; i < w->plans[r].num_nodes; i++)
            messages += w->plans[r].nodes[i].kind == PAT_NODE_SEND;
    }
    if (nodes > INT32_MAX || num_ranks * num_ranks >= INT32_MAX)
        return ENOMEM;
    w->num_nodes = (int)nodes;
    w->num_messages = (int)messages;
    /* One more than needed, so that nothing asks for no memory at all. */
    w->missing = malloc((nodes + 1) * sizeof(*w->missing));
    w->owner = malloc((nodes + 1) * sizeof(*w->owner));
    w->message_of = malloc((nodes + 1) * sizeof(*w->message_of));
    w->messages = malloc((messages + 1) * sizeof(*w->messages));
    w->lane_at = calloc(num_ranks * num_ranks + 1, sizeof(*w->lane_at));
    w->lane_low = calloc(num_ranks * num_ranks + 1, sizeof(*w->lane_low));
    w->lane = malloc((messages + 1) * sizeof(*w->lane));
    w->lane_of = malloc((messages + 1) * sizeof(*w->lane_of));
    w->ports = malloc(2 * num_ranks * sizeof(*w->ports));
    w->freed = malloc(2 * num_ranks * sizeof(*w->freed));
    w->fresh = malloc((messages + 1) * sizeof(*w->fresh));
    w->events.entries = malloc((nodes + 1) * sizeof(entry));
    w->candidates.entries = malloc((2 * num_ranks + messages + 1) * sizeof(entry));
    w->end_ns = malloc(num_ranks * sizeof(*w->end_ns));
    w->reduced_ns = malloc(num_ranks * sizeof(*w->reduced_ns));
    if (!w->missing || !w->owner || !w->message_of || !w->messages || !w->lane_at || !w->lane_low ||
        !w->lane || !w->lane_of || !w->ports || !w->freed || !w->fresh || !w->events.entries ||
        !w->candidates.entries || !w->end_ns || !w->reduced_ns)
        return ENOMEM;
    for (size_t p = 0; p < 2 * num_ranks; p++)
        w->ports[p] = (port){.head = -1, .tail = -1};
    memcpy(w->end_ns, w->arrival_ns, num_ranks * sizeof(*w->end_ns));
    for (size_t r = 0; r < num_ranks; r++)
        w->reduced_ns[r] = INT64_MIN;
    return match_messages(w);
}

static void walk_free(walk *w)
{
    free(w->first);
    free(w->missing);
    free(w->owner);
    free(w->message_of);
    free(w->messages);
    free(w->lane_at);
    free(w->lane_low);
    free(w->lane);
    free(w->lane_of);
    free(w->ports);
    free(w->freed);
    free(w->fresh);
    free(w->events.entries);
    free(w->candidates.entries);
    free(w->end_ns);
    free(w->reduced_ns);
}

int pat_model_walk(const pat_plan *plans, int num_ranks, const int64_t *arrival_ns, const pat_cost *cost,
                   int64_t *exit_ns, pat_span *const *spans)
{
    walk w = {.plans = plans, .num_ranks = num_ranks, .arrival_ns = arrival_ns, .cost = cost, .spans = spans};
    int error = walk_init(&w);
    if (error) {
        walk_free(&w);
        return error;
    }
    /* What waits for no rank's arrival runs in the background; it is taken to begin with the first arrival.
     */
    int64_t now = arrival_ns[0];
    for (int r = 1; r < num_ranks; r++)
        if (arrival_ns[r] < now)
            now = arrival_ns[r];
    for (int node = 0; node < w.num_nodes; node++) {
        int rank = w.owner[node];
        if (plans[rank].num_preds[node - w.first[rank]] == 0)
            node_ready(&w, node, now);
    }
    dispatch(&w, now);
    while (w.events.size > 0) {
        now = w.events.entries[0].key;
        /* Everything of one instant first, so that those who are ready at it compete on equal terms. */
        while (w.events.size > 0 && w.events.entries[0].key == now)
            node_done(&w, heap_pop(&w.events).id, now);
        dispatch(&w, now);
    }
    if (w.num_done < w.num_nodes)
        error = EDEADLK;
    else
        memcpy(exit_ns, w.end_ns, (size_t)num_ranks * sizeof(*exit_ns));
    walk_free(&w);
    return error;
}
