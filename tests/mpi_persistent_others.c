/*
 * mpi_persistent_others.c — persistent requests for all collectives, against the MPI library's blocking calls: every algorithm, several requests started at once, each
 * used again and again with other data, types that are freed before the first use, requests used wrongly, and the ends of communicator and library.
 *
 * ranks: 1 2 3 5
 */
#include "clock.h"
#include "nonblocking_calls.h"

enum { TOGETHER = 3, TURNS = 3 };

static uint32_t number;

/* Of requests for all-gathers one at a time may be started on a communicator. */
static void draw_some(void)
{
    for (int i = 0; i < TOGETHER; i++) {
        do
            draw(&calls[i], ++number);
        while (i > 0 && calls[i].kind == ALLGATHER);
        calls[i].persistent = true;
    }
}

static void use_some(int turn)
{
    for (int i = 0; i < TOGETHER; i++) {
        fill(&calls[i], ++number);
        run_blocking(&calls[i]);
    }
    for (int i = 0; i < TOGETHER; i++) {
        if (turn == 0)
            start(&calls[i]);
        else
            MUST(PAT_Start(calls[i].held));
        if ((turn + i + test.rank) % 4 == 0)
            sleep_ms(1);
    }
    for (int i = TOGETHER; i-- > 0;)
        MUST(PAT_Wait(calls[i].held));
    for (int i = 0; i < TOGETHER; i++)
        check(&calls[i]);
}

static void free_some(void)
{
    for (int i = 0; i < TOGETHER; i++) {
        MUST(PAT_Request_free(&calls[i].held));
        if (calls[i].held != PAT_REQUEST_NULL)
            test_fail("PAT_Request_free left the handle as it was");
    }
}

static void again_and_again(const char *what, int rounds)
{
    for (int round = 0; round < rounds; round++) {
        draw_some();
        for (int turn = 0; turn < TURNS; turn++) {
            test_at("%s, round %d, turn %d", what, round, turn);
            use_some(turn);
        }
        free_some();
    }
}

static void used_wrongly(void)
{
    int in[MOST_RANKS], out = test.rank;
    PAT_Request r = PAT_REQUEST_NULL;
    test_at("used wrongly");
    expect_error("no place for the request", MPI_ERR_ARG, PAT_Bcast_init(&out, 1, MPI_INT, 0, comm, NULL),
                 "PAT_Bcast_init: request is a null pointer");
    expect_error("no communicator", MPI_ERR_COMM,
                 PAT_Alltoall_init(in, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_NULL, &r),
                 "PAT_Alltoall_init: comm is MPI_COMM_NULL");
    if (r != PAT_REQUEST_NULL)
        test_fail("a request was made");
    MUST(PAT_Reduce_init(&out, in, 1, MPI_INT, MPI_SUM, test.size, comm, &r));
    expect_error("no root", MPI_ERR_ROOT, PAT_Start(r), NULL);
    MUST(PAT_Wait(r)); /* it was not started */
    MUST(PAT_Request_free(&r));

    MUST(PAT_Allreduce_init(&out, in, 1, MPI_INT, MPI_SUM, comm, &r));
    MUST(PAT_Wait(r));
    MUST(PAT_Open(r));
    expect_error("opened twice", MPI_ERR_REQUEST, PAT_Open(r), "PAT_Open: the request is already open");
    MUST(PAT_Start(r));
    expect_error("started twice", MPI_ERR_REQUEST, PAT_Start(r), "PAT_Start: the request is already started");
    expect_error("freed while started", MPI_ERR_REQUEST, PAT_Request_free(&r),
                 "PAT_Request_free: the request is started, call PAT_Wait first");
    MUST(PAT_Wait(r));
    expect_int("the sum of all ranks", test.size * (test.size - 1) / 2, in[0]);
    MUST(PAT_Request_free(&r));
}

/* No rank is through before rank 0 has called, which is late. (All ranks share a clock.) */
static void barrier_again(void)
{
    PAT_Request r;
    test_at("barriers");
    MUST(PAT_Barrier_init(comm, &r));
    for (int turn = 0; turn < TURNS; turn++) {
        int64_t called_ns, through_ns;
        if (test.rank == 0)
            sleep_ms(10);
        called_ns = pat_clock_local_ns();
        MUST(PAT_Start(r));
        MUST(PAT_Wait(r));
        through_ns = pat_clock_local_ns();
        MUST(MPI_Bcast(&called_ns, 1, MPI_INT64_T, 0, comm));
        if (through_ns < called_ns)
            test_fail("turn %d: through before rank 0 has called", turn);
    }
    MUST(PAT_Request_free(&r));
}

/* An operation of the program's, which no plan is for. */
static void last_of(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] = ((int *)in)[i] > ((int *)inout)[i] ? ((int *)in)[i] : ((int *)inout)[i];
}

static void own_operation(void)
{
    int in = -1, out = test.rank;
    MPI_Op op;
    PAT_Request r;
    test_at("an operation of the program's");
    MUST(MPI_Op_create(last_of, 1, &op));
    MUST(PAT_Allreduce_init(&out, &in, 1, MPI_INT, op, comm, &r));
    for (int turn = 0; turn < TURNS; turn++) {
        out = test.rank + turn;
        MUST(PAT_Start(r));
        MUST(PAT_Wait(r));
        expect_int("the most", test.size - 1 + turn, in);
    }
    MUST(PAT_Request_free(&r));
    MUST(MPI_Op_free(&op));
}

/* A started request is completed by whatever ends, and PAT_Wait returns then. */
static void ends(void)
{
    const MPI_Comm before = comm;
    call *c = &calls[0];
    test_at("the communicator is freed while a request is started");
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    do
        draw(c, ++number);
    while (c->kind != ALLTOALL);
    c->persistent = true;
    run_blocking(c);
    start(c);
    MUST(MPI_Comm_free(&comm));
    MUST(PAT_Wait(c->held));
    check(c);
    MUST(PAT_Request_free(&c->held));
    comm = before;

    test_at("the library ends while a request is started");
    do
        draw(c, ++number);
    while (c->kind != SCATTER);
    c->persistent = true;
    run_blocking(c);
    if (test.rank == 0)
        sleep_ms(20);
    start(c);
    MUST(PAT_Finalize());
    expect_error("the library is not started", MPI_ERR_OTHER, PAT_Start(c->held), NULL);
    MUST(PAT_Wait(c->held));
    check(c);
    MUST(PAT_Request_free(&c->held));
    MUST(PAT_Init());
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (int i = 0; use_all(i); i++) {
        char what[40];
        snprintf(what, sizeof(what), "algorithms number %d", i);
        again_and_again(what, i == 0 ? 30 : 8);
    }
    use_all(2); /* the first that has plans */
    used_wrongly();
    own_operation();
    barrier_again();
    ends();
    return end();
}
