/*
 * mpi_announced.c — `auto` where all ranks give milestones: each call is run by whom it takes least when ranks come as they have said, by
 * relay or bdr where one is late and by the MPI library or ring where they come together, in whatever order that changes; alike on all ranks, and
 * only as long as all ranks do give them. Results are right whatever is said. Who runs the calls is looked at with an argument only, on several
 * nodes: inside one the MPI library is soon measured to be the fastest.
 *
 * ranks: 2 3 5
 */
#include "mpi_calibrated.h"

#include "comm.h"
#include "runtime.h"

static char path[] = "/tmp/pat-announced-XXXXXX";
static uint32_t seed;
static bool looks; /* at who runs the calls */

static atomic_bool unpack_fails;

enum { BYTES = 20000, CALLS = 24, LATE_MS = 40 };

static int64_t longest_measured = BYTES; /* by the calibration that is made up next */

/* It takes the place of the MPI library's for the statically linked library. */
int PMPI_Unpack(const void *from, int bytes, int *position, void *to, int count, MPI_Datatype type,
                MPI_Comm comm)
{
    return atomic_load(&unpack_fails) ? MPI_ERR_OTHER
                                      : MPI_Unpack(from, bytes, position, to, count, type, comm);
}

/*
 * What messages of 20 KB take by the made-up calibration: relay half as long again as the MPI library, and a block as long as the emulated
 * network of 50 Mbit/s needs, because what relay is measured to take must not overturn it: so that relay pays where some rank is late.
 * other: an algorithm that takes other_us; NULL: there is none.
 */
static pat_calibration made_up(double native_us, const char *other, double other_us)
{
    pat_calibration c = made_up_calibration(NULL, 1000);
    c.num_points = 0;
    for (int ranks = 2; ranks <= 8; ranks++)
        c.points[c.num_points++] =
            (pat_point){index_of("native"), ranks, longest_measured, native_us * (ranks - 1)};
    pat_calibration_sort(&c);
    c.fits[index_of("relay")] = (pat_fit){.known = true, .alpha_us = 100, .beta_ns = 170, .rank = 2};
    if (other)
        c.fits[index_of(other)] =
            (pat_fit){.known = true, .alpha_us = other_us, .beta_ns = 1e-3 * other_us, .rank = 2};
    return c;
}

static void begin(const char *what, double native_us, const char *other, double other_us)
{
    const pat_calibration c = made_up(native_us, other, other_us);
    test_at("%s", what);
    if (test.rank == 0 && pat_calibration_write(&c, path, false) != 0)
        test_fail("%s cannot be written", path);
    MPI_Barrier(MPI_COMM_WORLD);
    MUST(PAT_Init());
}

static void end(void)
{
    MUST(PAT_Finalize());
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A phase, said half-way, and the call: the last rank is late, or nobody. Returns who ran it, the same on all ranks. */
static int run(bool late, bool said)
{
    const double ms = late && test.rank == test.size - 1 ? LATE_MS : 6;
    MPI_Barrier(MPI_COMM_WORLD);
    const PAT_Counters before = counters();
    if (said)
        phase(ms, 3, 300 / ms);
    else
        sleep_ms(ms);
    gather_bytes(MPI_COMM_WORLD, BYTES, ++seed);
    const PAT_Counters after = counters();
    int ran = -1, most;
    for (int a = 0; a < after.num_algs; a++)
        if (after.alg_calls[a] > before.alg_calls[a])
            ran = a;
    MPI_Allreduce(&ran, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    expect_int("who ran a call, on another rank", most, ran);
    return ran;
}

/* Of calls in which a rank is late, and of those in which none is: how many `name` ran. */
static void count(const char *name, bool said, int ran[2])
{
    ran[0] = ran[1] = 0;
    for (int i = 0; i < (looks ? CALLS : CALLS / 3); i++) {
        const bool late = i * i % 7 < 4; /* in no order that one could guess */
        ran[late] += run(late, said) == index_of(name);
    }
}

static int late_calls(void)
{
    int num = 0;
    for (int i = 0; i < CALLS; i++)
        num += i * i % 7 < 4;
    return num;
}

/* It may take some calls until it is known that ranks give milestones; and a busy machine makes ranks late that are not. */
static void expect_most(const char *name, bool late, bool balanced)
{
    int ran[2] = {0, 0};
    const int calls[2] = {CALLS - late_calls(), late_calls()};
    const bool all[2] = {balanced, late};
    bool right = false;
    for (int tries = 0; tries < 4 && !right; tries++) {
        count(name, true, ran);
        right = true;
        for (int k = 0; k < 2; k++)
            right = right && (all[k] ? ran[k] >= calls[k] * 3 / 4 : ran[k] <= calls[k] / 4);
        right = right || !looks;
        MPI_Bcast(&right, 1, MPI_C_BOOL, 0, MPI_COMM_WORLD);
    }
    if (!right)
        test_fail("%s ran %d of %d calls with a late rank and %d of %d without", name, ran[1], calls[1],
                  ran[0], calls[0]);
}

static void expect_none(const char *name, bool said)
{
    int ran[2];
    count(name, said, ran);
    expect_int(name, 0, ran[0] + ran[1]);
}

/* Whatever is said, or not, of calls of any length, by requests and without: results are right, and no rank waits for ever. */
static void any_manner(void)
{
    static const int sizes[] = {BYTES, BYTES, 60000, 100, BYTES, 500000};
    gather g;
    PAT_Request r;
    gather_make(&g, MPI_COMM_WORLD, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], BYTES, false);
    gather_fill(&g, ++seed);
    MUST(PAT_Allgather_init(gather_sendbuf(&g), g.send_count, MPI_BYTE, gather_recvbuf(&g), g.recv_count,
                            MPI_BYTE, MPI_COMM_WORLD, &r));
    for (int turn = 0; turn < 6 * NUM_MANNERS; turn++) {
        const enum manner manner = (enum manner)(turn / 6);
        test_at("%s, turn %d", manner_names[manner], turn);
        phase_in(manner, 1 + 4.0 * ((test.rank * 5 + turn * 3) % test.size), turn);
        if (turn % 5 == 4) {
            gather_fill(&g, ++seed);
            if (turn % 2)
                MUST(PAT_Open(r));
            MUST(PAT_Start(r));
            if (turn % 3)
                phase(2, 1, 50);
            MUST(PAT_Wait(r));
            gather_spoil(&g);
            gather_check(&g);
        } else {
            gather_bytes(MPI_COMM_WORLD, sizes[turn % 6], ++seed);
        }
        if (turn % 13 == 12) {
            MUST(PAT_UseAlg(turn % 2 ? "bdr" : "relay"));
            gather_bytes(MPI_COMM_WORLD, BYTES, ++seed);
            MUST(PAT_UseAlg("auto"));
        }
    }
    MUST(PAT_Request_free(&r));
    gather_free(&g);
}

/*
 * The fourth call in a row that nobody has announced is a request's, whose round ends at once on some ranks and later on others: a call beside
 * it gets the same verdict everywhere, and after it calls go on.
 */
static void beside_a_request(int late)
{
    gather g;
    PAT_Request r;
    gather_make(&g, MPI_COMM_WORLD, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], BYTES, false);
    MUST(PAT_Allgather_init(gather_sendbuf(&g), g.send_count, MPI_BYTE, gather_recvbuf(&g), g.recv_count,
                            MPI_BYTE, MPI_COMM_WORLD, &r));
    int worst = 0;
    for (int i = 0; i < 8; i++)
        run(false, true);
    for (int i = 0; i < 3; i++)
        gather_bytes(MPI_COMM_WORLD, BYTES, ++seed);
    gather_fill(&g, ++seed);
    if (test.rank % 2 == late) /* till then the round goes on on the others, which call beside it at once */
        sleep_ms(40);
    MUST(PAT_Start(r));
    if (test.rank % 2 == late) /* and here it ends before the call */
        sleep_ms(100);
    char *all = malloc((size_t)test.size * BYTES);
    int mine =
        PAT_Allgather(g.want_send, BYTES, MPI_BYTE, all, BYTES, MPI_BYTE, MPI_COMM_WORLD) != MPI_SUCCESS;
    free(all);
    MUST(PAT_Wait(r));
    gather_spoil(&g);
    gather_check(&g);
    MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    expect_int("a call beside the request is refused, as on another rank", worst, mine);
    MUST(PAT_Request_free(&r));
    gather_free(&g);
}

/* Do calls on a communicator go by what ranks say of them? Asked between calls. */
static bool goes_by_estimates(MPI_Comm comm)
{
    bool goes = false;
    pthread_mutex_lock(&pat_rt.lock);
    for (pat_comm *c = pat_rt.comms; c; c = c->next)
        goes = goes || (c->user == comm && atomic_load(&c->listens));
    pthread_mutex_unlock(&pat_rt.lock);
    MPI_Allreduce(MPI_IN_PLACE, &goes, 1, MPI_C_BOOL, MPI_LAND, MPI_COMM_WORLD);
    return goes;
}

/* The first call that goes by estimates is announced like those after it, although only the MPI library has run calls before. */
static void first_is_announced(void)
{
    bool announced = false;
    for (int tries = 0; tries < 4 && !announced; tries++) {
        MPI_Comm dup;
        bool goes = false;
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        for (int calls = 0; calls < 10 && !goes; calls++) {
            phase(30, 10, 50);
            goes = goes_by_estimates(dup);
            const int64_t before = counters().estimates;
            gather_bytes(dup, BYTES, ++seed);
            announced = goes && counters().estimates > before;
            MPI_Allreduce(MPI_IN_PLACE, &announced, 1, MPI_C_BOOL, MPI_LAND, MPI_COMM_WORLD);
            if (!goes && goes_by_estimates(
                             dup)) /* some rank knew before it called: this may have been the first one */
                calls = 10;
        }
        MPI_Comm_free(&dup);
    }
    if (!announced)
        test_fail("the first call by estimates was not announced");
}

/*
 * Calls that nobody has announced are the last ones that go by estimates, as all ranks find; one rank finds it although unpacking has failed there,
 * and waits for nobody when the communicator is freed.
 */
static void fails_as_estimates_end(void)
{
    const bool here = test.rank == test.size - 1;
    char *mine = calloc(BYTES, 1), *all = malloc(2 * (size_t)test.size * BYTES);
    MPI_Datatype bytes, every_second;
    int any = 0;
    MPI_Type_vector(BYTES, 1, 2, MPI_BYTE, &bytes);
    MPI_Type_create_resized(bytes, 0, 2 * BYTES, &every_second);
    MPI_Type_free(&bytes);
    MPI_Type_commit(&every_second);
    for (int tries = 0; tries < 4 && !any; tries++) {
        MPI_Comm dup;
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
        for (int calls = 0; calls < 20 && !goes_by_estimates(dup); calls++) {
            phase(here ? LATE_MS : 6, 3, 50);
            gather_bytes(dup, BYTES, ++seed);
        }
        for (int calls = 0; calls < 8 && !any && goes_by_estimates(dup); calls++) {
            MPI_Barrier(dup);
            sleep_ms(here ? LATE_MS : 6);
            atomic_store(&unpack_fails, here && calls == 3);
            const int rc = PAT_Allgather(mine, BYTES, MPI_BYTE, all, 1, every_second, dup);
            const int failed = atomic_exchange(&unpack_fails, false) && rc != MPI_SUCCESS;
            MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        }
        if (any && goes_by_estimates(dup))
            test_fail("calls go by estimates after four that nobody has announced");
        MPI_Comm_free(&dup);
    }
    expect_int("the last call by estimates has failed on one rank", 1, any);
    MPI_Type_free(&every_second);
    free(all);
    free(mine);
}

/* An estimate has been given, and no call follows. */
static void no_call(void)
{
    MPI_Comm dup;
    test_at("an Edge, then MPI_Comm_free");
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    for (int i = 0; i < 6; i++) {
        phase(4, 2, 50);
        gather_bytes(dup, BYTES, ++seed);
    }
    phase(4, 2, 50);
    MPI_Comm_free(&dup);
    test_at("an Edge, then PAT_Finalize");
    for (int i = 0; i < 6; i++)
        run(false, true);
    phase(4, 2, 50);
}

int main(int argc, char **argv)
{
    if (!test_mpi_init(&argc, &argv, MPI_THREAD_MULTIPLE))
        return 77;
    test_limit(200);
    looks = argc > 1;
    layouts_make();
    make_calibration_file(path, sizeof(path));
    setenv("PAT_LINK", "10,1000", 1);
    begin("relay pays where a rank is late", 2300, NULL, 0);
    if (looks) {
        first_is_announced();
        fails_as_estimates_end();
    }
    expect_most("relay", true, false);
    expect_most("native", false, true);
    any_manner();
    no_call();
    end();
    for (int late = 0; late < 2; late++) {
        begin("a call beside a started request", 2300, NULL, 0);
        beside_a_request(late);
        end();
    }
    begin("bdr is nearly free", 2300, "bdr", 1);
    expect_most("bdr", true, true);
    any_manner();
    end();
    begin("ring is the fastest where no rank is late", 2300, "ring", 1600);
    expect_most("ring", false, true);
    expect_most("relay", true, false);
    any_manner();
    end();
    longest_measured = BYTES / 4;
    begin("ring is nearly free by a file that does not reach so far", 2300, "ring", 1);
    expect_none("ring", true);
    end();
    longest_measured = BYTES;
    begin("bdr is nearly free, but nobody says when ranks come", 2300, "bdr", 1);
    expect_none("bdr", false);
    end();
    begin("the MPI library is nearly free", 1, "bdr", 2300);
    expect_most("native", true, true);
    end();
    if (test.rank == 0)
        unlink(path);
    layouts_free();
    MPI_Finalize();
    return test.failures ? 1 : 0;
}
