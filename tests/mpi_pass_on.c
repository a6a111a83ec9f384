/*
 * mpi_pass_on.c — a rank on which a call has failed goes on telling the others what they wait for, in MPI_Comm_free, or where another
 * algorithm is taken into use: what it has to say of a measured call, or to pass on, and that it expects no call. Else they would wait for
 * ever. Here the receive of a broadcast fails on one rank, right after an all-gather, or the all-gather itself when all blocks are there and one is
 * unpacked: this program's own PMPI_Irecv and PMPI_Unpack take the place of the MPI library's for the statically linked library.
 *
 * ranks: 3 5
 */
#include "mpi_common.h"

#include <stdatomic.h>
#include <unistd.h>

enum { BYTES = 65536, TURNS = 5, TOLD = 2 /* tags below this are those of what ranks tell each other */ };

static atomic_bool fails, unpack_fails;
static atomic_int num_failed, num_not_unpacked;

int PMPI_Irecv(void *buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    if (atomic_load(&fails) && tag >= TOLD) {
        atomic_fetch_add(&num_failed, 1);
        return MPI_ERR_OTHER;
    }
    return MPI_Irecv(buf, count, type, from, tag, comm, request);
}

int PMPI_Unpack(const void *from, int bytes, int *position, void *to, int count, MPI_Datatype type,
                MPI_Comm comm)
{
    if (atomic_load(&unpack_fails)) {
        atomic_fetch_add(&num_not_unpacked, 1);
        return MPI_ERR_OTHER;
    }
    return MPI_Unpack(from, bytes, position, to, count, type, comm);
}

static const struct {
    const char *alg;
    bool edge;    /* the rank that fails has given a milestone before */
    bool settles; /* PAT_UseAlg comes between the failure and MPI_Comm_free */
} cases[] = {{"auto", false, false},
             {"bdr", false, false},
             {"bdr", true, false},
             {"bdr", false, true},
             {"bdr", true, true}};

/* A phase with a milestone, and time enough for the background thread to tell of it. */
static void compute(void)
{
    MUST(PAT_ProcessingStart());
    MUST(PAT_Edge(50));
    usleep(20000);
    MUST(PAT_ProcessingEnd());
}

static void turn(const char *alg, bool edge, bool settles)
{
    static char mine[BYTES], all[5 * BYTES], word[8];
    const bool here = test.rank == test.size - 1; /* it has nothing to forward */
    MPI_Comm comm;
    use_alg(alg);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MUST(PAT_Allgather(mine, BYTES, MPI_BYTE, all, BYTES, MPI_BYTE, comm));
    if (edge && here)
        compute();
    atomic_store(&fails, here);
    const int rc = PAT_Bcast(word, sizeof(word), MPI_BYTE, 0, comm);
    atomic_store(&fails, false);
    expect_int("an error here", here, rc != MPI_SUCCESS);
    for (int i = 0; settles && i < 2; i++)
        use_alg(i % 2 ? alg : "ring");
    MPI_Comm_free(&comm);
}

static void fails_itself(void)
{
    static char mine[BYTES], all[2 * 5 * BYTES];
    const bool here = test.rank == test.size - 1;
    MPI_Comm comm;
    MPI_Datatype every_second;
    int any = 0;
    use_alg("auto");
    MPI_Type_vector(BYTES, 1, 2, MPI_BYTE, &every_second);
    MPI_Type_create_resized(every_second, 0, 2 * BYTES, &every_second);
    MPI_Type_commit(&every_second);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    atomic_store(&unpack_fails, here);
    /* Until a plan runs one that is measured, since ranks come so far apart. */
    for (int i = 0; i < 40 && !any; i++) {
        usleep(here ? 30000 : 0);
        const int failed = PAT_Allgather(mine, BYTES, MPI_BYTE, all, 1, every_second, comm) != MPI_SUCCESS;
        MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    atomic_store(&unpack_fails, false);
    expect_int("one has failed", 1, any);
    MPI_Comm_free(&comm);
    MPI_Type_free(&every_second);
}

int main(int argc, char **argv)
{
    setenv("PAT_LINK", "50,200", 1); /* so that auto chooses on one node too */
    test_begin(&argc, &argv);
    use_alg("bcast_binomial");
    const int num = sizeof(cases) / sizeof(cases[0]);
    for (int i = 0; i < TURNS * num; i++) {
        test_at("turn %d of case %d", i / num, i % num);
        turn(cases[i % num].alg, cases[i % num].edge, cases[i % num].settles);
    }
    for (int i = 0; i < TURNS; i++) {
        test_at("all-gather %d that fails itself", i);
        fails_itself();
    }
    expect_int("all-gathers that failed", test.rank == test.size - 1 ? TURNS : 0,
               atomic_load(&num_not_unpacked));
    expect_int("broadcasts that failed", test.rank == test.size - 1 ? TURNS * num : 0,
               atomic_load(&num_failed));
    return test_end();
}
