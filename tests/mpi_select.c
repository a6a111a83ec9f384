/*
 * mpi_select.c — what "auto" chooses is the same on every rank, call by call, whatever they measure: blocks for which the link, as
 * PAT_LINK pretends it to be, speaks for relay, while the machine has no such link; ranks that come together, far apart, and
 * together again; call sites that differ from rank to rank; started requests in between. (What it chooses: unit_profile.c and
 * cluster_select.sh.)
 *
 * ranks: 2 3 4
 */
#include "mpi_common.h"

enum { BYTES = 25000, LONG_BYTES = 40000, CALLS = 30 };

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

/* Two calls of one length in turn, from places that are not the same on all ranks; to one the last rank comes late. */
static void two_places(void)
{
    gather g;
    int64_t by_relay[2] = {0}, least[2], most[2];
    gather_make(&g, MPI_COMM_WORLD, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], BYTES + 400, false);
    test_at("two places");
    for (int i = 0; i < 40; i++)
        pair_of_calls(&g, by_relay);
    MPI_Allreduce(by_relay, least, 2, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(by_relay, most, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    for (int place = 0; place < 2; place++)
        expect_int("relay's calls from a place, fewest and most on a rank", least[place], most[place]);
    gather_free(&g);
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
        const int bytes = turn % 3 ? BYTES - 5000 + 16 * turn
                                   : BYTES; /* lengths that nothing is known of, and the request's */
        mine[0] = PAT_Allgather(other, bytes, MPI_BYTE, other + BYTES, bytes, MPI_BYTE, MPI_COMM_WORLD);
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
    test_at("the first call shows what the MPI library takes");
    expect_int("relay's calls", 0, relay_calls(1, 0));
    for (int turn = 0; turn < 2; turn++) {
        test_at("ranks that come together, turn %d", turn);
        relay_calls(CALLS, 0);
        test_at("ranks that come far apart, turn %d", turn);
        relay_calls(CALLS, 20);
        MUST(PAT_UseAlg("native")); /* while the last call is still being told of */
        MUST(PAT_UseAlg("auto"));
    }
    two_places();
    test_at("long blocks");
    relay_calls_of(LONG_BYTES, 100, 0);
    relay_calls_of(LONG_BYTES, 20, 20);
    beside_started();
    layouts_free();
    return test_end();
}
