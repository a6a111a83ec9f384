/*
 * wait.c — see wait.h. Open MPI cannot block on a message while another thread may complete it, so sleeping is waiting
 * for a socket, or timed polling where sockets do not tell.
 */
#include "wait.h"

#include <sched.h>

#include "in_mpi.h"
#include "invariant.h"
#include "nbc.h"
#include "pace.h"
#include "runtime.h"
#include "sockets.h"

/*
 * Nothing moved: sleep until something comes in, or for a little while, since MPI may have taken in, or another thread
 * may have read, what nobody has looked at.
 */
static enum pat_sockets_event rest(pat_comm *c, int64_t quiet_ns)
{
    bool sending = (c->lane && pat_round_sending(c->lane->current)) ||
                   (c->rooted && pat_round_sending(&c->alone)) || pat_round_sending(&c->credits.round) ||
                   pat_nbc_sending(c);
    const bool announced = pat_comm_is_told(c, pat_sockets_tell(c->sockets));
    int64_t nap_ns = pat_pace_nap_ns(announced, quiet_ns);
    if (nap_ns == 0) {
        sched_yield();
        return PAT_SOCKETS_EXTRA;
    }
    return pat_sockets_wait(c->sockets, -1, sending, nap_ns);
}

static bool stays_awake(const pat_comm *c, int64_t quiet_ns)
{
    const pat_lane *lane = c->lane;
    if (c->rooted || !lane)
        return false;
    const pat_plan *plan = lane->current->plan; /* NULL: its round is not made yet */
    const int64_t bytes = plan ? plan->block_bytes : c->call.block_bytes;
    if (bytes <= 0)
        return false;
    const bool together = plan ? pat_plan_cache_together(plan) : pat_comm_together(c, lane, bytes);
    return pat_pace_stays_awake(together, c->size, pat_link_busy_ns(&c->link, bytes), quiet_ns);
}

static int pass_on(pat_comm *c, bool *moved)
{
    pthread_rwlock_rdlock(&pat_rt.driving);
    int rc = pat_comm_pass_on(c, true, moved);
    pthread_rwlock_unlock(&pat_rt.driving);
    return rc;
}

/* Beside what is waited for: what other ranks may wait for. Where something has failed before, they wait for the rest all the same. */
static int look_after_others(pat_comm *c, bool *moved)
{
    int rc = *moved ? MPI_SUCCESS : pat_credits_look(&c->credits, moved);
    if (rc == MPI_SUCCESS && pat_nbc_under_way(c))
        rc = pat_nbc_look(c, moved);
    pat_in_mpi_look_all(moved); /* not `c`, whose lock this thread has */
    const bool goes_on = rc == MPI_SUCCESS || c->failure.code != MPI_SUCCESS;
    if (goes_on && pat_comm_tells(c))
        rc = pass_on(c, moved);
    return c->failure.code == MPI_SUCCESS ? rc : MPI_SUCCESS;
}

int pat_wait_while(pat_comm *c, bool (*busy)(const pat_comm *c), int (*look)(pat_comm *c, bool *moved))
{
    int rc = MPI_SUCCESS, idle = 0;
    int64_t start = pat_clock_local_ns(), moved_ns = start;
    enum pat_sockets_event event = PAT_SOCKETS_EXTRA;
    atomic_store(&c->foreground, true);
    atomic_fetch_add(&pat_rt.callers, 1);
    while (rc == MPI_SUCCESS && busy(c)) {
        bool moved = false;
        pat_sockets_look(c->sockets);
        rc = look(c, &moved);
        if (rc == MPI_SUCCESS)
            rc = look_after_others(c, &moved);
        pat_nbc_fail(c);
        if (rc == MPI_SUCCESS && !moved)
            pat_runtime_drive_others();
        idle = moved ? 0 : idle + 1;
        if (moved) {
            moved_ns = pat_clock_local_ns();
            pat_sockets_learn(c->sockets, event, true);
            event = PAT_SOCKETS_EXTRA;
        }
        if (pat_pace_at_once(idle, pat_rt.looks) || pat_rt.config.wait_spin)
            continue; /* what MPI has just taken in is only seen at one of the next looks */
        int64_t quiet_ns = pat_clock_local_ns() - moved_ns;
        if (stays_awake(c, quiet_ns)) {
            sched_yield();
            continue;
        }
        pat_sockets_learn(c->sockets, event, false);
        const int64_t rests_ns = pat_clock_local_ns();
        event = rest(c, quiet_ns);
        pat_in_mpi_rested(rests_ns);
        idle = 0;
    }
    PAT_INVARIANT_HOLDS(c);
    atomic_fetch_sub(&pat_rt.callers, 1);
    atomic_store(&c->foreground, false);
    if ((pat_comm_tells(c) || atomic_load(&pat_rt.num_pending) > 0) &&
        pat_rt.thread) /* it was shut out, and may sleep */
        pat_thread_kick(pat_rt.thread);
    atomic_fetch_add_explicit(&pat_rt.wait_ns, pat_clock_local_ns() - start, memory_order_relaxed);
    return rc;
}
