/*
 * mpi_nonblocking.c — PAT_Iallgather and its relatives against the MPI library's blocking calls: every algorithm, several calls under way at
 * once and completed in every way that MPI has, between blocking calls and messages, with types that are freed at once; data moves
 * while no rank is in MPI; requests, communicators and the library are freed or ended while calls are under way.
 *
 * ranks: 1 2 3 8
 */
#include "nonblocking_calls.h"

/* ---- Ways to complete them ---------------------------------------------------------------------------- */

enum way {
    WAIT_BACKWARDS,
    WAITALL,
    WAITANY,
    WAITSOME,
    TESTSOME,
    TESTALL,
    STATUS_FIRST,
    WITH_A_MESSAGE,
    NUM_WAYS
};

static void wait_for(MPI_Request *request)
{
    MPI_Status status;
    int count = -1, cancelled = -1;
    MUST(MPI_Wait(request, &status));
    MUST(MPI_Get_count(&status, MPI_BYTE, &count));
    MUST(MPI_Test_cancelled(&status, &cancelled));
    expect_int("cancelled", 0, cancelled);
}

static void complete(enum way way)
{
    MPI_Request all[CALLS + 2];
    int indices[CALLS], index, done = 0, flag = 0, out = 1, in = -1;
    for (int i = 0; i < CALLS; i++)
        all[i] = calls[i].request;
    switch (way) {
    case WAIT_BACKWARDS:
        for (int i = CALLS; i-- > 0;)
            wait_for(&all[i]);
        break;
    case WAITANY:
        for (int i = 0; i < CALLS; i++)
            MUST(MPI_Waitany(CALLS, all, &index, MPI_STATUS_IGNORE));
        break;
    case WAITSOME:
        for (int i = 0; i < CALLS; i += done)
            MUST(MPI_Waitsome(CALLS, all, &done, indices, MPI_STATUSES_IGNORE));
        break;
    case TESTSOME:
        for (int i = 0; i < CALLS; i += done) {
            MUST(MPI_Testsome(CALLS, all, &done, indices, MPI_STATUSES_IGNORE));
            sleep_ms(0.2);
        }
        break;
    case TESTALL:
        while (!flag)
            MUST(MPI_Testall(CALLS, all, &flag, MPI_STATUSES_IGNORE));
        break;
    case STATUS_FIRST:
        for (int i = 0; i < CALLS; i++) {
            MUST(MPI_Request_get_status(all[i], &flag, MPI_STATUS_IGNORE));
            wait_for(&all[i]);
        }
        break;
    case WITH_A_MESSAGE:
        out = test.rank;
        MUST(MPI_Irecv(&in, 1, MPI_INT, (test.rank + test.size - 1) % test.size, 7, comm, &all[CALLS]));
        MUST(MPI_Isend(&out, 1, MPI_INT, (test.rank + 1) % test.size, 7, comm, &all[CALLS + 1]));
        MUST(MPI_Waitall(CALLS + 2, all, MPI_STATUSES_IGNORE));
        expect_int("the message between", (test.rank + test.size - 1) % test.size, in);
        break;
    default:
        MUST(MPI_Waitall(CALLS, all, MPI_STATUSES_IGNORE));
    }
    for (int i = 0; i < CALLS; i++)
        if (all[i] != MPI_REQUEST_NULL)
            test_fail("request %d is there still", i);
}

/* So many calls under way at once, with blocking ones of this library, and of MPI's, between them. */
static void many(const char *what, int rounds)
{
    static int mine[600], all[MOST_RANKS * 600];
    for (int round = 0; round < rounds; round++) {
        test_at("%s, round %d", what, round);
        for (int i = 0; i < CALLS; i++) {
            draw(&calls[i], (uint32_t)(round * CALLS + i));
            if ((round + i + test.rank) % 5 == 0)
                sleep_ms(0.5 * (1 + (round + test.rank) % 4));
            start(&calls[i]);
            if ((round + i) % 3 == 0) {
                for (int k = 0; k < 600; k++)
                    mine[k] = test.rank + k;
                MUST(PAT_Allgather(mine, 600, MPI_INT, all, 600, MPI_INT, comm));
                for (int k = 0; k < 600 * test.size; k++)
                    if (all[k] != k / 600 + k % 600) {
                        test_fail("the all-gather between: %d, not %d", all[k], k / 600 + k % 600);
                        break;
                    }
            }
            if ((round + i) % 3 == 1)
                MUST(PAT_Bcast(mine, 600, MPI_INT, 0, comm));
        }
        for (int i = 0; i < CALLS; i++)
            run_blocking(&calls[i]);
        complete((enum way)(round % NUM_WAYS));
        for (int i = 0; i < CALLS; i++)
            check(&calls[i]);
    }
}

/* ---- Progress ----------------------------------------------------------------------------------------- */

static call *long_call(enum kind kind, uint32_t number)
{
    call *c = &calls[0];
    *c = (call){.kind = kind, .n = MOST_ITEMS, .given = c->given, .got = c->got, .wanted = c->wanted};
    for (int r = 0; r < test.size; r++) {
        c->counts[r] = c->out_counts[r] = MOST_ITEMS;
        c->places[r] = c->out_places[r] = r * MOST_ITEMS;
    }
    fill(c, number);
    return c;
}

/* No rank is in MPI while data moves; the first question is answered with yes. */
static void moves_alone(void)
{
    for (int kind = 0; kind < NUM_KINDS; kind++) {
        call *c = long_call((enum kind)kind, 1000 + (uint32_t)kind);
        int over = 0;
        test_at("%s while nobody is in MPI", kinds[kind].name);
        run_blocking(c);
        MUST(MPI_Barrier(comm));
        start(c);
        sleep_ms(300 * test_slow());
        check(c); /* before MPI could have moved anything */
        MUST(MPI_Test(&c->request, &over, MPI_STATUS_IGNORE));
        if (!over) {
            test_fail("its request is not complete");
            MUST(MPI_Wait(&c->request, MPI_STATUS_IGNORE));
        }
    }
}

/* ---- Ends --------------------------------------------------------------------------------------------- */

/* The end of the communicator is then the end of the call: before it the buffers are not the program's. */
static void request_freed_early(void)
{
    const MPI_Comm before = comm;
    call *c = long_call(ALLGATHER, 2000);
    test_at("a request that is freed at once");
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    run_blocking(c);
    start(c);
    MUST(MPI_Request_free(&c->request));
    MUST(MPI_Comm_free(&comm));
    check(c);
    comm = before;
}

/* Rank 0 calls when the others have tried, so that with them the call is under way. */
static void cancelled(void)
{
    call *c = long_call(ALLREDUCE, 3000);
    test_at("a request that is cancelled");
    if (test.rank > 0) {
        start(c);
        if (MPI_Cancel(&c->request) == MPI_SUCCESS)
            test_fail("a collective was cancelled");
        MUST(MPI_Send(NULL, 0, MPI_BYTE, 0, 8, MPI_COMM_WORLD));
    } else {
        for (int r = 1; r < test.size; r++)
            MUST(MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        start(c);
    }
    MUST(MPI_Wait(&c->request, MPI_STATUS_IGNORE));
    run_blocking(c);
    check(c);
}

/* No rank is through before all have called, and all are then. Rank 0 calls when it has heard that nobody is. */
static void barriers(void)
{
    for (int turn = 0; turn < 3; turn++) {
        MPI_Request request;
        int over = 0;
        const int64_t before = calls_by_plan();
        test_at("a barrier, turn %d", turn);
        if (test.rank > 0) {
            MUST(PAT_Ibarrier(comm, &request));
            sleep_ms(20);
            MUST(MPI_Test(&request, &over, MPI_STATUS_IGNORE));
            if (over)
                test_fail("it is through, and rank 0 has not called");
            MUST(MPI_Send(NULL, 0, MPI_BYTE, 0, 10, MPI_COMM_WORLD));
        } else {
            for (int r = 1; r < test.size; r++)
                MUST(MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            MUST(PAT_Ibarrier(comm, &request));
        }
        if (!over)
            MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
#ifdef OPEN_MPI
        expect_int("calls by plan", test.size > 1, calls_by_plan() - before);
#else
        expect_int("calls by plan", 0, calls_by_plan() - before);
#endif
    }
}

/* The first call on a communicator is a barrier, and the others start theirs when rank 0, whose is under way, has told them to. */
static void first_barrier(void)
{
    MPI_Comm fresh;
    MPI_Request request;
    test_at("a barrier, the first call on a communicator");
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &fresh));
    if (test.rank > 0)
        MUST(MPI_Recv(NULL, 0, MPI_BYTE, 0, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MUST(PAT_Ibarrier(fresh, &request));
    for (int r = 1; test.rank == 0 && r < test.size; r++)
        MUST(MPI_Send(NULL, 0, MPI_BYTE, r, 11, MPI_COMM_WORLD));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MUST(MPI_Comm_free(&fresh));
}

#ifdef OPEN_MPI
/* The first call on a communicator waits for nobody either: the others make theirs when rank 0 has told them that it has. */
static void first_call(void)
{
    const MPI_Comm before = comm;
    test_at("the first call on a communicator");
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    call *c = long_call(ALLTOALL, 7000);
    run_blocking(c);
    if (test.rank > 0)
        MUST(MPI_Recv(NULL, 0, MPI_BYTE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    start(c);
    for (int r = 1; test.rank == 0 && r < test.size; r++)
        MUST(MPI_Send(NULL, 0, MPI_BYTE, r, 9, MPI_COMM_WORLD));
    MUST(MPI_Wait(&c->request, MPI_STATUS_IGNORE));
    check(c);
    MUST(MPI_Comm_free(&comm));
    comm = before;
}
#endif

/*
 * A call on each of many communicators that have ranks in common, in another order on each rank where the first one waits for nobody; some are freed, and others take
 * their place.
 */
static void many_communicators(void)
{
    enum { COMMS = 9, TURNS = 3, ITEMS = 1500 };
    static int out[COMMS][ITEMS], in[COMMS][MOST_RANKS * ITEMS];
    MPI_Comm some[COMMS];
    MPI_Request requests[COMMS];
    for (int i = 0; i < COMMS; i++)
        some[i] = MPI_COMM_NULL;
    for (int turn = 0; turn < TURNS; turn++) {
        const int64_t by_plan = calls_by_plan();
        int together = 0;
        test_at("many communicators, turn %d", turn);
        for (int i = 0; i < COMMS; i++) {
            if (some[i] != MPI_COMM_NULL && (i + turn) % 2)
                MUST(MPI_Comm_free(&some[i]));
            if (some[i] == MPI_COMM_NULL)
                MUST(MPI_Comm_split(MPI_COMM_WORLD, (test.rank >> (i % 3)) % 2,
                                    i % 2 ? -test.rank : test.rank, &some[i]));
            for (int k = 0; k < ITEMS; k++)
                out[i][k] = (turn * COMMS + i) * 100000 + test.rank * 10000 + k;
        }
        for (int n = 0; n < COMMS; n++) {
#ifdef OPEN_MPI
            const int i = (n * (1 + test.rank % 2 * 3) + test.rank) % COMMS;
#else
            const int i = n;
#endif
            MUST(PAT_Iallgather(out[i], ITEMS, MPI_INT, in[i], ITEMS, MPI_INT, some[i], &requests[i]));
        }
        MUST(MPI_Waitall(COMMS, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < COMMS; i++) {
            int size, world[MOST_RANKS], mine = test.rank;
            MUST(MPI_Comm_size(some[i], &size));
            together += size > 1;
            MUST(MPI_Allgather(&mine, 1, MPI_INT, world, 1, MPI_INT, some[i]));
            for (int k = 0; k < size * ITEMS; k++)
                if (in[i][k] != (turn * COMMS + i) * 100000 + world[k / ITEMS] * 10000 + k % ITEMS) {
                    test_fail("communicator %d: item %d is %d", i, k, in[i][k]);
                    break;
                }
        }
        expect_int("calls by plan", together, calls_by_plan() - by_plan);
    }
    for (int i = 0; i < COMMS; i++)
        MUST(MPI_Comm_free(&some[i]));
}

static void communicator_freed(void)
{
    const MPI_Comm before = comm;
    test_at("a communicator that is freed at once");
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int i = 0; i < CALLS; i++) {
        draw(&calls[i], 4000 + (uint32_t)i);
        run_blocking(&calls[i]);
    }
    for (int i = 0; i < CALLS; i++)
        start(&calls[i]);
    MUST(MPI_Comm_free(&comm));
    complete(WAITALL);
    for (int i = 0; i < CALLS; i++)
        check(&calls[i]);
    comm = before;
}

/*
 * Rank 0 frees the communicator while a request is started there and a non-blocking call is under way; the others make that call only when they have
 * what rank 0 passes on for the request.
 */
static void request_and_communicator_freed(void)
{
    const MPI_Comm before = comm;
    gather g;
    PAT_Request request;
    call *c = long_call(ALLGATHER, 6000);
    test_at("a communicator that is freed while a request is started");
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    gather_make(&g, comm, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], 20000, false);
    gather_fill(&g, 77);
    MUST(PAT_Allgather_init(gather_sendbuf(&g), g.send_count, MPI_BYTE, gather_recvbuf(&g), g.recv_count,
                            MPI_BYTE, comm, &request));
    run_blocking(c);
    MUST(PAT_Start(request));
    if (test.rank > 0)
        MUST(PAT_Wait(request));
    start(c);
    MUST(MPI_Comm_free(&comm));
    if (test.rank == 0)
        MUST(PAT_Wait(request));
    MUST(MPI_Wait(&c->request, MPI_STATUS_IGNORE));
    check(c);
    gather_check(&g);
    MUST(PAT_Request_free(&request));
    gather_free(&g);
    comm = before;
}

static void library_ended(void)
{
    call *c = long_call(ALLTOALL, 5000);
    test_at("the library ends while a call is under way");
    if (test.rank == 0)
        sleep_ms(20);
    start(c);
    MUST(PAT_Finalize());
    MUST(MPI_Wait(&c->request, MPI_STATUS_IGNORE));
    run_blocking(c);
    check(c);
    MUST(PAT_Init());
}

static void wrong_arguments(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int in[MOST_RANKS], out = 0;
    test_at("wrong arguments");
    expect_error("a count below 0", MPI_ERR_COUNT,
                 PAT_Iallgather(&out, -1, MPI_INT, in, 1, MPI_INT, comm, &request), NULL);
    expect_error("no communicator", MPI_ERR_COMM,
                 PAT_Iallgather(&out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_NULL, &request), NULL);
    expect_error("no root", MPI_ERR_ROOT, PAT_Ibcast(&out, 1, MPI_INT, test.size, comm, &request), NULL);
    expect_error("no root", MPI_ERR_ROOT, PAT_Ireduce(&out, in, 1, MPI_INT, MPI_SUM, -1, comm, &request),
                 NULL);
    expect_error("no communicator", MPI_ERR_COMM,
                 PAT_Iscatter(in, 1, MPI_INT, &out, 1, MPI_INT, 0, MPI_COMM_NULL, &request), NULL);
    expect_error("no operation", MPI_ERR_OP,
                 PAT_Ireduce_scatter_block(in, &out, 1, MPI_INT, MPI_OP_NULL, comm, &request), NULL);
    if (request != MPI_REQUEST_NULL)
        test_fail("a request was made");
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (int i = 0; use_all(i); i++) {
        char what[40];
        snprintf(what, sizeof(what), "algorithms number %d", i);
        many(what, i == 0 ? 2 * NUM_WAYS : 5);
        if (in_use[PAT_OP_ALLGATHER]->build)
            barriers();
    }
    use_all(2); /* the first that has plans */
    if (test.size > 1)
        moves_alone();
    request_freed_early();
    cancelled();
    barriers();
    first_barrier();
#ifdef OPEN_MPI /* elsewhere it waits: comm_local.h */
    first_call();
#endif
    many_communicators();
    communicator_freed();
    request_and_communicator_freed();
    wrong_arguments();
    library_ended();
    return end();
}
