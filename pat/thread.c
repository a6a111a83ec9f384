/*
 * thread.c — see thread.h. One mutex, one condition variable on the monotonic clock.
 */
#include "thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "clock.h"

struct pat_thread {
    pthread_t id;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool kicked, stopping;
    int64_t wakeups;
    pat_thread_work *work;
    void *arg;
    pat_place place;
};

static void wait_until(pat_thread *t, int64_t when_ns)
{
    if (when_ns == PAT_NEVER) {
        pthread_cond_wait(&t->wake, &t->lock);
        return;
    }
    struct timespec ts = {.tv_sec = when_ns / 1000000000, .tv_nsec = when_ns % 1000000000};
    pthread_cond_timedwait(&t->wake, &t->lock, &ts);
}

static void *thread_main(void *arg)
{
    pat_thread *t = arg;
    pat_place_apply(&t->place);
    int64_t next = PAT_NEVER;

    pthread_mutex_lock(&t->lock);
    while (!t->stopping) {
        while (!t->kicked && !t->stopping && (next == PAT_NEVER || pat_clock_local_ns() < next))
            wait_until(t, next);
        if (t->stopping)
            break;
        t->kicked = false;
        t->wakeups++;
        pthread_mutex_unlock(&t->lock);
        next = t->work(t->arg);
        pthread_mutex_lock(&t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

pat_thread *pat_thread_start(pat_thread_work *work, void *arg, const pat_place *place)
{
    pat_thread *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->work = work;
    t->arg = arg;
    t->place = *place;
    pthread_mutex_init(&t->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&t->wake, &attr);
    pthread_condattr_destroy(&attr);

    /* The application's signal handlers must run on its own threads: ours starts with everything blocked. */
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    int error = pthread_create(&t->id, NULL, thread_main, t);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error) {
        pthread_cond_destroy(&t->wake);
        pthread_mutex_destroy(&t->lock);
        free(t);
        errno = error;
        return NULL;
    }
    return t;
}

void pat_thread_kick(pat_thread *t)
{
    pthread_mutex_lock(&t->lock);
    t->kicked = true;
    pthread_cond_signal(&t->wake);
    pthread_mutex_unlock(&t->lock);
}

void pat_thread_stop(pat_thread *t)
{
    pthread_mutex_lock(&t->lock);
    t->stopping = true;
    pthread_cond_signal(&t->wake);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->id, NULL);
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

void pat_thread_usage(pat_thread *t, int64_t *cpu_ns, int64_t *wakeups)
{
    clockid_t clock;
    struct timespec ts = {0, 0};
    if (pthread_getcpuclockid(t->id, &clock) == 0)
        clock_gettime(clock, &ts);
    *cpu_ns = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
    pthread_mutex_lock(&t->lock);
    *wakeups = t->wakeups;
    pthread_mutex_unlock(&t->lock);
}
