/*
 * mpi_reduce.c — the engine on plans that reduce: all-reduces by recursive doubling and to the last rank, with an operation
 * that is not commutative, and round a ring. Every rank ends with the same bits as all others, and with those that MPI itself computes.
 *
 * ranks: 2 3 5 8
 */
#include "mpi_common.h"

#include <errno.h>

#include "algorithms.h"
#include "engine.h"

enum { ELEMENT = 8, MOST = 2000, TAGS = 1000, ROUNDS = 3, MOST_RANKS = 64 };

/* x -> scale * x + more. Of two, the left one comes last: joining them is associative and not commutative. */
typedef struct affine {
    int32_t scale, more;
} affine;

_Static_assert(sizeof(affine) == ELEMENT && sizeof(int64_t) == ELEMENT, "as long as an element of the plans");

static void join_affine(void *left, void *right, int *count, MPI_Datatype *type)
{
    const affine *l = left;
    affine *r = right;
    (void)type;
    for (int i = 0; i < *count; i++)
        r[i] = (affine){(int32_t)((uint32_t)l[i].scale * (uint32_t)r[i].scale),
                        (int32_t)((uint32_t)l[i].scale * (uint32_t)r[i].more + (uint32_t)l[i].more)};
}

/* Drive the execution for a while before the call and then to its end. */
static void run(pat_exec *exec, void *home, const void *own)
{
    bool moved;
    for (int k = 0; k < 100 * test.rank; k++)
        MUST(pat_exec_progress(exec, &moved));
    MUST(pat_exec_arrive(exec, home, own, NULL));
    while (!pat_exec_done(exec))
        MUST(pat_exec_progress(exec, &moved));
}

/* On a slow link, so that a vector is cut into pieces; every other round the ranks are taken to call in turn. */
static void build(pat_plan *plan, const char *name, int elements, int round)
{
    int64_t arrival[MOST_RANKS];
    const int64_t bytes = (int64_t)elements * ELEMENT;
    for (int r = 0; r < test.size && r < MOST_RANKS; r++)
        arrival[r] = round * 100000 * ((3 * r + round) % test.size);
    const pat_job job = {.num_ranks = test.size,
                         .block_bytes = bytes,
                         .element_bytes = ELEMENT,
                         .arrival_ns = round > 0 ? arrival : NULL,
                         .alpha_ns = 100,
                         .beta_ps = 1000000,
                         .tau_ns = 100 + 1000 * bytes,
                         .piece_ns = 25,
                         .most_messages = TAGS};
    expect_int("plan", 0, pat_algorithm_plan(pat_algorithm_find(name), &job, test.rank, plan));
}

static void all_reduce(const char *name, int elements, int round, MPI_Datatype type, MPI_Op op,
                       const void *own, bool in_place)
{
    char got[MOST * ELEMENT], wanted[MOST * ELEMENT];
    pat_plan plan;
    pat_exec *exec;
    build(&plan, name, elements, round);
    expect_int("execution", 0, pat_exec_create(&exec, &plan, MPI_COMM_WORLD, (pat_tags){0, TAGS}));
    pat_exec_reduces(exec, type, op);
    memset(got, -1, sizeof(got));
    if (in_place)
        memcpy(got, own, (size_t)elements * ELEMENT);
    run(exec, got, in_place ? NULL : own);
    pat_exec_free(exec);
    pat_plan_free(&plan);
    MPI_Allreduce(own, wanted, elements, type, op, MPI_COMM_WORLD);
    if (memcmp(got, wanted, (size_t)elements * ELEMENT) != 0)
        test_fail("not what MPI_Allreduce gives");
}

static void test_in_order_of_ranks(void)
{
    affine own[MOST];
    MPI_Datatype type;
    MPI_Op op;
    MPI_Type_contiguous(2, MPI_INT32_T, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(join_affine, 0, &op);
    for (int elements = 1; elements <= MOST; elements += 370)
        for (int round = 0; round < ROUNDS; round++) {
            test_at("in order, %d elements, round %d", elements, round);
            for (int i = 0; i < elements; i++)
                own[i] = (affine){2 * test.rank + 3 + round, 7 * i - 5 * test.rank};
            all_reduce("allreduce_doubling", elements, round, type, op, own, round == 1);
            all_reduce("allreduce_converge", elements, round, type, op, own, round == 1);
        }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

static void test_ring(void)
{
    int64_t own[MOST];
    for (int elements = 1; elements <= MOST; elements += 370)
        for (int round = 0; round < ROUNDS; round++) {
            test_at("ring, %d elements, round %d", elements, round);
            for (int i = 0; i < elements; i++)
                own[i] = (int64_t)1 << (4 * test.rank) | (int64_t)i << 40;
            all_reduce("allreduce_ring", elements, round, MPI_INT64_T, MPI_SUM, own, round == 1);
        }
}

/* Sums of fractions depend on the order in which they are made; all ranks must have made them in the same one. */
static void test_same_bits(const char *name)
{
    double own[MOST], got[MOST], first[MOST];
    pat_plan plan;
    pat_exec *exec;
    test_at("the same bits");
    for (int i = 0; i < MOST; i++)
        own[i] = 1.0 / (3 + i + 17 * test.rank * test.rank);
    build(&plan, name, MOST, 1);
    expect_int("execution", 0, pat_exec_create(&exec, &plan, MPI_COMM_WORLD, (pat_tags){0, TAGS}));
    pat_exec_reduces(exec, MPI_DOUBLE, MPI_SUM);
    run(exec, got, own);
    memcpy(first, got, sizeof(first));
    MPI_Bcast(first, MOST, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (memcmp(first, got, sizeof(first)) != 0)
        test_fail("other bits than rank 0");
    pat_exec_free(exec);
    pat_plan_free(&plan);
}

/*
 * What comes into scratch before the call cannot go on to the result before it, for that is not known yet: rank by rank, each
 * calls when its left neighbour's bytes are here.
 */
static void test_before_the_call(void)
{
    const int me = test.rank, left = (me + test.size - 1) % test.size;
    const int64_t own = 100 + me;
    int64_t got[64];
    bool moved;
    pat_plan plan;
    pat_exec *exec;
    test_at("scratch before the call");
    pat_plan_init(&plan, test.size, me, ELEMENT);
    const pat_address in = pat_plan_scratch(&plan, ELEMENT);
    const int recv = pat_plan_recv_to(&plan, left, in, ELEMENT);
    pat_plan_after(&plan, pat_plan_copy(&plan, in, pat_result(left * ELEMENT), ELEMENT), recv);
    const int arrive = pat_plan_arrive(&plan);
    const int copy = pat_plan_copy(&plan, pat_own(0), pat_result(me * ELEMENT), ELEMENT);
    pat_plan_after(&plan, copy, arrive);
    pat_plan_after(&plan, pat_plan_send(&plan, (me + 1) % test.size, me * ELEMENT, ELEMENT), copy);
    expect_int("plan", 0, pat_plan_finish(&plan));
    expect_int("execution", 0, pat_exec_create(&exec, &plan, MPI_COMM_WORLD, (pat_tags){0, TAGS}));
    pat_exec_land(exec, NULL, ELEMENT);
    while (me > 0 && pat_exec_get_stats(exec).bytes_received == 0)
        MUST(pat_exec_progress(exec, &moved));
    run(exec, got, &own);
    expect_int("own", own, got[me]);
    expect_int("left", 100 + left, got[left]);
    if (me > 0)
        expect_int("early bytes", ELEMENT, pat_exec_get_stats(exec).bytes_early);
    pat_exec_free(exec);
    pat_plan_free(&plan);
}

/* Own bytes need not be anywhere but in the result, so a plan must not send them from elsewhere. */
static void test_what_the_engine_refuses(void)
{
    pat_plan plan;
    pat_exec *exec;
    test_at("own bytes that are sent");
    pat_plan_init(&plan, test.size, test.rank, ELEMENT);
    const int arrive = pat_plan_arrive(&plan);
    const int send = pat_plan_send_from(&plan, (test.rank + 1) % test.size, pat_own(0), ELEMENT);
    pat_plan_after(&plan, send, arrive);
    expect_int("plan", 0, pat_plan_finish(&plan));
    expect_int("execution", ENOTSUP, pat_exec_create(&exec, &plan, MPI_COMM_WORLD, (pat_tags){0, TAGS}));
    pat_plan_free(&plan);
    test_at("own bytes that are copied to another's place");
    pat_plan_init(&plan, test.size, test.rank, ELEMENT);
    pat_plan_arrive(&plan);
    pat_plan_copy(&plan, pat_own(0), pat_result((test.rank + 1) % test.size * ELEMENT), ELEMENT);
    expect_int("plan", 0, pat_plan_finish(&plan));
    expect_int("execution", ENOTSUP, pat_exec_create(&exec, &plan, MPI_COMM_WORLD, (pat_tags){0, TAGS}));
    pat_plan_free(&plan);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    test_in_order_of_ranks();
    test_ring();
    test_same_bits("allreduce_doubling");
    test_same_bits("allreduce_ring");
    test_same_bits("allreduce_converge");
    test_before_the_call();
    test_what_the_engine_refuses();
    return test_end();
}
