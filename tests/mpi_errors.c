/*
 * mpi_errors.c — wrong order, wrong values, wrong arguments: each is an error code with a text that names
 * what was wrong and what is accepted, on every rank that has to know, and the program goes on. What MPI
 * would reject, MPI rejects.
 *
 * ranks: 2
 */
#include "mpi_common.h"

#include <math.h>

static void before_mpi(void)
{
    PAT_Counters c;
    int major, minor, patch;
    test_at("before MPI_Init_thread");
    expect_error("PAT_Init", MPI_ERR_OTHER, PAT_Init(), "MPI_Init_thread");
    expect_error("PAT_Finalize", MPI_ERR_OTHER, PAT_Finalize(), "PAT_Init");
    expect_error("PAT_UseAlg", MPI_ERR_OTHER, PAT_UseAlg("ring"), "PAT_Init");
    expect_error("PAT_Edge", MPI_ERR_OTHER, PAT_Edge(50), "PAT_Init");
    expect_error("PAT_Get_counters", MPI_ERR_OTHER, PAT_Get_counters(&c), "PAT_Init");
    expect_int("PAT_Get_version", MPI_SUCCESS, PAT_Get_version(&major, &minor, &patch));
    expect_int("version", PAT_VERSION, major * 10000 + minor * 100 + patch);
    if (!strstr(PAT_Error_string(MPI_ERR_COMM), "communicator"))
        test_fail("text of MPI_ERR_COMM: got \"%s\"", PAT_Error_string(MPI_ERR_COMM));
}

/* Every call that needs the library, while it is down. The all-gather itself is then MPI's. */
static void library_down(const char *when)
{
    PAT_Counters c;
    PAT_Request r = PAT_REQUEST_NULL;
    int mine = test.rank, all[2] = {-1, -1};
    test_at("%s", when);
    expect_error("PAT_Finalize", MPI_ERR_OTHER, PAT_Finalize(), "PAT_Init");
    expect_error("PAT_UseAlg", MPI_ERR_OTHER, PAT_UseAlg("ring"), "PAT_Init");
    expect_error("PAT_ProcessingStart", MPI_ERR_OTHER, PAT_ProcessingStart(), "PAT_Init");
    expect_error("PAT_Edge", MPI_ERR_OTHER, PAT_Edge(50), "PAT_Init");
    expect_error("PAT_ProcessingEnd", MPI_ERR_OTHER, PAT_ProcessingEnd(), "PAT_Init");
    expect_error("PAT_Get_counters", MPI_ERR_OTHER, PAT_Get_counters(&c), "PAT_Init");
    expect_error("PAT_Allgather_init", MPI_ERR_OTHER,
                 PAT_Allgather_init(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &r), "PAT_Init");
    expect_int("PAT_Allgather", MPI_SUCCESS,
               PAT_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
    expect_int("PAT_Allgather's result", 1, all[0] == 0 && all[1] == 1);
}

static void algorithms(void)
{
    const alg_list algs = algs_of(PAT_OP_ALLGATHER, alg_is_any);
    test_at("algorithms");
    expect_int("PAT_UseAlg(bdr)", MPI_SUCCESS, PAT_UseAlg("bdr"));
    for (int a = 0; a < algs.num; a++)
        expect_error("unknown algorithm", MPI_ERR_ARG, PAT_UseAlg("rinG"), algs.names[a]);
    expect_error("unknown algorithm", MPI_ERR_ARG, PAT_UseAlg("rinG"), "rinG");
    expect_error("empty name", MPI_ERR_ARG, PAT_UseAlg(""), "ring");
    expect_error("no name", MPI_ERR_ARG, PAT_UseAlg(NULL), "ring");
    expect_error("different names", MPI_ERR_ARG, PAT_UseAlg(test.rank ? "ring" : "nex"),
                 test.rank ? "ring" : "nex");
    expect_error("a bad name on one rank", MPI_ERR_ARG, PAT_UseAlg(test.rank ? "ring" : "?"), NULL);
    expect_error("no name on one rank", MPI_ERR_ARG, PAT_UseAlg(test.rank ? NULL : "bdr"), NULL);

    PAT_Counters before = counters(); /* none of that has changed the algorithm */
    gather_bytes(MPI_COMM_WORLD, 100, 1);
    PAT_Counters after = counters();
    for (int i = 0; i < after.num_algs; i++)
        expect_int(after.alg_name[i], !strcmp(after.alg_name[i], "bdr"),
                   after.alg_calls[i] - before.alg_calls[i]);
}

static void milestones(void)
{
    static const double bad[] = {0, 100, -1, 1e9};
    test_at("milestones");
    expect_error("Edge without Start", MPI_ERR_OTHER, PAT_Edge(50), "PAT_ProcessingStart");
    expect_error("End without Start", MPI_ERR_OTHER, PAT_ProcessingEnd(), "PAT_ProcessingStart");
    MUST(PAT_ProcessingStart());
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char number[32];
        snprintf(number, sizeof(number), "%g", bad[i]);
        expect_error(number, MPI_ERR_ARG, PAT_Edge(bad[i]), number);
    }
    expect_error("nan", MPI_ERR_ARG, PAT_Edge(nan("")), "less than 100");
    expect_error("infinity", MPI_ERR_ARG, PAT_Edge(INFINITY), "less than 100");
    MUST(PAT_Edge(40));
    expect_error("the same again", MPI_ERR_ARG, PAT_Edge(40), "40");
    expect_error("backwards", MPI_ERR_ARG, PAT_Edge(30.5), "30.5");
    MUST(PAT_Edge(41));
    MUST(PAT_ProcessingEnd());
    expect_error("Edge after End", MPI_ERR_OTHER, PAT_Edge(60), "PAT_ProcessingStart");
    expect_error("End twice", MPI_ERR_OTHER, PAT_ProcessingEnd(), "PAT_ProcessingStart");
    MUST(PAT_ProcessingStart());
    MUST(PAT_Edge(10)); /* a new phase starts from nothing */
    MUST(PAT_ProcessingStart());
    MUST(PAT_Edge(5));
    MUST(PAT_ProcessingEnd());
    gather_bytes(MPI_COMM_WORLD, 100, 2);
}

static void null_pointers(void)
{
    int n, mine = 0, all[2];
    PAT_Request r;
    test_at("null pointers");
    expect_error("PAT_Get_counters", MPI_ERR_ARG, PAT_Get_counters(NULL), "null pointer");
    expect_error("PAT_Get_version", MPI_ERR_ARG, PAT_Get_version(NULL, &n, &n), "null pointer");
    expect_error("PAT_Get_version", MPI_ERR_ARG, PAT_Get_version(&n, NULL, &n), "null pointer");
    expect_error("PAT_Get_version", MPI_ERR_ARG, PAT_Get_version(&n, &n, NULL), "null pointer");
    expect_error("PAT_Allgather_init", MPI_ERR_ARG,
                 PAT_Allgather_init(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, NULL),
                 "null pointer");
    expect_error("PAT_Allgather_init", MPI_ERR_COMM,
                 PAT_Allgather_init(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_NULL, &r), "MPI_COMM_NULL");
}

/* ---- Arguments that MPI judges ------------------------------------------------------------------------ */

/* What is special of a call beside its counts and types. */
enum special { NOTHING_SPECIAL, SEND_IN_PLACE, RECV_IN_PLACE, NO_SEND_BUFFER, NO_RECV_BUFFER, NO_COMM };

typedef struct arguments {
    const char *what;
    enum special special;
    int send_count;
    MPI_Datatype send_type;
    int recv_count;
    MPI_Datatype recv_type;
} arguments;

static int handler_calls;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    handler_calls++;
}

static int class_of(int code)
{
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    return error_class;
}

/* A collective without a root in which each rank has a block: the public call, and MPI's. */
typedef struct exchange {
    enum pat_op op;
    int (*call[2])(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
    const char *name[2];
} exchange;

static MPI_Comm comm_of(const arguments *a)
{
    return a->special == NO_COMM ? MPI_COMM_NULL : MPI_COMM_WORLD;
}

static void init_refuses(void *send, void *recv, const arguments *a)
{
    PAT_Request r = PAT_REQUEST_NULL;
    int init = PAT_Allgather_init(send, a->send_count, a->send_type, recv, a->recv_count, a->recv_type,
                                  comm_of(a), &r);
    if (init == MPI_SUCCESS || r != PAT_REQUEST_NULL)
        test_fail("PAT_Allgather_init accepts it");
}

/* Then there is nothing to compare with. */
static bool mpi_crashes(const exchange *e, const arguments *a)
{
#ifdef OPEN_MPI
    return (e->op == PAT_OP_ALLGATHER && a->special == NO_COMM) || a->special == NO_SEND_BUFFER ||
           a->special == NO_RECV_BUFFER; /* Open MPI 4.1 does */
#else
    (void)e;
    (void)a;
    return false;
#endif
}

/* MPI's class and MPI's error handler: what our call makes of it must be what MPI's makes of it. */
static void same_verdict(const exchange *e, const arguments *a)
{
    int mine[4] = {test.rank}, all[8], code[2], called[2];
    void *send = a->special == SEND_IN_PLACE ? MPI_IN_PLACE : a->special == NO_SEND_BUFFER ? NULL : mine;
    void *recv = a->special == RECV_IN_PLACE ? MPI_IN_PLACE : a->special == NO_RECV_BUFFER ? NULL : all;
    test_at("%s of %s", a->what, e->name[1]);
    if (e->op == PAT_OP_ALLGATHER)
        init_refuses(send, recv, a);
    if (mpi_crashes(e, a))
        return;
    for (int pat = 0; pat < 2; pat++) {
        handler_calls = 0;
        code[pat] =
            e->call[pat](send, a->send_count, a->send_type, recv, a->recv_count, a->recv_type, comm_of(a));
        called[pat] = handler_calls;
    }
    if (class_of(code[0]) == MPI_SUCCESS)
        test_fail("%s accepts it: this is no test", e->name[0]);
    expect_int("error class", class_of(code[0]), class_of(code[1]));
    expect_int("calls of the error handler", called[0], called[1]);
}

/* Nothing is the worse for what was refused. */
static void still_right(const exchange *e, int call)
{
    int mine[8], all[8];
    if (e->op == PAT_OP_ALLGATHER) {
        gather_bytes(MPI_COMM_WORLD, 100, (uint32_t)call);
        return;
    }
    for (int r = 0; r < test.size; r++)
        mine[r] = 100 * call + 10 * test.rank + r;
    MUST(PAT_Alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
    for (int r = 0; r < test.size; r++)
        expect_int("number of the all-to-all", 100 * call + 10 * r + test.rank, all[r]);
}

static void bad_arguments(const exchange *e)
{
    MPI_Datatype raw, gaps;
    MPI_Errhandler counting;
    MPI_Type_contiguous(1, MPI_INT, &raw); /* not committed */
    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    const arguments list[] = {
        {"send count -1", NOTHING_SPECIAL, -1, MPI_INT, 1, MPI_INT},
        {"receive count -1", NOTHING_SPECIAL, 1, MPI_INT, -1, MPI_INT},
        {"both counts -1", NOTHING_SPECIAL, -1, MPI_INT, -1, MPI_INT},
        {"no send type", NOTHING_SPECIAL, 1, MPI_DATATYPE_NULL, 1, MPI_INT},
        {"no receive type", NOTHING_SPECIAL, 1, MPI_INT, 1, MPI_DATATYPE_NULL},
        {"send type not committed", NOTHING_SPECIAL, 1, raw, 1, MPI_INT},
        {"receive buffer MPI_IN_PLACE", RECV_IN_PLACE, 1, MPI_INT, 1, MPI_INT},
        {"in place with receive count -1", SEND_IN_PLACE, 0, MPI_DATATYPE_NULL, -1, MPI_INT},
        {"in place with no receive type", SEND_IN_PLACE, 0, MPI_INT, 1, MPI_DATATYPE_NULL},
        {"no send buffer", NO_SEND_BUFFER, 1, MPI_INT, 1, MPI_INT},
        {"no receive buffer", NO_RECV_BUFFER, 1, MPI_INT, 1, MPI_INT},
        {"no send buffer for a type with gaps", NO_SEND_BUFFER, 1, gaps, 2, MPI_INT},
        {"no receive buffer for a type with gaps", NO_RECV_BUFFER, 2, MPI_INT, 1, gaps},
        {"no communicator", NO_COMM, 1, MPI_INT, 1, MPI_INT},
    };
    const alg_list algs = algs_of(e->op, alg_is_any);
    MPI_Comm_create_errhandler(handler, &counting);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting);
    for (int a = 0; a < algs.num; a++) {
        MUST(PAT_UseAlg(algs.names[a]));
        for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
            same_verdict(e, &list[i]);
        handler_calls = 0;
        test_at("%s after bad arguments", algs.names[a]);
        still_right(e, a);
        expect_int("calls of the error handler", 0, handler_calls);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&counting);
    MPI_Type_free(&raw);
    MPI_Type_free(&gaps);
}

/* Settings are one mind or an error everywhere, and the library can be started afterwards. */
static void settings(void)
{
    char dir[] = "/tmp/pat-trace-XXXXXX";
    if (!mkdtemp(dir))
        test_fail("no temporary directory");
    const struct {
        const char *name, *bad[2], *text; /* values per rank; text on the rank that has a bad one */
    } list[] = {
        {"PAT_ALG", {"ring", "rong"}, "rong"},
        {"PAT_ALG", {"ring", "nex"}, "differ"},
        {"PAT_MEM", {"1M", "lots"}, "lots"},
        {"PAT_MEM", {"1M", "2M"}, "differ"},
        {"PAT_LINK", {"20,1000", "20"}, "20"},
        {"PAT_LINK", {"20,1000", "20,999"}, "differ"},
        {"PAT_BACKGROUND", {"1", "maybe"}, "maybe"},
        {"PAT_THREAD_PIN", {"auto", "left"}, "left"},
        {"PAT_THREAD_PIN", {"off", "99999"}, "99999"},
        {"PAT_WAIT", {"spin", "sleep"}, "sleep"},
        {"PAT_TRACE", {dir, "/no/such/place"}, "/no/such/place"},
    };
    char file[64];
    snprintf(file, sizeof(file), "%s/rank-0.csv", dir);
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        const char *bad = list[i].bad[test.rank];
        test_at("%s=%s", list[i].name, bad);
        setenv(list[i].name, bad, 1);
        bool told = test.rank == 1 || strcmp(list[i].text, "differ") == 0;
        expect_error("PAT_Init", MPI_ERR_ARG, PAT_Init(), told ? list[i].text : NULL);
        if (told && !strstr(list[i].text, "differ") && !strstr(PAT_Error_string(MPI_ERR_ARG), list[i].name))
            test_fail("the text does not name the variable: \"%s\"", PAT_Error_string(MPI_ERR_ARG));
        if (test.rank == 0 && strcmp(list[i].name, "PAT_TRACE") == 0 && access(file, F_OK) == 0)
            test_fail("a library that did not start leaves a trace");
        unsetenv(list[i].name);
        expect_error("PAT_UseAlg after that", MPI_ERR_OTHER, PAT_UseAlg("ring"), "PAT_Init");
    }
    rmdir(dir);
}

int main(int argc, char **argv)
{
    static const exchange exchanges[] = {
        {PAT_OP_ALLGATHER, {MPI_Allgather, PAT_Allgather}, {"MPI_Allgather", "PAT_Allgather"}},
        {PAT_OP_ALLTOALL, {MPI_Alltoall, PAT_Alltoall}, {"MPI_Alltoall", "PAT_Alltoall"}},
    };
    before_mpi();
    if (!test_mpi_init(&argc, &argv, MPI_THREAD_MULTIPLE))
        return 77;
    layouts_make();
    library_down("before PAT_Init");
    settings();
    for (int life = 0; life < 2; life++) {
        test_at("PAT_Init, life %d", life);
        MUST(PAT_Init());
        expect_error("PAT_Init twice", MPI_ERR_OTHER, PAT_Init(), "already");
        algorithms();
        milestones();
        null_pointers();
        for (size_t i = 0; i < sizeof(exchanges) / sizeof(exchanges[0]); i++)
            bad_arguments(&exchanges[i]);
        test_at("PAT_Finalize, life %d", life);
        MUST(PAT_Finalize());
        library_down("after PAT_Finalize");
    }
    layouts_free();
    MPI_Finalize();
    test_at("after MPI_Finalize");
    expect_error("PAT_Init", MPI_ERR_OTHER, PAT_Init(), "MPI_Finalize");
    expect_error("PAT_Finalize", MPI_ERR_OTHER, PAT_Finalize(), NULL);
    if (!strstr(PAT_Error_string(MPI_ERR_COMM), "communicator"))
        test_fail("text of MPI_ERR_COMM: got \"%s\"", PAT_Error_string(MPI_ERR_COMM));
    return test.failures ? 1 : 0;
}
