/*
 * mpi_milestones.c — real imbalance and what programs do with milestones: true and false predictions,
 * milestones left out, calls that are not the predicted ones, Edges that no call follows. Results never
 * depend on any of it. Whether early data really happens, and only with algorithms that have it, is read from
 * the counters.
 *
 * ranks: 2 3 8
 */
#include "mpi_common.h"

static uint32_t seed;
static gather prepared; /* buffers are made before a phase: filling them must not count as computation */

static void prepare(MPI_Comm comm, int bytes)
{
    gather_make(&prepared, comm, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], bytes, false);
    gather_fill(&prepared, ++seed);
}

static void call(void)
{
    gather_call(&prepared);
    gather_free(&prepared);
}

/* ---- One phase after another, in every manner --------------------------------------------------------- */

static void manners(MPI_Comm comm, const char *alg)
{
    static const int sizes[] = {1000, 1000, 40000, 40000, 1000};
    for (int m = 0; m < NUM_MANNERS; m++)
        for (int turn = 0; turn < 5; turn++) {
            test_at("%s, %s, round %d", alg, manner_names[m], turn);
            double ms = 1 + 4.0 * ((test.rank * 5 + turn * 3) % test.size);
            prepare(comm, sizes[turn]);
            phase_in(m, ms, turn);
            call();
        }
}

/* ---- Guesses that do not come true -------------------------------------------------------------------- */

/*
 * Rounds voided since there were `before` of them, most on any rank. What becomes of a guess that all have agreed on
 * is the same on every rank; a round prepared without asking anybody may not be ready everywhere.
 */
static int64_t voided_since(int64_t before, const char *alg)
{
    int64_t mine = counters().plans_void - before, least, most;
    MPI_Allreduce(&mine, &least, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (!pat_algorithm_is_ahead(pat_algorithm_find(alg)))
        expect_int("plans voided: most on any rank, least on any rank", most, least);
    return most;
}

/* Rounds voided so far, when communicators that were freed void none any more. */
static int64_t voided_so_far(const char *alg)
{
    MUST(PAT_UseAlg("ring"));
    MUST(PAT_UseAlg(alg));
    return counters().plans_void;
}

/* All ranks have said Edge, none has called: every rank has the round of the last size prepared. */
static void edge_and_rest(void)
{
    MUST(PAT_ProcessingStart());
    sleep_ms(2);
    MUST(PAT_Edge(20));
    sleep_ms(8);
}

/* A prepared round is for the last size: another one must void it, on all ranks alike, and get its own
 * result. */
static void another_size(const char *alg)
{
    int64_t before = voided_so_far(alg), voided = 0;
    for (int i = 0; i < 40 && (i < 6 || voided == 0); i++) {
        test_at("%s, another size after an Edge, round %d", alg, i);
        gather_bytes(MPI_COMM_WORLD, 5000, ++seed);
        edge_and_rest();
        gather_bytes(MPI_COMM_WORLD, i % 2 ? 90000 : 10, ++seed);
        voided = voided_since(before, alg);
        if (!alg_is_aware(pat_algorithm_find(alg)) && i > 2)
            break;
    }
    bool expected = alg_is_aware(pat_algorithm_find(alg));
    if ((voided > 0) != expected)
        test_fail("plans voided: expected %s, got %lld", expected ? "some" : "none", (long long)voided);
}

static void no_call(const char *alg)
{
    MPI_Comm dup;
    for (int i = 0; i < 4; i++) {
        test_at("%s, Edge then MPI_Comm_free, %d", alg, i);
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        gather_bytes(dup, 3000, ++seed);
        gather_bytes(dup, 3000, ++seed);
        if (i < 3)
            edge_and_rest();
        else if (test.rank % 2) /* some ranks have told the others, some have not */
            edge_and_rest();
        MPI_Comm_free(&dup);

        test_at("%s, Edge then PAT_UseAlg, %d", alg, i);
        gather_bytes(MPI_COMM_WORLD, 3000, ++seed);
        if (i != 1 || test.rank % 2)
            edge_and_rest();
        MUST(PAT_UseAlg(i % 2 ? "ring" : "native"));
        gather_bytes(MPI_COMM_WORLD, 3000, ++seed);
        MUST(PAT_UseAlg(alg));
        gather_bytes(MPI_COMM_WORLD, 3000, ++seed);

        test_at("%s, Edge then an empty call, %d", alg, i);
        edge_and_rest();
        MUST(PAT_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
        gather_bytes(MPI_COMM_WORLD, 3000, ++seed);

        test_at("%s, Edge then PAT_Finalize, %d", alg, i);
        if (i != 2 || test.rank % 2)
            edge_and_rest();
        MUST(PAT_Finalize());
        MUST(PAT_Init());
        MUST(PAT_UseAlg(alg));
    }
}

/*
 * So many epochs that message tags come round again: a message left over from a round long past would now be
 * taken for one of this round. Voided rounds are among them all the way.
 */
static void many_epochs(const char *alg)
{
    enum { EPOCHS = 2 * 8192 + 100 };
    int64_t before = voided_so_far(alg);
    for (int i = 0; i < EPOCHS; i++) {
        test_at("%s, epoch %d", alg, i);
        if (i % 64 == 0) {
            MUST(PAT_ProcessingStart());
            sleep_ms(0.05);
            MUST(PAT_Edge(10));
            sleep_ms(1);
        }
        gather_bytes(MPI_COMM_WORLD, i % 128 ? 24 : 12, ++seed);
    }
    if (voided_since(before, alg) == 0)
        test_fail("plans voided: expected some, got none");
}

/* ---- Several communicators ---------------------------------------------------------------------------- */

static void communicators(const char *alg)
{
    MPI_Comm forth, back, half, single;
    test_at("%s, communicators", alg);
    MPI_Comm_dup(MPI_COMM_WORLD, &forth);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &back);
    MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, test.rank, &half);
    MPI_Comm_split(MPI_COMM_WORLD, test.rank, 0, &single);
    for (int turn = 0; turn < 8; turn++) {
        double ms = 1 + 3.0 * ((test.rank + turn) % test.size);
        MPI_Comm comm = turn % 2 ? forth : back;
        test_at("%s, two communicators in turn, %d", alg, turn);
        prepare(comm, turn % 2 ? 2000 : 30000);
        phase(ms, ms / 2, turn == 5 ? 1 : 50);
        call();

        test_at("%s, halves, round %d", alg, turn); /* groups differ in what they call, how often, and when */
        for (int i = 0; i < 1 + test.rank % 2; i++) {
            prepare(half, test.rank % 2 ? 700 : 7000);
            seed -= i > 0; /* one seed a turn, however many calls a group makes in it */
            phase(2, 1, 50);
            call();
        }
        test_at("%s, a communicator of one, %d", alg, turn);
        prepare(single, 999);
        phase(1, 0.5, 50);
        call();
    }
    MPI_Comm_free(&single);
    MPI_Comm_free(&half);
    edge_and_rest();
    MPI_Comm_free(&forth);
    MPI_Comm_free(&back);
}

/* ---- Is there early data at all? ---------------------------------------------------------------------- */

/* One rank is late by tens of milliseconds and everybody says so. Bytes this rank got early in a few such
 * rounds. */
static int64_t early_bytes(int late)
{
    int64_t before = counters().bytes_early;
    for (int i = 0; i < 6; i++) {
        double ms = test.rank == late ? 60 : 10;
        prepare(MPI_COMM_WORLD, 8000);
        phase(ms, 5, 500 / ms);
        call();
    }
    return counters().bytes_early - before;
}

static void early_data(const char *name)
{
    const pat_algorithm *alg = pat_algorithm_find(name);
    const bool expected = alg_is_aware(alg);
    int late = alg->uses_arrivals ? 0 : test.size - 1; /* what begins with a gather helps its root */
    use_alg(name);
    test_at("%s, one late rank", name);
    gather_bytes(MPI_COMM_WORLD, 8000, ++seed);
    int64_t early = early_bytes(late), all = 6LL * 8000 * (test.size - 1);
    if (!expected)
        expect_int("bytes received early", 0, early);
    else if (test.rank == late && (early <= 0 || early > all))
        test_fail("bytes received early: expected more than 0 and at most %lld, got %lld", (long long)all,
                  (long long)early);
}

int main(int argc, char **argv)
{
    const alg_list algs = algs_of(PAT_OP_ALLGATHER, alg_is_any),
                   different = algs_of(PAT_OP_ALLGATHER, alg_differs_early),
                   aware = algs_of(PAT_OP_ALLGATHER, alg_is_aware);
    setenv("PAT_LINK", "20,2000", 1); /* the same plans on every machine: a step is 24 us for 1000 bytes */
    setenv("PAT_RANKS_PER_NODE", "1", 0); /* else relay moves nothing before the call */
    test_begin(&argc, &argv);
    layouts_make();
    for (int a = 0; a < algs.num; a++)
        early_data(algs.names[a]);
    for (int a = 0; a < different.num; a++) {
        const char *const alg = different.names[a];
        use_alg(alg);
        manners(MPI_COMM_WORLD, alg);
        communicators(alg);
        another_size(alg);
        no_call(alg);
    }
    for (int a = 0; a < aware.num && test.size <= 3; a++) {
        use_alg(aware.names[a]);
        many_epochs(aware.names[a]);
    }
    layouts_free();
    return test_end();
}
