/*
 * mpi_select.c — what "auto" does with short blocks: it leaves them to the MPI library while ranks come together, looks ever
 * more seldom whether they still do, and takes relay for as long as they come far apart. The same call on every rank.
 *
 * ranks: 2 3 4
 */
#include "mpi_common.h"

enum { BYTES = 25000, LONG_BYTES = 40000, CALLS = 30 };

static int64_t calls_of(const PAT_Counters *c, const char *name)
{
    for (int i = 0; i < c->num_algs; i++)
        if (!strcmp(c->alg_name[i], name))
            return c->alg_calls[i];
    test_fail("%s is not counted", name);
    return 0;
}

/* So many calls, the last rank late by so many ms in each. Returns how many relay has run; the same on all ranks. */
static int64_t relay_calls_of(int bytes, int calls, double late_ms)
{
    PAT_Counters before = counters();
    for (int i = 0; i < calls; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (late_ms > 0 && test.rank == test.size - 1)
            sleep_ms(late_ms);
        gather_bytes(MPI_COMM_WORLD, bytes, (uint32_t)i + 1);
    }
    PAT_Counters after = counters();
    int64_t num = calls_of(&after, "relay") - calls_of(&before, "relay"), least, most;
    MPI_Allreduce(&num, &least, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&num, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    expect_int("relay's calls, fewest and most on a rank", least, most);
    expect_int("all calls", calls, num + calls_of(&after, "native") - calls_of(&before, "native"));
    return num;
}

static int64_t relay_calls(int calls, double late_ms)
{
    return relay_calls_of(BYTES, calls, late_ms);
}

__attribute__((noinline)) static void one_place(gather *g)
{
    gather_call(g);
    test.where[0] = '1'; /* or the compiler would take the two for one */
}

__attribute__((noinline)) static void another_place(gather *g)
{
    gather_call(g);
    test.where[0] = '2';
}

static void pair_of_calls(gather *g, int64_t by_relay[2])
{
    for (int place = 0; place < 2; place++) {
        PAT_Counters before = counters();
        MPI_Barrier(MPI_COMM_WORLD);
        gather_fill(g, (uint32_t)before.calls + 1);
        if (place == 0 && test.rank == test.size - 1)
            sleep_ms(30);
        if ((place + test.rank) % 2)
            another_place(g);
        else
            one_place(g);
        PAT_Counters after = counters();
        by_relay[place] += calls_of(&after, "relay") - calls_of(&before, "relay");
    }
}

/*
 * Two calls of one length in turn, from places that are not the same on all ranks: to one the last rank comes far later than
 * the others, to the other all come together. Rank 0's place tells them apart.
 */
static void two_places(void)
{
    gather g;
    int64_t learning[2] = {0}, by_relay[2] = {0};
    gather_make(&g, MPI_COMM_WORLD, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], BYTES + 400, false);
    test_at("two places");
    for (int i = 0; i < 30; i++)
        pair_of_calls(&g, learning);
    for (int i = 0; i < 20; i++)
        pair_of_calls(&g, by_relay);
    test_at("two places");
    expect_int("relay's calls where the last one is late", test.size > 2 ? 20 : 0, by_relay[0]);
    if (by_relay[1] > 10 && test_slow() == 1)
        test_fail("relay has run %lld of 20 calls where all come together; expected: fewer than half",
                  (long long)by_relay[1]);
    gather_free(&g);
}

/*
 * Blocks so long that relay is taken at once. While ranks come together the MPI library is tried too; whatever is measured,
 * which depends on the machine (unit_history.c has that), all ranks go by it alike. When ranks come far apart it is relay.
 */
static void compared(void)
{
    test_at("long blocks");
    const int64_t together = relay_calls_of(LONG_BYTES, 100, 0);
    if (test.size == 2) /* two do not tell each other what they took */
        expect_int("relay's calls with two ranks", 100, together);
    else if ((together == 100 && test_slow() == 1) || together == 0)
        test_fail("relay has run %lld of 100 calls; expected: some, but not all", (long long)together);
    relay_calls_of(LONG_BYTES, 70, 40); /* after 64 calls at the latest it finds out */
    expect_int("relay's calls when ranks come far apart", 5, relay_calls_of(LONG_BYTES, 5, 40));
}

/*
 * A request's round may end early or late on a rank, by its thread. What the next calls go by must not depend on it: all
 * ranks get the same answer, and nobody is left alone in a call.
 */
static void beside_started(void)
{
    gather g;
    PAT_Request r;
    gather_make(&g, MPI_COMM_WORLD, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], BYTES, false);
    MUST(PAT_Allgather_init(gather_sendbuf(&g), BYTES, MPI_BYTE, gather_recvbuf(&g), BYTES, MPI_BYTE,
                            MPI_COMM_WORLD, &r));
    unsigned char *other = calloc((size_t)test.size + 1, BYTES);
    if (!other)
        must("memory", MPI_ERR_NO_MEM);
    for (int turn = 0; turn < 24; turn++) {
        test_at("a started request, turn %d", turn);
        gather_fill(&g, (uint32_t)turn + 1);
        MUST(PAT_Start(r));
        sleep_ms(test.rank == turn % test.size ? 20 : 0);
        if (turn % 2) /* too short for anything but the MPI library */
            MUST(PAT_Allgather(other, 2100, MPI_BYTE, other + BYTES, 2100, MPI_BYTE, MPI_COMM_WORLD));
        int mine[2], most[2];
        mine[0] = PAT_Allgather(other, BYTES, MPI_BYTE, other + BYTES, BYTES, MPI_BYTE, MPI_COMM_WORLD);
        mine[1] = -mine[0];
        MPI_Allreduce(mine, most, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        expect_int("the answer to a call beside it, on another rank", mine[0], -most[1]);
        if (mine[0] != MPI_SUCCESS)
            expect_error("PAT_Allgather", MPI_ERR_REQUEST, mine[0], NULL);
        MUST(PAT_Wait(r));
        gather_spoil(&g);
        gather_check(&g);
        gather_bytes(MPI_COMM_WORLD, BYTES, (uint32_t)turn + 1);
    }
    free(other);
    MUST(PAT_Request_free(&r));
    gather_free(&g);
}

int main(int argc, char **argv)
{
    if (!test_mpi_init(&argc, &argv, MPI_THREAD_MULTIPLE))
        return 77;
    layouts_make();
    setenv("PAT_LINK", "10,200", 1); /* a block takes a millisecond */
    MUST(PAT_Init());
    test_at("rounds asked for by name are no tries");
    MUST(PAT_UseAlg("relay"));
    expect_int("relay's calls by name", 12, relay_calls(12, 0));
    MUST(PAT_UseAlg("auto"));
    expect_int("relay's calls from the first on", test.size > 2 ? 5 : 0, relay_calls(5, 40));
    test_at("ranks that come together");
    int64_t together = relay_calls(CALLS, 0);
    if (test.size == 2)
        expect_int("relay's calls with two ranks", 0, together);
    else if (together < 1 || (together > CALLS / 2 && test_slow() == 1)) /* slow ranks do not come together */
        test_fail("relay has run %lld of %d calls; expected: some, and fewer than half", (long long)together,
                  CALLS);
    test_at("ranks that come far apart");
    relay_calls(CALLS, 40); /* in these it finds out */
    int64_t apart = relay_calls(5, 40);
    expect_int("relay's calls", test.size > 2 ? 5 : 0, apart);
    test_at("together again");
    relay_calls(4, 0);
    together = relay_calls(CALLS, 0);
    if (together > CALLS / 2 && test_slow() == 1)
        test_fail("relay has run %lld of %d calls; expected: fewer than half", (long long)together, CALLS);
    two_places();
    compared();
    beside_started();
    layouts_free();
    return test_end();
}
