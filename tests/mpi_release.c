/*
 * mpi_release.c — opened requests are freed, not started, while the others' blocks come in for them and the background
 * thread is busy on other communicators: what has been received for a freed request must be there for the call that
 * comes instead, and taking a receive back must not meet the message for it half-way.
 *
 * PAT_TEST_SECONDS: how long (default 3).
 * ranks: 2 4 7
 */
#include "mpi_common.h"

enum { COMMS = 8 };

typedef struct lane {
    MPI_Comm comm;
    gather g;
    PAT_Request request;
} lane;

/* Everybody starts at once, but one rank: it frees its requests and makes a plain call instead. */
static void turn_of(lane *lanes, int turn, int bytes)
{
    bool frees = turn % test.size == test.rank;
    unsigned h = (unsigned)turn * 2654435761u;
    for (int i = 0; i < COMMS; i++) {
        gather *g = &lanes[i].g;
        gather_make(g, lanes[i].comm, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], bytes, false);
        gather_fill(g, (uint32_t)(turn * COMMS + i));
        MUST(PAT_Allgather_init(gather_sendbuf(g), g->send_count, g->sl->type, gather_recvbuf(g),
                                g->recv_count, g->rl->type, g->comm, &lanes[i].request));
        MUST(PAT_Open(lanes[i].request));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (frees) {
        sleep_ms((h >> 20) % 64 / 64.0);
        for (int i = 0; i < COMMS; i++) {
            gather *g = &lanes[i].g;
            MUST(PAT_Request_free(&lanes[i].request));
            memset(g->recv + GUARD, 0x77,
                   g->recv_size - 2 * GUARD); /* ours again: nothing may land here now */
        }
        for (int i = 0; i < COMMS; i++) {
            gather *g = &lanes[i].g;
            for (size_t k = GUARD; k < g->recv_size - GUARD; k++)
                if (g->recv[k] != 0x77) {
                    test_fail("turn %d: byte %zu was written after PAT_Request_free", turn, k);
                    break;
                }
            gather_call(g);
        }
    } else {
        for (int i = 0; i < COMMS; i++)
            MUST(PAT_Start(lanes[i].request));
        for (int i = 0; i < COMMS; i++) {
            MUST(PAT_Wait(lanes[i].request));
            gather_check(&lanes[i].g);
            MUST(PAT_Request_free(&lanes[i].request));
        }
    }
    for (int i = 0; i < COMMS; i++)
        gather_free(&lanes[i].g);
}

int main(int argc, char **argv)
{
    lane lanes[COMMS] = {0};
    const char *text = getenv("PAT_TEST_SECONDS");
    double seconds = text ? atof(text) : 3;
    int turns = 0, more = 1;
    test_begin(&argc, &argv);
    test_limit(60 + (int)seconds);
    layouts_make();
    use_alg("relay");
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &lanes[i].comm);
    for (double start = MPI_Wtime(); more; turns++) {
        test_at("turn %d", turns);
        turn_of(lanes, turns, (turns / 16 % 3) ? 3000 : 30000);
        more = MPI_Wtime() - start < seconds;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_free(&lanes[i].comm);
    layouts_free();
    if (text && test.rank == 0)
        printf("%d turns, %lld bytes came early\n", turns, (long long)counters().bytes_early);
    return test_end();
}
