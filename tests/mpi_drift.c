/*
 * mpi_drift.c — clocks that drift apart are kept together: the truth is within the bound that the library itself claims, at every moment and
 * on every rank, and the error stays far below what the offsets of the start would have become. And ending the library in the middle of
  * a measurement does no harm, nor does an error of MPI there. ranks: 3
 *
 * mpi_drift SECONDS: how wrong the clock of all ranks is over so long a time; prints percentiles over ranks and moments. Then it is the
 * nodes that have clocks of their own, by the numbers from 1 on at the ends of their names, and not the ranks.
 *
 * Ranks on one machine share the clock, so this program puts its own clock_gettime between the library and the system: every rank's
 * monotonic clock has an offset and a rate of its own. Rank 0's is the true one, which every rank can ask the system for.
 */
#include "mpi_common.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>

#include "runtime.h"

#define US  INT64_C(1000)
#define SEC INT64_C(1000000000)

/* Between clocks: more than any rank is held up while another one reads its own, or two clocks may be taken for one. */
#define APART (1000 * SEC)

int clock_gettime(clockid_t clock, struct timespec *ts); /* ours; glibc's declaration has other attributes */

static int64_t true_ns(void)
{
    struct timespec ts;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * SEC + ts.tv_nsec;
}

static bool by_node;

/* Known before MPI is: the clock must not jump. */
static int launched_as(void)
{
    const char *open = getenv("OMPI_COMM_WORLD_RANK"), *mpich = getenv("PMI_RANK");
    return open ? atoi(open) : mpich ? atoi(mpich) : -1;
}

/* Which of the clocks this process reads. */
static int clock_number(void)
{
    char host[256] = "";
    if (!by_node || gethostname(host, sizeof(host) - 1) != 0)
        return launched_as();
    size_t end = strlen(host);
    while (end > 0 && isdigit((unsigned char)host[end - 1]))
        end--;
    return atoi(host + end) - 1;
}

static int64_t rate_ppm(int rank)
{
    static const int64_t rates[] = {0, 60, -60, 90, -90};
    return rank < 0 ? 0 : rates[rank % 5];
}

int clock_gettime(clockid_t clock, struct timespec *ts)
{
    if (clock != CLOCK_MONOTONIC)
        return (int)syscall(SYS_clock_gettime, clock, ts);
    const int number = clock_number();
    const int64_t now = true_ns(), ppm = rate_ppm(number),
                  shown = now + now / 1000000 * ppm + now % 1000000 * ppm / 1000000 + number * APART;
    ts->tv_sec = (time_t)(shown / SEC);
    ts->tv_nsec = (long)(shown % SEC);
    return 0;
}

/* How far the common clock is off here and now; whatever happens between the readings only makes it look better. */
static int64_t check(void)
{
    const pat_line line = pat_timekeeper_line(&pat_rt.time);
    const int64_t before = true_ns(), local = pat_clock_local_ns(),
                  claimed = local + pat_line_offset_ns(&line, local), bound = pat_line_error_ns(&line, local),
                  after = true_ns();
    const int64_t off = claimed < before ? before - claimed : claimed > after ? claimed - after : 0;
    if (off > bound)
        test_fail("the clock is off by %" PRId64 " ns, and the bound is %" PRId64 " ns", off, bound);
    return off;
}

/* Ranks come to the end anywhere around the first measurement. */
static void end_in_the_middle(int turn)
{
    test_at("life %d", turn);
    MUST(PAT_Init());
    sleep_ms(998 + 3 * turn + 2 * test.rank);
    check();
    MUST(PAT_Finalize());
}

static atomic_bool probes_fail;

/* The MPI library has this under both names, and this file hides one of them. */
int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *here, MPI_Status *status)
{
    return atomic_load(&probes_fail) ? MPI_ERR_OTHER : MPI_Iprobe(source, tag, comm, here, status);
}

static bool has_failed(void)
{
    pthread_mutex_lock(&pat_rt.time.lock);
    const bool failed = pat_rt.time.failed != MPI_SUCCESS;
    pthread_mutex_unlock(&pat_rt.time.lock);
    return failed;
}

/* What fails in the background on one rank keeps nobody waiting, and PAT_Finalize tells of it there. */
static void a_failure(void)
{
    const bool here = test.rank == test.size - 1;
    test_at("a failure");
    MUST(PAT_Init());
    atomic_store(&probes_fail, here);
    for (int i = 0; i < 2000 && here && !has_failed(); i++)
        sleep_ms(10);
    check();
    const int rc = PAT_Finalize();
    expect_int("PAT_Finalize", here ? MPI_ERR_OTHER : MPI_SUCCESS, rc);
    atomic_store(&probes_fail, false);
}

/* Are the last two samples as good as they are where the ranks get the processor when they want it? */
static bool undisturbed(void)
{
    pthread_mutex_lock(&pat_rt.time.lock);
    const pat_drift *d = &pat_rt.time.drift;
    const int last = d->num - 1;
    const bool good = last >= 1 && d->kept[last].error_ns < 25 * US && d->kept[last - 1].error_ns < 25 * US;
    pthread_mutex_unlock(&pat_rt.time.lock);
    return good;
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Ten times a second on every rank but 0, whose clock is the true one: from the claimed time to the middle of two readings of the true one. */
static void watch_for(int seconds)
{
    const int num = 10 * seconds;
    double *errors = calloc((size_t)num, sizeof(*errors)),
           *all = calloc((size_t)num * (size_t)test.size, sizeof(*all));
    int64_t bound = 0, worst_bound;
    int again = 0;
    MUST(PAT_Init());
    for (int i = 0; i < num && errors && all; i++) {
        sleep_ms(100);
        int64_t before, claimed, after;
        do { /* again where this rank lost the processor in between */
            before = true_ns();
            claimed = pat_timekeeper_now_ns(&pat_rt.time);
            after = true_ns();
        } while (after - before > 2 * US && ++again % 100 > 0);
        errors[i] = 1e-3 * fabs((double)(claimed - before) - (double)(after - before) / 2);
        check();
    }
    const pat_line line = pat_timekeeper_line(&pat_rt.time);
    bound = pat_line_error_ns(&line, pat_clock_local_ns());
    MPI_Gather(errors, num, MPI_DOUBLE, all, num, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Reduce(&bound, &worst_bound, 1, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    if (seconds >= 4 && clock_number() != 0 && atomic_load(&pat_rt.time.num_measured) == 0)
        test_fail("nothing was measured again");
    const int total = num * (test.size - 1);
    if (test.rank == 0 && total > 0) {
        qsort(all + num, (size_t)total, sizeof(*all), by_size);
        printf("%d ranks, %d s: off by %.1f us (median), %.1f (95 %%), %.1f (99 %%), %.1f (most); bound at "
               "the end %.1f\n",
               test.size, seconds, all[num + total / 2], all[num + (int)(0.95 * total)],
               all[num + (int)(0.99 * total)], all[num + total - 1], 1e-3 * (double)worst_bound);
    }
    free(errors);
    free(all);
}

int main(int argc, char **argv)
{
    enum { LIVES = 3, LIFE_MS = 6000, SETTLED_MS = 4500, EVERY_MS = 50 };
    if (launched_as() < 0)
        return 77;
    by_node = argc > 1;
    if (!test_mpi_init(&argc, &argv, MPI_THREAD_MULTIPLE)) {
        MPI_Finalize();
        return 77;
    }
    if (argc > 1) {
        end_in_the_middle(1);
        watch_for(atoi(argv[1]));
        return test_end();
    }
    for (int turn = 0; turn < LIVES; turn++)
        end_in_the_middle(turn);
    a_failure();
    test_at("a longer life");
    MUST(PAT_Init());
    int64_t worst = 0, cpu_ns, wakeups, begin = true_ns();
    for (int ms = 0; ms < LIFE_MS; ms += EVERY_MS) {
        sleep_ms(EVERY_MS);
        const int64_t off = check();
        if (ms >= SETTLED_MS && off > worst)
            worst = off;
    }
    const int64_t untracked = llabs(rate_ppm(test.rank)) * (true_ns() - begin) / 1000000;
    const pat_line line = pat_timekeeper_line(&pat_rt.time);
    const int64_t bound = pat_line_error_ns(&line, pat_clock_local_ns()),
                  measured = atomic_load(&pat_rt.time.num_measured);
    pat_thread_usage(pat_rt.thread, &cpu_ns, &wakeups);
    printf("rank %d: off by %.1f us, bound %.1f us, without measuring again %.1f us; rate %.2f ppm, measured "
           "%" PRId64 " times; thread: %" PRId64 " wake-ups, %.2f ms\n",
           test.rank, 1e-3 * (double)worst, 1e-3 * (double)bound, 1e-3 * (double)untracked, 1e6 * line.rate,
           measured, wakeups, 1e-6 * (double)cpu_ns);
    int here = test.rank == 0 || undisturbed(), all = 0;
    if (test.rank > 0 && measured == 0)
        test_fail("nothing was measured");
    if (test.rank > 0 && here && (bound > untracked / 2 || worst > untracked / 4))
        test_fail("off by %" PRId64 " ns, bound %" PRId64 " ns, without measuring again %" PRId64 " ns",
                  worst, bound, untracked);
    MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    const int result = test_end();
    return result ? result : all ? 0 : 77;
}
