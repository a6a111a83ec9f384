/*
 * mpi_persistent.c — the persistent form: a receive buffer that is the library's from PAT_Open to PAT_Wait
 * and nobody's before and after, requests in turn, requests given up, requests used wrongly.
 *
 * ranks: 2 3 4 7
 */
#include "mpi_common.h"

static uint32_t seed;

static PAT_Request request_make(const gather *g)
{
    PAT_Request r = PAT_REQUEST_NULL;
    MUST(PAT_Allgather_init(gather_sendbuf(g), g->send_count, g->sl->type, gather_recvbuf(g), g->recv_count,
                            g->rl->type, g->comm, &r));
    if (r == PAT_REQUEST_NULL)
        test_fail("PAT_Allgather_init gave no request");
    return r;
}

static void plain_layout(gather *g, int bytes)
{
    gather_make(g, MPI_COMM_WORLD, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], bytes, false);
}

static double delay(int turn)
{
    return 2 + 3.0 * ((test.rank * 3 + turn) % test.size);
}

/* ---- Rounds ------------------------------------------------------------------------------------------- */

/*
 * Two requests in turn: the last result is read after the next request was opened and the others' data may be
 * coming in.
 */
static void in_turn(const char *alg)
{
    gather g[2];
    PAT_Request r[2];
    for (int i = 0; i < 2; i++) {
        plain_layout(&g[i], 6000);
        r[i] = request_make(&g[i]);
    }
    for (int turn = 0; turn < 10; turn++) {
        int i = turn % 2;
        double ms = delay(turn);
        test_at("%s, two requests in turn, round %d", alg, turn);
        gather_fill(&g[i], ++seed);
        MUST(PAT_Open(r[i]));
        MUST(PAT_ProcessingStart());
        sleep_ms(ms / 2);
        MUST(PAT_Edge(50));
        sleep_ms(ms / 2);
        if (turn > 0)
            gather_check(&g[!i]);
        MUST(PAT_ProcessingEnd());
        MUST(PAT_Start(r[i]));
        if (turn % 3 == 0)
            sleep_ms(1);
        MUST(PAT_Wait(r[i]));
        gather_spoil(&g[i]);
        gather_check(&g[i]);
    }
    for (int i = 0; i < 2; i++) {
        MUST(PAT_Request_free(&r[i]));
        if (r[i] != PAT_REQUEST_NULL)
            test_fail("PAT_Request_free left the handle as it was");
        gather_free(&g[i]);
    }
}

/* A finished round's buffer is not opened for the next one: early data must not touch it, not even before
 * PAT_Wait. */
static void edge_before_wait(const char *alg)
{
    gather g;
    plain_layout(&g, 4000);
    PAT_Request r = request_make(&g);
    for (int turn = 0; turn < 6; turn++) {
        test_at("%s, Edge between PAT_Start and PAT_Wait, round %d", alg, turn);
        gather_fill(&g, ++seed);
        MUST(PAT_Start(r));
        sleep_ms(4); /* the thread finishes the round meanwhile */
        MUST(PAT_ProcessingStart());
        sleep_ms(1);
        MUST(PAT_Edge(test.rank == 0 ? 3
                                     : 30)); /* rank 0 will be late: the others' next data comes here early */
        sleep_ms(test.rank == 0 ? 30 : 1);
        MUST(PAT_Wait(r));
        gather_spoil(&g);
        gather_check(&g);
    }
    MUST(PAT_Request_free(&r));
    gather_free(&g);
}

/* Types that are not plain, types that differ from rank to rank, in place, no PAT_Open, no milestones. */
static void types(const char *alg)
{
    for (int l = LAYOUT_INT; l < NUM_LAYOUTS; l++) {
        gather g;
        test_at("%s, %s", alg, layouts[l].name);
        int other = LAYOUT_INT + (l + test.rank) % (NUM_LAYOUTS - LAYOUT_INT);
        gather_make(&g, MPI_COMM_WORLD, &layouts[l], &layouts[other], UNIT * 50, l % 2);
        gather_fill(&g, ++seed);
        PAT_Request r = request_make(&g);
        for (int turn = 0; turn < 4; turn++) {
            test_at("%s, %s, round %d", alg, layouts[l].name, turn);
            gather_fill(&g, ++seed);
            if (turn > 0)
                MUST(PAT_Open(r));
            if (turn > 1)
                phase(delay(turn) / 3, 0.5, 40);
            MUST(PAT_Start(r));
            MUST(PAT_Wait(r));
            gather_spoil(&g);
            gather_check(&g);
        }
        MUST(PAT_Request_free(&r));
        gather_free(&g);
    }
}

/* Types may be freed once the request is made, and whatever the user hangs on them is none of our business. */
static int copies_of_attributes;

static int copy_attr(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)type;
    (void)keyval;
    (void)extra;
    copies_of_attributes++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static void freed_types(const char *alg)
{
    gather g;
    PAT_Request r;
    MPI_Datatype vector, others[20];
    int keyval;
    test_at("%s, types that are freed", alg);
    copies_of_attributes = 0;
    gather_make(&g, MPI_COMM_WORLD, &layouts[3], &layouts[3], UNIT * 40, false);
    MPI_Type_create_keyval(copy_attr, MPI_TYPE_NULL_DELETE_FN, &keyval, NULL);
    MPI_Type_vector(3, 1, 2, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    MPI_Type_set_attr(vector, keyval, &keyval);
    MUST(PAT_Allgather_init(gather_sendbuf(&g), g.send_count, vector, gather_recvbuf(&g), g.recv_count,
                            vector, MPI_COMM_WORLD, &r));
    MPI_Type_free(&vector);
    for (int i = 0; i < 20; i++) { /* these may well take its place */
        MPI_Type_vector(2, 2, 5 + i, MPI_DOUBLE, &others[i]);
        MPI_Type_commit(&others[i]);
    }
    for (int turn = 0; turn < 3; turn++) {
        gather_fill(&g, ++seed);
        MUST(PAT_Open(r));
        phase(delay(turn) / 3, 0.5, 40);
        MUST(PAT_Start(r));
        MUST(PAT_Wait(r));
        gather_spoil(&g);
        gather_check(&g);
    }
    MUST(PAT_Request_free(&r));
    for (int i = 0; i < 20; i++)
        MPI_Type_free(&others[i]);
    MPI_Type_free_keyval(&keyval);
    expect_int("copies of the user's attributes", 0, copies_of_attributes);
    gather_free(&g);
}

/* Plain calls between Open and whatever follows; a request that never starts; a wait that has nothing to wait
 * for. */
static void given_up(const char *alg)
{
    static const int plain_bytes[] = {5000, 5000, 60, 20000};
    for (int turn = 0; turn < 12; turn++) {
        gather g;
        test_at("%s, request given up, round %d", alg, turn);
        plain_layout(&g, 5000);
        gather_fill(&g, ++seed);
        PAT_Request r = request_make(&g);
        MUST(PAT_Wait(r)); /* neither open nor started */
        gather_bytes(MPI_COMM_WORLD, 5000, ++seed);
        MUST(PAT_Open(r));
        if (turn % 3 < 2)
            phase(test.rank == turn % test.size ? 25 : 4, 2, test.rank == turn % test.size ? 8 : 50);
        MUST(PAT_Wait(r)); /* open but not started */
        if (turn % 2) {    /* freed: the buffer is ours again, whatever the others send */
            MUST(PAT_Request_free(&r));
            gather_fill(&g, ++seed);
            memcpy(g.want_recv, g.recv, g.recv_size);
        }
        gather_bytes(MPI_COMM_WORLD, plain_bytes[turn % 4], ++seed);
        if (turn % 2) {
            gather_check(&g);
        } else { /* still open, whatever has landed there: its own round comes now */
            MUST(PAT_Start(r));
            MUST(PAT_Wait(r));
            gather_check(&g);
            MUST(PAT_Request_free(&r));
        }
        gather_free(&g);
    }
}

/*
 * Between PAT_Start and PAT_Wait a rank may do what it likes, also wait for another rank that only comes once the
 * all-gather is over: who has started must not have to come back to the library for the others to get on.
 */
static void busy_elsewhere(const char *alg, const char *background)
{
    gather g;
    int word = 0;
    setenv("PAT_BACKGROUND", background, 1);
    test_at("%s, PAT_BACKGROUND=%s, messages between PAT_Start and PAT_Wait", alg, background);
    MUST(PAT_Init());
    use_alg(alg);
    plain_layout(&g, 3000);
    PAT_Request r = request_make(&g);
    for (int turn = 0; turn < 2 * test.size; turn++) {
        int last = turn % test.size, before = (last + test.size - 1) % test.size;
        test_at("%s, PAT_BACKGROUND=%s, rank %d busy between PAT_Start and PAT_Wait", alg, background, last);
        gather_fill(&g, ++seed);
        MUST(PAT_Start(r));
        if (test.rank == last)
            MPI_Recv(&word, 1, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MUST(PAT_Wait(r));
        if (test.rank == before)
            MPI_Send(&turn, 1, MPI_INT, last, 1, MPI_COMM_WORLD);
        gather_spoil(&g);
        gather_check(&g);
    }
    MUST(PAT_Request_free(&r));
    gather_free(&g);
    test_at("%s, PAT_BACKGROUND=%s, PAT_Finalize", alg, background);
    MUST(PAT_Finalize());
    unsetenv("PAT_BACKGROUND");
}

/* ---- No copies, errors -------------------------------------------------------------------------------- */

/*
 * Early data of an opened request is in its place: only the own block is copied. The plain call copies early
 * data too.
 */
static void copies(void)
{
    gather g;
    int late = test.size - 1;
    int64_t early, block = 8000;
    use_alg("bdr");
    test_at("copies");
    plain_layout(&g, (int)block);
    gather_fill(&g, ++seed);
    PAT_Request r = request_make(&g);
    for (int persistent = 1; persistent >= 0; persistent--) {
        gather_bytes(MPI_COMM_WORLD, (int)block, ++seed);
        PAT_Counters before = counters();
        int rounds = 6;
        for (int turn = 0; turn < rounds; turn++) {
            gather_fill(&g, ++seed);
            if (persistent)
                MUST(PAT_Open(r));
            phase(test.rank == late ? 50 : 5, 2, test.rank == late ? 4 : 40);
            if (persistent) {
                MUST(PAT_Start(r));
                MUST(PAT_Wait(r));
                gather_check(&g);
            } else {
                gather_call(&g);
            }
        }
        PAT_Counters after = counters();
        int64_t own = rounds * block, copied = after.bytes_copied - before.bytes_copied;
        early = after.bytes_early - before.bytes_early;
        test_at("copies, %s", persistent ? "opened request" : "plain call");
        if (persistent)
            expect_int("bytes copied", own, copied);
        else if (copied < own + early || copied > own * test.size) /* what was awaited early may come late */
            test_fail("bytes copied: expected %lld to %lld, got %lld", (long long)(own + early),
                      (long long)own * test.size, (long long)copied);
        if (test.rank == late && early <= 0)
            test_fail("bytes received early: expected some, got %lld", (long long)early);
    }
    MUST(PAT_Request_free(&r));
    gather_free(&g);
}

static void errors(const char *alg)
{
    gather g[2];
    PAT_Request r[2];
    test_at("%s, errors", alg);
    for (int i = 0; i < 2; i++) {
        plain_layout(&g[i], 2000);
        gather_fill(&g[i], ++seed);
        r[i] = request_make(&g[i]);
    }
    MUST(PAT_Open(r[0]));
    expect_error("open twice", MPI_ERR_REQUEST, PAT_Open(r[0]), "already open");
    expect_error("open another", MPI_ERR_REQUEST, PAT_Open(r[1]), "another request");
    expect_error("start another", MPI_ERR_REQUEST, PAT_Start(r[1]), "another request");
    MUST(PAT_Start(r[0]));
    expect_error("start twice", MPI_ERR_REQUEST, PAT_Start(r[0]), "already started");
    expect_error("open when started", MPI_ERR_REQUEST, PAT_Open(r[0]), "already started");
    expect_error("open another when started", MPI_ERR_REQUEST, PAT_Open(r[1]), "another request");
    expect_error("free when started", MPI_ERR_REQUEST, PAT_Request_free(&r[0]), "PAT_Wait");
    if (r[0] == PAT_REQUEST_NULL)
        test_fail("a refused PAT_Request_free took the handle away");
    expect_error("change the algorithm when started", MPI_ERR_REQUEST,
                 PAT_UseAlg(strcmp(alg, "nex") ? "nex" : "ring"), "started");
    MUST(PAT_Wait(r[0]));
    gather_check(&g[0]);
    MUST(PAT_Start(r[1]));
    MUST(PAT_Wait(r[1]));
    gather_check(&g[1]);
    for (int i = 0; i < 2; i++) {
        MUST(PAT_Request_free(&r[i]));
        gather_free(&g[i]);
    }
    PAT_Request none = PAT_REQUEST_NULL;
    expect_error("open nothing", MPI_ERR_REQUEST, PAT_Open(none), "PAT_REQUEST_NULL");
    expect_error("start nothing", MPI_ERR_REQUEST, PAT_Start(none), "PAT_REQUEST_NULL");
    expect_error("wait for nothing", MPI_ERR_REQUEST, PAT_Wait(none), "PAT_REQUEST_NULL");
    expect_error("free nothing", MPI_ERR_REQUEST, PAT_Request_free(&none), "PAT_REQUEST_NULL");
    expect_error("free a null pointer", MPI_ERR_REQUEST, PAT_Request_free(NULL), "null pointer");
}

/* Requests outlive their communicator and the library only to be freed. */
static void orphans(const char *alg)
{
    for (int state = 0; state < 3; state++) { /* closed, open with data on its way, started */
        for (int end = 0; end < 2; end++) {   /* of the communicator, of the library */
            MPI_Comm dup;
            gather g;
            test_at("%s, request in state %d outlives %s", alg, state,
                    end ? "the library" : "its communicator");
            MPI_Comm_dup(MPI_COMM_WORLD, &dup);
            gather_make(&g, dup, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], 3000, false);
            gather_fill(&g, ++seed);
            PAT_Request r = request_make(&g);
            gather_bytes(dup, 3000, ++seed);
            if (state == 1) {
                MUST(PAT_Open(r));
                phase(test.rank ? 3 : 12, 2, test.rank ? 60 : 15);
            }
            if (state == 2)
                MUST(PAT_Start(r));
            if (end) {
                MUST(PAT_Finalize());
                expect_error("open after the end", MPI_ERR_OTHER, PAT_Open(r), NULL);
            } else {
                MPI_Comm_free(&dup);
                if (state != 2)
                    expect_error("open after MPI_Comm_free", MPI_ERR_COMM, PAT_Open(r), NULL);
            }
            if (state == 2) { /* it was completed when what it hung on went, or is MPI's */
                expect_error("free when started", MPI_ERR_REQUEST, PAT_Request_free(&r), "PAT_Wait");
                MUST(PAT_Wait(r));
                gather_check(&g);
            }
            MUST(PAT_Request_free(&r));
            if (end) {
                MPI_Comm_free(&dup);
                MUST(PAT_Init());
            }
            MUST(PAT_UseAlg("nex")); /* nothing that has gone stands in the way of another algorithm */
            MUST(PAT_UseAlg(alg));
            gather_free(&g);
        }
    }
}

int main(int argc, char **argv)
{
    const alg_list algs = algs_of(PAT_OP_ALLGATHER, alg_is_any),
                   different = algs_of(PAT_OP_ALLGATHER, alg_differs);
    setenv("PAT_LINK", "20,2000", 1);
    test_begin_on_nodes(&argc, &argv);
    layouts_make();
    copies();
    for (int a = 0; a < different.num; a++) {
        const char *const alg = different.names[a];
        use_alg(alg);
        in_turn(alg);
        edge_before_wait(alg);
        types(alg);
        freed_types(alg);
        given_up(alg);
        errors(alg);
        orphans(alg);
    }
    test_at("PAT_Finalize");
    MUST(PAT_Finalize());
    for (int a = 0; a < algs.num; a++) {
        busy_elsewhere(algs.names[a], "1");
        busy_elsewhere(algs.names[a], "0");
    }
    layouts_free();
    MPI_Finalize();
    return test.failures ? 1 : 0;
}
