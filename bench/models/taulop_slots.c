/*
 * taulop_slots.c — see taulop_slots.h. A sender copies a segment into a free slot, the receiver copies it out, and each waits for
 * the other by looking. Slots are used again and again, and are in the cache; what members copy from and to is not.
 */
#include "taulop_slots.h"

#include <stdatomic.h>
#include <string.h>

#include "taulop_look.h"

enum { SLOTS = 2 };

/* From one member to another. */
typedef struct channel {
    _Alignas(TAULOP_LINE) atomic_int full[SLOTS];
    _Alignas(TAULOP_LINE)
        atomic_int told[SLOTS]; /* the sender's slots for all its children: this one has to read */
    _Alignas(TAULOP_LINE) int64_t sent;
    _Alignas(TAULOP_LINE) int64_t received;
} channel;

size_t taulop_slots_bytes(int num, int64_t segment_bytes)
{
    return (size_t)num * (size_t)num * (sizeof(channel) + SLOTS * (size_t)segment_bytes);
}

static channel *between(const taulop_member *m, int from, int to)
{
    return (channel *)taulop_slots_memory(m) + from * m->num + to;
}

/* A member's channel to itself carries nothing: its slots are those that all its children read. */
static char *slot_of(const taulop_member *m, int from, int to, int64_t segment)
{
    char *first = (char *)((channel *)taulop_slots_memory(m) + m->num * m->num);
    return first + ((int64_t)(from * m->num + to) * SLOTS + segment % SLOTS) * m->segment_bytes;
}

void taulop_slots_settle(taulop_member *m)
{
    memset(slot_of(m, m->number, 0, 0), 0, (size_t)m->num * SLOTS * (size_t)m->segment_bytes);
}

static void put(taulop_member *m, int to, const char *from, int64_t bytes)
{
    channel *c = between(m, m->number, to);
    const int64_t n = c->sent++;
    taulop_look_for(&c->full[n % SLOTS], 0, m->looks);
    memcpy(slot_of(m, m->number, to, n), from, (size_t)bytes);
    atomic_store_explicit(&c->full[n % SLOTS], 1, memory_order_release);
}

static void take(taulop_member *m, int from, char *to, int64_t bytes)
{
    channel *c = between(m, from, m->number);
    const int64_t n = c->received++;
    taulop_look_for(&c->full[n % SLOTS], 1, m->looks);
    memcpy(to, slot_of(m, from, m->number, n), (size_t)bytes);
    atomic_store_explicit(&c->full[n % SLOTS], 0, memory_order_release);
}

/* The segment that begins at `at`. */
static int64_t segment_at(const taulop_member *m, int64_t bytes, int64_t at)
{
    return bytes - at < m->segment_bytes ? bytes - at : m->segment_bytes;
}

static void send_to(taulop_member *m, int to, const char *data, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += m->segment_bytes)
        put(m, to, data + at, segment_at(m, bytes, at));
}

static void receive_from(taulop_member *m, int from, char *data, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += m->segment_bytes)
        take(m, from, data + at, segment_at(m, bytes, at));
}

static void exchange(taulop_member *m, int to, const char *out, int from, char *in, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += m->segment_bytes) {
        put(m, to, out + at, segment_at(m, bytes, at));
        take(m, from, in + at, segment_at(m, bytes, at));
    }
}

/* ---- The tree of shared buffers ------------------------------------------------------------------------- */

/* The caller's own slot, once all of the children have read what was in it. */
static char *free_slot(taulop_member *m, int first, int end, int64_t segment)
{
    for (int child = first; child < end; child++)
        taulop_look_for(&between(m, m->number, child)->told[segment % SLOTS], 0, m->looks);
    return slot_of(m, m->number, m->number, segment);
}

static void tell(taulop_member *m, int first, int end, int64_t segment)
{
    for (int child = first; child < end; child++)
        atomic_store_explicit(&between(m, m->number, child)->told[segment % SLOTS], 1, memory_order_release);
}

void taulop_fan_out(taulop_member *m, taulop_fan *fan, char *data, int64_t bytes)
{
    const int parent = (m->number - 1) / fan->degree, first = m->number * fan->degree + 1;
    const int end = first + fan->degree < fan->ranks ? first + fan->degree : fan->ranks;
    for (int64_t at = 0; at < bytes; at += m->segment_bytes) {
        const int64_t n = fan->written++;
        const size_t size = (size_t)segment_at(m, bytes, at);
        if (m->number == 0) {
            memcpy(free_slot(m, first, end, n), data + at, size);
            tell(m, first, end, n);
            continue;
        }
        atomic_int *told = &between(m, parent, m->number)->told[n % SLOTS];
        const char *from = slot_of(m, parent, parent, n);
        taulop_look_for(told, 1, m->looks);
        if (first < end) {
            memcpy(free_slot(m, first, end, n), from, size);
            tell(m, first, end, n);
        }
        memcpy(data + at, from, size);
        atomic_store_explicit(told, 0, memory_order_release);
    }
}

/* ---- Collectives ---------------------------------------------------------------------------------------- */

static void binomial(taulop_member *m, int64_t bytes)
{
    char *own = taulop_cold(m, bytes);
    int have = 1;
    for (; have <= m->number; have *= 2)
        if (m->number < 2 * have)
            receive_from(m, m->number - have, own, bytes);
    for (; m->number + have < m->num; have *= 2)
        send_to(m, m->number + have, own, bytes);
}

/* Among a power of two. What a member gets is its own block and those that it passes on. */
static void scatter(taulop_member *m, int64_t bytes)
{
    int blocks = m->number ? m->number & -m->number : m->num;
    char *own = taulop_cold(m, blocks * bytes);
    if (m->number)
        receive_from(m, m->number - blocks, own, blocks * bytes);
    for (blocks /= 2; blocks; blocks /= 2)
        send_to(m, m->number + blocks, own + blocks * bytes, blocks * bytes);
}

static void ring(taulop_member *m, int64_t bytes)
{
    const int right = (m->number + 1) % m->num, left = (m->number + m->num - 1) % m->num;
    char *all = taulop_cold(m, m->num * bytes);
    for (int step = 0; step < m->num - 1; step++) {
        const int out = (m->number - step + m->num) % m->num, in = (out + m->num - 1) % m->num;
        exchange(m, right, all + out * bytes, left, all + in * bytes, bytes);
    }
}

static void doubling(taulop_member *m, int64_t bytes)
{
    char *all = taulop_cold(m, m->num * bytes);
    for (int have = 1; have < m->num; have *= 2) {
        const int other = m->number ^ have, out = m->number & -have, in = other & -have;
        exchange(m, other, all + out * bytes, other, all + in * bytes, have * bytes);
    }
}

static void tree(taulop_member *m, int64_t bytes)
{
    taulop_fan fan = {m->num, TAULOP_TREE_DEGREE, 0};
    taulop_fan_out(m, &fan, taulop_cold(m, bytes), bytes);
}

static void collective(taulop_member *m, enum pat_node_op op, int64_t bytes)
{
    if (op == PAT_NODE_BINOMIAL)
        binomial(m, bytes);
    else if (op == PAT_NODE_TREE)
        tree(m, bytes);
    else if (op == PAT_NODE_SCATTER)
        scatter(m, bytes);
    else if (op == PAT_NODE_RING)
        ring(m, bytes);
    else
        doubling(m, bytes);
}

taulop_way taulop_slots_way(int64_t segment_bytes)
{
    return (taulop_way){.copies = 2,
                        .segment_bytes = segment_bytes,
                        .ops = (1u << PAT_NUM_NODE_OPS) - 1,
                        .send = send_to,
                        .receive = receive_from,
                        .exchange = exchange,
                        .collective = collective};
}
