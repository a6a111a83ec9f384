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
    const void *at = atomic_load(&s->place);
    if (at)
        s->name(s->of, at, place, sizeof(place));
    int length = snprintf(text, sizeof(text), "pat: rank %d on %s, %.3g s after MPI_Init: ", s->rank, s->host,
                          1e-9 * (double)(now_ns - s->begin_ns));
    if (!call)
        length += snprintf(text + length, sizeof(text) - (size_t)length, "it has called nothing yet\n");
    else
        length += snprintf(text + length, sizeof(text) - (size_t)length,
                           inside ? "in %s%s%s for %.3g s (call %lld)\n"
                                  : "in no call since %s%s%s, for %.3g s (call %lld)\n",
                           call, at ? " at " : "", place, seconds, calls);
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

int pat_state_catch(int signal)
{
    struct sigaction ours = {.sa_handler = when_asked, .sa_flags = SA_RESTART}, before;
    sigemptyset(&ours.sa_mask);
    if (sigaction(signal, NULL, &before) != 0)
        return errno;
    if ((before.sa_flags & SA_SIGINFO) || (before.sa_handler != SIG_DFL && before.sa_handler != when_asked))
        return EBUSY;
    return sigaction(signal, &ours, NULL) == 0 ? 0 : errno;
}

int pat_state_begin(pat_state *s)
{
    sigset_t all, before;
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
    return 0;
}

void pat_state_end(pat_state *s)
{
    if (!s->on)
        return;
    atomic_store(&pat_rt.state, NULL);
    atomic_store(&s->ends, true);
    sem_post(&s->asked);
    pthread_join(s->thread, NULL);
    sem_destroy(&s->asked);
    s->on = false;
}
