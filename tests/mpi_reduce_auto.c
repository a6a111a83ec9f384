/*
 * mpi_reduce_auto.c — what `allreduce_auto` does: integers are joined by converge where that was measured to take less than the MPI library's
 * own all-reduce, alike on all ranks; floating-point numbers only where PAT_REORDER allows another order, and else their bits are the MPI
 * library's in every call. Results are right whoever is late, with milestones and without, and while lengths, communicators and algorithms
 * change. Who runs the calls is looked at with an argument only, on several nodes: inside one the MPI library is soon measured to be the faster.
 *
 * ranks: 2 3 5
 */
#include "mpi_calibrated.h"

enum { COUNT = 16384, MOST = 3 * COUNT, CALLS = 12, LATE_MS = 60 };

static bool looks; /* at who runs the calls */
static float floats[MOST], float_sums[MOST], float_wanted[MOST];

static int64_t converge_calls(void)
{
    return calls_by("allreduce_converge");
}

/* Are the bits those of the MPI library's own all-reduce? */
static bool sum_floats(int count, int seed)
{
    for (int i = 0; i < count; i++)
        floats[i] = 1.0f / (float)(3 + i + seed + 17 * test.rank * test.rank);
    MUST(PAT_Allreduce(floats, float_sums, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
    MUST(PMPI_Allreduce(floats, float_wanted, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++)
        if (!(float_sums[i] > 0.9999f * float_wanted[i] && float_sums[i] < 1.0001f * float_wanted[i])) {
            test_fail("element %d of %d is %g, not %g", i, count, (double)float_sums[i],
                      (double)float_wanted[i]);
            break;
        }
    return memcmp(float_sums, float_wanted, sizeof(float) * (size_t)count) == 0;
}

/* The last rank is late; all say so half-way, or nobody does. How many of the calls converge ran; the same on all ranks. */
static int run(bool as_floats, bool said)
{
    int64_t ran = converge_calls(), least, most;
    for (int i = 0; i < CALLS; i++) {
        const double ms = test.rank == test.size - 1 ? 5 + (looks ? LATE_MS : 15) : 5;
        if (said)
            phase(ms, 3, 300 / ms);
        else
            sleep_ms(ms);
        if (as_floats)
            sum_floats(COUNT, i);
        else
            sum_ints(MPI_COMM_WORLD, COUNT, i);
    }
    ran = converge_calls() - ran;
    MPI_Allreduce(&ran, &least, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&ran, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    expect_int("converge's calls, fewest and most on a rank", least, most);
    return (int)ran;
}

/* A busy machine may turn a measurement round: one of three runs has to show it. */
static void expect_most(const char *what, bool as_floats, bool said)
{
    int ran = 0;
    test_at("%s", what);
    for (int tries = 0; tries < 3 && ran < CALLS * 2 / 3; tries++)
        ran = run(as_floats, said);
    if (looks && ran < CALLS * 2 / 3)
        test_fail("converge ran %d of %d calls", ran, CALLS);
}

static void expect_the_bits_of_mpi(void)
{
    test_at("floating-point numbers keep their order");
    const int64_t before = converge_calls();
    for (int i = 0; i < CALLS; i++) {
        sleep_ms(test.rank == i % test.size ? 10 : 1);
        if (!sum_floats(COUNT + i % 3 * 1000, i))
            test_fail("call %d has not the bits of the MPI library", i);
    }
    expect_int("converge's calls", before, converge_calls());
}

/* A request is started: what chooses takes the MPI library, whatever it would take else. */
static void beside_a_request(void)
{
    gather g;
    PAT_Request r;
    gather_make(&g, MPI_COMM_WORLD, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], 30000, false);
    MUST(PAT_Allgather_init(gather_sendbuf(&g), g.send_count, MPI_BYTE, gather_recvbuf(&g), g.recv_count,
                            MPI_BYTE, MPI_COMM_WORLD, &r));
    for (int turn = 0; turn < 20; turn++) {
        test_at("beside a request, turn %d", turn);
        gather_fill(&g, (uint32_t)turn + 1);
        MUST(PAT_Start(r));
        sleep_ms(test.rank == turn % test.size ? 5 : 0);
        const int64_t before = converge_calls();
        sum_ints(MPI_COMM_WORLD, COUNT, turn);
        expect_int("converge's calls beside a request", before, converge_calls());
        MUST(PAT_Wait(r));
        gather_spoil(&g);
        gather_check(&g);
        sum_ints(MPI_COMM_WORLD, COUNT, turn);
    }
    MUST(PAT_Request_free(&r));
    gather_free(&g);
}

static void changes(void)
{
    MPI_Comm comms[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &comms[1]);
    for (int turn = 0; turn < 60; turn++) {
        test_at("changes, call %d", turn);
        sleep_ms(test.rank == turn / 7 % test.size ? 6 : 1);
        if (turn % 17 == 8) /* right after a call of which ranks may still tell each other */
            use_alg(turn % 2 ? "allreduce_converge" : "allreduce_ring");
        if (turn % 17 == 10)
            use_alg("allreduce_auto");
        if (turn > 20 && (turn < 40 || test.rank % 2)) /* by all ranks, and then by some */
            phase(2, 1, 50);
        if (turn % 6 == 5)
            gather_bytes(comms[turn / 3 % 2], 30000, (uint32_t)turn + 1);
        sum_ints(comms[turn / 3 % 2], turn % 4 == 3 ? MOST : turn % 9 == 8 ? 1 : COUNT, turn);
    }
    MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[1]);
}

int main(int argc, char **argv)
{
    looks = argc > 1;
    if (!looks)
        setenv("PAT_LINK", "20,200", 1); /* else auto leaves to MPI what has all ranks on one node */
    test_begin(&argc, &argv);
    test_limit(120);
    layouts_make();
    expect_most("integers", false, false);
    expect_the_bits_of_mpi();
    expect_most("integers, with milestones", false, true);
    if (converge_calls() == 0)
        test_fail("converge was not even tried");
    beside_a_request();
    changes();
    MUST(PAT_Finalize());
    setenv("PAT_REORDER", "1", 1);
    MUST(PAT_Init());
    expect_most("floating-point numbers in any order", true, false);
    expect_most("floating-point numbers in any order, with milestones", true, true);
    if (converge_calls() == 0)
        test_fail("converge was not even tried");
    layouts_free();
    return test_end();
}
