/*
 * mpi_clock.c — the measured offset is right to within the error it states, also when many round trips are
 * disturbed. ranks: 2 4
 *
 * Ranks on one machine share the clock, so this program puts its own clock_gettime between the library and
 * the system: every rank's monotonic clock is shifted by an amount of its own, for the whole life of the
 * process.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

int clock_gettime(clockid_t clock, struct timespec *ts); /* ours; glibc's declaration has other attributes */

static int rank, size, failures;
static bool disturbed;
static unsigned calls;

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: rank %d: not true: %s\n", __FILE__, __LINE__, rank, #condition);         \
            failures++;                                                                                      \
        }                                                                                                    \
    } while (0)

static int64_t shift_ns(void)
{
    return (int64_t)(getpid() % 997) * 1234567891;
}

int clock_gettime(clockid_t clock, struct timespec *ts)
{
    if (clock == CLOCK_MONOTONIC && disturbed && calls++ % 64 < 40)
        usleep(4000);
    int rc = (int)syscall(SYS_clock_gettime, clock, ts);
    if (rc == 0 && clock == CLOCK_MONOTONIC) {
        int64_t ns = ts->tv_nsec + shift_ns();
        ts->tv_sec += (time_t)(ns / 1000000000);
        ts->tv_nsec = (long)(ns % 1000000000);
    }
    return rc;
}

/* Rank 0 of comm and the others against what they really differ by. */
static void check_offset(const pat_clock *clock, MPI_Comm comm, const char *what)
{
    int64_t shift0 = shift_ns();
    int me;
    MPI_Bcast(&shift0, 1, MPI_INT64_T, 0, comm);
    MPI_Comm_rank(comm, &me);
    int64_t wrong = clock->offset_ns - (shift0 - shift_ns());
    if (llabs(wrong) > clock->error_ns) {
        fprintf(stderr,
                "%s: rank %d: offset %" PRId64 " is %" PRId64 " ns off, stated error %" PRId64 " ns\n", what,
                rank, clock->offset_ns, wrong, clock->error_ns);
        failures++;
    }
    if (me == 0)
        CHECK(clock->offset_ns == 0 && clock->error_ns == 0);
    else
        CHECK(clock->error_ns > 0);
}

int main(int argc, char **argv)
{
    pat_clock clock;
    MPI_Comm reversed;
    int result = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int rounds = 1; rounds <= 100; rounds *= 10) {
        CHECK(pat_clock_sync(&clock, MPI_COMM_WORLD, rounds) == MPI_SUCCESS);
        check_offset(&clock, MPI_COMM_WORLD, "all");
        CHECK(clock.error_ns < 100000000);
    }

    /* What one rank saw before it sent, another sees later: causality in the common time, to within the
     * errors. */
    int64_t sent = pat_clock_now_ns(&clock) - clock.error_ns, latest;
    MPI_Allreduce(&sent, &latest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    CHECK(pat_clock_now_ns(&clock) + clock.error_ns >= latest);

    /* Another rank 0. */
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    CHECK(pat_clock_sync(&clock, reversed, 20) == MPI_SUCCESS);
    check_offset(&clock, reversed, "reversed");

    /* Most round trips of the last rank take milliseconds longer: the undisturbed ones count, wherever they
     * are. */
    MPI_Barrier(MPI_COMM_WORLD);
    disturbed = rank == size - 1 && rank > 0;
    CHECK(pat_clock_sync(&clock, MPI_COMM_WORLD, 100) == MPI_SUCCESS);
    disturbed = false;
    check_offset(&clock, MPI_COMM_WORLD, "disturbed");
    CHECK(clock.error_ns < 1500000);

    if (rank == size - 1)
        printf("stated error with most round trips disturbed: %" PRId64 " ns\n", clock.error_ns);
    CHECK(pat_clock_sync(&clock, MPI_COMM_WORLD, 0) == MPI_ERR_ARG);
    MPI_Comm_free(&reversed);
    MPI_Allreduce(&failures, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return result != 0;
}
