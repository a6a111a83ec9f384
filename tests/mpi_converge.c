/*
 * mpi_converge.c — all-reduces of ranks that come at different times: the same bits whenever they come and whatever was predicted, data
 * that moves before the late rank calls, and all-gathers, broadcasts, gathers and opened requests between them, on one communicator and on
 * several, of which nothing that was prepared is thrown away where calls only alternate.
 *
 * ranks: 2 3 8 13
 */
#include "mpi_common.h"

static uint32_t seed = 1;

/* ---- The same bits ---------------------------------------------------------------------------------------- */

enum { FRACTIONS = 3001 };

/* Sums of fractions depend on the order in which they are made. */
static void sum_fractions(double *sums)
{
    static double own[FRACTIONS];
    for (int i = 0; i < FRACTIONS; i++)
        own[i] = 1.0 / (3 + i + 17 * test.rank * test.rank);
    MUST(PAT_Allreduce(own, sums, FRACTIONS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

/* Of an algorithm that does not go by predictions the first manner is enough. */
static void same_bits(const char *alg, int manners)
{
    static double first[FRACTIONS], of_rank_0[FRACTIONS], sums[FRACTIONS];
    use_alg(alg);
    test_at("%s, bits of all ranks", alg);
    sum_fractions(first);
    memcpy(of_rank_0, first, sizeof(first));
    MUST(PMPI_Bcast(of_rank_0, FRACTIONS, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    if (memcmp(first, of_rank_0, sizeof(first)) != 0)
        test_fail("other bits than those of rank 0");
    for (int m = 0; m < manners; m++)
        for (int turn = 0; turn < 5; turn++) {
            test_at("%s, bits, %s, round %d", alg, manner_names[m], turn);
            phase_in(m, 1 + 4.0 * ((test.rank * 5 + turn * 3) % test.size), turn);
            sum_fractions(sums);
            if (memcmp(first, sums, sizeof(sums)) != 0)
                test_fail("other bits than in the first round");
        }
}

/* ---- Early data ------------------------------------------------------------------------------------------- */

enum { MOST = 40000 };

/* Element i of what `rank` gives in the call of this seed is rank + i * seed: so the sum is known. */
static void reduce_once(MPI_Comm comm, int count)
{
    static int64_t own[MOST], sums[MOST];
    int rank, size;
    seed++;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < count; i++)
        own[i] = rank + (int64_t)i * seed;
    memset(sums, 0xEE, sizeof(sums));
    MUST(PAT_Allreduce(own, sums, count, MPI_INT64_T, MPI_SUM, comm));
    for (int i = 0; i < count; i++)
        if (sums[i] != size * (size - 1) / 2 + size * (int64_t)i * seed ||
            own[i] != rank + (int64_t)i * seed) {
            test_fail("element %d of %d: the sum is %lld of %lld", i, count, (long long)sums[i],
                      (long long)own[i]);
            return;
        }
    for (int i = count; i < count + 4 && i < MOST; i++)
        if (sums[i] != (int64_t)0xEEEEEEEEEEEEEEEEu)
            test_fail("element %d of %d is written to", i, count);
}

/* Everybody says that one rank is late by tens of milliseconds: the others' contributions to its share are there when it calls. */
static void early_data(const char *alg, int late, bool expected)
{
    enum { ROUNDS = 6, COUNT = 2000 };
    use_alg(alg);
    test_at("%s, rank %d is late", alg, late);
    reduce_once(MPI_COMM_WORLD, COUNT);
    const int64_t before = counters().bytes_early;
    for (int i = 0; i < ROUNDS; i++) {
        const double ms = test.rank == late ? 60 : 10;
        phase(ms, 5, 500 / ms);
        reduce_once(MPI_COMM_WORLD, COUNT);
    }
    const int64_t early = counters().bytes_early - before, most = 8LL * COUNT * ROUNDS * (test.size - 1);
    if (!expected)
        expect_int("bytes received early", 0, early);
    else if (test.rank == late && (early <= 0 || early > most))
        test_fail("bytes received early: expected more than 0 and at most %lld, got %lld", (long long)most,
                  (long long)early);
}

/* ---- Collectives in turns --------------------------------------------------------------------------------- */

static void bcast_once(MPI_Comm comm, int bytes, int root)
{
    static unsigned char image[1 << 16];
    int rank;
    MPI_Comm_rank(comm, &rank);
    seed++;
    for (int i = 0; i < bytes; i++)
        image[i] = rank == root ? gather_byte(seed, root, i) : 0xEE;
    MUST(PAT_Bcast(image, bytes, MPI_BYTE, root, comm));
    for (int i = 0; i < bytes; i++)
        if (image[i] != gather_byte(seed, root, i)) {
            test_fail("byte %d of a broadcast is wrong", i);
            return;
        }
}

static void gather_to(MPI_Comm comm, int bytes, int root)
{
    gather g;
    gather_make(&g, comm, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], bytes, false);
    gather_fill(&g, ++seed);
    MUST(PAT_Gather(gather_sendbuf(&g), bytes, MPI_BYTE, gather_recvbuf(&g), bytes, MPI_BYTE, root, comm));
    gather_spoil(&g);
    if (g.rank == root)
        gather_check(&g);
    gather_free(&g);
}

static void late_by_turns(int turn)
{
    const double ms = 1 + 16.0 * ((test.rank + turn) % test.size) / (test.size > 8 ? test.size : 8);
    if (turn % 4 == 3)
        sleep_ms(ms / 2);
    else
        phase(ms, ms / 2, turn % 4 == 2 ? 3 : 50); /* a prediction that is wrong, too */
}

/* Calls that alternate, as in an iteration with a sum in the end: what was prepared is used. */
static void alternate(const char *allgather, bool from_the_start)
{
    MPI_Comm comm;
    use_alg(allgather);
    use_alg("allreduce_converge");
    test_at("%s and allreduce_converge alternate", allgather);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int64_t before = counters().plans_void;
    for (int turn = 0; turn < 12; turn++) {
        late_by_turns(turn);
        gather_bytes(comm, 6000, ++seed);
        late_by_turns(turn + 1);
        reduce_once(comm, 1500);
        if (turn == 2 && !from_the_start) /* which one comes next it has learnt by then */
            before = counters().plans_void;
    }
    expect_int("plans thrown away", before, counters().plans_void);
    MPI_Comm_free(&comm);
}

/* One round of everything; what is done, and how long it is, follows from the number of the turn. */
static void one_of_each(MPI_Comm comm, int turn, int size)
{
    late_by_turns(turn);
    gather_bytes(comm, turn % 5 == 4 ? 9000 : 6000, ++seed);
    if (turn % 3 == 0)
        bcast_once(comm, 20000, turn % size);
    late_by_turns(turn + 2);
    reduce_once(comm, turn % 4 == 3 ? 777 : 2500);
    if (turn % 3 == 1)
        gather_to(comm, 5000, turn % size);
    if (turn % 2)
        reduce_once(comm, 2500);
}

static void change_algorithm(const char *allgather, int turn)
{
    switch (turn % 6) {
    case 1: /* what is prepared for the next sum is for converge */
        use_alg("allreduce_ring");
        break;
    case 2:
        use_alg("allreduce_converge");
        break;
    case 4:
        use_alg(strcmp(allgather, "bdr") == 0 ? "relay" : "bdr");
        break;
    default:
        use_alg(allgather);
    }
}

/* All ranks have said Edge, and perhaps prepared something, for which no call comes. */
static void edge_and_rest(void)
{
    MUST(PAT_ProcessingStart());
    sleep_ms(1);
    MUST(PAT_Edge(20));
    sleep_ms(4);
}

/* `num`: communicators that are used in turns. An opened request on the first one waits all the time; in every other turn it is started. */
static void in_turns(const char *allgather, int num)
{
    MPI_Comm comms[2];
    PAT_Request request;
    gather opened;
    use_alg(allgather);
    use_alg("allreduce_converge");
    use_alg("bcast_binomial");
    use_alg("gather_binomial");
    test_at("%s in turns on %d communicators", allgather, num);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &comms[1]);
    gather_make(&opened, comms[0], &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], 6000, false);
    MUST(PAT_Allgather_init(gather_sendbuf(&opened), opened.send_count, MPI_BYTE, gather_recvbuf(&opened),
                            opened.recv_count, MPI_BYTE, comms[0], &request));
    for (int turn = 0; turn < 12; turn++) {
        test_at("%s in turns on %d communicators, %d", allgather, num, turn);
        if (turn % 2 == 0) {
            gather_fill(&opened, ++seed);
            MUST(PAT_Open(request));
        }
        one_of_each(comms[turn % num], turn, test.size);
        if (turn % 2) {
            late_by_turns(turn + 3);
            MUST(PAT_Start(request));
            if (turn % 4 == 1)
                bcast_once(comms[0], 300, turn % test.size);
            MUST(PAT_Wait(request));
            gather_spoil(&opened);
            gather_check(&opened);
        }
        if (turn >= 6)
            change_algorithm(allgather, turn);
    }
    MUST(PAT_Request_free(&request));
    gather_free(&opened);
    use_alg("allreduce_converge");
    for (int i = 0; i < num; i++)
        for (int k = 0; k < 2; k++)
            reduce_once(comms[i], 2500);
    if (num == 1 || test.rank % 2) /* on the second one, and perhaps not on all ranks */
        edge_and_rest();
    MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[1]);
}

/*
 * All-gathers by auto tell afterwards how long they took, and ranks tell when they will come to a sum: some do before that, some after.
 */
static void beside_measured_calls(void)
{
    MPI_Comm comm;
    use_alg("auto");
    use_alg("allreduce_converge");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int turn = 0; turn < 24; turn++) {
        test_at("beside measured calls, %d", turn);
        if ((test.rank + turn) % 2)
            edge_and_rest();
        else
            sleep_ms(3);
        gather_bytes(comm, 3000 << turn % 6, ++seed);
        phase(2, 1, 50);
        reduce_once(comm, 2500);
        if (turn % 3 == 0) /* what was told of the sums may wait for long */
            gather_bytes(comm, 3000 << turn % 6, ++seed);
    }
    MPI_Comm_free(&comm);
}

/* Some rank has given an estimate before each sum: so sums go by estimates, and by nothing else. */
static void reduce_by_estimates(int count)
{
    if (test.rank == 0)
        edge_and_rest();
    reduce_once(MPI_COMM_WORLD, count);
}

/* All have announced what came last time, and another collective comes: all throw it away, and nothing of it reaches a later call. */
static void another_collective(void)
{
    int64_t voided, least, most;
    const int64_t before = counters().plans_void;
    use_alg("bdr");
    use_alg("allreduce_converge");
    for (int i = 0; i < 12; i++) {
        test_at("another collective than the one announced, %d", i);
        gather_bytes(MPI_COMM_WORLD, 3000, ++seed);
        reduce_by_estimates(800);
        gather_bytes(MPI_COMM_WORLD, 3000, ++seed);
        if (i % 2)
            reduce_by_estimates(800);
        edge_and_rest();
        if (i % 2)
            reduce_once(MPI_COMM_WORLD, i % 3 ? 800 : 900);
        else
            gather_bytes(MPI_COMM_WORLD, i % 3 ? 3000 : 5000, ++seed);
    }
    voided = counters().plans_void - before;
    MPI_Allreduce(&voided, &least, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&voided, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    expect_int("plans thrown away: most on any rank, least on any rank", most, least);
    if (most == 0)
        test_fail("plans thrown away: expected some, got none");
}

/* A call that all have announced does not come: another one does, or none. */
static void no_call(void)
{
    MPI_Comm comm;
    use_alg("relay");
    use_alg("allreduce_converge");
    for (int i = 0; i < 6; i++) {
        test_at("no sum after an Edge, %d", i);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int k = 0; k < 3; k++)
            reduce_once(comm, 2000);
        if (i % 2 == 0 || test.rank % 2)
            edge_and_rest();
        if (i % 3 == 0)
            reduce_once(comm, 2001);
        else if (i % 3 == 1)
            gather_bytes(comm, 4000, ++seed);
        if (i == 4)
            edge_and_rest();
        MPI_Comm_free(&comm);

        test_at("PAT_Finalize after an Edge, %d", i);
        reduce_once(MPI_COMM_WORLD, 1000);
        if (i % 2 || test.rank % 2)
            edge_and_rest();
        MUST(PAT_Finalize());
        MUST(PAT_Init());
        MUST(PAT_UseAlg("allreduce_converge"));
    }
}

/* So many calls that message tags come round again; some rounds are thrown away on the way. */
static void many_epochs(void)
{
    const int64_t before = counters().plans_void;
    use_alg("relay");
    use_alg("allreduce_converge");
    const int epochs = test.size > 8 ? 200 : test.size > 3 ? 600 : 2000; /* ranks share two cores */
    for (int i = 0; i < epochs; i++) {
        test_at("epoch %d", i);
        if (i % 16 == 0) {
            MUST(PAT_ProcessingStart());
            sleep_ms(0.05);
            MUST(PAT_Edge(10));
            sleep_ms(1);
        }
        reduce_once(MPI_COMM_WORLD, i % 32 ? 24 : 12);
        if (i % 5 == 0)
            gather_bytes(MPI_COMM_WORLD, 300, ++seed);
    }
    int64_t voided = counters().plans_void - before;
    MPI_Allreduce(MPI_IN_PLACE, &voided, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (voided == 0 && test.size <= 3)
        test_fail("plans thrown away: expected some, got none");
}

int main(int argc, char **argv)
{
    setenv("PAT_LINK", "20,2000", 1); /* the same plans on every machine */
    test_begin(&argc, &argv);
    layouts_make();
    same_bits("allreduce_converge", NUM_MANNERS);
    same_bits("allreduce_doubling", 1);
    same_bits("allreduce_ring", 1);
    early_data("allreduce_converge", 0, true);
    early_data("allreduce_converge", test.size - 1, true);
    early_data("allreduce_converge", test.size / 2, true);
    early_data("allreduce_doubling", 0, false);
    early_data("allreduce_ring", 0, false);
    alternate("relay", true);
    alternate("bdr", false);
    for (int num = 1; num <= 2; num++) {
        in_turns("relay", num);
        in_turns("bdr", num);
    }
    beside_measured_calls();
    another_collective();
    no_call();
    many_epochs();
    layouts_free();
    return test_end();
}
