/*
 * mpi_gather_forward.c — a rank waits in a gather by estimates, another one has left it and sends early data of the next all-gather, and a third one,
 * for which both wait, frees an opened request meanwhile, whose early data it passes on: the one that waits takes it in, and nobody waits for ever.
 *
 * ranks: 3
 */
#include "mpi_common.h"

enum { BYTES = 1500000, BLOCK = 1000, TURNS = 6, LATE_MS = 250 };

static char own[BLOCK], all[3 * BLOCK];

static void turn(int number)
{
    gather g;
    PAT_Request r;
    gather_make(&g, MPI_COMM_WORLD, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], BYTES, false);
    MUST(PAT_Allgather_init(gather_sendbuf(&g), g.send_count, MPI_BYTE, gather_recvbuf(&g), g.recv_count,
                            MPI_BYTE, MPI_COMM_WORLD, &r));
    if (test.rank == 2)
        MUST(PAT_Open(r));
    sleep_ms(20);
    MUST(PAT_ProcessingStart());
    sleep_ms(5);
    MUST(PAT_Edge(test.rank == 2 ? 5 : 50));
    sleep_ms(test.rank == 2 ? LATE_MS - 40 : 5);
    MUST(PAT_Request_free(&r));
    sleep_ms(test.rank == 2 ? 40 : 0);
    MUST(PAT_Gather(own, BLOCK, MPI_BYTE, all, BLOCK, MPI_BYTE, 0, MPI_COMM_WORLD));
    gather_bytes(MPI_COMM_WORLD, BYTES, (uint32_t)(100 * number + 50));
    gather_free(&g);
}

int main(int argc, char **argv)
{
    setenv("PAT_LINK", "20,100", 1);
    setenv("PAT_RANKS_PER_NODE", "1", 0); /* else nobody passes anything on */
    test_begin(&argc, &argv);
    layouts_make();
    use_alg("relay");
    use_alg("gather_bsls");
    for (int i = 0; i < TURNS; i++) {
        test_at("turn %d", i);
        turn(i);
    }
    layouts_free();
    return test_end();
}
