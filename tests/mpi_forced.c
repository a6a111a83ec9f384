/*
 * mpi_forced.c — an algorithm of the MPI library's own that is forced on a new communicator runs there, with the messages on every rank that
 * its tree has, and nowhere else. And one that a file of rules names, as pat-calibrate --rules writes it, runs where the file says.
 *
 * ranks: 5
 * variants: forced rules
 */
#include "mpi_forced.h"

#include "bench_rules.h"
#include "calibrate_force.h"
#include "collective.h"

enum { SEGMENT = 1024, BYTES = 8 * SEGMENT };

/* What of the MPI library's sends what of ours does, and in segments or not. */
static const struct {
    const char *collective, *name, *ours;
    int segment_bytes;
} alike[] = {{"bcast", "basic_linear", "bcast_linear", 0},
             {"bcast", "chain", "bcast_kchain", SEGMENT},
             {"bcast", "pipeline", "bcast_chain", SEGMENT},
             {"bcast", "split_binary_tree", "bcast_split", SEGMENT},
             {"bcast", "binary_tree", "bcast_binary", SEGMENT},
             {"bcast", "binomial", "bcast_binomial", SEGMENT},
             {"gather", "basic_linear", "gather_linear", 0},
             {"gather", "binomial", "gather_binomial", 0},
             {"allgather", "ring", "ring", 0}};

/* Forced on a duplicate, it sends what ours does; what the old communicator does stays. Returns whether these two differ on some rank. */
static bool forced(const char *collective, const force_algorithm *alg, const char *ours)
{
    const sends expected = sends_by_plan(ours, BYTES, alg->segment_bytes);
    const sends before = sends_of(MPI_COMM_WORLD, collective, BYTES);
    MPI_Comm dup;
    test_at("%s, %s", collective, alg->name);
    MUST(force_dup(MPI_COMM_WORLD, collective, alg, &dup));
    const sends there = sends_of(dup, collective, BYTES), after = sends_of(MPI_COMM_WORLD, collective, BYTES);
    expect_sends(ours, &expected, &there);
    expect_sends("the old communicator", &before, &after);
    MPI_Comm_free(&dup);
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    const sends later = sends_of(dup, collective, BYTES);
    expect_sends("a communicator made later", &before, &later);
    MPI_Comm_free(&dup);
    int mine = !same_sends(&before, &there), any;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any;
}

static void each(void)
{
    int differing = 0;
    for (size_t i = 0; i < sizeof(alike) / sizeof(alike[0]); i++) {
        force_algorithm algs[FORCE_MOST];
        const int num = force_list(alike[i].collective, algs);
        int k = 0;
        while (k < num && strcmp(algs[k].name, alike[i].name) != 0)
            k++;
        if (k == num) {
            test_fail("%s: there is no %s", alike[i].collective, alike[i].name);
            continue;
        }
        expect_int("segments", alike[i].segment_bytes > 0, force_is_cut(alike[i].collective, &algs[k]));
        algs[k].segment_bytes = alike[i].segment_bytes;
        differing += forced(alike[i].collective, &algs[k], alike[i].ours);
    }
    expect_int("more than half of them are not what the MPI library takes", true, differing > 4);
}

static char path[] = "/tmp/pat-rules-XXXXXX";

/* Made up: binomial trees are the fastest for short messages, chains, one after the other, and rings for long ones: from 4 KiB on. */
static const bench_variant fast[] = {
    {PAT_OP_BCAST, "binomial", 6, 0, 512}, {PAT_OP_BCAST, "pipeline", 3, 0, SEGMENT},
    {PAT_OP_GATHER, "binomial", 2, 0, 0},  {PAT_OP_GATHER, "basic_linear", 1, 0, 0},
    {PAT_OP_ALLGATHER, "ignore", 0, 0, 0}, {PAT_OP_ALLGATHER, "ring", 4, 0, 0}};

/* Before MPI_Init: a file for this rank alone, which Open MPI reads then. */
static void load_rules(void)
{
    static bench_library l;
    for (int i = 0; i < 6; i++)
        for (int bytes = 256; bytes <= 65536; bytes *= 256) {
            const double us = i % 2 == 1 ? 100 : bytes == 256 ? 10 : 1000;
            bench_library_add(
                &l, &(bench_library_time){.variant = fast[i], .ranks = 4, .bytes = bytes, .us = us});
        }
    const int file = mkstemp(path);
    if (file < 0 || close(file) != 0 || bench_rules_write(&l, path, false) != 0) {
        perror(path);
        exit(1);
    }
    setenv("OMPI_MCA_coll_tuned_dynamic_rules_filename", path, 1);
}

static void by_rules(void)
{
    static const char *const ours[] = {"bcast_binomial", "bcast_chain", "gather_binomial",
                                       "gather_linear",  NULL,          "ring"};
    static const int lengths[2][2] = {{1024, 2048}, {4096, 8192}};
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 2 && ours[i]; k++) {
            const int bytes = lengths[i % 2][k];
            const sends expected = sends_by_plan(ours[i], bytes, fast[i].segment_bytes),
                        got = sends_of(MPI_COMM_WORLD, pat_collective_of(fast[i].op)->name, bytes);
            test_at("%s of %d bytes by rules", ours[i], bytes);
            expect_sends(fast[i].name, &expected, &got);
        }
}

int main(int argc, char **argv)
{
    const bool rules = argc > 1 && !strcmp(argv[1], "rules");
    char why[200];
    force_prepare();
    if (rules)
        load_rules();
    test_begin(&argc, &argv);
    unlink(path);
    for (int op = 0; op < PAT_NUM_OPS; op++) /* no messages of ours among those that are counted */
        use_alg(pat_algorithm_native((enum pat_op)op)->name);
    if (!force_open(why, sizeof(why)) || !count_sends()) {
        test_end();
        return 77;
    }
    rules ? by_rules() : each();
    force_close();
    return test_end();
}
