/*
 * all_calls.c — every public call, checked; to be run with something that fails on one rank (inject.h). The first error must have a text,
 * and ends the job with status 40, as MPI's default error handler would. Status 50: a wrong result, or an error without a text.
 */
#include <mpi.h>
#include <pat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 6000, MOST_RANKS = 8, TURNS = 3 };

static int rank, size;

static void failed(const char *call, int code)
{
    const char *text = PAT_Error_string(code);
    const int good = text && strlen(text) > 10;
    fprintf(stderr, "rank %d: %s: %d: %s\n", rank, call, code, text ? text : "(no text)");
    MPI_Abort(MPI_COMM_WORLD, good ? 40 : 50);
}

#define DO(call)                                                                                             \
    do {                                                                                                     \
        int code_ = (call);                                                                                  \
        if (code_ != MPI_SUCCESS)                                                                            \
            failed(#call, code_);                                                                            \
    } while (0)

static void wrong(const char *what)
{
    fprintf(stderr, "rank %d: %s: a wrong result\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 50);
}

static void nap(int ms)
{
    const struct timespec t = {.tv_nsec = ms * 1000000L};
    nanosleep(&t, NULL);
}

static int mine[2 * BLOCK], all[2 * BLOCK * MOST_RANKS];

static void fill(int turn)
{
    for (int i = 0; i < 2 * BLOCK; i++)
        mine[i] = 1000000 * turn + 10000 * rank + i;
    memset(all, 0xff, sizeof(all));
}

/* step: ints from one value to the next in the receive buffer; block: from one rank's first value to the next one's. */
static void check(const char *what, int turn, int count, int step, int block)
{
    for (int r = 0; r < size; r++)
        for (int i = 0; i < count; i++)
            if (all[r * block + i * step] != 1000000 * turn + 10000 * r + i)
                wrong(what);
}

/* Every second int. */
static MPI_Datatype gaps_type(void)
{
    MPI_Datatype gaps, type;
    MPI_Type_vector(BLOCK, 1, 2, MPI_INT, &gaps);
    MPI_Type_create_resized(gaps, 0, 2 * BLOCK * (MPI_Aint)sizeof(int), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&gaps);
    return type;
}

static void phase(void)
{
    DO(PAT_ProcessingStart());
    nap(2 + 3 * rank);
    DO(PAT_Edge(50));
    nap(2 + 3 * rank);
    DO(PAT_ProcessingEnd());
}

static void plain(MPI_Comm comm)
{
    for (int turn = 0; turn < TURNS; turn++) {
        fill(turn);
        phase();
        DO(PAT_Allgather(mine, BLOCK, MPI_INT, all, BLOCK, MPI_INT, comm));
        check("PAT_Allgather", turn, BLOCK, 1, BLOCK);
    }
    fill(7);
    DO(PAT_Allgather(mine, BLOCK / 2, MPI_INT, all, BLOCK / 2, MPI_INT, comm)); /* voids what was prepared */
    check("PAT_Allgather of another length", 7, BLOCK / 2, 1, BLOCK / 2);
}

static void types(MPI_Comm comm, MPI_Datatype gaps)
{
    fill(3);
    DO(PAT_Allgather(mine, BLOCK, MPI_INT, all, 1, gaps, comm));
    check("PAT_Allgather to gaps", 3, BLOCK, 2, 2 * BLOCK);
    fill(4);
    memcpy(all + rank * BLOCK, mine, BLOCK * sizeof(int));
    DO(PAT_Allgather(MPI_IN_PLACE, 0, MPI_INT, all, BLOCK, MPI_INT, comm));
    check("PAT_Allgather in place", 4, BLOCK, 1, BLOCK);
}

static void unequal(MPI_Comm comm)
{
    int counts[MOST_RANKS], displs[MOST_RANKS];
    for (int turn = 0; turn < TURNS; turn++) {
        for (int r = 0; r < size; r++) {
            counts[r] = turn == 1 && r == 0 ? 0 : BLOCK - 100 * r;
            displs[r] = r * BLOCK;
        }
        fill(turn);
        DO(PAT_Allgatherv(mine, counts[rank], MPI_INT, all, counts, displs, MPI_INT, comm));
        for (int r = 0; r < size; r++)
            if (counts[r] && all[displs[r] + counts[r] - 1] != 1000000 * turn + 10000 * r + counts[r] - 1)
                wrong("PAT_Allgatherv");
    }
}

static void persistent(MPI_Comm comm, MPI_Datatype gaps)
{
    PAT_Request r[2];
    DO(PAT_Allgather_init(mine, BLOCK, MPI_INT, all, BLOCK, MPI_INT, comm, &r[0]));
    DO(PAT_Allgather_init(mine, BLOCK, MPI_INT, all, 1, gaps, comm, &r[1]));
    for (int turn = 0; turn < 2 * TURNS; turn++) {
        const int which = turn % 2;
        fill(turn);
        DO(PAT_Open(r[which]));
        phase();
        DO(PAT_Start(r[which]));
        nap(4);
        DO(PAT_Wait(r[which]));
        check("PAT_Wait", turn, BLOCK, 1 + which, which ? 2 * BLOCK : BLOCK);
    }
    DO(PAT_Open(r[0]));
    nap(10 * rank);
    DO(PAT_Request_free(&r[0]));
    DO(PAT_Request_free(&r[1]));
}

static void rooted(MPI_Comm comm)
{
    for (int turn = 0; turn < 40; turn++) {
        fill(0);
        DO(PAT_Gather(mine, BLOCK, MPI_INT, all, BLOCK, MPI_INT, turn % size, comm));
        if (rank == turn % size)
            check("PAT_Gather", 0, BLOCK, 1, BLOCK);
        int word = rank == turn % size ? 77 : 0;
        DO(PAT_Bcast(&word, 1, MPI_INT, turn % size, comm));
        if (word != 77)
            wrong("PAT_Bcast");
    }
}

static void everything(MPI_Comm comm, MPI_Datatype gaps)
{
    plain(comm);
    types(comm, gaps);
    unequal(comm);
    persistent(comm, gaps);
    rooted(comm);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"relay", "bdr", "bcast_binomial", "gather_binomial"};
    int provided;
    MPI_Comm comm;
    PAT_Counters counters;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Datatype gaps = gaps_type();
    DO(PAT_Init());
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int turn = 0; turn < 6; turn++) { /* auto, told of a slow link by the environment */
        fill(turn);
        DO(PAT_Allgather(mine, BLOCK, MPI_INT, all, BLOCK, MPI_INT, comm));
        check("PAT_Allgather by auto", turn, BLOCK, 1, BLOCK);
    }
    DO(PAT_UseAlg(names[2]));
    DO(PAT_UseAlg(names[3]));
    for (int a = 0; a < 2; a++) {
        DO(PAT_UseAlg(names[a]));
        everything(comm, gaps);
    }
    DO(MPI_Comm_free(&comm));
    DO(PAT_Get_counters(&counters));
    DO(PAT_Finalize());
    DO(PAT_Init());
    DO(PAT_Finalize());
    MPI_Type_free(&gaps);
    MPI_Finalize();
    return 0;
}
