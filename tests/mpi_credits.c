/*
 * mpi_credits.c — how far ranks may run ahead of each other in PAT_Bcast and PAT_Gather: not farther than two epochs of
 * calls, whoever stays away, and no less than one. And that nothing comes to a halt by it: several communicators and
 * threads, all-gathers beside, communicators that go while ranks are still being kept together.
 *
 * Each rank says in shared memory how many calls have returned; so every rank can see how far it is ahead.
 *
 * ranks: 2 3 4 5 8
 *
 * variants: threads single end
 */
#include "mpi_common.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { EPOCH = 32, MOST_AHEAD = 2 * EPOCH, CALLS = 300, MOST_RANKS = 8 };

static bool have_thread;
static atomic_int *returned; /* by rank: calls of the case under way */

static void share_memory(void)
{
    char name[40];
    int number = (int)getpid();
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof(name), "/pat_credits_%d", number);
    if (test.rank > 0)
        MPI_Barrier(MPI_COMM_WORLD);
    int file = shm_open(name, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 4096) != 0)
        must("shared memory", MPI_ERR_OTHER);
    if (test.rank == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    returned = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (returned == MAP_FAILED)
        must("shared memory", MPI_ERR_OTHER);
    close(file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (test.rank == 0)
        shm_unlink(name);
}

/* ---- Calls ---------------------------------------------------------------------------------------------- */

static void bcast_check(MPI_Comm comm, int bytes, int root, uint32_t seed)
{
    int rank, wrong = 0;
    unsigned char *data = malloc((size_t)bytes);
    if (!data)
        must("memory for the test's buffers", MPI_ERR_NO_MEM);
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < bytes; i++)
        data[i] = rank == root ? gather_byte(seed, root, i) : 0x5A;
    MUST(PAT_Bcast(data, bytes, MPI_BYTE, root, comm));
    for (int i = 0; i < bytes; i++)
        wrong += data[i] != gather_byte(seed, root, i);
    if (wrong)
        test_fail("broadcast %u of %d bytes from %d: %d are wrong", (unsigned)seed, bytes, root, wrong);
    free(data);
}

static void gather_check_at(MPI_Comm comm, int bytes, int root, uint32_t seed)
{
    int rank, size, wrong = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    unsigned char *own = malloc((size_t)bytes), *all = malloc((size_t)bytes * (size_t)size);
    if (!own || !all)
        must("memory for the test's buffers", MPI_ERR_NO_MEM);
    for (int i = 0; i < bytes; i++)
        own[i] = gather_byte(seed, rank, i);
    memset(all, 0x5A, (size_t)bytes * (size_t)size);
    MUST(PAT_Gather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, root, comm));
    for (int r = 0; r < size && rank == root; r++)
        for (int i = 0; i < bytes; i++)
            wrong += all[r * bytes + i] != gather_byte(seed, r, i);
    if (wrong)
        test_fail("gather %u of %d bytes to %d: %d are wrong", (unsigned)seed, bytes, root, wrong);
    free(own);
    free(all);
}

/* ---- How far ahead? ------------------------------------------------------------------------------------- */

static int most_returned(void)
{
    int most = 0;
    for (int r = 0; r < test.size; r++) {
        int n = atomic_load(&returned[r]);
        most = r != test.rank && n > most ? n : most;
    }
    return most;
}

/*
 * This rank stays away until another one's calls have come to at least so many and then come to no more. It looks after the
 * MPI library's business meanwhile, so that messages do come in: they must not be held up for that.
 */
static int stay_away(int least)
{
    int most = 0, before = -1, still = 0, flag;
    for (int ms = 0; ms < 30000 * test_slow() && (most < least || still < 80); ms++) {
        sleep_ms(1);
        MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        before = most;
        most = most_returned();
        still = most == before ? still + 1 : 0;
    }
    return most;
}

static void note_return(int calls, int most_ahead)
{
    atomic_store(&returned[test.rank], calls);
    for (int r = 0; r < test.size; r++) {
        int theirs = atomic_load(&returned[r]);
        if (calls - theirs > most_ahead)
            test_fail("back from call %d when rank %d was back from %d", calls, r, theirs);
    }
}

/*
 * `late` stays away after so many calls, on a communicator of their own. Before the first call returns all must call, since
 * it makes the library's state. The others must come to `least` calls meanwhile.
 */
static void held(const char *alg, int bytes, int late, int after, int least, int most_ahead)
{
    const bool gathers = alg[0] == 'g';
    MPI_Comm comm;
    use_alg(alg);
    test_at("%s of %d bytes, rank %d is late after call %d", alg, bytes, late, after);
    atomic_store(&returned[test.rank], 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < CALLS; i++) {
        if (test.rank == late && i == after) {
            int most = stay_away(least);
            if (most < least)
                test_fail("the others wait after %d calls, this rank has made %d", most, after);
        }
        if (gathers)
            gather_check_at(comm, bytes, 0, (uint32_t)i);
        else
            bcast_check(comm, bytes, 0, (uint32_t)i);
        note_return(i + 1, most_ahead);
        if (i + 1 == EPOCH * 3 + 3 && bytes > 100)
            break;
    }
    MPI_Comm_free(&comm);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void all_held(void)
{
    const alg_list bcasts = algs_of(PAT_OP_BCAST, alg_has_plans);
    const int last = test.size - 1;
    for (int a = 0; a < bcasts.num; a++)
        held(bcasts.names[a], 8, a % 2 ? last : 1, 1, EPOCH + 1, MOST_AHEAD);
    held("gather_linear", 8, 0, 1, EPOCH + 1, MOST_AHEAD);
    held("gather_binomial", 8, 0, 1, EPOCH + 1, MOST_AHEAD);
    if (test.size > 2) /* not the root, for which the others need not wait */
        held("gather_linear", 8, last, 1, EPOCH + 1, MOST_AHEAD);
    /*
     * Has made the calls of an epoch, so that the others may go on to the end of the third, as soon as this rank has passed on what
     * they wait for. That is for the background thread to do; up to four ranks need nothing from each other.
     */
    for (int late = 1; late < test.size && (have_thread || test.size <= 4); late += 1 + (test.size - 1) / 3)
        held("bcast_binomial", 8, late, EPOCH, MOST_AHEAD + 1, MOST_AHEAD);
    /* Long messages: an epoch is 2 MiB, here of 16 broadcasts that the MPI library sends without asking. */
    held("bcast_chain", 128 << 10, 1, 1, 17, 32);
}

/* ---- Everything beside everything ----------------------------------------------------------------------- */

static uint64_t dice_state;

static int dice(int n) /* the same on all ranks */
{
    dice_state = dice_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((dice_state >> 33) % (uint64_t)n);
}

static void mixture(const char *allgather, int turn)
{
    static const char *const rooted[] = {"bcast_binomial",  "gather_linear", "bcast_chain",
                                         "gather_binomial", "bcast_split",   "gather_sync"};
    enum { NUM_COMMS = 3 };
    MPI_Comm comms[NUM_COMMS];
    use_alg(allgather);
    use_alg(rooted[2 * (turn % 3)]);
    use_alg(rooted[2 * (turn % 3) + 1]);
    test_at("mixture %d beside %s", turn, allgather);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, test.rank, &comms[1]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]);
    dice_state = (uint64_t)turn * 77 + (uint64_t)test.size;
    const int late = dice(test.size), calls = 250 + dice(80);
    for (int i = 0; i < calls; i++) {
        const int what = dice(100), bytes = dice(6) ? 1 + dice(3000) : 1 + dice(60000);
        MPI_Comm comm = comms[what % 4 == 0 ? 1 : what % 4 == 1 ? 2 : 0];
        int rank, size;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        const int root = dice(1000) % size;
        if (what < 2 && (i + test.rank) % 3 == 0)
            sleep_ms(3);
        if (test.rank == late && what == 50)
            sleep_ms(20);
        if (what > 94)
            gather_bytes(comm, bytes, (uint32_t)i);
        else if (what % 3 == 0)
            gather_check_at(comm, bytes, root, (uint32_t)i);
        else
            bcast_check(comm, bytes, root, (uint32_t)i);
    }
    for (int i = 0; i < NUM_COMMS; i++)
        MPI_Comm_free(&comms[i]);
}

/* A communicator goes right after a round has begun, the next one may be taken for it. */
static void short_lives(void)
{
    use_alg("bcast_binomial");
    test_at("communicators that go");
    for (int turn = 0; turn < 20; turn++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int i = 0; i < EPOCH * (1 + turn % 2) + turn / 8; i++) {
            if (i == EPOCH - 1 && turn % test.size == test.rank)
                sleep_ms(5);
            bcast_check(comm, 1 + turn, turn % 3 == 0 ? i % test.size : 0, (uint32_t)(turn * 100 + i));
        }
        MPI_Comm_free(&comm);
    }
}

typedef struct worker {
    pthread_t id;
    int number;
    MPI_Comm comm;
} worker;

static void *work(void *arg)
{
    const worker *w = arg;
    int x = 0;
    for (int i = 0; i < 500; i++) {
        int root = (i / 100 + w->number) % test.size;
        if (i % 100 == 10 * w->number && test.rank == w->number % test.size)
            sleep_ms(5);
        x = test.rank == root ? i : -1;
        MUST(PAT_Bcast(&x, 1, MPI_INT, root, w->comm));
        if (x != i) {
            fprintf(stderr, "rank %d, thread %d: broadcast %d brought %d\n", test.rank, w->number, i, x);
            exit(1);
        }
    }
    return NULL;
}

static void many_threads(void)
{
    enum { WORKERS = 3 };
    worker workers[WORKERS];
    use_alg("bcast_chain");
    test_at("threads");
    for (int i = 0; i < WORKERS; i++) {
        workers[i].number = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
    }
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&workers[i].id, NULL, work, &workers[i]) != 0)
            must("pthread_create", MPI_ERR_NO_MEM);
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(workers[i].id, NULL);
        MPI_Comm_free(&workers[i].comm);
    }
}

/* The library goes with rounds under way on communicators that stay. */
static void leave_open(MPI_Comm *comms, int num)
{
    use_alg("bcast_linear");
    test_at("the end, with rounds under way");
    for (int k = 0; k < num; k++) {
        if (k % 2)
            MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, test.rank, &comms[k]);
        else
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[k]);
        for (int i = 0; i < EPOCH * 2; i++) {
            if (i == EPOCH && k == test.rank)
                sleep_ms(10);
            bcast_check(comms[k], 8, 0, (uint32_t)i);
        }
    }
}

int main(int argc, char **argv)
{
    enum { OPEN = 4 };
    MPI_Comm open[OPEN];
    const char *variant = argc > 1 ? argv[1] : "threads";
    have_thread = strcmp(variant, "threads") == 0;
    /* Or else the MPI library's own limits would keep ranks together in long broadcasts. */
    setenv("OMPI_MCA_btl_vader_eager_limit", "16384", 1);
    setenv("OMPI_MCA_btl_vader_free_list_max", "-1", 1);
    setenv("OMPI_MCA_btl_vader_segment_size", "268435456", 1);
    if (!test_mpi_init(&argc, &argv, have_thread ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE))
        return 77;
    test_limit(110);
    MUST(PAT_Init());
    layouts_make();
    if (strcmp(variant, "end") != 0) {
        share_memory();
        all_held();
        for (int turn = 0; turn < 6; turn++)
            mixture(turn % 2 ? "bdr" : "relay", turn);
        short_lives();
        if (have_thread)
            many_threads();
        leave_open(open, OPEN);
        MUST(PAT_Finalize());
        for (int k = 0; k < OPEN; k++)
            MPI_Comm_free(&open[k]);
        MUST(PAT_Init());
        short_lives();
        layouts_free();
        return test_end();
    }
    layouts_free();
    leave_open(open, OPEN);
    test_at("MPI_Finalize");
    MPI_Finalize();
    return test.failures ? 1 : 0;
}
