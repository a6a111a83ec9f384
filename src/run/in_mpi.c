/*
 * in_mpi.c — see in_mpi.h.
 */
#include "in_mpi.h"

#include "error.h"
#include "nbc.h"
#include "pace.h"
#include "progress.h"
#include "runtime.h"

typedef int look_at_comm(pat_comm *c, bool *moved);

/* Whoever has the lock looks himself; this may be the same thread, in whose call of MPI we are. Returns whether it was free. */
static bool look_if_free(pat_comm *c, look_at_comm *look, bool *moved)
{
    if (!pat_comm_trylock(c))
        return false;
    if (pat_nbc_under_way(c) && !pat_comm_is_dead(c) && pthread_rwlock_tryrdlock(&pat_rt.driving) == 0) {
        pat_error_begin(); /* what this thread has said before has nothing to do with what fails here */
        look(c, moved);
        pat_error_begin();
        pthread_rwlock_unlock(&pat_rt.driving);
    }
    pat_nbc_fail(c);
    pat_comm_unlock(c);
    return true;
}

/* Returns whether all locks were free. */
static bool look_everywhere(look_at_comm *look, bool *moved)
{
    bool cut_short, all_free = true;
    for (pat_comm *c = pat_comm_next(NULL, &cut_short); c; c = pat_comm_next(c, &cut_short))
        if (pat_comm_is_local(c) && !look_if_free(c, look, moved))
            all_free = false;
    return all_free;
}

void pat_in_mpi_look_all(bool *moved)
{
    if (atomic_load_explicit(&pat_rt.num_pending, memory_order_relaxed) == 0)
        return;
    look_everywhere(pat_nbc_look_driving, moved);
}

/* Looks of a thread of the program's in MPI, one after the other. */
typedef struct looks {
    int64_t last_ns; /* by the local clock */
    int num;         /* so many have followed each other soon */
    pat_rest rest;
} looks;

static _Thread_local looks mine;

static void note_waited(int64_t ns)
{
    atomic_fetch_add_explicit(&pat_rt.in_mpi_ns, ns, memory_order_relaxed);
}

/*
 * A thread of the program's looks. It waits there if it looks again at once; one that looks now and then, between parts of its work, does not, and would leave
 * what it has started alone for long.
 */
static void note_look(looks *l, int64_t now_ns)
{
    if (pat_pace_waits_in_mpi(now_ns, l->last_ns)) {
        atomic_store_explicit(&pat_rt.looked_ns, now_ns, memory_order_relaxed);
        note_waited(now_ns - l->last_ns);
    }
    l->num = pat_pace_is_in_mpi(now_ns, l->last_ns, false) ? l->num + 1 : 0;
    if (l->num == 0)
        l->rest = pat_runtime_rest_begin();
    l->last_ns = now_ns;
}

/*
 * In MPI a program looks without end, and at most yields the processor. Where a node has more ranks than processors that is not enough (pat_runtime_rest says why): on 2 x 4
 * ranks nothing else on the machine got a processor for a minute. So the thread sleeps between its looks, as callers of this library do.
 */
static void rest_in_mpi(looks *l, bool moved)
{
    enum { MANY = 16 };
    if (l->num < MANY)
        return;
    pat_runtime_rest(&l->rest, moved);
    const int64_t now_ns = pat_clock_local_ns();
    note_waited(now_ns - l->last_ns);
    l->last_ns = now_ns;
}

/* What the MPI library runs is to go as it would without this library, where the program waits for it. */
static bool runs_plans(void)
{
    return atomic_load_explicit(&pat_rt.num_pending, memory_order_relaxed) >
           atomic_load_explicit(&pat_rt.num_moved, memory_order_relaxed);
}

/*
 * MPI looks for messages. What it takes in in a call of the program's, as in MPI_Wait, no socket tells the background thread of, so it is passed
 * on here, when MPI looks the next time.
 */
static int look_in_mpi(void)
{
    bool moved = false;
    if (atomic_load_explicit(&pat_rt.num_pending, memory_order_relaxed) == 0)
        return 0;
    if (pat_thread_is_self()) {
        look_everywhere(pat_nbc_look_known, &moved);
        return moved;
    }
    note_look(&mine, pat_clock_local_ns());
    /* Not with a lock, be it this thread's own. */
    if (look_everywhere(pat_nbc_look_known, &moved) && pat_rt.crowded && runs_plans() &&
        atomic_load(&pat_rt.callers) == 0)
        rest_in_mpi(&mine, moved);
    return moved;
}

void pat_in_mpi_rested(int64_t since_ns)
{
    if (atomic_load_explicit(&pat_rt.num_pending, memory_order_relaxed) == 0)
        return;
    mine.last_ns = pat_clock_local_ns();
    note_waited(mine.last_ns - since_ns);
}

void pat_in_mpi_join(void)
{
    pat_rt.joined = pat_progress_join(look_in_mpi);
}

void pat_in_mpi_leave(void)
{
    if (pat_rt.joined)
        pat_progress_leave(look_in_mpi);
    pat_rt.joined = false;
}
