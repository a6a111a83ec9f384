/*
 * mpi_heeds.c — of an execution that the background thread drives before the call: when is it to be woken by what ranks of its node send and take?
 * Where there is something to do then, and not because an offer of its own is taken. And a message that is there is seen in as many looks as the
 * library takes before it sleeps. A rank that calls counts what MPI has told of, and asks for no more.
 * ranks: 2
 */
#include "algorithms.h"
#include "bells_meet.h"
#include "engine.h"
#include "link.h"
#include "mpi_common.h"
#include "reach.h"
#include "wire.h"

enum { PIECE = 200 << 10, PIECES = PAT_SEND_WINDOW + 1, BLOCK = PIECE * PIECES, TAGS = 64 };

typedef struct heeds_case {
    const char *name;
    int sends;     /* by rank 0 before its call, to rank 1, which receives in its call */
    bool receives; /* rank 0 receives something before its call */
    bool followed; /* another send waits for the end of the first */
    bool reached;  /* long messages go as offers */
    bool heeds;
} heeds_case;

/* Rank 0 hands rank 1 pieces of what is rank 1's: what they mean is not the engine's affair. */
static void plan_of_first(pat_plan *plan, const heeds_case *c)
{
    int first = -1;
    pat_plan_init(plan, 2, 0, BLOCK);
    for (int i = 0; i < c->sends; i++) {
        const int send = c->followed ? pat_plan_send(plan, 1, BLOCK + i * PIECE, PIECE)
                                     : pat_plan_send_unordered(plan, 1, BLOCK + i * PIECE, PIECE);
        if (i == 0)
            first = send;
        else if (c->followed)
            pat_plan_after(plan, send, first);
    }
    if (c->receives)
        pat_plan_recv(plan, 1, BLOCK, PIECE);
    const int arrive = pat_plan_arrive(plan);
    pat_plan_after(plan, pat_plan_copy(plan, pat_own(0), pat_result(0), BLOCK), arrive);
}

static void plan_of_second(pat_plan *plan, const heeds_case *c)
{
    pat_plan_init(plan, 2, 1, BLOCK);
    const int arrive = pat_plan_arrive(plan);
    pat_plan_after(plan, pat_plan_copy(plan, pat_own(0), pat_result(BLOCK), BLOCK), arrive);
    for (int i = 0; i < c->sends; i++)
        pat_plan_after(plan, pat_plan_recv(plan, 0, i * PIECE, PIECE), arrive);
    if (c->receives)
        pat_plan_after(plan, pat_plan_send(plan, 0, BLOCK, PIECE), arrive);
}

static void try(const heeds_case *c, const pat_mates *mates)
{
    static char home[2 * BLOCK], landing[2 * BLOCK], own[BLOCK];
    pat_plan plan;
    pat_exec *exec;
    bool moved;
    test_at("%s", c->name);
    if (test.rank == 0)
        plan_of_first(&plan, c);
    else
        plan_of_second(&plan, c);
    expect_int("plan", 0, pat_plan_finish(&plan));
    expect_int("execution", 0, pat_exec_create(&exec, &plan, MPI_COMM_WORLD, (pat_tags){0, TAGS}));
    pat_exec_wake(exec, mates);
    pat_exec_land(exec, landing, sizeof(landing));
    for (int i = 0; i < 1000; i++)
        MUST(pat_exec_progress(exec, &moved));
    if (test.rank == 0)
        expect_int("is woken", c->heeds, pat_exec_awaits_mates(exec));
    MPI_Barrier(MPI_COMM_WORLD);
    MUST(pat_exec_arrive(exec, home, own, NULL));
    while (!pat_exec_done(exec))
        MUST(pat_exec_progress(exec, &moved));
    pat_exec_free(exec);
    pat_plan_free(&plan);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 1 has sent it when rank 0 looks for the first time, as the engine does. */
static void seen_soon(void)
{
    enum { BYTES = 1000, TIMES = 20 };
    char data[BYTES] = "";
    const int looks = pat_link_looks();
    int late = 0;
    test_at("a message that is there");
    for (int i = 0; i < TIMES; i++) {
        MPI_Request request = MPI_REQUEST_NULL;
        int done = 0, at, taken = 0;
        if (test.rank == 0)
            MUST(MPI_Irecv(data, BYTES, MPI_BYTE, 1, TAGS, MPI_COMM_WORLD, &request));
        MPI_Barrier(MPI_COMM_WORLD);
        if (test.rank == 1)
            MUST(MPI_Send(data, BYTES, MPI_BYTE, 0, TAGS, MPI_COMM_WORLD));
        sleep_ms(5);
        for (; test.rank == 0 && done == 0; taken++)
            MUST(MPI_Testsome(1, &request, &done, &at, MPI_STATUSES_IGNORE));
        late += taken > looks;
    }
    if (late > TIMES / 2) /* a message may not be there yet, because rank 1 has no processor */
        test_fail("%d of %d messages were seen later than in the %d looks that the library takes", late,
                  TIMES, looks);
        /* Since Open MPI 5 its components may be a part of the library's own file, in which they are not seen. */
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
    const char *const pml = getenv("PAT_TEST_PML");
    expect_int("looks", pml && strcmp(pml, "ucx") == 0 ? 4 : 3, looks);
#endif
}

/* Which places are over, without asking MPI? Each message counts once, and there is room for no more of them. */
static int known(pat_wire *wire)
{
    int count;
    MUST(pat_wire_test(wire, false, &count));
    for (int i = 0; i < count; i++)
        if (wire->over[i] < 0 || wire->over[i] >= wire->num)
            test_fail("place %d of %d messages is over", wire->over[i], wire->num);
    pat_wire_compact(wire);
    return count;
}

/* Rank 1 sends all messages but one, and the last one when rank 0 has counted. Returns how many rank 0 counts that lie before MPI, which has told of none. */
static int count_known(pat_wire *wire)
{
    enum { MESSAGES = 3, BYTES = 100 };
    static char data[MESSAGES][BYTES];
    int untold = 0, told = 0;
    for (int i = 0; test.rank == 0 && i < MESSAGES; i++)
        MUST(pat_wire_recv(wire, i, 1, i, &(pat_message_data){{data[i], NULL}, {BYTES, 0}}));
    MPI_Barrier(MPI_COMM_WORLD);
    sleep_ms(test.rank == 1 ? 5 : 15); /* rank 0 is out of the barrier when they are sent */
    for (int i = 0; test.rank == 1 && i < MESSAGES - 1; i++)
        MUST(MPI_Send(data[i], BYTES, MPI_BYTE, 0, TAGS + i, MPI_COMM_WORLD));
    for (int i = 0; test.rank == 0 && i < 10; i++)
        untold += known(wire);
    MPI_Barrier(MPI_COMM_WORLD); /* in which rank 0 takes in what was sent before */
    if (test.rank == 0)
        told = known(wire);
    MPI_Barrier(MPI_COMM_WORLD);
    if (test.rank == 1)
        MUST(MPI_Send(data[MESSAGES - 1], BYTES, MPI_BYTE, 0, TAGS + MESSAGES - 1, MPI_COMM_WORLD));
    if (test.rank == 0)
        expect_int("messages of which MPI has told by then", MESSAGES - 1, untold + told);
    for (int count; wire->num > 0; pat_wire_compact(wire))
        MUST(pat_wire_test(wire, true, &count));
    return untold;
}

/* A rank that calls counts what MPI has told of, and makes it take in nothing: seen in one of some rounds, since rank 0 may be late in one. */
static void known_only(void)
{
    enum { MOST = 3, ROUNDS = 10 };
    pat_wire wire;
    int rounds = 0; /* in which nothing was counted before MPI had told of it */
    test_at("what MPI has told of");
    if (!pat_wire_make(&wire, MPI_COMM_WORLD, TAGS, MOST))
        test_fail("there is no memory");
    for (int i = 0; i < ROUNDS; i++)
        rounds += count_known(&wire) == 0;
#ifdef OPEN_MPI
    if (rounds == 0)
        test_fail("in none of %d rounds did MPI leave alone what lay before it", ROUNDS);
#endif
    pat_wire_free(&wire);
}

int main(int argc, char **argv)
{
    static const heeds_case cases[] = {
        {"nothing is under way", 0, false, false, true, false},
        {"offers are to be taken", PAT_SEND_WINDOW, false, false, true, false},
        {"a send waits for its turn", PAT_SEND_WINDOW + 1, false, false, true, true},
        {"a send waits for another", 2, false, true, true, true},
        {"something is to be received", 0, true, false, true, true},
        {"offers are to be taken, and something is to be received", 1, true, false, true, true},
        {"long messages that MPI sends, with this process's help", 1, false, false, false, true},
    };
    pat_bells *bells;
    pat_reach *reach;
    int mate_of[] = {0, 1};
    if (!test_mpi_init(&argc, &argv, MPI_THREAD_MULTIPLE))
        return 77;
    test_limit(60);
    seen_soon();
    known_only();
    MUST(pat_bells_meet(MPI_COMM_WORLD, &bells));
    MUST(pat_reach_find(MPI_COMM_WORLD, true, 0, &reach));
    for (size_t i = 0; bells && i < sizeof(cases) / sizeof(cases[0]); i++)
        if (reach || !cases[i].reached)
            try(&cases[i], &(pat_mates){bells, cases[i].reached ? reach : NULL, mate_of});
    pat_reach_free(reach);
    pat_bells_free(bells);
    MPI_Finalize();
    return test.failures ? 1 : 0;
}
