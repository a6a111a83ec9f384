/*
 * mpi_pass_on.c — a rank on which a call has failed goes on passing on what the others tell each other of a measured call: else they would
 * wait for it in MPI_Comm_free, for ever. Here the receive of a broadcast fails on one rank, right after a measured all-gather:
 * this program's own PMPI_Irecv takes the place of the MPI library's for the statically linked library.
 *
 * ranks: 3 5
 */
#include "mpi_common.h"

#include <stdatomic.h>

enum { BYTES = 65536, TURNS = 5, TOLD = 2 /* tags below this are those of what ranks tell each other */ };

static atomic_bool fails;
static atomic_int num_failed;

int PMPI_Irecv(void *buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    if (atomic_load(&fails) && tag >= TOLD) {
        atomic_fetch_add(&num_failed, 1);
        return MPI_ERR_OTHER;
    }
    return MPI_Irecv(buf, count, type, from, tag, comm, request);
}

int main(int argc, char **argv)
{
    static char mine[BYTES], all[5 * BYTES], word[8];
    setenv("PAT_LINK", "50,200", 1); /* so that auto chooses on one node too */
    test_begin(&argc, &argv);
    use_alg("auto");
    use_alg("bcast_binomial");
    for (int turn = 0; turn < TURNS; turn++) {
        const bool here = test.rank == test.size - 1; /* it has nothing to forward */
        MPI_Comm comm;
        test_at("turn %d", turn);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        MUST(PAT_Allgather(mine, BYTES, MPI_BYTE, all, BYTES, MPI_BYTE, comm));
        atomic_store(&fails, here);
        const int rc = PAT_Bcast(word, sizeof(word), MPI_BYTE, 0, comm);
        atomic_store(&fails, false);
        expect_int("an error here", here, rc != MPI_SUCCESS);
        test_at("turn %d, MPI_Comm_free", turn);
        MPI_Comm_free(&comm);
    }
    expect_int("broadcasts that failed", test.rank == test.size - 1 ? TURNS : 0, atomic_load(&num_failed));
    return test_end();
}
