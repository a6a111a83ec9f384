/*
 * mpi_leave.c — communicators that are freed: no member waits until the others have done so. The MPI standard lets MPI_Comm_free wait, but
 * expects that it does not, and neither Open MPI nor MPICH does: so a program can see the difference where one frees only when the others have told it that they
 * have; and with MPICH where one frees while a receive of its own is under way, since there the library hears of that only when the receive is over. Between the two
 * ranks may settle, or the library may end.
 *
 * ranks: 2 3 5
 */
#include "mpi_common.h"

enum { TURNS = 16, MANY = 200, BLOCK = 6000, LONG = 100000, TAG = 7 };

/* Calls that teach the library what comes, and now and then a phase whose call does not come. */
static void some_calls(MPI_Comm comm, int turn)
{
    for (int i = 0; i < 3; i++) {
        phase(0.3 * ((test.rank + i) % 3), 0.2, 50);
        gather_bytes(comm, BLOCK, (uint32_t)(turn * 10 + i));
    }
    if ((turn + test.rank) % 3 == 0)
        phase(0.3, 0.2, 50);
}

/* The last one of the ranks frees it when all others say that they have: what they do meanwhile is `between`. */
static void the_last_one_waits(MPI_Comm comm, void (*between)(int turn), int turn)
{
    const int last = test.size - 1;
    int word = turn;
    if (test.rank != last) {
        MUST(MPI_Comm_free(&comm));
        if (between)
            between(turn);
        MUST(MPI_Send(&word, 1, MPI_INT, last, TAG, MPI_COMM_WORLD));
        return;
    }
    if (between)
        between(turn);
    for (int r = 0; r < last; r++) {
        MUST(MPI_Recv(&word, 1, MPI_INT, r, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        expect_int("what has been sent", turn, word);
    }
    MUST(MPI_Comm_free(&comm));
}

static void call_elsewhere(int turn)
{
    gather_bytes(MPI_COMM_WORLD, BLOCK, (uint32_t)turn);
}

/* One rank's receive on it is over only after a collective call of all elsewhere. */
static void with_a_receive(MPI_Comm comm, int turn)
{
    const int last = test.size - 1;
    int word = turn, in = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm freed = comm;
    if (test.rank == last)
        MUST(MPI_Irecv(&in, 1, MPI_INT, 0, TAG, comm, &request));
    else if (test.rank == 0)
        MUST(MPI_Send(&word, 1, MPI_INT, last, TAG, comm));
    MUST(MPI_Comm_free(&freed));
    MUST(MPI_Allreduce(MPI_IN_PLACE, &word, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    expect_int("what has come in", test.rank == last ? turn : -1, in);
}

/* A send that nobody waits for: what finds it over may be the library itself, in one of its threads. */
static void with_a_forgotten_send(MPI_Comm comm, int turn)
{
    static int words[LONG];
    const int last = test.size - 1;
    MPI_Comm freed = comm;
    MPI_Request request;
    for (int i = 0; i < LONG; i++)
        words[i] = test.rank == 0 ? turn + i : -1;
    if (test.rank == 0) {
        MUST(MPI_Isend(words, LONG, MPI_INT, last, TAG, comm, &request));
        MUST(MPI_Request_free(&request));
        MUST(MPI_Comm_free(&freed));
    }
    call_elsewhere(turn);
    if (test.rank == last) {
        MUST(MPI_Recv(words, LONG, MPI_INT, 0, TAG, comm, MPI_STATUS_IGNORE));
        expect_int("the last of what has come in", turn + LONG - 1, words[LONG - 1]);
    }
    if (test.rank > 0)
        MUST(MPI_Comm_free(&freed));
    MUST(MPI_Barrier(MPI_COMM_WORLD)); /* then it is over, and the memory may be written to again */
    call_elsewhere(turn);
}

/* A request is open, and receives may be posted to its buffer, which is the program's again when the communicator is freed. */
static void with_an_open_request(MPI_Comm comm, int turn)
{
    gather g;
    PAT_Request request;
    gather_make(&g, comm, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], BLOCK, false);
    gather_fill(&g, (uint32_t)turn);
    MUST(PAT_Allgather_init(gather_sendbuf(&g), g.send_count, g.sl->type, gather_recvbuf(&g), g.recv_count,
                            g.rl->type, comm, &request));
    MUST(PAT_Open(request));
    phase(0.5 * (test.rank % 3), 0.2, 50);
    MUST(MPI_Comm_free(&comm));
    memset(g.recv, 0x77, g.recv_size);
    MUST(PAT_Request_free(&request));
    sleep_ms(1);
    for (size_t at = 0; at < g.recv_size; at++)
        if (g.recv[at] != 0x77) {
            test_fail("byte %zu of the buffer was written to", at);
            break;
        }
    gather_free(&g);
}

/* Many, one soon after the other: what is left of them in the background must not pile up. */
static void many(void)
{
    MPI_Comm comm;
    for (int i = 0; i < MANY; i++) {
        test_at("communicator %d of many", i);
        MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        gather_bytes(comm, 12, (uint32_t)i);
        MUST(MPI_Comm_free(&comm));
    }
}

/* Every rank uses another algorithm, which settles all communicators. */
static void settle(int turn)
{
    MUST(PAT_UseAlg(turn % 2 ? "bdr" : "bslb"));
    if (turn % 4 == 0)
        MUST(PAT_UseAlg("bdr"));
}

static void end_and_begin(int turn)
{
    (void)turn;
    MUST(PAT_Finalize());
    MUST(PAT_Init());
}

static MPI_Comm used(int turn)
{
    MPI_Comm comm;
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    some_calls(comm, turn);
    return comm;
}

int main(int argc, char **argv)
{
    static const char *const algs[] = {"bdr", "bslb", "auto", "relay"};
    setenv("PAT_LINK", "20,2000", 0);
    test_begin_on_nodes(&argc, &argv);
    layouts_make();
    for (int turn = 0; turn < TURNS; turn++) {
        test_at("turn %d", turn);
        use_alg(algs[turn / 2 % 4]);
        the_last_one_waits(used(turn), NULL, turn);
        test_at("turn %d, all-gathers elsewhere", turn);
        the_last_one_waits(used(turn), call_elsewhere, turn);
        test_at("turn %d, another algorithm", turn);
        the_last_one_waits(used(turn), settle, turn);
        use_alg(algs[turn / 2 % 4]);
        test_at("turn %d, a receive", turn);
        with_a_receive(used(turn), turn);
        test_at("turn %d, a forgotten send", turn);
        with_a_forgotten_send(used(turn), turn);
        test_at("turn %d, an open request", turn);
        with_an_open_request(used(turn), turn);
    }
    many();
    for (int turn = 0; turn < 4; turn++) {
        test_at("end %d", turn);
        use_alg("bdr");
        MPI_Comm two = used(turn);
        the_last_one_waits(used(turn), end_and_begin, turn);
        if (turn < 2)
            some_calls(two, turn);
        MUST(MPI_Comm_free(&two));
    }
    test_at("MPI_Finalize");
    use_alg("bdr");
    MPI_Comm comm = used(TURNS);
    if (test.rank > 0) /* the first rank's is still there when MPI ends */
        MUST(MPI_Comm_free(&comm));
#ifndef OPEN_MPI
    MUST(
        PAT_Finalize()); /* MPICH's MPI_Finalize may not meet the thread in MPI, which has something to do here: docs/mpi-libraries.md */
#endif
    layouts_free();
    MPI_Finalize();
    return test.failures ? 1 : 0;
}
