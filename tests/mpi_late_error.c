/*
 * mpi_late_error.c — what fails in the background thread while a started all-gather runs is returned, with its text, by the PAT_Wait
 * that ends it, and by every later call on that communicator; other communicators go on. And what others send to a rank that has broken off,
 * and has freed the communicator, does no harm there. Here MPI_Unpack and MPI_Testsome fail: this program's own PMPI functions take the
 * place of the MPI library's for the statically linked library.
 *
 * ranks: 2 3
 */
#include "mpi_common.h"

#include <stdatomic.h>

enum { BLOCK = 1000 };

static atomic_bool unpack_fails, tests_fail;
static atomic_int num_failed, num_tests_failed;

/* The MPI library has these under both names, and this file hides one of them. */
int PMPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount,
                MPI_Datatype datatype, MPI_Comm comm)
{
    if (atomic_load(&unpack_fails)) {
        atomic_fetch_add(&num_failed, 1);
        return MPI_ERR_TRUNCATE;
    }
    return MPI_Unpack(inbuf, insize, position, outbuf, outcount, datatype, comm);
}

int PMPI_Testsome(int count, MPI_Request requests[], int *num_done, int indices[], MPI_Status statuses[])
{
    if (atomic_load(&tests_fail)) {
        atomic_fetch_add(&num_tests_failed, 1);
        return MPI_ERR_OTHER;
    }
    return MPI_Testsome(count, requests, num_done, indices, statuses);
}

/* Every second int of the receive buffer: data that has to be unpacked. */
static MPI_Datatype every_second(void)
{
    MPI_Datatype gaps, type;
    MUST(MPI_Type_vector(BLOCK, 1, 2, MPI_INT, &gaps));
    MUST(MPI_Type_create_resized(gaps, 0, 2 * BLOCK * (MPI_Aint)sizeof(int), &type));
    MUST(MPI_Type_commit(&type));
    MUST(MPI_Type_free(&gaps));
    return type;
}

static void started(MPI_Comm comm, MPI_Datatype type, bool failing)
{
    static int mine[BLOCK], all[3 * 2 * BLOCK];
    PAT_Request request;
    const bool here = failing && test.rank == test.size - 1;
    for (int i = 0; i < BLOCK; i++)
        mine[i] = 100000 * test.rank + i;
    memset(all, 0, sizeof(all));
    MUST(PAT_Allgather_init(mine, BLOCK, MPI_INT, all, 1, type, comm, &request));
    if (failing && !here)
        sleep_ms(100); /* so that the round does not end before the other one has returned from PAT_Start */
    atomic_store(&unpack_fails, here);
    MUST(PAT_Start(request));
    sleep_ms(300); /* the background thread ends the round meanwhile */
    const int failed_so_far = atomic_load(&num_failed);
    const int rc = PAT_Wait(request);
    atomic_store(&unpack_fails, false);
    if (here) {
        expect_int("failed in the background thread", 1, failed_so_far);
        expect_error("PAT_Wait", MPI_ERR_TRUNCATE, rc, "unpack");
    } else {
        expect_int("PAT_Wait", MPI_SUCCESS, rc);
        for (int r = 0; r < test.size; r++)
            expect_int("last value of a block", 100000 * r + BLOCK - 1, all[2 * BLOCK * r + 2 * (BLOCK - 1)]);
    }
    MUST(PAT_Request_free(&request));
}

/* It is known there for good; a call would need what the last one has lost. */
static void said_again(MPI_Comm comm)
{
    int mine = 1, all[3];
    if (test.rank == test.size - 1)
        expect_error("PAT_Allgather after it", MPI_ERR_TRUNCATE,
                     PAT_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm), "unpack");
}

/* The last rank breaks off with receives posted, and frees the communicator; only then the others call, and send it their blocks. */
static void sent_too_late(void)
{
    static int mine[BLOCK], all[3 * BLOCK];
    MPI_Comm comm;
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MUST(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    MUST(PAT_Allgather(mine, BLOCK, MPI_INT, all, BLOCK, MPI_INT,
                       comm)); /* from now on the next is prepared */
    if (test.rank == test.size - 1) {
        atomic_store(&tests_fail, true);
        for (int i = 0; i < 300 && atomic_load(&num_tests_failed) == 0; i++)
            sleep_ms(10);
        expect_int("failed in the background thread", true, atomic_load(&num_tests_failed) > 0);
    } else {
        PAT_Request request;
        sleep_ms(500);
        MUST(PAT_Allgather_init(mine, BLOCK, MPI_INT, all, BLOCK, MPI_INT, comm, &request));
        MUST(PAT_Start(request));
        atomic_store(&tests_fail, true); /* it could not end */
        expect_error("PAT_Wait", MPI_ERR_OTHER, PAT_Wait(request), NULL);
        MUST(PAT_Request_free(&request));
    }
    MUST(MPI_Comm_free(&comm));
    atomic_store(&tests_fail, false);
    MUST(MPI_Barrier(MPI_COMM_WORLD)); /* what was sent comes in */
    sleep_ms(100);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    MPI_Comm broken;
    setenv("PAT_RANKS_PER_NODE", "1", 0); /* else relay moves nothing before the call */
    test_begin(&argc, &argv);
    MUST(PAT_UseAlg("relay"));
    MPI_Datatype type = every_second();
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &broken));
    MUST(MPI_Comm_set_errhandler(broken, MPI_ERRORS_RETURN));
    test_at("before");
    started(broken, type, false);
    test_at("unpacking fails");
    started(broken, type, true);
    said_again(broken);
    test_at("another communicator");
    started(MPI_COMM_WORLD, type, false);
    test_at("data that is sent after an error");
    sent_too_late();
    MUST(MPI_Comm_free(&broken));
    MUST(MPI_Type_free(&type));
    return test_end();
}
