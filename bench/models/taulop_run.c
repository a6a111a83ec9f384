/*
 * taulop_run.c — see taulop_run.h. A message goes through one of two slots between a pair: the sender copies in, the receiver
 * copies out, and each waits for the other by looking. Own buffers are walked through, so that what is copied is not in
 * the cache; slots are used again and again, and are.
 */
#include "taulop_run.h"

#include <hwloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SLOTS = 2, LINE = 64 };

/* From one thread to another. */
typedef struct channel {
    char *slot[SLOTS];
    _Alignas(LINE) atomic_int full[SLOTS];
    _Alignas(LINE) int sent; /* the sender's count */
    _Alignas(LINE) int received;
} channel;

typedef struct member {
    struct taulop_team *team;
    int number;
    pthread_t thread;
    char *cold;
    int64_t at; /* where in it the next message is taken from or put */
} member;

struct taulop_team {
    int threads;
    int64_t cold_bytes, most_bytes;
    member *members;
    channel *channels; /* [from * threads + to] */
    pthread_barrier_t begin, end;
    atomic_int met, meetings; /* of meet() */
    hwloc_topology_t topology;
    int num_started;
    /* The work under way, written between the barriers. */
    void (*work)(member *m);
    enum taulop_setup setup;
    enum pat_node_op op;
    int tau, count;
    int64_t bytes;
};

static channel *between(member *m, int from, int to)
{
    return &m->team->channels[from * m->team->threads + to];
}

/* Own memory that has not been touched for long. */
static char *next_cold(member *m, int64_t bytes)
{
    if (m->at + bytes > m->team->cold_bytes)
        m->at = 0;
    char *here = m->cold + m->at;
    m->at += (bytes + LINE - 1) / LINE * LINE;
    return here;
}

/* Looks for a while, then lets others run: there may be more threads than cores. */
static void wait_for(atomic_int *flag, int value)
{
    for (int looks = 0; atomic_load_explicit(flag, memory_order_acquire) != value; looks++)
        if (looks > 200)
            sched_yield();
}

static void send_to(member *m, int to, const char *from, int64_t bytes)
{
    channel *c = between(m, m->number, to);
    const int slot = c->sent++ % SLOTS;
    wait_for(&c->full[slot], 0);
    memcpy(c->slot[slot], from, (size_t)bytes);
    atomic_store_explicit(&c->full[slot], 1, memory_order_release);
}

static void receive_from(member *m, int from, char *to, int64_t bytes)
{
    channel *c = between(m, from, m->number);
    const int slot = c->received++ % SLOTS;
    wait_for(&c->full[slot], 1);
    memcpy(to, c->slot[slot], (size_t)bytes);
    atomic_store_explicit(&c->full[slot], 0, memory_order_release);
}

/* ---- Work --------------------------------------------------------------------------------------------- */

static void transfer(member *m)
{
    const taulop_team *t = m->team;
    const int tau = t->tau, right = (m->number + 1) % tau, left = (m->number + tau - 1) % tau;
    if (m->number >= tau)
        return;
    for (int i = 0; i < t->count; i++) {
        char *own = next_cold(m, t->bytes);
        if (t->setup == TAULOP_BCAST) {
            memcpy(own, t->channels[0].slot[0], (size_t)t->bytes);
        } else if (t->setup == TAULOP_PING) {
            if (m->number % 2 == 0)
                send_to(m, m->number + 1, own, t->bytes);
            else
                receive_from(m, m->number - 1, own, t->bytes);
        } else {
            send_to(m, right, own, t->bytes);
            receive_from(m, left, next_cold(m, t->bytes), t->bytes);
        }
    }
}

static void binomial(member *m, int ranks, int64_t bytes)
{
    char *own = next_cold(m, bytes);
    int have = 1;
    for (; have <= m->number; have *= 2)
        if (m->number < 2 * have)
            receive_from(m, m->number - have, own, bytes);
    for (; m->number + have < ranks; have *= 2)
        send_to(m, m->number + have, own, bytes);
}

static void ring(member *m, int ranks, int64_t bytes)
{
    for (int step = 0; step < ranks - 1; step++) {
        send_to(m, (m->number + 1) % ranks, next_cold(m, bytes), bytes);
        receive_from(m, (m->number + ranks - 1) % ranks, next_cold(m, bytes), bytes);
    }
}

static void doubling(member *m, int ranks, int64_t bytes)
{
    for (int have = 1; have < ranks; have *= 2) {
        send_to(m, m->number ^ have, next_cold(m, have * bytes), have * bytes);
        receive_from(m, m->number ^ have, next_cold(m, have * bytes), have * bytes);
    }
}

/* So that one operation does not overlap with the next. */
static void meet(taulop_team *t, int ranks)
{
    const int before = atomic_load(&t->meetings);
    if (atomic_fetch_add(&t->met, 1) == ranks - 1) {
        atomic_store(&t->met, 0);
        atomic_store_explicit(&t->meetings, before + 1, memory_order_release);
    }
    wait_for(&t->meetings, before + 1);
}

static void operation(member *m)
{
    taulop_team *t = m->team;
    for (int i = 0; i < t->count && m->number < t->tau; i++) {
        if (t->op == PAT_NODE_BINOMIAL)
            binomial(m, t->tau, t->bytes);
        else if (t->op == PAT_NODE_RING)
            ring(m, t->tau, t->bytes);
        else if (t->op == PAT_NODE_DOUBLING)
            doubling(m, t->tau, t->bytes);
        else if (m->number == 0)
            send_to(m, 1, next_cold(m, t->bytes), t->bytes);
        else if (m->number == 1)
            receive_from(m, 0, next_cold(m, t->bytes), t->bytes);
        meet(t, t->tau);
    }
}

/* ---- The team ----------------------------------------------------------------------------------------- */

/* The number-th core; NUMA nodes one after the other, since hwloc counts so. More threads than cores share. */
static void bind(member *m)
{
    hwloc_topology_t topology = m->team->topology;
    const int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    hwloc_obj_t core =
        cores > 0 ? hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, (unsigned)(m->number % cores)) : NULL;
    if (core)
        hwloc_set_cpubind(topology, core->cpuset, HWLOC_CPUBIND_THREAD);
}

static void *run(void *arg)
{
    member *m = arg;
    bind(m);
    memset(m->cold, m->number + 1, (size_t)m->team->cold_bytes); /* on the NUMA node of its core */
    for (;;) {
        pthread_barrier_wait(&m->team->begin);
        if (!m->team->work)
            return NULL;
        m->team->work(m);
        pthread_barrier_wait(&m->team->end);
    }
}

static void free_team(taulop_team *t)
{
    for (int i = 0; t->members && i < t->threads; i++)
        free(t->members[i].cold);
    for (int i = 0; t->channels && i < t->threads * t->threads * SLOTS; i++)
        free(t->channels[i / SLOTS].slot[i % SLOTS]);
    free(t->members);
    free(t->channels);
    if (t->topology)
        hwloc_topology_destroy(t->topology);
    free(t);
}

static int make_memory(taulop_team *t)
{
    const size_t channels = (size_t)t->threads * (size_t)t->threads;
    t->members = calloc((size_t)t->threads, sizeof(*t->members));
    t->channels = aligned_alloc(LINE, channels * sizeof(*t->channels));
    if (t->channels)
        memset(t->channels, 0, channels * sizeof(*t->channels));
    bool good = t->members && t->channels;
    for (int i = 0; good && i < t->threads; i++) {
        t->members[i] = (member){.team = t, .number = i, .cold = malloc((size_t)t->cold_bytes)};
        good = t->members[i].cold != NULL;
    }
    for (size_t i = 0; good && i < channels * SLOTS; i++) {
        t->channels[i / SLOTS].slot[i % SLOTS] = calloc(1, (size_t)t->most_bytes);
        good = t->channels[i / SLOTS].slot[i % SLOTS] != NULL;
    }
    return good ? 0 : -1;
}

/* Work for all; returns what it took, in microseconds. */
static double work(taulop_team *t, void (*what)(member *m))
{
    struct timespec from, to;
    t->work = what;
    pthread_barrier_wait(&t->begin);
    clock_gettime(CLOCK_MONOTONIC, &from);
    if (what)
        pthread_barrier_wait(&t->end);
    clock_gettime(CLOCK_MONOTONIC, &to);
    return (double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) / 1e3;
}

void taulop_stop(taulop_team *t)
{
    work(t, NULL);
    for (int i = 0; i < t->num_started; i++)
        pthread_join(t->members[i].thread, NULL);
    pthread_barrier_destroy(&t->begin);
    pthread_barrier_destroy(&t->end);
    free_team(t);
}

taulop_team *taulop_start(int threads, int64_t cold_bytes, int64_t most_bytes)
{
    taulop_team *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->threads = threads;
    t->cold_bytes = cold_bytes;
    t->most_bytes = most_bytes;
    if (hwloc_topology_init(&t->topology) != 0 || hwloc_topology_load(t->topology) != 0 ||
        make_memory(t) != 0) {
        free_team(t);
        return NULL;
    }
    pthread_barrier_init(&t->begin, NULL, (unsigned)threads + 1);
    pthread_barrier_init(&t->end, NULL, (unsigned)threads + 1);
    for (; t->num_started < threads; t->num_started++)
        if (pthread_create(&t->members[t->num_started].thread, NULL, run, &t->members[t->num_started]) != 0)
            abort(); /* those that run wait for the others at a barrier: nothing can be undone */
    return t;
}

double taulop_transfer_us(taulop_team *t, enum taulop_setup setup, int tau, int64_t bytes, int messages)
{
    t->setup = setup;
    t->tau = tau;
    t->bytes = bytes;
    t->count = messages;
    return work(t, transfer) / messages / (setup == TAULOP_RING ? 2 : 1);
}

double taulop_operation_us(taulop_team *t, enum pat_node_op op, int ranks, int64_t bytes, int repeats)
{
    t->op = op;
    t->tau = ranks;
    t->bytes = bytes;
    t->count = repeats;
    return work(t, operation) / repeats;
}
