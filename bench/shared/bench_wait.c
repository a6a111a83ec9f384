/*
 * bench_wait.c — see bench_wait.h. Must never be told of the end much later than by a twentieth of the wait.
 */
#include "bench_wait.h"

#include <time.h>

#include "clock.h"

void bench_wait_quietly(MPI_Comm comm)
{
    int done = 0, size;
    MPI_Request request;
    MPI_Comm_size(comm, &size);
    const int64_t least_ns = size < 10000 ? size * INT64_C(50000) : 500000000, most_ns = 5000000;
    const int64_t start_ns = pat_clock_local_ns();
    MPI_Ibarrier(comm, &request);
    for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE)) {
        int64_t nap_ns = (pat_clock_local_ns() - start_ns) / 20;
        nap_ns = nap_ns < most_ns ? nap_ns : most_ns;
        nap_ns = nap_ns > least_ns ? nap_ns : least_ns;
        nanosleep(&(struct timespec){.tv_nsec = nap_ns}, NULL);
    }
}

void bench_sleep_until(int64_t local_ns)
{
    const struct timespec until = {.tv_sec = local_ns / 1000000000, .tv_nsec = local_ns % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
        ;
}
