/*
 * plain_large.c — what MPI 4 has beside the calls that everybody knows, in a program that knows nothing of the library: counts
 * of type MPI_Count, persistent collectives, and, as argument "sessions", a program that never calls MPI_Init. Says "skipped"
 * where the MPI library has none of it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if MPI_VERSION >= 4

enum { N = 5000, ROUNDS = 12 };

static int rank, ranks, wrong;
static int mine[N], *given, *all;

static void fill(int round)
{
    for (int i = 0; i < N; i++)
        mine[i] = 1000 * round + 100 * rank + i;
    memset(all, 0, sizeof(*all) * N * (size_t)ranks);
}

static void check(int round, int first, int last)
{
    for (int r = first; r <= last; r++)
        for (int i = 0; i < N; i++)
            wrong += all[r * N + i] != 1000 * round + 100 * r + i;
}

/* In an all-to-all a rank has another block for each rank: no two blocks of any round have a number in common. */
static int personal(int round, int from, int to, int i)
{
    return ((round * ranks + from) * ranks + to) * N + i;
}

static void fill_personal(int round, int *blocks)
{
    memset(all, 0, sizeof(*all) * N * (size_t)ranks);
    for (int to = 0; to < ranks; to++)
        for (int i = 0; i < N; i++)
            blocks[to * N + i] = personal(round, rank, to, i);
}

static void check_personal(int round)
{
    for (int from = 0; from < ranks; from++)
        for (int i = 0; i < N; i++)
            wrong += all[from * N + i] != personal(round, from, rank, i);
}

/* Ranks need not use the same form; here the middle one of three has small counts. */
static void gather_mixed(int round, const MPI_Count counts[], const MPI_Aint places[], MPI_Comm comm)
{
    MPI_Request request;
    int *small = malloc(2 * sizeof(*small) * (size_t)ranks), *small_places = small + ranks;
    for (int r = 0; r < ranks; r++) {
        small[r] = (int)counts[r];
        small_places[r] = (int)places[r];
    }
    fill(round);
    if (rank == 1)
        MPI_Gatherv_init(mine, N, MPI_INT, all, small, small_places, MPI_INT, 0, comm, MPI_INFO_NULL,
                         &request);
    else
        MPI_Gatherv_init_c(mine, N, MPI_INT, all, counts, places, MPI_INT, 0, comm, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    if (rank == 0)
        check(round, 0, ranks - 1);
    free(small);
}

static void run(MPI_Comm comm)
{
    MPI_Request request;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    all = malloc(sizeof(*all) * N * (size_t)ranks);
    given = malloc(sizeof(*given) * N * (size_t)ranks);
    MPI_Count *counts = malloc(sizeof(*counts) * (size_t)ranks);
    MPI_Aint *places = malloc(sizeof(*places) * (size_t)ranks);
    for (int r = 0; r < ranks; r++) {
        counts[r] = N;
        places[r] = (MPI_Aint)r * N;
    }
    MPI_Allgather_init_c(mine, N, MPI_INT, all, N, MPI_INT, comm, MPI_INFO_NULL, &request);
    for (int round = 0; round < ROUNDS; round++) {
        fill(round);
        MPI_Allgather_c(mine, N, MPI_INT, all, N, MPI_INT, comm);
        check(round, 0, ranks - 1);
        fill(round);
        memcpy(all + rank * N, mine, sizeof(mine));
        MPI_Allgather_c(MPI_IN_PLACE, (MPI_Count)1 << 40, MPI_INT, all, N, MPI_INT,
                        comm); /* a count that does not matter */
        check(round, 0, ranks - 1);
        fill(round);
        MPI_Allgatherv_c(mine, N, MPI_INT, all, counts, places, MPI_INT, comm);
        check(round, 0, ranks - 1);
        fill(round);
        MPI_Gather_c(mine, N, MPI_INT, all, rank ? (MPI_Count)1 << 40 : N, MPI_INT, 0, comm);
        if (rank == 0)
            check(round, 0, ranks - 1);
        fill(round);
        memcpy(all, mine, sizeof(mine));
        MPI_Bcast_c(all, N, MPI_INT, 0, comm);
        check(round, 0, 0);
        fill_personal(round, given);
        MPI_Alltoall_c(given, N, MPI_INT, all, N, MPI_INT, comm);
        check_personal(round);
        fill_personal(round, all);
        MPI_Alltoall_c(MPI_IN_PLACE, (MPI_Count)1 << 40, MPI_INT, all, N, MPI_INT, comm);
        check_personal(round);
        fill(round);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(round, 0, ranks - 1);
        gather_mixed(round, counts, places, comm);
        MPI_Barrier(comm);
    }
    MPI_Request_free(&request);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    /* To be rejected, as long as nobody makes an int of it: that would be 0. */
    wrong += MPI_Bcast_c(all, -((MPI_Count)1 << 32), MPI_INT, 0, comm) == MPI_SUCCESS;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    MPI_Allreduce_c(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, comm);
    if (rank == 0)
        printf("plain_large: %d differences\n", wrong);
    free(places);
    free(counts);
    free(given);
    free(all);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "sessions") == 0) {
        MPI_Session session;
        MPI_Group group;
        MPI_Comm comm;
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
        MPI_Comm_create_from_group(group, "plain_large", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        run(comm);
        MPI_Group_free(&group);
        MPI_Comm_disconnect(&comm);
        MPI_Session_finalize(&session);
    } else {
        MPI_Init(&argc, &argv);
        run(MPI_COMM_WORLD);
        MPI_Finalize();
    }
    return wrong > 0;
}

#else

int main(void)
{
    puts("plain_large: skipped, no MPI 4");
    return 0;
}

#endif
