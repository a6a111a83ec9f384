/*
 * all_calls.c — every public call, a mock-up, and a call by a profile, checked; to be run with something that fails on one rank (inject.h). An error must have a text. After the
 * first one a rank takes the way out, which is to free what it has made, to end the library and MPI, and the others follow it (lost.c);
 * without INJECT_LOST it ends the job with status 40, as MPI's default error handler would. Status 50: a wrong result, or an error without a
 * text.
 */
#include "inject.h"

#include <pat.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "by_profile.h"
#include "mockups.h"

enum { BLOCK = 6000, MOST_RANKS = 8, TURNS = 3 };

static int rank, size;
static jmp_buf way_out;

/* What the way out frees or ends. */
static MPI_Comm comm = MPI_COMM_NULL;
static PAT_Request requests[2];
enum { PENDING = 16 };
static MPI_Request pending[PENDING];
static MPI_Datatype here = MPI_DATATYPE_NULL;
static volatile bool started;
static pat_mock_scratch *scratch;

static void say(const char *call, int code)
{
    const char *text = PAT_Error_string(code);
    fprintf(stderr, "rank %d: %s: %d: %s\n", rank, call, code, text ? text : "(no text)");
    if (!text || strlen(text) <= 10)
        MPI_Abort(MPI_COMM_WORLD, 50);
}

static void failed(const char *call, int code)
{
    say(call, code);
    if (!inject_lost())
        MPI_Abort(MPI_COMM_WORLD, 40);
    longjmp(way_out, 1);
}

#define DO(call)                                                                                             \
    do {                                                                                                     \
        int code_ = (call);                                                                                  \
        if (code_ != MPI_SUCCESS)                                                                            \
            failed(#call, code_);                                                                            \
    } while (0)

/* On the way out, where errors may go on. */
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        int code_ = (call);                                                                                  \
        if (code_ != MPI_SUCCESS)                                                                            \
            say(#call, code_);                                                                               \
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

static void plain(void)
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

static void types(MPI_Datatype gaps)
{
    fill(3);
    DO(PAT_Allgather(mine, BLOCK, MPI_INT, all, 1, gaps, comm));
    check("PAT_Allgather to gaps", 3, BLOCK, 2, 2 * BLOCK);
    fill(4);
    memcpy(all + rank * BLOCK, mine, BLOCK * sizeof(int));
    DO(PAT_Allgather(MPI_IN_PLACE, 0, MPI_INT, all, BLOCK, MPI_INT, comm));
    check("PAT_Allgather in place", 4, BLOCK, 1, BLOCK);
}

static void unequal(void)
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

static void persistent(MPI_Datatype gaps)
{
    DO(PAT_Allgather_init(mine, BLOCK, MPI_INT, all, BLOCK, MPI_INT, comm, &requests[0]));
    DO(PAT_Allgather_init(mine, BLOCK, MPI_INT, all, 1, gaps, comm, &requests[1]));
    for (int turn = 0; turn < 2 * TURNS; turn++) {
        const int which = turn % 2;
        fill(turn);
        DO(PAT_Open(requests[which]));
        phase();
        DO(PAT_Start(requests[which]));
        nap(4);
        DO(PAT_Wait(requests[which]));
        check("PAT_Wait", turn, BLOCK, 1 + which, which ? 2 * BLOCK : BLOCK);
    }
    DO(PAT_Open(requests[0]));
    nap(10 * rank);
    DO(PAT_Request_free(&requests[0]));
    DO(PAT_Request_free(&requests[1]));
}

static void rooted(void)
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

/* One root keeps its own block where it is, and types have gaps on either side in turn. */
static void scatter(MPI_Datatype gaps)
{
    for (int turn = 0; turn < 2 * TURNS; turn++) {
        const int root = turn % size, out = 1 + turn % 2, in = 1 + turn / 2 % 2;
        const bool stays = rank == root && turn == 1;
        fill(turn);
        for (int r = 0; r < size; r++)
            for (int i = 0; i < BLOCK; i++)
                all[out * (r * BLOCK + i)] = rank == root ? 1000000 * turn + 10000 * r + i + 1 : 0;
        DO(PAT_Scatter(all, out == 1 ? BLOCK : 1, out == 1 ? MPI_INT : gaps, stays ? MPI_IN_PLACE : mine,
                       in == 1 ? BLOCK : 1, in == 1 ? MPI_INT : gaps, root, comm));
        for (int i = 0; i < BLOCK && !stays; i++)
            if (mine[in * i] != 1000000 * turn + 10000 * rank + i + 1)
                wrong("PAT_Scatter");
    }
}

/* What all ranks give together as element i. */
static int sum_at(int turn, int i)
{
    return size * (1000000 * turn + i) + 10000 * (size * (size - 1) / 2);
}

static void reduce(void)
{
    for (int turn = 0; turn < TURNS; turn++) {
        const bool in_place = turn == 1;
        const int count = turn == 2 ? BLOCK / 3 : BLOCK; /* which throws away what was prepared */
        fill(turn);
        if (in_place)
            memcpy(all, mine, sizeof(mine));
        phase();
        DO(PAT_Allreduce(in_place ? MPI_IN_PLACE : mine, all, count, MPI_INT, MPI_SUM, comm));
        for (int i = 0; i < count; i++)
            if (all[i] != sum_at(turn, i))
                wrong("PAT_Allreduce");
    }
}

/* Of other collectives; of a gather both datatypes are kept. */
static void persistent_others(MPI_Datatype gaps)
{
    static int sums[BLOCK];
    DO(PAT_Gather_init(mine, BLOCK, MPI_INT, all, 1, gaps, 1, comm, &requests[0]));
    DO(PAT_Allreduce_init(mine, sums, BLOCK, MPI_INT, MPI_SUM, comm, &requests[1]));
    for (int turn = 0; turn < TURNS; turn++) {
        fill(turn);
        DO(PAT_Start(requests[0]));
        DO(PAT_Start(requests[1]));
        DO(PAT_Wait(requests[1]));
        DO(PAT_Wait(requests[0]));
        if (rank == 1)
            check("PAT_Gather_init", turn, BLOCK, 2, 2 * BLOCK);
        for (int i = 0; i < BLOCK; i++)
            if (sums[i] != sum_at(turn, i))
                wrong("PAT_Allreduce_init");
    }
    DO(PAT_Request_free(&requests[0]));
    DO(PAT_Request_free(&requests[1]));
}

/* To one of them, and to each its part. */
static void reduce_others(void)
{
    const int part = BLOCK / MOST_RANKS;
    int counts[MOST_RANKS];
    for (int turn = 0; turn < 2 * TURNS; turn++) {
        const int root = turn % size;
        const bool in_place = turn % 2;
        fill(turn);
        if (in_place)
            memcpy(all, mine, sizeof(mine));
        DO(PAT_Reduce(in_place && rank == root ? MPI_IN_PLACE : mine, rank == root ? all : NULL, BLOCK,
                      MPI_INT, MPI_SUM, root, comm));
        for (int i = 0; rank == root && i < BLOCK; i++)
            if (all[i] != sum_at(turn, i))
                wrong("PAT_Reduce");
        if (in_place)
            memcpy(all, mine, sizeof(mine));
        for (int r = 0; r < size; r++)
            counts[r] = part;
        if (turn < TURNS)
            DO(PAT_Reduce_scatter_block(in_place ? MPI_IN_PLACE : mine, all, part, MPI_INT, MPI_SUM, comm));
        else
            DO(PAT_Reduce_scatter(in_place ? MPI_IN_PLACE : mine, all, counts, MPI_INT, MPI_SUM, comm));
        for (int i = 0; i < part; i++)
            if (all[i] != sum_at(turn, rank * part + i))
                wrong("PAT_Reduce_scatter");
    }
}

static void alltoall(MPI_Datatype gaps)
{
    static int given[MOST_RANKS * BLOCK];
    for (int turn = 0; turn < TURNS; turn++) {
        fill(0);
        int *from = turn == 1 ? all : given;
        for (int i = 0; i < size * BLOCK; i++)
            from[i] = 1000000 * turn + 10000 * rank + i % BLOCK;
        const int stride = turn == 2 ? 2 : 1;
        DO(PAT_Alltoall(turn == 1 ? MPI_IN_PLACE : given, BLOCK, MPI_INT, all, turn == 2 ? 1 : BLOCK,
                        turn == 2 ? gaps : MPI_INT, comm));
        check("PAT_Alltoall", turn, BLOCK, stride, stride * BLOCK);
    }
}

/* As lost.c has it: the MPI library runs a call where a rank that is told of an error finds nothing that it could run itself. */
static int wait_for(MPI_Request *request)
{
    return (PMPI_Wait)(request, MPI_STATUS_IGNORE);
}

/* More at once than have tags of their own, so that some stand in the queue. */
static void non_blocking(MPI_Datatype gaps)
{
    enum { SUMS = 4 };
    enum { PART = BLOCK / MOST_RANKS };
    static int sums[SUMS][BLOCK], gathered[BLOCK * MOST_RANKS], exchanged[BLOCK * MOST_RANKS], sent[BLOCK];
    static int summed[BLOCK], in_parts[BLOCK], part[PART], scattered[2 * BLOCK], taken[MOST_RANKS * PART],
        collected[MOST_RANKS * PART], dealt[PART];
    int counts[MOST_RANKS], places[MOST_RANKS];
    fill(5);
    for (int i = 0; i < size * BLOCK; i++)
        exchanged[i] = 10000 * rank + i % BLOCK;
    for (int i = 0; i < BLOCK; i++)
        sent[i] = rank == 1 ? 33 + i : 0;
    for (int r = 0; r < size; r++) {
        counts[r] = PART;
        places[r] = (size - 1 - r) * PART;
    }
    memcpy(in_parts, mine, sizeof(in_parts));
    DO(PAT_Iallgather(mine, BLOCK, MPI_INT, all, 1, gaps, comm, &pending[0]));
    for (int s = 0; s < SUMS; s++)
        DO(PAT_Iallreduce(mine, sums[s], BLOCK, MPI_INT, MPI_SUM, comm, &pending[1 + s]));
    DO(PAT_Igather(mine, BLOCK, MPI_INT, gathered, BLOCK, MPI_INT, 1, comm, &pending[1 + SUMS]));
    DO(PAT_Ialltoall(MPI_IN_PLACE, 0, MPI_INT, exchanged, BLOCK, MPI_INT, comm, &pending[2 + SUMS]));
    DO(PAT_Ibcast(sent, BLOCK, MPI_INT, 1, comm, &pending[3 + SUMS]));
    DO(PAT_Ireduce(mine, rank == 2 ? summed : NULL, BLOCK, MPI_INT, MPI_SUM, 2, comm, &pending[4 + SUMS]));
    DO(PAT_Ireduce_scatter_block(MPI_IN_PLACE, in_parts, PART, MPI_INT, MPI_SUM, comm, &pending[5 + SUMS]));
    DO(PAT_Ireduce_scatter(mine, part, counts, MPI_INT, MPI_SUM, comm, &pending[6 + SUMS]));
    DO(PAT_Iscatter(mine, PART, MPI_INT, scattered, PART, MPI_INT, 0, comm, &pending[7 + SUMS]));
    DO(PAT_Ialltoallv(mine, counts, places, MPI_INT, taken, counts, places, MPI_INT, comm,
                      &pending[8 + SUMS]));
    DO(PAT_Igatherv(mine, PART, MPI_INT, collected, counts, places, MPI_INT, 1, comm, &pending[9 + SUMS]));
    DO(PAT_Iscatterv(mine, counts, places, MPI_INT, dealt, PART, MPI_INT, 1, comm, &pending[10 + SUMS]));
    DO(PAT_Ibarrier(comm, &pending[11 + SUMS]));
    phase();
    for (int i = 0; i < PENDING; i++)
        DO(wait_for(&pending[i]));
    check("PAT_Iallgather to gaps", 5, BLOCK, 2, 2 * BLOCK);
    for (int s = 0; s < SUMS; s++)
        for (int i = 0; i < BLOCK; i++)
            if (sums[s][i] != sum_at(5, i))
                wrong("PAT_Iallreduce");
    for (int i = 0; i < BLOCK && rank == 2; i++)
        if (summed[i] != sum_at(5, i))
            wrong("PAT_Ireduce");
    for (int i = 0; i < PART; i++) {
        if (in_parts[i] != sum_at(5, rank * PART + i))
            wrong("PAT_Ireduce_scatter_block");
        if (part[i] != sum_at(5, rank * PART + i))
            wrong("PAT_Ireduce_scatter");
        if (scattered[i] != 5000000 + rank * PART + i)
            wrong("PAT_Iscatter");
        for (int r = 0; r < size; r++)
            if (taken[places[r] + i] != 5000000 + 10000 * r + places[rank] + i)
                wrong("PAT_Ialltoallv");
        for (int r = 0; rank == 1 && r < size; r++)
            if (collected[places[r] + i] != 5000000 + 10000 * r + i)
                wrong("PAT_Igatherv");
        if (dealt[i] != 5000000 + 10000 + places[rank] + i)
            wrong("PAT_Iscatterv");
    }
    for (int r = 0; r < size; r++)
        for (int i = 0; i < BLOCK; i++) {
            if (rank == 1 && gathered[r * BLOCK + i] != 5000000 + 10000 * r + i)
                wrong("PAT_Igather");
            if (exchanged[r * BLOCK + i] != 10000 * r + i)
                wrong("PAT_Ialltoall");
            if (sent[i] != 33 + i)
                wrong("PAT_Ibcast");
        }
}

/* One that goes by nodes, which are made known at the first call. */
static void mock_ups(void)
{
    const pat_mock_call call = {
        .recv = mine, .recv_count = BLOCK, .recv_type = MPI_INT, .root = 1, .comm = comm};
    enum pat_mock_why why;
    scratch = pat_mock_scratch_make(1 << 20, 1 << 16, 0);
    if (!scratch)
        failed("pat_mock_scratch_make", MPI_ERR_NO_MEM);
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < BLOCK; i++)
            mine[i] = rank == 1 ? 1000000 * turn + i : -1;
        DO(pat_mock_run(pat_mock_find("MPI_Bcast", "bcast_lane"), &call, scratch, &why));
        for (int i = 0; i < BLOCK; i++)
            if (why != PAT_MOCK_RAN || mine[i] != 1000000 * turn + i)
                wrong("bcast_lane");
    }
}

/* An all-gather by an algorithm that a profile names, to a type with gaps, so that it needs memory. */
static void by_profile(MPI_Datatype gaps)
{
    const pat_args args = {.sendbuf = mine,
                           .sendcount = BLOCK,
                           .sendtype = MPI_INT,
                           .recvbuf = all,
                           .recvcount = 1,
                           .recvtype = gaps,
                           .comm = comm};
    for (int turn = 0; turn < TURNS; turn++) {
        enum pat_why why = PAT_WHY_NOT_KNOWN;
        fill(turn);
        DO(pat_by_profile_run(&pat_face_allgather, &args, pat_algorithm_find("ring"), &why));
        if (why == PAT_WHY_ASKED)
            check("an all-gather by a profile", turn, BLOCK, 2, 2 * BLOCK);
    }
}

/* A type that has the receive buffer's address in it. */
static void from_the_bottom(void)
{
    MPI_Aint address;
    MPI_Datatype block;
    MPI_Get_address(all, &address);
    MPI_Type_create_hindexed(1, (int[]){BLOCK}, &address, MPI_INT, &block);
    MPI_Type_create_resized(block, 0, sizeof(int) * BLOCK, &here);
    MPI_Type_commit(&here);
    MPI_Type_free(&block);
    fill(1);
    DO(PAT_Allgather(mine, BLOCK, MPI_INT, MPI_BOTTOM, 1, here, comm));
    check("PAT_Allgather from MPI_BOTTOM", 1, BLOCK, 1, BLOCK);
    MPI_Type_free(&here);
}

static void everything(MPI_Datatype gaps)
{
    plain();
    types(gaps);
    from_the_bottom();
    unequal();
    reduce();
    reduce_others();
    persistent(gaps);
    persistent_others(gaps);
    rooted();
    by_profile(gaps);
    scatter(gaps);
    alltoall(gaps);
    non_blocking(gaps);
}

static void init(void)
{
    DO(PAT_Init());
    started = true;
}

static void finalize(void)
{
    started = false;
    DO(PAT_Finalize());
}

static void script(MPI_Datatype gaps)
{
    static const char *const names[] = {"relay", "bdr"}, *const others[] = {
                                                             "bcast_binomial",        "gather_binomial",
                                                             "allreduce_converge",    "alltoall_pairwise",
                                                             "scatter_binomial",      "reduce_chain",
                                                             "reduce_scatter_halving"};
    enum { OTHERS = sizeof(others) / sizeof(others[0]) };
    PAT_Counters counters;
    init();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    mock_ups();
    for (int turn = 0; turn < 6; turn++) { /* auto, told of a slow link by the environment */
        fill(turn);
        DO(PAT_Allgather(mine, BLOCK, MPI_INT, all, BLOCK, MPI_INT, comm));
        check("PAT_Allgather by auto", turn, BLOCK, 1, BLOCK);
    }
    for (int a = 0; a < OTHERS; a++)
        DO(PAT_UseAlg(others[a]));
    for (int a = 0; a < 2; a++) {
        DO(PAT_UseAlg(names[a]));
        everything(gaps);
    }
    DO(MPI_Comm_free(&comm));
    DO(PAT_Get_counters(&counters));
    finalize();
    init();
    finalize();
}

/* After an error: whatever is still there goes. */
static void leave(void)
{
    for (int i = 0; i < 2; i++)
        if (requests[i] != PAT_REQUEST_NULL) {
            TRY(PAT_Wait(requests[i]));
            TRY(PAT_Request_free(&requests[i]));
        }
    if (here != MPI_DATATYPE_NULL)
        MPI_Type_free(&here);
    if (comm != MPI_COMM_NULL)
        TRY(MPI_Comm_free(&comm));
    for (int i = 0; i < PENDING; i++)
        if (pending[i] != MPI_REQUEST_NULL)
            TRY(wait_for(&pending[i]));
    pat_mock_scratch_free(scratch);
    scratch = NULL;
    if (started)
        TRY(PAT_Finalize());
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Datatype gaps = gaps_type();
    for (int i = 0; i < PENDING; i++)
        pending[i] = MPI_REQUEST_NULL;
    if (setjmp(way_out) == 0) {
        script(gaps);
        pat_mock_scratch_free(scratch);
    } else {
        leave();
    }
    MPI_Type_free(&gaps);
    MPI_Finalize();
    fprintf(stderr, "rank %d has ended\n", rank);
    return 0;
}
