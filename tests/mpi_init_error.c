/*
 * mpi_init_error.c — what fails in PAT_Init on one rank fails it on all of them, so that nobody is left waiting, and leaves nothing behind:
 * no thread, and PAT_Init may be called again. This program's own PMPI functions take the place of the MPI library's for the statically
 * linked library, and fail when they are told to.
 *
 * ranks: 2 3
 */
#include "mpi_common.h"

enum { MOST_REDUCTIONS = 100 };

static bool keys_fail;
static int reductions_left = -1; /* until one fails; below 0: none does */

/* The MPI library has these under both names, and this file hides one of them. */
int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete_attr,
                            int *keyval, void *extra)
{
    return keys_fail ? MPI_ERR_INTERN : MPI_Comm_create_keyval(copy, delete_attr, keyval, extra);
}

/* It fails after it has been made, so that it keeps nobody waiting by itself. */
int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    const int rc = MPI_Allreduce(sendbuf, recvbuf, count, type, op, comm);
    return reductions_left >= 0 && reductions_left-- == 0 ? MPI_ERR_INTERN : rc;
}

int main(int argc, char **argv)
{
    if (!test_mpi_init(&argc, &argv, MPI_THREAD_MULTIPLE)) {
        MPI_Finalize();
        return 77;
    }
    const bool last = test.rank == test.size - 1;
    const int threads = threads_now();
    test_at("one rank gets no key");
    keys_fail = last;
    expect_error("PAT_Init", last ? MPI_ERR_INTERN : MPI_ERR_OTHER, PAT_Init(),
                 last ? "refuses" : "another rank could not begin");
    keys_fail = false;

    int failed = 0;
    for (;; failed++) {
        test_at("reduction %d fails on all ranks", failed);
        reductions_left = failed;
        const int rc = PAT_Init();
        if (rc == MPI_SUCCESS || failed == MOST_REDUCTIONS)
            break;
        expect_error("PAT_Init", MPI_ERR_INTERN, rc, NULL);
        expect_int("threads left behind", 0, threads_left(threads));
    }
    reductions_left = -1;
    if (failed < 3 || failed == MOST_REDUCTIONS)
        test_fail("%d reductions of PAT_Init have failed", failed);
    return test_end();
}
