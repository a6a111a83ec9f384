/*
 * mpi_clock.c — the measured offset is right to within the error it states, also when many round trips are
 * disturbed; between ranks of a node that read one clock it is not measured, and they know the same. ranks: 2 4
 *
 * Ranks on one machine share the clock, so this program puts its own clock_gettime between the library and
 * the system: the monotonic clock of every two ranks is shifted by an amount of their own, for the whole life of the
 * process.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock_sync.h"

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

/* Known before MPI is: the clock must not jump. */
static int launched_as(void)
{
    const char *open = getenv("OMPI_COMM_WORLD_RANK"), *mpich = getenv("PMI_RANK");
    return open ? atoi(open) : mpich ? atoi(mpich) : -1;
}

static int64_t shift_ns(void)
{
    return (int64_t)(launched_as() / 2) *
           1234567891234; /* more than any rank is held up, or two clocks may be taken for one */
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
}

/* node_of: NULL, each rank is on a node of its own. */
static int sync_clocks(pat_clock *clock, MPI_Comm comm, const int *node_of, int rounds)
{
    pat_clock_tree tree;
    CHECK(pat_clock_tree_find(&tree, comm, node_of) == MPI_SUCCESS);
    return pat_clock_sync(clock, comm, &tree, rounds);
}

/* Two ranks read one clock. It is right that two are on a node of the cluster; that all are is wrong, as the clocks show where there are more. */
static void check_nodes(void)
{
    int two[] = {0, 0, 2, 2}, all[] = {0, 0, 0, 0};
    pat_clock clock, other = {0};
    pat_clock_tree tree;
    CHECK(sync_clocks(&clock, MPI_COMM_WORLD, two, 10) == MPI_SUCCESS);
    MPI_Sendrecv(&clock, 3, MPI_INT64_T, rank ^ 1, 0, &other, 3, MPI_INT64_T, rank ^ 1, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(memcmp(&clock, &other, sizeof(clock)) == 0);
    CHECK((clock.error_ns == 0) == (rank < 2));
    check_offset(&clock, MPI_COMM_WORLD, "two on a node");
    CHECK(pat_clock_tree_find(&tree, MPI_COMM_WORLD, all) == MPI_SUCCESS);
    CHECK(tree.root == (rank < 2 && (rank == 0 || size == 2)));
    CHECK(pat_clock_sync(&clock, MPI_COMM_WORLD, &tree, 10) == MPI_SUCCESS);
    if (size > 2)
        check_offset(&clock, MPI_COMM_WORLD, "clocks that differ on a node");
}

int main(int argc, char **argv)
{
    pat_clock clock;
    MPI_Comm reversed;
    int result = 0;
    if (launched_as() < 0)
        return 77;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int rounds = 1; rounds <= 100; rounds *= 10) {
        CHECK(sync_clocks(&clock, MPI_COMM_WORLD, NULL, rounds) == MPI_SUCCESS);
        check_offset(&clock, MPI_COMM_WORLD, "all");
        CHECK(clock.error_ns < 100000000);
    }

    /* What one rank saw before it sent, another sees later: causality in the common time, to within the
     * errors. */
    int64_t sent = pat_clock_now_ns(&clock) - clock.error_ns, latest;
    MPI_Allreduce(&sent, &latest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    CHECK(pat_clock_now_ns(&clock) + clock.error_ns >= latest);

    check_nodes();

    /* Another rank 0. */
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    CHECK(sync_clocks(&clock, reversed, NULL, 20) == MPI_SUCCESS);
    check_offset(&clock, reversed, "reversed");

    /* Most round trips of the last rank take milliseconds longer: the undisturbed ones count, wherever they
     * are. */
    MPI_Barrier(MPI_COMM_WORLD);
    disturbed = rank == size - 1 && rank > 0;
    CHECK(sync_clocks(&clock, MPI_COMM_WORLD, NULL, 100) == MPI_SUCCESS);
    disturbed = false;
    check_offset(&clock, MPI_COMM_WORLD, "disturbed");
    CHECK(clock.error_ns < 1500000);

    if (rank == size - 1)
        printf("stated error with most round trips disturbed: %" PRId64 " ns\n", clock.error_ns);
    CHECK(sync_clocks(&clock, MPI_COMM_WORLD, NULL, 0) == MPI_ERR_ARG);
    MPI_Comm_free(&reversed);
    MPI_Allreduce(&failures, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return result != 0;
}
