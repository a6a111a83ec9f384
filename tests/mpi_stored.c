/*
 * mpi_stored.c — a calibration is found by itself where PAT_CALIBRATION is not set: rank 0 looks in the store, and calls go by what is of
 * this machine and of the communicator's link. Whatever else lies there is no error: calls go on without, and PAT_EXPLAIN says why. With an
 * argument, on several nodes: a calibration of a network of so many Mbit/s is for communicators that use the network.
 *
 * ranks: 2 3
 */
#include "mpi_calibrated.h"

#include "runtime.h"

#include <fcntl.h>
#include <sys/stat.h>

static char cache[] = "/tmp/pat-stored-XXXXXX", store[64];

/* ---- What rank 0 says ----------------------------------------------------------------------------------- */

static struct {
    FILE *written;
    int standard_error, failures; /* of the test, before */
    char text[4000];
} said;

static void hear(void)
{
    said.written = tmpfile();
    said.standard_error = dup(STDERR_FILENO);
    said.failures = test.failures;
    if (!said.written || said.standard_error < 0 || dup2(fileno(said.written), STDERR_FILENO) < 0)
        must("the standard error to a file", MPI_ERR_OTHER);
}

static void heard(void)
{
    fflush(stderr);
    dup2(said.standard_error, STDERR_FILENO);
    close(said.standard_error);
    rewind(said.written);
    said.text[fread(said.text, 1, sizeof(said.text) - 1, said.written)] = '\0';
    fclose(said.written);
    if (test.failures > said.failures) /* among it is what has failed */
        fputs(said.text, stderr);
}

/* Has rank 0 said it? */
static void expect_said(const char *what, bool yes)
{
    if (test.rank == 0 && (strstr(said.text, what) != NULL) != yes)
        test_fail("\"%s\" is %s in: %s", what, yes ? "missing" : "said", said.text);
}

/* ---- What lies there, and what comes of it -------------------------------------------------------------- */

/* Rank 0: a calibration of the store, of ranks numbered as these or in another way; its path is left in *path. */
static void put_numbered(const char *cpu, double mbit, enum pat_numbering numbering,
                         char path[PAT_STORE_PATH])
{
    pat_calibration c = made_up_calibration(cpu, mbit);
    if (numbering != PAT_NUMBERING_NOT_KNOWN)
        c.numbering = numbering;
    if (test.rank > 0)
        return;
    if (!pat_store_name(store, &c, path, PAT_STORE_PATH) || pat_calibration_write(&c, path, true) != 0)
        test_fail("%s cannot be written", path);
}

static void put(const char *cpu, double mbit, char path[PAT_STORE_PATH])
{
    put_numbered(cpu, mbit, PAT_NUMBERING_NOT_KNOWN, path);
}

static void take_away(const char *path)
{
    if (test.rank == 0 && unlink(path) != 0)
        test_fail("%s cannot be taken away", path);
}

/* One life of the library: do calls of the whole world, and of a part of it, go by the calibration? */
static void expect_calibrated(const char *what, bool yes)
{
    MPI_Comm backwards;
    test_at("%s", what);
    MPI_Barrier(MPI_COMM_WORLD);
    hear();
    MUST(PAT_Init());
    bcast(MPI_COMM_WORLD, 100, yes ? "bcast_binomial" : "bcast_native");
    expect_int("500000 bytes by relay", yes, with_relay(500000, 0));
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &backwards);
    bcast(backwards, 1000000, yes ? "bcast_chain" : "bcast_native");
    MPI_Comm_free(&backwards);
    MUST(PAT_Finalize());
    heard();
    expect_said("the calibration from", yes);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void cut(const char *path)
{
    if (test.rank == 0 && truncate(path, 100) != 0)
        test_fail("%s cannot be cut", path);
}

/* A file whose figures are not the same bits on all ranks, as where mathematical libraries differ: here one rank says so. */
static void not_the_same(void)
{
    char good[PAT_STORE_PATH];
    test_at("other figures on one rank");
    put(NULL, 1000, good);
    MPI_Barrier(MPI_COMM_WORLD);
    hear();
    MUST(PAT_Init());
    expect_int("files", 1, pat_rt.num_stored);
    if (test.rank == test.size - 1) {
        pat_rt.stored[0].digested = true;
        pat_rt.stored[0].digest = pat_calibration_digest(&pat_rt.stored[0].calibration) + 1;
    }
    bcast(MPI_COMM_WORLD, 100, "bcast_native");
    MUST(PAT_Finalize());
    heard();
    expect_said("the ranks come to different figures by the same formulas", true);
    expect_said("ranks: the calibration from", false);
    take_away(good);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void found(void)
{
    char good[PAT_STORE_PATH], other[PAT_STORE_PATH];
    expect_calibrated("an empty store", false);
    expect_said("calibration", false);
    not_the_same();
    put(NULL, 1000, good);
    expect_calibrated("a good file", true);
    expect_said(good, true);
    put("A processor of the future", 1000, other);
    put(NULL, 100, other);
    expect_calibrated("a good file among others", true);
    expect_said("it is of a processor \"A processor of the future\"", true);
    expect_said("it is of a network of 100 Mbit/s, this one has 1000", true);
    take_away(good);
    expect_calibrated("only others", false);
    expect_said("it is of a processor \"A processor of the future\"", true);
    expect_said("it is of a network of 100 Mbit/s, this one has 1000", true);
    put(NULL, 1000, good);
    cut(good);
    expect_calibrated("a broken file", false);
    expect_said(": line ", true);
}

static void not_trusted(void)
{
    char good[PAT_STORE_PATH];
    put(NULL, 1000, good);
    if (test.rank == 0 && chmod(store, 0777) != 0)
        test_fail("%s cannot be opened to all", store);
    expect_calibrated("a store that all may write to", false);
    expect_said("other users may write to the directory", true);
    if (test.rank == 0)
        chmod(store, 0700);
}

static void named(void)
{
    char good[PAT_STORE_PATH];
    put(NULL, 1000, good);
    setenv("PAT_CALIBRATION", "none", 1);
    expect_calibrated("none", false);
    expect_said("alibration", false);
    MPI_Bcast(good, sizeof(good), MPI_CHAR, 0, MPI_COMM_WORLD);
    setenv("PAT_CALIBRATION", good, 1);
    test_at("a file by its name");
    MUST(PAT_Init());
    bcast(MPI_COMM_WORLD, 100, "bcast_binomial");
    MUST(PAT_Finalize());
    cut(good);
    MPI_Barrier(MPI_COMM_WORLD);
    test_at("a broken file by its name");
    expect_error("a broken file", MPI_ERR_ARG, PAT_Init(), test.rank == 0 ? ": line " : "rank 0");
    MPI_Barrier(MPI_COMM_WORLD);
    take_away(good);
    unsetenv("PAT_CALIBRATION");
}

/* Nothing is read, and nothing measured. */
static void on_one_node(void)
{
    char good[PAT_STORE_PATH];
    put(NULL, 1000, good);
    unsetenv("PAT_LINK");
    expect_calibrated("one node, whose link nobody has named", false);
    expect_said(good, false);
    expect_said("A processor of the future", false);
    expect_said("ranks on one node", true);
}

/* A named one is for the ranks that are placed as those of the world. */
static void named_on_several_nodes(MPI_Comm node, char *good, char *other)
{
    static const char differs[] = "it is of ranks numbered node by node, these are numbered across nodes";
    MPI_Bcast(good, PAT_STORE_PATH, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(other, PAT_STORE_PATH, MPI_CHAR, 0, MPI_COMM_WORLD);
    test_at("a file of another numbering by its name");
    setenv("PAT_CALIBRATION", other, 1);
    expect_error("another numbering", MPI_ERR_ARG, PAT_Init(), test.rank == 0 ? differs : "rank 0");
    test_at("a file of this numbering by its name");
    setenv("PAT_CALIBRATION", good, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    hear();
    MUST(PAT_Init());
    bcast(node, 100, "bcast_native");
    bcast(MPI_COMM_WORLD, 100, "bcast_binomial");
    MUST(PAT_Finalize());
    heard();
    unsetenv("PAT_CALIBRATION");
}

/* Of the network that joins the nodes, and of this numbering: those on one node go on without. Needs two nodes, and ranks numbered across them. */
static void on_several_nodes(double mbit)
{
    char good[PAT_STORE_PATH], other[PAT_STORE_PATH];
    MPI_Comm node;
    int size;
    test_at("several nodes");
    put_numbered(NULL, mbit, PAT_NODE_BY_NODE, other);
    put(NULL, mbit, good);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &size);
    if (size < 2 || size == test.size)
        test_fail("%d of %d ranks are on this node", size, test.size);
    MPI_Barrier(MPI_COMM_WORLD);
    hear();
    MUST(PAT_Init());
    bcast(node, 100, "bcast_native");
    bcast(MPI_COMM_WORLD, 100, "bcast_binomial");
    bcast(node, 100, "bcast_native");
    MUST(PAT_Finalize());
    heard();
    expect_said("4 ranks: collectives are left to the MPI library (ranks on one node)", size == 4);
    expect_said("8 ranks: the calibration from", test.size == 8);
    expect_said(good, true);
    expect_said("4 ranks: no calibration from",
                false); /* inside a node no link is measured to look for one */
    expect_said("these are numbered across nodes", true);
    named_on_several_nodes(node, good, other);
    MPI_Comm_free(&node);
}

int main(int argc, char **argv)
{
    char command[100];
    if (!test_mpi_init(&argc, &argv, MPI_THREAD_MULTIPLE))
        return 77;
    layouts_make();
    setenv("PAT_SINGLE_COPY", "0", 1); /* else long all-gathers are not left to the MPI library on one node */
    if (test.rank == 0 && !mkdtemp(cache))
        must("a directory", MPI_ERR_OTHER);
    snprintf(store, sizeof(store), "%s/pat", cache);
    /* Only rank 0 looks: for the others there is no store. */
    setenv("XDG_CACHE_HOME", test.rank == 0 ? cache : "/nowhere/at/all", 1);
    if (test.rank == 0 && mkdir(store, 0700) != 0)
        must("the store", MPI_ERR_OTHER);
    setenv("PAT_EXPLAIN", "1", 1);
    if (argc > 1) {
        on_several_nodes(atof(argv[1]));
    } else {
        setenv("PAT_LINK", "10,1000", 1);
        found();
        not_trusted();
        named();
        on_one_node();
    }
    snprintf(command, sizeof(command), "rm -rf %s", cache);
    if (test.rank == 0 && system(command) != 0)
        test_fail("%s stays", cache);
    layouts_free();
    test_at("MPI_Finalize");
    MPI_Finalize();
    return test.failures ? 1 : 0;
}
