/*
 * bench_finalize.c — see bench_finalize.h.
 */
#include "bench_finalize.h"

#include <mpi.h>

#ifdef MPICH_NUMVERSION

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* For the handler of a signal, which is called without arguments of ours. */
static volatile sig_atomic_t status_then, speaks;

static void end_process(int number)
{
    (void)number;
    static const char text[] = "note: MPI_Finalize has not ended within 5 s, so the program ends without it, "
                               "and without what would come after it\n";
    if (speaks && write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(status_then); /* nothing is left to say it to */
    _exit(status_then);
}

void bench_finalize(int status)
{
    enum { SECONDS = 5 };
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    speaks = rank == 0;
    status_then = status;
    fflush(NULL); /* the handler must not */
    signal(SIGALRM, end_process);
    alarm(SECONDS);
    MPI_Finalize();
    alarm(0);
}

#else

void bench_finalize(int status)
{
    (void)status;
    MPI_Finalize();
}

#endif
