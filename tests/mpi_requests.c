/*
 * mpi_requests.c — persistent requests in company: several at once, waited for in different orders, with and without a
 * background thread; plain calls beside them; datatypes that are gone; sizes that differ between two groups.
 *
 * ranks: 2 3 4
 */
#include "by_profile.h"
#include "mpi_common.h"

enum { COUNT = 10 };

/* What rank r sends in its k-th item, for a seed. */
static int item(int seed, int r, int k)
{
    return seed * 1000003 + r * 1009 + k;
}

/*
 * Two rounds at once on two communicators, waited for in opposite orders by even and odd ranks: whoever waits for one must
 * move the other on, also where there is no thread to do it.
 */
static void opposite_orders(const char *alg, const char *background)
{
    int out[2][COUNT], in[2][COUNT * 64];
    MPI_Comm comm[2];
    PAT_Request r[2];
    setenv("PAT_BACKGROUND", background, 1);
    test_at("%s, PAT_BACKGROUND=%s, waits in opposite orders", alg, background);
    MUST(PAT_Init());
    use_alg(alg);
    for (int i = 0; i < 2; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        MUST(PAT_Allgather_init(out[i], COUNT, MPI_INT, in[i], COUNT, MPI_INT, comm[i], &r[i]));
    }
    for (int turn = 0; turn < 10; turn++) {
        for (int i = 0; i < 2; i++) {
            for (int k = 0; k < COUNT; k++)
                out[i][k] = item(turn * 2 + i, test.rank, k);
            MUST(PAT_Start(r[i]));
        }
        int first = test.rank % 2;
        MUST(PAT_Wait(r[first]));
        MUST(PAT_Wait(r[1 - first]));
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < COUNT * test.size; k++)
                expect_int("item", item(turn * 2 + i, k / COUNT, k % COUNT), in[i][k]);
    }
    for (int i = 0; i < 2; i++) {
        MUST(PAT_Request_free(&r[i]));
        MPI_Comm_free(&comm[i]);
    }
    MUST(PAT_Finalize());
    unsetenv("PAT_BACKGROUND");
}

/* All ranks get the same verdict, however far the started round has come on each of them. */
static void plain_beside_started(const char *alg)
{
    int out[COUNT] = {0}, in[COUNT * 64];
    PAT_Request r;
    use_alg(alg);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MUST(PAT_Allgather_init(out, COUNT, MPI_INT, in, COUNT, MPI_INT, MPI_COMM_WORLD, &r));
    for (int turn = 0; turn < 4; turn++) {
        test_at("%s, plain call beside a started request, %d", alg, turn);
        MUST(PAT_Start(r));
        sleep_ms(test.rank == turn % test.size ? 30 : 0); /* its thread has ended the round by then */
        expect_error("PAT_Allgather", MPI_ERR_REQUEST,
                     PAT_Allgather(out, COUNT, MPI_INT, in, COUNT, MPI_INT, MPI_COMM_WORLD), "PAT_Wait");
        MUST(PAT_Wait(r));
        MUST(PAT_Allgather(out, COUNT, MPI_INT, in, COUNT, MPI_INT, MPI_COMM_WORLD));
    }
    MUST(PAT_Request_free(&r));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* An all-to-all whose every number tells from where it comes and to whom it goes. */
static int personal(int seed, int from, int to, int k)
{
    return item(seed, from, k) + 31 * to;
}

static int all_to_all(int seed, int *out, int *in)
{
    memset(in, 0, sizeof(int) * COUNT * (size_t)test.size);
    for (int k = 0; k < COUNT * test.size; k++)
        out[k] = personal(seed, test.rank, k / COUNT, k % COUNT);
    return PAT_Alltoall(out, COUNT, MPI_INT, in, COUNT, MPI_INT, MPI_COMM_WORLD);
}

static void alltoall_right(int seed, const int *in)
{
    for (int k = 0; k < COUNT * test.size; k++)
        expect_int("item of the all-to-all", personal(seed, k / COUNT, test.rank, k % COUNT), in[k]);
}

/*
 * An all-to-all leaves a request alone: while it is open, and, where the MPI library runs the all-to-all, also while it is started.
 * One by plan is refused then, and nothing of it is left.
 */
static void alltoall_beside(const char *alg, const char *alltoall)
{
    int mine[COUNT], all[COUNT * 64], out[COUNT * 64], in[COUNT * 64];
    const bool by_plan = pat_algorithm_find(alltoall)->build;
    PAT_Request r;
    use_alg(alg);
    use_alg(alltoall);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MUST(PAT_Allgather_init(mine, COUNT, MPI_INT, all, COUNT, MPI_INT, MPI_COMM_WORLD, &r));
    for (int turn = 0; turn < 4; turn++) {
        test_at("%s beside a request of %s, %d", alltoall, alg, turn);
        for (int k = 0; k < COUNT; k++)
            mine[k] = item(turn, test.rank, k);
        memset(all, 0, sizeof(all));
        MUST(PAT_Open(r));
        MUST(all_to_all(3 * turn, out, in));
        alltoall_right(3 * turn, in);
        MUST(PAT_Start(r));
        sleep_ms(test.rank == turn % test.size ? 30 : 0);
        if (by_plan) {
            expect_error("PAT_Alltoall", MPI_ERR_REQUEST, all_to_all(3 * turn + 1, out, in), "PAT_Wait");
        } else {
            MUST(all_to_all(3 * turn + 1, out, in));
            alltoall_right(3 * turn + 1, in);
        }
        MUST(PAT_Wait(r));
        for (int k = 0; k < COUNT * test.size; k++)
            expect_int("item of the request", item(turn, k / COUNT, k % COUNT), all[k]);
        MUST(all_to_all(3 * turn + 2, out, in));
        alltoall_right(3 * turn + 2, in);
    }
    MUST(PAT_Request_free(&r));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* A call of the MPI library's as the drop-in has it run by an algorithm that a profile names. */
static void by_profile(const pat_face *face, const pat_args *args, const char *name)
{
    enum pat_why why = PAT_WHY_NOT_KNOWN;
    MUST(pat_by_profile_run(face, args, pat_algorithm_find(name), &why));
    expect_int("it has run", PAT_WHY_ASKED, why);
}

/*
 * Calls by profiles beside a request that some ranks wait for before, and the others after. Types with holes, so that both have to be packed.
 */
static void profiles_beside(const char *alg)
{
    int mine[2 * COUNT], all[2 * COUNT * 64], own[2 * COUNT], got[2 * COUNT * 64], sums[COUNT];
    MPI_Datatype every_other, holed;
    PAT_Request r;
    use_alg(alg);
    MPI_Type_vector(COUNT, 1, 2, MPI_INT, &every_other);
    MPI_Type_create_resized(every_other, 0, 2 * COUNT * (MPI_Aint)sizeof(int), &holed);
    MPI_Type_commit(&holed);
    MUST(PAT_Allgather_init(mine, 1, holed, all, 1, holed, MPI_COMM_WORLD, &r));
    const pat_args gathers = {.sendbuf = own,
                              .sendcount = 1,
                              .sendtype = holed,
                              .recvbuf = got,
                              .recvcount = 1,
                              .recvtype = holed,
                              .comm = MPI_COMM_WORLD},
                   reduces = {.sendbuf = own,
                              .recvbuf = sums,
                              .count = COUNT,
                              .datatype = MPI_INT,
                              .op = MPI_SUM,
                              .comm = MPI_COMM_WORLD};
    for (int turn = 0; turn < 6; turn++) {
        const bool waits_before = (test.rank + turn) % 2 == 0;
        test_at("profiles beside a request of %s, %d", alg, turn);
        for (int k = 0; k < 2 * COUNT; k++) {
            mine[k] = item(turn, test.rank, k);
            own[k] = item(turn + 100, test.rank, k);
        }
        sleep_ms(test.rank == turn % test.size ? 3 : 0); /* the others' rounds wait for it */
        MUST(PAT_Start(r));
        if (waits_before)
            MUST(PAT_Wait(r));
        by_profile(&pat_face_allgather, &gathers, turn % 3 ? "ring" : "direct");
        by_profile(&pat_face_allreduce, &reduces, "allreduce_doubling");
        if (!waits_before)
            MUST(PAT_Wait(r));
        for (int k = 0; k < 2 * COUNT * test.size; k += 2) {
            expect_int("item of the request", item(turn, k / (2 * COUNT), k % (2 * COUNT)), all[k]);
            expect_int("item of the profile's", item(turn + 100, k / (2 * COUNT), k % (2 * COUNT)), got[k]);
        }
        for (int k = 0; k < COUNT; k++) {
            int sum = 0;
            for (int i = 0; i < test.size; i++)
                sum += item(turn + 100, i, k);
            expect_int("sum", sum, sums[k]);
        }
    }
    MUST(PAT_Request_free(&r));
    MPI_Type_free(&holed);
    MPI_Type_free(&every_other);
}

/* As with MPI's requests, a datatype may be freed once the request is made; its handle may come back as another type. */
static void freed_types(const char *alg)
{
    int out[COUNT * 2], in[COUNT * 2 * 64];
    MPI_Datatype every_other, other;
    PAT_Request r;
    use_alg(alg);
    test_at("%s, datatypes freed after PAT_Allgather_init", alg);
    MPI_Type_vector(COUNT, 1, 2, MPI_INT, &every_other);
    MPI_Type_create_resized(every_other, 0, 2 * COUNT * (MPI_Aint)sizeof(int), &other);
    MPI_Type_free(&every_other);
    MPI_Type_commit(&other);
    MUST(PAT_Allgather_init(out, 1, other, in, 1, other, MPI_COMM_WORLD, &r));
    MPI_Type_free(&other);
    MPI_Type_contiguous(3, MPI_DOUBLE, &other);
    MPI_Type_commit(&other);
    for (int turn = 0; turn < 3; turn++) {
        for (int k = 0; k < COUNT * 2; k++)
            out[k] = item(turn, test.rank, k);
        memset(in, 0, sizeof(in));
        MUST(PAT_Start(r));
        MUST(PAT_Wait(r));
        for (int k = 0; k < COUNT * 2 * test.size; k++)
            expect_int("item", k % 2 ? 0 : item(turn, k / (2 * COUNT), k % (2 * COUNT)), in[k]);
    }
    MUST(PAT_Request_free(&r));
    MPI_Type_free(&other);
}

/* Between two groups the two directions may carry different amounts. */
static void between_groups(const char *alg)
{
    int out[COUNT], in[COUNT * 64], low = test.rank < test.size / 2;
    MPI_Comm half, inter;
    PAT_Request r;
    use_alg(alg);
    test_at("%s, an inter-communicator with different counts", alg);
    MPI_Comm_split(MPI_COMM_WORLD, low, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? test.size / 2 : 0, 7, &inter);
    int mine = low ? 2 : 3, theirs = 5 - mine;
    int others = low ? test.size - test.size / 2 : test.size / 2;
    for (int k = 0; k < mine; k++)
        out[k] = item(1, test.rank, k);
    MUST(PAT_Allgather_init(out, mine, MPI_INT, in, theirs, MPI_INT, inter, &r));
    MUST(PAT_Start(r));
    MUST(PAT_Wait(r));
    for (int k = 0; k < theirs * others; k++)
        expect_int("item", item(1, k / theirs + (low ? test.size / 2 : 0), k % theirs), in[k]);
    MUST(PAT_Request_free(&r));
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    if (!test_mpi_init(&argc, &argv, MPI_THREAD_MULTIPLE))
        return 77;
    const alg_list algs = algs_of(PAT_OP_ALLGATHER, alg_differs),
                   alltoalls = algs_of(PAT_OP_ALLTOALL, alg_is_any);
    for (int a = 0; a < algs.num; a++)
        for (int on = 0; on < 2; on++)
            opposite_orders(algs.names[a], on ? "1" : "0");
    MUST(PAT_Init());
    for (int a = 0; a < algs.num; a++) {
        if (pat_algorithm_find(algs.names[a])
                ->build) /* beside a call that is left to MPI anything is allowed that MPI allows */
            plain_beside_started(algs.names[a]);
        for (int b = 0; b < alltoalls.num; b++)
            alltoall_beside(algs.names[a], alltoalls.names[b]);
        profiles_beside(algs.names[a]);
        freed_types(algs.names[a]);
        between_groups(algs.names[a]);
    }
    return test_end();
}
