/*
 * mpi_release.c — opened requests are freed, not started, while the others' blocks come in for them, the background
 * thread is busy on other communicators, and another thread of the program does the same: what had come in must be there
 * for the request that is started instead, nothing may be written to the freed one's buffer any more, and taking a
 * receive back must not meet the message for it half-way.
 *
 * PAT_TEST_SECONDS: how long (default 2).
 * ranks: 2 4 7
 * variants: default taken
 */
#include "mpi_common.h"

#include <pthread.h>

enum { THREADS = 2, LANES = 4 };

/* Two requests with buffers of their own and the same data: the one that all open, and the one for those who free it. */
typedef struct lane {
    MPI_Comm comm;
    gather g[2];
    PAT_Request request[2];
} lane;

typedef struct worker {
    pthread_t id;
    int number, turns, failures;
    double seconds;
    MPI_Comm comm;
    lane lanes[LANES];
} worker;

static void wrong(worker *w, const char *what)
{
    if (w->failures++ < 3)
        fprintf(stderr, "rank %d of %d: thread %d, turn %d: %s\n", test.rank, test.size, w->number, w->turns,
                what);
}

/*
 * What rank 0 says, when all are here. Not by MPI's own collectives: this thread's would look after all that comes in,
 * just when the other thread takes back receives.
 */
static int said_by_rank_0(const worker *w, int mine)
{
    int all[64] = {0};
    MUST(PAT_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, w->comm));
    return all[0];
}

static void open_all(worker *w, int bytes)
{
    for (int i = 0; i < LANES; i++) {
        lane *l = &w->lanes[i];
        for (int k = 0; k < 2; k++) {
            gather *g = &l->g[k];
            gather_make(g, l->comm, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], bytes, false);
            gather_fill(g, (uint32_t)(w->turns * LANES + i));
            MUST(PAT_Allgather_init(gather_sendbuf(g), g->send_count, g->sl->type, gather_recvbuf(g),
                                    g->recv_count, g->rl->type, g->comm, &l->request[k]));
        }
        MUST(PAT_Open(l->request[0]));
    }
}

/* Most start what they have opened. */
static void turn_of(worker *w, bool frees, int bytes)
{
    unsigned h = (unsigned)(w->turns * THREADS + w->number) * 2654435761u;
    open_all(w, bytes);
    said_by_rank_0(w, 0);
    if (frees) {
        sleep_ms((h >> 20) % 64 / 64.0);
        for (int i = 0; i < LANES; i++) {
            gather *g = &w->lanes[i].g[0];
            MUST(PAT_Request_free(&w->lanes[i].request[0]));
            memset(g->recv, 0x77, g->recv_size); /* ours again: nothing may come in here now */
        }
    }
    for (int i = 0; i < LANES; i++)
        MUST(PAT_Start(w->lanes[i].request[frees]));
    for (int i = 0; i < LANES; i++) {
        const gather *g = &w->lanes[i].g[frees];
        MUST(PAT_Wait(w->lanes[i].request[frees]));
        if (memcmp(g->recv, g->want_recv, g->recv_size) != 0 ||
            memcmp(g->send, g->want_send, g->send_size) != 0)
            wrong(w, "the result is not what was sent");
    }
    for (int i = 0; i < LANES; i++) {
        lane *l = &w->lanes[i];
        for (size_t at = 0; frees && at < l->g[0].recv_size; at++)
            if (l->g[0].recv[at] != 0x77) {
                wrong(w, "the buffer of a freed request was written to");
                break;
            }
        for (int k = 0; k < 2; k++) {
            if (l->request[k] != PAT_REQUEST_NULL)
                MUST(PAT_Request_free(&l->request[k]));
            gather_free(&l->g[k]);
        }
    }
}

static void *work(void *arg)
{
    worker *w = arg;
    int more = 1;
    for (double start = MPI_Wtime(); more; w->turns++) {
        /* One rank frees, in larger jobs two neighbours at the same time. */
        int first = w->turns % test.size;
        bool frees = test.rank == first || (test.size > 3 && test.rank == (first + 1) % test.size);
        turn_of(w, frees, w->turns / 16 % 3 ? 3000 : 30000);
        more = said_by_rank_0(w, MPI_Wtime() - start < w->seconds);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static worker workers[THREADS];
    const char *text = getenv("PAT_TEST_SECONDS");
    double seconds = text ? atof(text) : 2;
    setenv("PAT_RANKS_PER_NODE", "1", 0); /* else nobody passes anything on */
    if (argc > 1 && strcmp(argv[1], "taken") == 0)
        test_taken_at_once();
    test_begin(&argc, &argv);
    test_limit(60 + (int)seconds);
    layouts_make();
    use_alg("relay");
    test_at("requests freed by %d threads", THREADS);
    for (int t = 0; t < THREADS; t++) {
        workers[t].number = t;
        workers[t].seconds = seconds;
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[t].comm);
        for (int i = 0; i < LANES; i++)
            MPI_Comm_dup(MPI_COMM_WORLD, &workers[t].lanes[i].comm);
    }
    /* States are made one after the other: that is what the program's threads may not do at the same time. */
    for (int t = 0; t < THREADS; t++) {
        gather_bytes(workers[t].comm, 4, 1);
        for (int i = 0; i < LANES; i++)
            gather_bytes(workers[t].lanes[i].comm, 3000, 1);
    }
    for (int t = 0; t < THREADS; t++)
        if (pthread_create(&workers[t].id, NULL, work, &workers[t]) != 0)
            must("pthread_create", MPI_ERR_NO_MEM);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(workers[t].id, NULL);
        test.failures += workers[t].failures;
        for (int i = 0; i < LANES; i++)
            MPI_Comm_free(&workers[t].lanes[i].comm);
        MPI_Comm_free(&workers[t].comm);
    }
    long long early = counters().bytes_early;
    if (early == 0)
        test_fail("nothing came in before a call: nothing was tested");
    if (text && test.rank == 0)
        printf("%d turns, %lld bytes came early\n", workers[0].turns + workers[1].turns, early);
    layouts_free();
    return test_end();
}
