/*
 * mpi_intercomm.c — communicators that are not simply ours: inter-communicators are passed on to MPI, and a
 * user's attributes and their callbacks on a communicator are the user's business alone.
 *
 * ranks: 4
 */
#include "mpi_common.h"

static int copies, deletes;

static int copy_attr(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm;
    (void)keyval;
    (void)extra;
    copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_attr(MPI_Comm comm, int keyval, void *attr, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)attr;
    (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

/* Rank 0 against all others, as an inter-communicator. *half: the own side; returns how many ranks the other side has. */
static int make_sides(MPI_Comm *half, MPI_Comm *both)
{
    int remote, color = test.rank == 0;
    MPI_Comm_split(MPI_COMM_WORLD, color, test.rank, half);
    MPI_Intercomm_create(*half, 0, MPI_COMM_WORLD, color ? 1 : 0, 7, both);
    MPI_Comm_remote_size(*both, &remote);
    return remote;
}

/* Each side gets what the other side gives, and the sides may differ in how much that is. */
static void inter(const char *alg)
{
    MPI_Comm half, both;
    test_at("%s, inter-communicator", alg);
    const int color = test.rank == 0, remote = make_sides(&half, &both);
    for (int turn = 0; turn < 3; turn++) {
        int mine[2] = {test.rank * 10 + turn, test.rank}, got[2 * 4];
        memset(got, -1, sizeof(got));
        MUST(PAT_ProcessingStart());
        MUST(PAT_Edge(50));
        MUST(PAT_Allgather(mine, color ? 1 : 2, MPI_INT, got, color ? 2 : 1, MPI_INT, both));
        for (int i = 0; i < remote; i++) { /* the other side: rank 0, or ranks 1 and up */
            int rank = color ? i + 1 : 0;
            expect_int("number from the other side", rank * 10 + turn, got[color ? 2 * i : i]);
            if (color)
                expect_int("second number from the other side", rank, got[2 * i + 1]);
        }
        expect_int("what lies behind the result", -1, got[color ? 2 * remote : remote]);
    }
    PAT_Request r;
    int mine = test.rank, got[4] = {-1, -1, -1, -1};
    MPI_Datatype one;
    MUST(MPI_Type_dup(MPI_INT, &one));
    MUST(PAT_Allgather_init(&mine, 1, one, got, 1, one, both, &r));
    MUST(MPI_Type_free(&one));
    MUST(PAT_Open(r));
    MUST(PAT_Start(r));
    MUST(PAT_Wait(r));
    for (int i = 0; i < remote; i++)
        expect_int("persistent: number from the other side", color ? i + 1 : 0, got[i]);
    MUST(PAT_Request_free(&r));
    MUST(PAT_Allreduce_init(&mine, got, 1, MPI_INT, MPI_MAX, both, &r));
    MUST(PAT_Start(r));
    MUST(PAT_Wait(r));
    expect_int("persistent: the most of the other side", color ? remote : 0, got[0]);
    MUST(PAT_Request_free(&r));
    MPI_Comm_free(&both);
    gather_bytes(half, 500, 1);
    MPI_Comm_free(&half);
}

/* The same, with a block for each rank of the other side: nothing of it runs by plan. */
static void inter_alltoall(const char *alg)
{
    MPI_Comm half, both;
    test_at("%s, inter-communicator", alg);
    const int color = test.rank == 0, remote = make_sides(&half, &both);
    const int there = color ? 1 : 2, back = color ? 2 : 1; /* integers to each rank, and from each */
    const PAT_Counters before = counters();
    for (int turn = 0; turn < 3; turn++) {
        int mine[2 * 4], got[2 * 4];
        memset(got, -1, sizeof(got));
        for (int i = 0; i < remote; i++)
            for (int k = 0; k < there; k++)
                mine[i * there + k] = 1000 * turn + 100 * test.rank + 10 * (color ? i + 1 : 0) + k;
        MUST(PAT_Alltoall(mine, there, MPI_INT, got, back, MPI_INT, both));
        for (int i = 0; i < remote; i++)
            for (int k = 0; k < back; k++)
                expect_int("number from the other side",
                           1000 * turn + 100 * (color ? i + 1 : 0) + 10 * test.rank + k, got[i * back + k]);
        expect_int("what lies behind the result", -1, got[remote * back]);
    }
    expect_int("bytes received by plans", before.bytes_received, counters().bytes_received);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

enum { SHORT = 1, LONG = 20000, MOST_REMOTE = 3 };

static int sent[LONG], received[MOST_REMOTE * LONG + 1];

/* Rank 1 is the root: rank 0 gets its numbers, or it those of rank 0. On the others of its side nothing but the root counts, whatever the rest is. */
static void start_rooted(enum pat_op op, int count, MPI_Comm both, MPI_Request *request)
{
    const int root = test.rank == 0 ? 0 : test.rank == 1 ? MPI_ROOT : MPI_PROC_NULL;
    const int other_count = count == LONG ? SHORT : LONG;
    if (op == PAT_OP_BCAST && test.rank > 1)
        MUST(PAT_Ibcast(received, other_count, MPI_CHAR, root, both, request));
    else if (op == PAT_OP_BCAST)
        MUST(PAT_Ibcast(root == MPI_ROOT ? sent : received, count, MPI_INT, root, both, request));
    else if (test.rank > 1)
        MUST(PAT_Ireduce(sent, received, other_count, MPI_BYTE, MPI_BOR, root, both, request));
    else
        MUST(PAT_Ireduce(sent, received, count, MPI_INT, MPI_SUM, root, both, request));
}

/* Calls that do not block: nothing of them runs by plan. */
static void inter_started(enum pat_op op, int count, MPI_Comm both, int remote)
{
    const bool is_rooted = op == PAT_OP_BCAST || op == PAT_OP_REDUCE;
    const int getter = op == PAT_OP_BCAST ? 0 : 1, first = test.rank == 0 ? 1 : 0; /* of the other side */
    const int blocks = op == PAT_OP_ALLGATHER ? remote : !is_rooted || test.rank == getter;
    const PAT_Counters before = counters();
    MPI_Request request;
    for (int i = 0; i < count; i++)
        sent[i] = 10 * test.rank + i % 7;
    memset(received, -1, sizeof(received));
    if (op == PAT_OP_ALLGATHER)
        MUST(PAT_Iallgather(sent, count, MPI_INT, received, count, MPI_INT, both, &request));
    else if (op == PAT_OP_ALLREDUCE)
        MUST(PAT_Iallreduce(sent, received, count, MPI_INT, MPI_MAX, both, &request));
    else
        start_rooted(op, count, both, &request);
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int b = 0; b < blocks; b++) {
        const int from = op == PAT_OP_ALLREDUCE ? first + remote - 1 : first + b;
        expect_int("first number from the other side", 10 * from, received[b * count]);
        expect_int("last number from the other side", 10 * from + (count - 1) % 7,
                   received[(b + 1) * count - 1]);
    }
    expect_int("what lies behind the result", -1, received[blocks * count]);
    expect_int("bytes received by plans", before.bytes_received, counters().bytes_received);
}

/* Our state is made, used and dropped without a word to the user's callbacks, and a duplicate does not share
 * it. */
static void attributes(const char *alg)
{
    MPI_Comm first, second;
    int keyval, value = 1;
    void *found;
    int flag;
    test_at("%s, attributes", alg);
    copies = deletes = 0;
    MPI_Comm_create_keyval(copy_attr, delete_attr, &keyval, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_set_attr(first, keyval, &value);
    gather_bytes(first, 2000, 2);
    phase(4, 1, 30);
    gather_bytes(first, 2000, 3);
    expect_int("copies after our calls", 0, copies);

    MPI_Comm_dup(first, &second); /* with our state on `first`, and an Edge on its way */
    expect_int("copies after MPI_Comm_dup", 1, copies);
    MUST(PAT_ProcessingStart());
    MUST(PAT_Edge(50));
    for (uint32_t turn = 0; turn < 3; turn++) {
        gather_bytes(turn % 2 ? first : second, 1500, 10 + turn);
        gather_bytes(second, 1500, 20 + turn);
    }
    MPI_Comm_get_attr(second, keyval, &found, &flag);
    expect_int("the duplicate has the user's attribute", 1, flag && found == &value);
    expect_int("deletes before MPI_Comm_free", 0, deletes);
    MPI_Comm_free(&first);
    expect_int("deletes after the first MPI_Comm_free", 1, deletes);
    gather_bytes(second, 1500, 30);
    MPI_Comm_free(&second);
    expect_int("deletes after the second MPI_Comm_free", 2, deletes);
    expect_int("copies in the end", 1, copies);
    MPI_Comm_free_keyval(&keyval);
}

int main(int argc, char **argv)
{
    const alg_list algs = algs_of(PAT_OP_ALLGATHER, alg_is_any),
                   alltoalls = algs_of(PAT_OP_ALLTOALL, alg_is_any);
    static const enum pat_op started[] = {PAT_OP_ALLGATHER, PAT_OP_ALLREDUCE, PAT_OP_BCAST, PAT_OP_REDUCE};
    test_begin(&argc, &argv);
    layouts_make();
    for (int a = 0; a < algs.num; a++) {
        use_alg(algs.names[a]);
        inter(algs.names[a]);
        attributes(algs.names[a]);
    }
    for (int a = 0; a < alltoalls.num; a++) {
        use_alg(alltoalls.names[a]);
        inter_alltoall(alltoalls.names[a]);
    }
    MPI_Comm half, both;
    const int remote = make_sides(&half, &both);
    for (int k = 0; k < (int)(sizeof(started) / sizeof(*started)); k++) {
        const alg_list own = algs_of(started[k], alg_is_any);
        for (int a = 0; a < own.num; a++) {
            use_alg(own.names[a]);
            test_at("%s, non-blocking, inter-communicator", own.names[a]);
            inter_started(started[k], SHORT, both, remote);
            inter_started(started[k], LONG, both, remote);
        }
    }
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
    layouts_free();
    return test_end();
}
