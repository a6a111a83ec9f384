/*
 * mpi_together.c — every rank learns from the blocks when the others arrived: after some rounds in which they came
 * together relay sends fewer and longer chunks, on every rank in the same round, and again more as soon as one was
 * late. Seen from outside: in the trace that PAT_TRACE asks for.
 *
 * ranks: 3 4
 */
#include "mpi_common.h"

enum { ROUNDS = 9, LATE = 6, BYTES = 30000 };

/* Messages of each round that this rank received, from its trace. */
static void count_received(const char *dir, int received[ROUNDS])
{
    char path[300], line[512];
    snprintf(path, sizeof(path), "%s/rank-%d.csv", dir, test.rank);
    FILE *file = fopen(path, "r");
    if (!file) {
        test_fail("no trace in %s", path);
        return;
    }
    while (fgets(line, sizeof(line), file)) {
        char kind[16] = "";
        long long epoch = -1;
        /* comm,epoch,alg,rank,size,block,node,kind,... */
        if (sscanf(line, "%*[^,],%lld,%*[^,],%*d,%*d,%*d,%*d,%15[a-z]", &epoch, kind) == 2 && epoch >= 0 &&
            epoch < ROUNDS && strcmp(kind, "recv") == 0)
            received[epoch]++;
    }
    fclose(file);
    if (unlink(path) != 0)
        test_fail("cannot remove %s", path);
}

int main(int argc, char **argv)
{
    char dir[] = "/tmp/pat-together-XXXXXX";
    int received[ROUNDS] = {0}, of_rank_0[ROUNDS];
    if (!test_mpi_init(&argc, &argv, MPI_THREAD_MULTIPLE))
        return 77;
    layouts_make();
    if (test.rank == 0 && !mkdtemp(dir))
        test_fail("no directory %s", dir);
    MPI_Bcast(dir, sizeof(dir), MPI_CHAR, 0, MPI_COMM_WORLD);
    setenv("PAT_TRACE", dir, 1);
    setenv("PAT_LINK", "40000,0.25",
           1); /* a block takes 0.9 s: what a busy machine does to ranks is nothing to that */
    MUST(PAT_Init());
    use_alg("relay");
    for (int round = 0; round < ROUNDS; round++) {
        test_at("round %d", round);
        MPI_Barrier(MPI_COMM_WORLD);
        if (round == LATE && test.rank == test.size - 1)
            sleep_ms(1500);
        gather_bytes(MPI_COMM_WORLD, BYTES, (uint32_t)round);
    }
    MUST(PAT_Finalize());
    count_received(dir, received);
    memcpy(of_rank_0, received, sizeof(received));
    MPI_Bcast(of_rank_0, ROUNDS, MPI_INT, 0, MPI_COMM_WORLD);
    int many = received[0];
    for (int round = 0; round < ROUNDS; round++) {
        test_at("round %d", round);
        expect_int("messages received, as on rank 0", of_rank_0[round], received[round]);
        bool fewer = round >= 4 && round <= LATE;
        if (fewer != (received[round] < many))
            test_fail("%d messages, and %d at first: expected %s", received[round], many,
                      fewer ? "fewer" : "as many");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (test.rank == 0)
        rmdir(dir);
    layouts_free();
    MPI_Finalize();
    return test.failures ? 1 : 0;
}
