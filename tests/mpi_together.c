/*
 * mpi_together.c — every rank learns from the blocks when the others arrived, to the bit: after some rounds in which they
 * came together relay sends fewer and longer chunks, on every rank in the same round, and again more as soon as one was
 * late. Seen from outside: in the trace that PAT_TRACE asks for.
 *
 * ranks: 3 4
 */
#include "mpi_common.h"

enum { ROUNDS = 9, LATE = 6, BYTES = 30000 };

/* What this rank's trace says of each round. */
typedef struct seen {
    int received; /* messages */
    int64_t called, returned;
    int64_t arrival[64]; /* of every rank, as this rank was told */
} seen;

static void read_trace(const char *dir, seen *rounds)
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
        long long epoch = -1, start, end;
        int peer;
        /* comm,epoch,alg,rank,ranks,block_bytes,node,kind,peer,offset,bytes,start_ns,end_ns */
        if (sscanf(line, "%*[^,],%lld,%*[^,],%*d,%*d,%*d,%*d,%15[a-z],%d,%*d,%*d,%lld,%lld", &epoch, kind,
                   &peer, &start, &end) != 5 ||
            epoch < 0 || epoch >= ROUNDS)
            continue;
        seen *s = &rounds[epoch];
        s->received += strcmp(kind, "recv") == 0;
        if (strcmp(kind, "arrival") == 0)
            s->arrival[peer] = start;
        if (strcmp(kind, "call") == 0) {
            s->called = start;
            s->returned = end;
        }
    }
    fclose(file);
    if (unlink(path) != 0)
        test_fail("cannot remove %s", path);
}

int main(int argc, char **argv)
{
    char dir[] = "/tmp/pat-together-XXXXXX";
    static seen mine[ROUNDS], of_rank_0[ROUNDS];
    if (!test_mpi_init(&argc, &argv, MPI_THREAD_MULTIPLE))
        return 77;
    layouts_make();
    if (test.rank == 0 && !mkdtemp(dir))
        test_fail("no directory %s", dir);
    MPI_Bcast(dir, sizeof(dir), MPI_CHAR, 0, MPI_COMM_WORLD);
    setenv("PAT_TRACE", dir, 1);
    setenv("PAT_LINK", "40000,0.25",
           1); /* a block takes 0.9 s: what a busy machine does to ranks is nothing to that */
    setenv("PAT_RANKS_PER_NODE", "1", 1); /* inside a node nobody passes anything on */
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
    read_trace(dir, mine);
    memcpy(of_rank_0, mine, sizeof(mine));
    MPI_Bcast(of_rank_0, sizeof(of_rank_0), MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        test_at("round %d", round);
        seen *s = &mine[round];
        expect_int("messages received, as on rank 0", of_rank_0[round].received, s->received);
        if (memcmp(s->arrival, of_rank_0[round].arrival, sizeof(s->arrival)) != 0)
            test_fail("the arrivals are not those that rank 0 was told");
        if (s->arrival[test.rank] < s->called || s->arrival[test.rank] > s->returned)
            test_fail("this rank arrived at %lld, it is said, but called at %lld",
                      (long long)s->arrival[test.rank], (long long)s->called);
        bool fewer = round >= 4 && round <= LATE;
        if (fewer != (s->received < mine[0].received))
            test_fail("%d messages, and %d at first: expected %s", s->received, mine[0].received,
                      fewer ? "fewer" : "as many");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (test.rank == 0)
        rmdir(dir);
    layouts_free();
    MPI_Finalize();
    return test.failures ? 1 : 0;
}
