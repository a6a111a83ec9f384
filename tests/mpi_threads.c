/*
 * mpi_threads.c — several application threads, each with a communicator of its own, gather at once with the
 * arrival-aware algorithms, plain and persistent, while the main thread sends milestones: for whichever
 * communicator was used last.
 *
 * ranks: 2 4
 */
#include "mpi_common.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 3, ROUNDS = 60 };

typedef struct worker {
    pthread_t id;
    int number, failures;
    MPI_Comm comm;
} worker;

static atomic_int working;

/* The shared counter of failures is the main thread's: a worker only counts its own. */
static void check(worker *w, const gather *g, int turn)
{
    if (memcmp(g->recv, g->want_recv, g->recv_size) == 0 && memcmp(g->send, g->want_send, g->send_size) == 0)
        return;
    if (w->failures++ < 3)
        fprintf(stderr,
                "rank %d: thread %d, round %d, %d bytes per rank: expected bytes and got bytes differ\n",
                test.rank, w->number, turn, g->bytes);
}

static void *work(void *arg)
{
    worker *w = arg;
    for (int turn = 0; turn < ROUNDS; turn++) {
        gather g;
        PAT_Request r;
        int bytes = (turn / 4 + w->number) % 3 == 0 ? 40 : 30000;
        gather_make(&g, w->comm, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], bytes, turn % 5 == 0);
        gather_fill(&g, (uint32_t)(turn * THREADS + w->number));
        if ((turn + test.rank) % 4 == 0)
            sleep_ms(1);
        if (turn % 3 < 2) {
            MUST(PAT_Allgather(gather_sendbuf(&g), g.send_count, g.sl->type, gather_recvbuf(&g), g.recv_count,
                               g.rl->type, g.comm));
        } else {
            MUST(PAT_Allgather_init(gather_sendbuf(&g), g.send_count, g.sl->type, gather_recvbuf(&g),
                                    g.recv_count, g.rl->type, g.comm, &r));
            MUST(PAT_Open(r));
            sleep_ms(0.5);
            MUST(PAT_Start(r));
            MUST(PAT_Wait(r));
            MUST(PAT_Request_free(&r));
        }
        check(w, &g, turn);
        gather_free(&g);
    }
    atomic_fetch_sub(&working, 1);
    return NULL;
}

static void run(const char *alg)
{
    worker workers[THREADS] = {0};
    int phases = 0;
    use_alg(alg);
    test_at("%s, %d threads", alg, THREADS);
    for (int i = 0; i < THREADS; i++) {
        workers[i].number = i;
        if (i == 0)
            MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
        else
            MPI_Comm_split(MPI_COMM_WORLD, i > 1 ? test.rank % 2 : 0, test.size - test.rank,
                           &workers[i].comm);
    }
    atomic_store(&working, THREADS);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&workers[i].id, NULL, work, &workers[i]) != 0)
            must("pthread_create", MPI_ERR_NO_MEM);
    for (; atomic_load(&working) > 0; phases++) {
        MUST(PAT_ProcessingStart());
        sleep_ms(0.7 + 0.3 * test.rank);
        MUST(PAT_Edge(phases % 7 == 0 ? 2 : 50));
        sleep_ms(0.5);
        MUST(PAT_ProcessingEnd());
        counters();
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].id, NULL);
        test.failures += workers[i].failures;
        MPI_Comm_free(&workers[i].comm);
    }
    if (phases == 0)
        test_fail("no milestone was sent");
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    layouts_make();
    run("bdr");
    run("bslb");
    run("relay");
    run("ring");
    layouts_free();
    return test_end();
}
