/*
 * taulop_member.c — see taulop_member.h. A waiting member looks for a while and then lets others run, since there may be more
 * members than cores.
 */
#include "taulop_member.h"

#include <hwloc.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "taulop_look.h"

enum { PAGE = 4096 };

struct taulop_shared {
    _Alignas(TAULOP_LINE) atomic_int met;
    _Alignas(TAULOP_LINE) atomic_int meetings;
    struct {
        _Alignas(TAULOP_LINE) int64_t begin_ns;
        int64_t end_ns;
    } clock[TAULOP_MAX_MEMBERS];
};

char *taulop_slots_memory(const taulop_member *m)
{
    return (char *)(m->shared + 1);
}

size_t taulop_shared_bytes(size_t slots_bytes)
{
    return sizeof(taulop_shared) + slots_bytes;
}

/*
 * Cores are numbered NUMA node by NUMA node. With fewer cores than members nobody is bound, as MPI's launchers have it: who shares a core
 * with whom would decide what they take.
 */
static void bind_to_core(int number, int num)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        return;
    if (hwloc_topology_load(topology) == 0) {
        const int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
        hwloc_obj_t core =
            cores >= num ? hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, (unsigned)number) : NULL;
        if (core)
            hwloc_set_cpubind(topology, core->cpuset, HWLOC_CPUBIND_THREAD);
    }
    hwloc_topology_destroy(topology);
}

void taulop_settle(taulop_member *m)
{
    bind_to_core(m->number, m->num);
    memset(m->cold, m->number + 1, (size_t)m->cold_bytes);
}

char *taulop_cold(taulop_member *m, int64_t bytes)
{
    if (m->cold_at + bytes > m->cold_bytes)
        m->cold_at = 0;
    char *here = m->cold + m->cold_at;
    m->cold_at += (bytes + PAGE - 1) / PAGE *
                  PAGE; /* what a copy takes changes twofold with where in a page it begins */
    return here;
}

void taulop_meet(taulop_member *m)
{
    taulop_shared *s = m->shared;
    const int before = atomic_load(&s->meetings);
    if (atomic_fetch_add(&s->met, 1) == m->num - 1) {
        atomic_store(&s->met, 0);
        atomic_store_explicit(&s->meetings, before + 1, memory_order_release);
    }
    taulop_look_for(&s->meetings, before + 1, TAULOP_LOOKS);
}

/* The clock is the same for all threads and processes of a machine. */
static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

double taulop_timed(taulop_member *m, int workers, taulop_work *work, void *arg)
{
    taulop_shared *s = m->shared;
    taulop_meet(m);
    s->clock[m->number].begin_ns = now_ns();
    work(m, arg);
    s->clock[m->number].end_ns = now_ns();
    taulop_meet(m);
    int64_t begin = s->clock[0].begin_ns, end = s->clock[0].end_ns;
    for (int i = 1; i < workers; i++) {
        begin = s->clock[i].begin_ns < begin ? s->clock[i].begin_ns : begin;
        end = s->clock[i].end_ns > end ? s->clock[i].end_ns : end;
    }
    return (double)(end - begin) / 1e3;
}
