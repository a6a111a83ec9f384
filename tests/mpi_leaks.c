/*
 * mpi_leaks.c — counts what the library asks of MPI: it must complete every request it makes, free every
 * communicator and key, and never send, receive or exchange on a user's communicator, whatever became of its
 * guesses. The counting functions below stand before MPI's own because this program is linked with the static
 * library.
 *
 * ranks: 2 3
 */
#include "mpi_common.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_llong requests, requests_ever, comms, comms_ever, keys, cancels, foreign;
static bool handed_on; /* the algorithm is MPI's own: then the user's communicator is the one to use */
static pthread_t main_thread;
static MPI_Comm user_comm = MPI_COMM_NULL;

/* The real function behind the one that has its name here. */
#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static void request_made(MPI_Comm comm)
{
    atomic_fetch_add(&requests, 1);
    atomic_fetch_add(&requests_ever, 1);
    if ((comm == MPI_COMM_WORLD || comm == user_comm) && !handed_on)
        atomic_fetch_add(&foreign, 1);
}

int PMPI_Isend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    REAL(PMPI_Isend);
    request_made(comm);
    return real(buf, count, type, dest, tag, comm, request);
}

int PMPI_Issend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    REAL(PMPI_Issend);
    request_made(comm);
    return real(buf, count, type, dest, tag, comm, request);
}

int PMPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    REAL(PMPI_Irecv);
    request_made(comm);
    return real(buf, count, type, source, tag, comm, request);
}

int PMPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    REAL(PMPI_Iallgather);
    request_made(comm);
    return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
}

int PMPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm, MPI_Request *request)
{
    REAL(PMPI_Iallreduce);
    request_made(comm);
    return real(sendbuf, recvbuf, count, type, op, comm, request);
}

int PMPI_Testsome(int count, MPI_Request list[], int *done, int indices[], MPI_Status statuses[])
{
    REAL(PMPI_Testsome);
    int rc = real(count, list, done, indices, statuses);
    if (rc == MPI_SUCCESS && *done != MPI_UNDEFINED)
        atomic_fetch_sub(&requests, *done);
    return rc;
}

static int num_active(int count, const MPI_Request list[])
{
    int num = 0;
    for (int i = 0; i < count; i++)
        num += list[i] != MPI_REQUEST_NULL;
    return num;
}

int PMPI_Testall(int count, MPI_Request list[], int *flag, MPI_Status statuses[])
{
    REAL(PMPI_Testall);
    const int before = num_active(count, list);
    int rc = real(count, list, flag, statuses);
    atomic_fetch_sub(&requests, before - num_active(count, list));
    return rc;
}

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    REAL(PMPI_Test);
    bool was = *request != MPI_REQUEST_NULL;
    int rc = real(request, flag, status);
    if (was && rc == MPI_SUCCESS && *flag)
        atomic_fetch_sub(&requests, 1);
    return rc;
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    REAL(PMPI_Wait);
    bool was = *request != MPI_REQUEST_NULL;
    int rc = real(request, status);
    if (was && rc == MPI_SUCCESS)
        atomic_fetch_sub(&requests, 1);
    return rc;
}

int PMPI_Cancel(MPI_Request *request)
{
    REAL(PMPI_Cancel);
    atomic_fetch_add(&cancels, 1);
    return real(request);
}

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *out)
{
    REAL(PMPI_Comm_split);
    atomic_fetch_add(&comms, 1);
    atomic_fetch_add(&comms_ever, 1);
    if (!pthread_equal(pthread_self(), main_thread))
        atomic_fetch_add(&foreign, 1);
    return real(comm, color, key, out);
}

int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *out)
{
    REAL(PMPI_Comm_split_type);
    atomic_fetch_add(&comms, 1);
    return real(comm, type, key, info, out);
}

int PMPI_Comm_free(MPI_Comm *comm)
{
    REAL(PMPI_Comm_free);
    atomic_fetch_sub(&comms, 1);
    return real(comm);
}

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *del, int *key,
                            void *extra)
{
    REAL(PMPI_Comm_create_keyval);
    atomic_fetch_add(&keys, 1);
    return real(copy, del, key, extra);
}

int PMPI_Comm_free_keyval(int *key)
{
    REAL(PMPI_Comm_free_keyval);
    atomic_fetch_sub(&keys, 1);
    return real(key);
}

/* ---- What programs do --------------------------------------------------------------------------------- */

static uint32_t seed;

static void edge(double ms)
{
    MUST(PAT_ProcessingStart());
    sleep_ms(1);
    MUST(PAT_Edge(100 / (ms + 1)));
    sleep_ms(ms - 1);
}

/* Operations with a root: what keeps their callers together is still under way when the communicator goes. */
static void rooted_calls(void)
{
    int x = 0;
    for (int i = 0; i < 64; i++) {
        MUST(PAT_Bcast(&x, 1, MPI_INT, 0, user_comm));
        if (i == 40 + test.rank)
            sleep_ms(1);
    }
}

/* What is left of a communicator is ended in the background, when all ranks have freed it. */
static void expect_no_requests(const char *what)
{
    for (int ms = 0; ms < 5000 && atomic_load(&requests) > 0; ms++)
        sleep_ms(1);
    expect_int(what, 0, atomic_load(&requests));
}

/* Every rank but one says Edge and has a round prepared that is not called: another size, another algorithm,
 * nothing. */
static void wrong_guesses(const char *alg, int turn)
{
    gather g;
    PAT_Request r;
    double ms = test.rank == turn % test.size ? 8 : 3;
    gather_bytes(user_comm, 50000, ++seed);
    edge(ms);
    gather_bytes(user_comm, turn % 2 ? 50000 : 700, ++seed);
    edge(ms);
    MUST(PAT_UseAlg("ring"));
    MUST(PAT_UseAlg(alg));
    gather_make(&g, user_comm, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], turn % 2 ? 50000 : 700, false);
    gather_fill(&g, ++seed);
    MUST(PAT_Allgather_init(gather_sendbuf(&g), g.bytes, MPI_BYTE, gather_recvbuf(&g), g.bytes, MPI_BYTE,
                            user_comm, &r));
    MUST(PAT_Open(r));
    edge(ms);
    if (turn % 3 == 0) {
        MUST(PAT_Request_free(&r));
        gather_bytes(user_comm, g.bytes, ++seed);
    } else {
        MUST(PAT_Start(r));
        MUST(PAT_Wait(r));
        gather_check(&g);
        MUST(PAT_Request_free(&r));
    }
    gather_free(&g);
    if (turn != 2 || test.rank != 1)
        edge(ms);
}

static void life(const char *alg)
{
    enum { TURNS = 6, LEFT = 2 };
    MPI_Comm left[LEFT];
    long long keys_before = atomic_load(&keys);
    test_at("%s, PAT_Init", alg);
    MUST(PAT_Init());
    MUST(PAT_UseAlg(alg));
    MUST(PAT_UseAlg("bcast_binomial"));
    handed_on = strcmp(alg, "native") == 0 || strcmp(alg, "auto") == 0;
    for (int turn = 0; turn < TURNS; turn++) {
        test_at("%s, round %d", alg, turn);
        MPI_Comm_dup(MPI_COMM_WORLD, &user_comm);
        wrong_guesses(alg, turn);
        rooted_calls();
        if (turn < TURNS - LEFT) {
            MPI_Comm_free(&user_comm);
            expect_no_requests("requests some time after MPI_Comm_free");
        } else { /* what goes on there is left to PAT_Finalize */
            left[TURNS - 1 - turn] = user_comm;
        }
    }
    test_at("%s, PAT_Finalize", alg);
    MUST(PAT_Finalize());
    test_at("%s, after PAT_Finalize", alg);
    for (int i = 0; i < LEFT; i++)
        MPI_Comm_free(&left[i]);
    user_comm = MPI_COMM_NULL; /* its handle may come back as one of the library's own */
    expect_int("requests that were never completed", 0, atomic_load(&requests));
    expect_int("communicators that were never freed", 0, atomic_load(&comms));
    expect_int("keys that were never freed", keys_before, atomic_load(&keys));
    expect_int("messages on a user's communicator, communicators made in the thread", 0,
               atomic_load(&foreign));
}

int main(int argc, char **argv)
{
    const alg_list algs = algs_of(PAT_OP_ALLGATHER, alg_is_any);
    main_thread = pthread_self();
    setenv("PAT_LINK", "20,2000", 1);
    if (!test_mpi_init(&argc, &argv, MPI_THREAD_MULTIPLE))
        return 77;
    layouts_make();
    for (int i = 0; i < 2; i++)
        for (int a = 0; a < algs.num; a++)
            life(algs.names[a]);
    test_at("counting"); /* or else this test counts nothing */
    if (atomic_load(&requests_ever) == 0 || atomic_load(&comms_ever) == 0 || atomic_load(&cancels) == 0)
        test_fail("requests made: %lld, cancelled: %lld, communicators made: %lld",
                  atomic_load(&requests_ever), atomic_load(&cancels), atomic_load(&comms_ever));
    layouts_free();
    MPI_Finalize();
    return test.failures ? 1 : 0;
}
