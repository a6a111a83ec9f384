/*
 * mpi_let_go.c — when the library lets go of a request's buffer. An opened request is freed while a block is just being passed on from its
 * buffer to a rank that has closed its own request and waits for this one before it calls again: neither may wait for ever. And a round
 * that `auto` leaves to the MPI library ends with the buffer in the program's hands, whatever had been prepared there.
 *
 * ranks: 3 5
 * variants: default no-memory taken
 */
#include "mpi_common.h"

enum { BYTES = 240000, ROUNDS = 3, TAG = 5 };

/* Rank 2 waits for rank 1: in a message of the program's, or in a collective with a root. */
static void wait_for_rank_1(char *own, char *got, bool by_gather)
{
    if (by_gather)
        MUST(PAT_Gather(own, 8, MPI_BYTE, got, 8, MPI_BYTE, 2, MPI_COMM_WORLD));
    else if (test.rank == 1)
        MUST(MPI_Send(own, 1, MPI_BYTE, 2, TAG, MPI_COMM_WORLD));
    else if (test.rank == 2)
        MUST(MPI_Recv(got, 1, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void free_while_passing_on(PAT_Request request, char *own, char *got, char *other, int round)
{
    const bool by_gather = round % 2;
    test_at("round %d", round);
    memset(own, 10 * round + test.rank, BYTES);
    MUST(PAT_Start(request));
    MUST(PAT_Wait(request));
    if (test.rank == 1) {
        PAT_Request second;
        MUST(PAT_Allgather_init(own, BYTES, MPI_BYTE, other, BYTES, MPI_BYTE, MPI_COMM_WORLD, &second));
        MUST(PAT_Open(second));
        sleep_ms(60); /* rank 0 has called: its block comes in, and sets out for rank 2 */
        MUST(PAT_Request_free(&second));
        memset(other, -1, (size_t)test.size * BYTES); /* it is the program's again */
    }
    wait_for_rank_1(own, got, by_gather);
    MUST(PAT_Allgather(own, BYTES, MPI_BYTE, got, BYTES, MPI_BYTE, MPI_COMM_WORLD));
    for (int r = 0; r < test.size; r++)
        for (int i = 0; i < BYTES; i++)
            if (got[(size_t)r * BYTES + (size_t)i] != (char)(10 * round + r)) {
                test_fail("byte %d of rank %d's block is %d", i, r, got[(size_t)r * BYTES + (size_t)i]);
                return;
            }
}

/* One all-gather of `less` bytes; rank 0 calls first. */
static void gather_late(char *own, char *got, int less, int seed)
{
    memset(own, seed - 5 * test.rank, (size_t)less);
    if (test.rank != 0)
        sleep_ms(4);
    MUST(PAT_Allgather(own, less, MPI_BYTE, got, less, MPI_BYTE, MPI_COMM_WORLD));
    for (int r = 0; r < test.size; r++)
        for (int i = 0; i < less; i++)
            if (got[(size_t)r * (size_t)less + (size_t)i] != (char)(seed - 5 * r)) {
                test_fail("byte %d of rank %d's block is %d", i, r,
                          got[(size_t)r * (size_t)less + (size_t)i]);
                return;
            }
}

/*
 * A round of a request that was prepared in its buffer, in the belief that relay would be tried, is left to the MPI library. The program
 * writes in the buffer once it has it back; what comes in for the next call must be somewhere else.
 */
static void left_to_mpi(char *own, char *got, char *other)
{
    enum { TURNS = 24, LESS = BYTES / 2 };
    const size_t all = (size_t)test.size * LESS;
    PAT_Request request;
    MUST(PAT_Allgather_init(own, LESS, MPI_BYTE, other, LESS, MPI_BYTE, MPI_COMM_WORLD, &request));
    for (int turn = 0; turn < TURNS; turn++) {
        test_at("left to MPI, turn %d", turn);
        MUST(PAT_UseAlg("relay"));
        MUST(PAT_Start(request));
        MUST(PAT_Wait(request));
        MUST(PAT_UseAlg("auto"));
        for (int call = 0; call < turn % 6; call++)
            gather_late(own, got, LESS, turn + call);
        MUST(PAT_Open(request));
        sleep_ms(30); /* the thread may prepare the next round meanwhile */
        MUST(PAT_Start(request));
        MUST(PAT_Wait(request));
        memset(other, 77, all);
        gather_late(own, got, LESS, turn);
        for (size_t i = 0; i < all; i++)
            if (other[i] != 77) {
                test_fail("byte %zu of the program's buffer is %d", i, other[i]);
                break;
            }
    }
    MUST(PAT_Request_free(&request));
}

int main(int argc, char **argv)
{
    setenv("PAT_LINK", "20,2000", 0);
    setenv("PAT_RANKS_PER_NODE", "1", 0); /* else nobody passes anything on */
    if (argc > 1 && strcmp(argv[1], "no-memory") == 0)
        setenv("PAT_MEM", "0", 1); /* rank 2 has no room for what rank 1 passes on before it calls itself */
    if (argc > 1 && strcmp(argv[1], "taken") == 0)
        test_taken_at_once();
    test_begin(&argc, &argv);
    test_limit(60);
    char *own = malloc(BYTES), *got = malloc((size_t)test.size * BYTES),
         *other = malloc((size_t)test.size * BYTES);
    PAT_Request request;
    MUST(PAT_UseAlg("relay"));
    MUST(PAT_UseAlg("gather_linear"));
    MUST(PAT_Allgather_init(own, BYTES, MPI_BYTE, got, BYTES, MPI_BYTE, MPI_COMM_WORLD, &request));
    for (int round = 0; round < 2 * ROUNDS; round++)
        free_while_passing_on(request, own, got, other, round);
    MUST(PAT_Request_free(&request));
    left_to_mpi(own, got, other);
    free(own);
    free(got);
    free(other);
    return test_end();
}
