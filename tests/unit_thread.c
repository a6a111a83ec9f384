/*
 * unit_thread.c — the background thread is woken at the earliest of the times that callers have named, however many there are, and works again when another one is named.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "clock.h"
#include "thread.h"

#define MS INT64_C(1000000)

/* A timer that is set so late never ends in a test. */
#define NEVER_HERE (600000 * MS)

static atomic_int visits;

static void work(void *arg, pat_visit *visit)
{
    (void)arg;
    atomic_fetch_add(&visits, 1);
    *visit = (pat_visit){.next_ns = PAT_NEVER};
}

/* Has it worked so often, at last? */
static bool worked(int times)
{
    for (int i = 0; i < 10000 && atomic_load(&visits) < times; i++)
        nanosleep(&(struct timespec){.tv_nsec = MS}, NULL);
    return atomic_load(&visits) == times;
}

static void the_earliest_time_counts(void **state)
{
    (void)state;
    pat_thread *t = pat_thread_start(work, NULL, PAT_NEVER, NULL, NULL);
    assert_non_null(t);
    pat_thread_kick_later(t, NEVER_HERE);
    pat_thread_kick_later(t, 5 * MS); /* sooner than what was named before */
    assert_true(worked(1));
    pat_thread_kick_later(t, 5 * MS);
    pat_thread_kick_later(t, NEVER_HERE);
    assert_true(worked(2));
    pat_thread_kick_later(t, NEVER_HERE);
    pat_thread_kick(t);
    assert_true(worked(3));
    pat_thread_stop(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_earliest_time_counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
