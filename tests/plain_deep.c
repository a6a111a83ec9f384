/*
 * plain_deep.c — plain_deep [asked | last | taken]: two functions call one that calls MPI, so that there is one place, or two. asked: while rank 1 has not come yet to a barrier in which the others are, each rank
 * gets SIGUSR2; last: the same of MPI_Finalize; taken: the program has taken that signal for itself. Prints the lines of all that.
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile int lines[4]; /* where MPI is called, and from where that function is */

static void pause_ms(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0) /* a signal */
        ;
}

static __attribute__((noinline)) int library(int rank)
{
    int sum = 0;
    lines[0] = __LINE__ + 1;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum + lines[0]; /* so that it is no jump */
}

static __attribute__((noinline)) int first(int rank)
{
    lines[1] = __LINE__ + 1;
    const int sum = library(rank);
    return sum + lines[1];
}

static __attribute__((noinline)) int second(int rank)
{
    lines[2] = __LINE__ + 1;
    const int sum = library(rank);
    return sum - lines[2];
}

static void *ask(void *nothing)
{
    (void)nothing;
    pause_ms(400);
    kill(getpid(), SIGUSR2);
    return NULL;
}

static void take(int signal)
{
    (void)signal;
    static const char words[] = "taken by the program\n";
    (void)!write(STDOUT_FILENO, words, sizeof(words) - 1);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int rank, sum = 0;
    pthread_t thread;
    if (strcmp(mode, "taken") == 0)
        signal(SIGUSR2, take);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 3; i++)
        sum += first(rank);
    sum += second(rank);
    if (mode[0]) {
        pthread_create(&thread, NULL, ask, NULL);
        if (rank == 1)
            pause_ms(800);
        lines[3] = __LINE__ + 2;
        if (strcmp(mode, "last") != 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            pthread_join(thread, NULL);
        }
    }
    if (rank == 0)
        printf("lines %d %d %d %d\n", lines[0], lines[1], lines[2], lines[3]);
    MPI_Finalize();
    if (strcmp(mode, "last") == 0)
        pthread_join(thread, NULL);
    return sum == 0;
}
