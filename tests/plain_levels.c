/*
 * plain_levels.c — asks for a thread level and says what it has got; calls collectives that go wrong and checks that they do
 * so as the MPI library has it, and others with arguments of no significance. Arguments: init, or a thread level from 0 to 3.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(const char *what, int expected, int got)
{
    if (expected != got) {
        failures++;
        fprintf(stderr, "%s: expected %d, got %d\n", what, expected, got);
    }
}

static int calls_of_handler;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    calls_of_handler++;
}

static int class_of(int code)
{
    int error_class;
    MPI_Error_class(code, &error_class);
    return error_class;
}

/* Wrong on every rank alike, so that nobody is left waiting. */
static void errors(int ranks)
{
    static char out[4096], in[64 * 4096];
    MPI_Errhandler errhandler;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(comm, errhandler);
    expect("a count of -1", MPI_ERR_COUNT,
           class_of(MPI_Allgather(out, -1, MPI_BYTE, in, -1, MPI_BYTE, comm)));
    expect("no datatype", MPI_ERR_TYPE,
           class_of(MPI_Allgather(out, 4096, MPI_DATATYPE_NULL, in, 4096, MPI_DATATYPE_NULL, comm)));
    expect("a root that is none", MPI_ERR_ROOT, class_of(MPI_Bcast(out, 4096, MPI_BYTE, ranks, comm)));
    expect("a root that is none, gather", MPI_ERR_ROOT,
           class_of(MPI_Gather(out, 4096, MPI_BYTE, in, 4096, MPI_BYTE, -7, comm)));
    expect("calls of the error handler", 4, calls_of_handler);
    MPI_Errhandler_free(&errhandler);
    MPI_Comm_free(&comm);
    for (int i = 0; i < 8; i++)
        expect("a good call", MPI_SUCCESS,
               MPI_Allgather(out, 4096, MPI_BYTE, in, 4096, MPI_BYTE, MPI_COMM_WORLD));
}

/* The first rank gets from the others, or gives to them, over a communicator between two groups. What is of no significance may be anything. */
static void between_groups(int rank)
{
    const MPI_Datatype anything = (MPI_Datatype)(intptr_t)8;
    int mine = rank, all[64], root = rank == 0 ? MPI_ROOT : 0;
    MPI_Comm half, both;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0, 7, &both);
    expect("a gather between groups", MPI_SUCCESS,
           rank == 0 ? MPI_Gather(NULL, 0, anything, all, 1, MPI_INT, root, both)
                     : MPI_Gather(&mine, 1, MPI_INT, NULL, 0, anything, root, both));
    expect("what comes from the other group", rank == 0 ? 1 : rank, rank == 0 ? all[0] : rank);
    expect("a scatter between groups", MPI_SUCCESS,
           rank == 0 ? MPI_Scatter(all, 1, MPI_INT, NULL, 0, anything, root, both)
                     : MPI_Scatter(NULL, 0, anything, &mine, 1, MPI_INT, root, both));
    expect("what comes back from the other group", rank, mine);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "init";
    int provided = -1, level, rank, ranks;
    if (strcmp(what, "init") == 0)
        MPI_Init(&argc, &argv);
    else
        MPI_Init_thread(&argc, &argv, atoi(what), &provided);
    MPI_Query_thread(&level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (provided >= 0)
        expect("the level that was provided", level, provided);
    errors(ranks);
    if (ranks > 1)
        between_groups(rank);
    int all_failures = 0;
    MPI_Reduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("plain_levels: %s: level %d, %d failures; UCX_USE_MT_MUTEX is %s\n", what, level, all_failures,
               getenv("UCX_USE_MT_MUTEX") ? "set" : "not set");
    MPI_Finalize();
    return failures != 0;
}
