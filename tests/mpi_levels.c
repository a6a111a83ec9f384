/*
 * mpi_levels.c — less than everything: thread levels without a background thread, settings that take away the
 * thread, its place or its memory, on all ranks or on one; and programs that end with MPI_Finalize alone.
 * Results never depend on it, and no thread stays behind.
 *
 * ranks: 2 4
 *
 * variants: settings single funneled serialized end-plain end-edge end-open end-started
 */
#include "mpi_common.h"

#include <dirent.h>

static uint32_t seed;

/* The thread that PAT_Init has made: the highest number among the process's threads. */
static int newest_thread(void)
{
    int newest = 0;
    DIR *dir = opendir("/proc/self/task");
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir))
        newest = atoi(entry->d_name) > newest ? atoi(entry->d_name) : newest;
    if (dir)
        closedir(dir);
    return newest;
}

/* Rounds of every kind under all algorithms. Returns the bytes that this rank, the last and late, got early by bdr. */
static int64_t rounds(const char *what, int64_t *by_all)
{
    const alg_list algs = algs_of(PAT_OP_ALLGATHER, alg_differs);
    int64_t by_bdr = 0;
    for (int a = 0; a < algs.num; a++) {
        const int64_t before = counters().bytes_early;
        use_alg(algs.names[a]);
        gather g;
        PAT_Request r;
        gather_make(&g, MPI_COMM_WORLD, &layouts[LAYOUT_INT], &layouts[LAYOUT_INT], 24000, false);
        gather_fill(&g, ++seed);
        MUST(PAT_Allgather_init(gather_sendbuf(&g), g.send_count, MPI_INT, gather_recvbuf(&g), g.recv_count,
                                MPI_INT, MPI_COMM_WORLD, &r));
        for (int turn = 0; turn < 8; turn++) {
            bool plain = turn % 4 < 2, late = test.rank == test.size - 1;
            test_at("%s, %s, round %d", what, algs.names[a], turn);
            gather_fill(&g, ++seed);
            if (!plain)
                MUST(PAT_Open(r));
            phase(late ? 20 : 3, 2, late ? 10 : 60);
            if (plain) {
                gather_call(&g);
            } else {
                MUST(PAT_Start(r));
                MUST(PAT_Wait(r));
                gather_check(&g);
            }
        }
        gather_once(MPI_COMM_WORLD, &layouts[LAYOUT_INT + test.rank], &layouts[3], UNIT * 300, test.rank % 2,
                    ++seed);
        MUST(PAT_Request_free(&r));
        gather_free(&g);
        if (strcmp(algs.names[a], "bdr") == 0)
            by_bdr = counters().bytes_early - before;
    }
    *by_all = counters().bytes_early;
    return by_bdr;
}

/* One life of the library under one setting, on every rank or only on the odd ones. */
static void life(const char *name, const char *value, bool odd_only, bool expect_thread,
                 bool may_expect_early)
{
    char what[80];
    int before = threads_now();
    bool set = name && (!odd_only || test.rank % 2), thread = expect_thread || (name && !set);
    snprintf(what, sizeof(what), "%s=%s%s", name ? name : "nothing", value ? value : "",
             odd_only ? " on odd ranks" : "");
    test_at("%s", what);
    if (set)
        setenv(name, value, 1);
    MUST(PAT_Init());
    if (set)
        unsetenv(name);
    expect_int("background threads", thread, threads_now() - before);
    int64_t all_early, early = rounds(what, &all_early);
    PAT_Counters c = counters();
    test_at("%s, counters", what);
    if (thread ? c.thread_wakeups <= 0 || c.thread_cpu_ns <= 0
               : c.thread_wakeups != 0 || c.thread_cpu_ns != 0)
        test_fail("background thread %s: %lld wake-ups, %lld ns", thread ? "expected" : "not expected",
                  (long long)c.thread_wakeups, (long long)c.thread_cpu_ns);
    if (!thread && all_early != 0)
        test_fail("bytes received early without a thread: %lld", (long long)all_early);
    if (may_expect_early && test.rank == test.size - 1 && early <= 0)
        test_fail("bytes received early: expected some, got %lld", (long long)early);
    test_at("%s, PAT_Finalize", what);
    MUST(PAT_Finalize());
    expect_int("threads left behind", 0, threads_left(before));
}

/* Early data stays below the cap. Only plain calls count: an opened request needs no memory of the library's.
 */
static void little_memory(void)
{
    int cap = 4000 * (test.size - 1) - 1000; /* a block would not fit if all came early */
    char text[20];
    snprintf(text, sizeof(text), "%d", cap);
    setenv("PAT_MEM", text, 1);
    test_at("PAT_MEM=%d", cap);
    MUST(PAT_Init());
    use_alg("bdr");
    for (int turn = 0; turn < 6; turn++) {
        bool late = test.rank == test.size - 1;
        int64_t before = counters().bytes_early;
        gather g;
        test_at("PAT_MEM=%d, round %d", cap, turn);
        gather_make(&g, MPI_COMM_WORLD, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], 4000, false);
        gather_fill(&g, ++seed);
        phase(late ? 30 : 3, 2, late ? 6 : 60);
        gather_call(&g);
        gather_free(&g);
        int64_t early = counters().bytes_early - before;
        if (early > cap)
            test_fail("bytes received early: expected at most %d, got %lld", cap, (long long)early);
    }
    unsetenv("PAT_MEM");
    MUST(PAT_Finalize());
}

static void settings(void)
{
    life(NULL, NULL, false, true, true);
    life("PAT_BACKGROUND", "0", false, false, false);
    life("PAT_BACKGROUND", "no", true, false, false);
    life("PAT_MEM", "0", false, true, false);
    life("PAT_MEM", "3", false, true, false);
    life("PAT_THREAD_PIN", "off", false, true, true);
    life("PAT_THREAD_PIN", "0", true, true, true);
    little_memory();
    setenv("PAT_MEM", test.rank == 1 ? "12 potatoes" : "1M", 1);
    test_at("malformed PAT_MEM on one rank");
    expect_error("PAT_Init", MPI_ERR_ARG, PAT_Init(), test.rank == 1 ? "PAT_MEM=\"12 potatoes\"" : NULL);
    unsetenv("PAT_MEM");
}

/* MPI_Finalize without PAT_Finalize, with something still going on. */
static int end(const char *how)
{
    gather g;
    PAT_Request r;
    MPI_Comm dup;
    char ours[40];
    test_at("%s", how);
    MUST(PAT_Init());
    snprintf(ours, sizeof(ours), "/proc/self/task/%d", newest_thread());
    use_alg("bdr");
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    gather_make(&g, dup, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], 9000, false);
    gather_fill(&g, ++seed);
    MUST(PAT_Allgather_init(gather_sendbuf(&g), g.send_count, MPI_BYTE, gather_recvbuf(&g), g.recv_count,
                            MPI_BYTE, dup, &r));
    gather_bytes(MPI_COMM_WORLD, 300, ++seed);
    gather_bytes(dup, 9000, ++seed);
    if (strcmp(how, "end-open") == 0)
        MUST(PAT_Open(r));
    if (strcmp(how, "end-edge") == 0 || strcmp(how, "end-open") == 0)
        phase(test.rank ? 4 : 20, 2, test.rank ? 50 : 10);
    if (strcmp(how, "end-started") == 0)
        MUST(PAT_Start(r));
    if (strcmp(how, "end-plain") == 0)
        MUST(PAT_Request_free(&r));
    test_at("%s, MPI_Finalize", how);
    MPI_Finalize();
    test_at("%s, after MPI_Finalize", how);
    if (strcmp(how, "end-started") == 0)
        gather_check(&g); /* it was completed on the way out */
    for (int ms = 0; ms < 2000 && access(ours, F_OK) == 0; ms++)
        sleep_ms(1);
    expect_int("the background thread is there", 0, access(ours, F_OK) == 0);
    expect_error("PAT_Finalize", MPI_ERR_OTHER, PAT_Finalize(), "not started");
    if (strcmp(how, "end-started") == 0)
        expect_error("PAT_Wait", MPI_SUCCESS, PAT_Wait(r), NULL);
    if (strcmp(how, "end-plain") != 0)
        expect_error("PAT_Request_free", MPI_SUCCESS, PAT_Request_free(&r), NULL);
    gather_free(&g);
    return test.failures ? 1 : 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int level;
    } levels[] = {{"single", MPI_THREAD_SINGLE},
                  {"funneled", MPI_THREAD_FUNNELED},
                  {"serialized", MPI_THREAD_SERIALIZED}};
    const char *variant = argc > 1 ? argv[1] : "settings";
    int level = MPI_THREAD_MULTIPLE;
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        if (strcmp(variant, levels[i].name) == 0)
            level = levels[i].level;
    setenv("PAT_LINK", "20,2000", 1);
    if (!test_mpi_init(&argc, &argv, level))
        return 77;
    layouts_make();
    if (strncmp(variant, "end-", 4) == 0)
        return end(variant);
    if (level == MPI_THREAD_MULTIPLE)
        settings();
    else
        life(NULL, NULL, false, false, false);
    layouts_free();
    MPI_Finalize();
    return test.failures ? 1 : 0;
}
