/*
 * thread.c — see thread.h. Kicks go through an eventfd, or later ones through a timer, which an epoll descriptor has together, so that one poll()
 * waits for them, for sockets and for the time.
 */
#include "thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

struct pat_thread {
    pthread_t id;
    int event, timer, either; /* either: readable when one of the others is */
    atomic_bool kicked, stopping, rescan;
    atomic_int_fast64_t due_ns; /* when the timer is to wake it, by the local clock; 0: it is not set */
    atomic_int_fast64_t wakeups;
    pat_sockets *sockets;
    pat_thread_work *work;
    void *arg;
    int64_t first_ns;
    pat_place_view
        *view; /* what its place is chosen by, when there is work for the first time; NULL: it has one */
};

/* Sleep as the last visit wished. */
static enum pat_sockets_event rest(pat_thread *t, const pat_visit *visit)
{
    bool watch = visit->watch && t->sockets;
    int64_t wait_ns = -1;
    if (visit->next_ns != PAT_NEVER) {
        wait_ns = visit->next_ns - pat_clock_local_ns();
        if (wait_ns < 0)
            wait_ns = 0;
    }
    if (watch && atomic_exchange(&t->rescan, false))
        pat_sockets_scan(t->sockets);
    pat_sockets_heed(t->sockets, visit->heeds);
    return pat_sockets_wait(watch ? t->sockets : NULL, t->either, visit->sending, wait_ns);
}

/* A program that is over within a second may never have work for the thread: then nobody has read the topology. */
static void take_place(pat_thread *t)
{
    if (!t->view)
        return;
    const pat_place place = pat_place_settle(t->view);
    pat_place_apply(&place);
    pat_place_forget(t->view);
    t->view = NULL;
}

/* Neither blocks where there is nothing to read. */
static void take_kicks(pat_thread *t)
{
    eventfd_t kicks;
    uint64_t times;
    if (eventfd_read(t->event, &kicks) == 0)
        atomic_store(&t->kicked, false);
    if (read(t->timer, &times, sizeof(times)) > 0)
        atomic_store(&t->due_ns, 0);
}

static _Thread_local bool is_background;

static void *thread_main(void *arg)
{
    is_background = true;
    pat_thread *t = arg;
    pat_visit visit = {.next_ns = t->first_ns};

    while (!atomic_load(&t->stopping)) {
        enum pat_sockets_event event = rest(t, &visit);
        if (event == PAT_SOCKETS_EXTRA)
            take_kicks(t);
        if (atomic_load(&t->stopping))
            break;
        take_place(t);
        atomic_fetch_add_explicit(&t->wakeups, 1, memory_order_relaxed);
        bool watched = visit.watch;
        visit.told = pat_sockets_tell(t->sockets);
        visit.by_data = event == PAT_SOCKETS_DATA;
        pat_sockets_look(t->sockets);
        t->work(t->arg, &visit);
        if (watched && visit.drove && !visit.left_out)
            pat_sockets_learn(t->sockets, event, event == PAT_SOCKETS_TIME ? visit.came : visit.moved);
    }
    return NULL;
}

static bool open_kicks(pat_thread *t)
{
    struct epoll_event in = {.events = EPOLLIN};
    t->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    t->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    t->either = epoll_create1(EPOLL_CLOEXEC);
    return t->event >= 0 && t->timer >= 0 && t->either >= 0 &&
           epoll_ctl(t->either, EPOLL_CTL_ADD, t->event, &in) == 0 &&
           epoll_ctl(t->either, EPOLL_CTL_ADD, t->timer, &in) == 0;
}

static void close_kicks(const pat_thread *t)
{
    const int fds[] = {t->event, t->timer, t->either};
    for (int i = 0; i < 3; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

pat_thread *pat_thread_start(pat_thread_work *work, void *arg, int64_t first_ns, pat_place_view *view,
                             pat_bells *bells)
{
    pat_thread *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->work = work;
    t->arg = arg;
    t->first_ns = first_ns;
    if (!open_kicks(t)) {
        const int error = errno;
        close_kicks(t);
        free(t);
        errno = error;
        return NULL;
    }
    t->view = view;
    t->sockets = pat_sockets_create(); /* without: timed polling */
    pat_sockets_hear(t->sockets, bells);
    atomic_store(&t->rescan, true);

    /* The application's signal handlers must run on its own threads: ours starts with everything blocked. */
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    int error = pthread_create(&t->id, NULL, thread_main, t);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error) {
        close_kicks(t);
        pat_sockets_free(t->sockets);
        free(t);
        errno = error;
        return NULL;
    }
    return t;
}

void pat_thread_kick(pat_thread *t)
{
    if (!atomic_exchange(&t->kicked, true))
        eventfd_write(t->event, 1);
}

/* Of several callers at once the one that is last to set the timer sees the earliest time. */
void pat_thread_kick_later(pat_thread *t, int64_t delay_ns)
{
    enum { SECOND = 1000000000 };
    const int_fast64_t when_ns = pat_clock_local_ns() + delay_ns;
    int_fast64_t due_ns = atomic_load(&t->due_ns);
    do
        if (due_ns != 0 && due_ns <= when_ns)
            return;
    while (!atomic_compare_exchange_weak(&t->due_ns, &due_ns, when_ns));
    for (due_ns = when_ns; due_ns != 0;) {
        const struct itimerspec at = {.it_value = {due_ns / SECOND, due_ns % SECOND}};
        timerfd_settime(t->timer, TFD_TIMER_ABSTIME, &at, NULL);
        const int_fast64_t now_due_ns = atomic_load(&t->due_ns);
        if (now_due_ns == due_ns)
            return;
        due_ns = now_due_ns;
    }
}

bool pat_thread_is_self(void)
{
    return is_background;
}

void pat_thread_rescan(pat_thread *t)
{
    atomic_store(&t->rescan, true);
}

void pat_thread_stop(pat_thread *t)
{
    atomic_store(&t->stopping, true);
    eventfd_write(t->event, 1);
    pthread_join(t->id, NULL);
    close_kicks(t);
    pat_sockets_free(t->sockets);
    pat_place_forget(t->view);
    free(t);
}

void pat_thread_usage(pat_thread *t, int64_t *cpu_ns, int64_t *wakeups)
{
    clockid_t clock;
    struct timespec ts = {0, 0};
    if (pthread_getcpuclockid(t->id, &clock) == 0)
        clock_gettime(clock, &ts);
    *cpu_ns = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
    *wakeups = atomic_load(&t->wakeups);
}
