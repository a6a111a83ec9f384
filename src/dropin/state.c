/*
 * state.c — see state.h.
 */
#include "state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "about.h"
#include "clock.h"
#include "runtime.h"

static void when_asked(int signal)
{
    const int error = errno;
    pat_state *s = atomic_load(&pat_rt.state);
    if (s && s->signal == signal)
        sem_post(&s->asked);
    errno = error;
}

/* In one piece, since all ranks write to one place. */
static void tell(const pat_state *s)
{
    char text[600], place[160] = "";
    const int64_t now_ns = pat_clock_local_ns();
    const char *call = atomic_load(&s->call);
    const double seconds = 1e-9 * (double)(now_ns - atomic_load(&s->since_ns));
    const long long calls = (long long)atomic_load(&s->num_calls);
    const bool inside = atomic_load(&s->inside); /* now, since to find a line takes a while */
    if (call)
        s->name(s->of, atomic_load(&s->place), place, sizeof(place));
    int length = snprintf(text, sizeof(text), "pat: rank %d on %s, %.3g s after MPI_Init: ", s->rank, s->host,
                          1e-9 * (double)(now_ns - s->begin_ns));
    if (!call)
        length += snprintf(text + length, sizeof(text) - (size_t)length, "it has called nothing yet\n");
    else if (inside)
        length += snprintf(text + length, sizeof(text) - (size_t)length,
                           "in %s at %s for %.3g s (call %lld)\n", call, place, seconds, calls);
    else
        length +=
            snprintf(text + length, sizeof(text) - (size_t)length,
                     "in no call for %.3g s, since %s at %s (call %lld)\n", seconds, call, place, calls);
    fwrite(text, 1, (size_t)(length < (int)sizeof(text) ? length : (int)sizeof(text) - 1), stderr);
}

static void *answer(void *state)
{
    pat_state *s = state;
    for (;;) {
        while (sem_wait(&s->asked) != 0)
            ;
        if (atomic_load(&s->ends))
            return NULL;
        tell(s);
    }
}

int pat_state_begin(pat_state *s, int signal)
{
    sigset_t all, before;
    struct sigaction ours = {.sa_handler = when_asked, .sa_flags = SA_RESTART};
    if (!signal)
        return 0;
    s->signal = signal;
    pat_about_host(s->host, sizeof(s->host));
    if (sem_init(&s->asked, 0, 0) != 0)
        return errno;
    sigfillset(&all); /* the program's signals are for its own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&s->thread, NULL, answer, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        sem_destroy(&s->asked);
        return error;
    }
    s->on = true;
    atomic_store(&pat_rt.state, s);
    sigemptyset(&ours.sa_mask);
    sigaction(signal, &ours, &s->before);
    return 0;
}

void pat_state_end(pat_state *s)
{
    struct sigaction now;
    if (!s->on)
        return;
    /* A program that has taken the signal for itself meanwhile keeps it. */
    if (sigaction(s->signal, NULL, &now) == 0 && now.sa_handler == when_asked)
        sigaction(s->signal, &s->before, NULL);
    atomic_store(&pat_rt.state, NULL);
    atomic_store(&s->ends, true);
    sem_post(&s->asked);
    pthread_join(s->thread, NULL);
    sem_destroy(&s->asked);
    s->on = false;
}
