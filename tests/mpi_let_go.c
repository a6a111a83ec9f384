/*
 * mpi_let_go.c — an opened request is freed while a block is just being passed on from its buffer to a rank that has closed its own
 * request and waits for this one before it calls again: neither may wait for ever.
 *
 * ranks: 3 5
 */
#include "mpi_common.h"

enum { BYTES = 240000, ROUNDS = 3, TAG = 5 };

int main(int argc, char **argv)
{
    setenv("PAT_LINK", "20,2000", 0);
    test_begin(&argc, &argv);
    test_limit(60);
    char *own = malloc(BYTES), *got = malloc((size_t)test.size * BYTES),
         *other = malloc((size_t)test.size * BYTES);
    PAT_Request request;
    MUST(PAT_UseAlg("relay"));
    MUST(PAT_Allgather_init(own, BYTES, MPI_BYTE, got, BYTES, MPI_BYTE, MPI_COMM_WORLD, &request));
    for (int round = 0; round < ROUNDS; round++) {
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
            MUST(MPI_Send(own, 1, MPI_BYTE, 2, TAG, MPI_COMM_WORLD));
        } else if (test.rank == 2) {
            MUST(MPI_Recv(own + 1, 1, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            own[1] = own[0];
        }
        MUST(PAT_Allgather(own, BYTES, MPI_BYTE, got, BYTES, MPI_BYTE, MPI_COMM_WORLD));
        for (int r = 0; r < test.size; r++)
            for (int i = 0; i < BYTES; i++)
                if (got[(size_t)r * BYTES + (size_t)i] != (char)(10 * round + r)) {
                    test_fail("byte %d of rank %d's block is %d", i, r, got[(size_t)r * BYTES + (size_t)i]);
                    break;
                }
    }
    MUST(PAT_Request_free(&request));
    free(own);
    free(got);
    free(other);
    return test_end();
}
