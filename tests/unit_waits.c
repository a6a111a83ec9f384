/*
 * unit_waits.c — who waits for whom in a call, and how long, by times that are made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "waits.h"

#define MS INT64_C(1000000)

static void functions_of_mpi(void **state)
{
    (void)state;
    assert_int_equal(pat_waits_of("MPI_Allreduce"), PAT_WAITS_FOR_ALL);
    assert_int_equal(pat_waits_of("MPI_Reduce_scatter_block"), PAT_WAITS_FOR_ALL);
    assert_int_equal(pat_waits_of("MPI_Barrier"), PAT_WAITS_FOR_ALL);
    assert_int_equal(pat_waits_of("MPI_Bcast_c"), PAT_WAITS_FOR_ROOT);
    assert_int_equal(pat_waits_of("MPI_Scatterv"), PAT_WAITS_FOR_ROOT);
    assert_int_equal(pat_waits_of("MPI_Reduce"), PAT_WAITS_AT_ROOT);
    assert_int_equal(pat_waits_of("MPI_Gather"), PAT_WAITS_AT_ROOT);
    assert_int_equal(pat_waits_of("MPI_Iallreduce"), PAT_WAITS_NOT_KNOWN);
    assert_int_equal(pat_waits_of("MPI_Scan"), PAT_WAITS_NOT_KNOWN);
    assert_int_equal(pat_waits_of("MPI_Allreduce_init"), PAT_WAITS_NOT_KNOWN);
    assert_int_equal(pat_waits_of_end("MPI_Iallreduce"), PAT_WAITS_FOR_ALL);
    assert_int_equal(pat_waits_of_end("MPI_Allreduce_init"), PAT_WAITS_FOR_ALL);
    assert_int_equal(pat_waits_of_end("MPI_Reduce_init"), PAT_WAITS_AT_ROOT);
    assert_int_equal(pat_waits_of_end("MPI_Scan_init"), PAT_WAITS_NOT_KNOWN);
    assert_int_equal(pat_waits_of_end("MPI_Allreduce"), PAT_WAITS_NOT_KNOWN);
    assert_int_equal(pat_waits_of("MPI_Neighbor_alltoall"), PAT_WAITS_NOT_KNOWN);
}

/* Rank 0 comes at 10 ms, the root, rank 1, at 30, rank 2 last, at 50; all leave from 60 on. */
static pat_came as_seen_by(int rank)
{
    static const int64_t came[] = {10 * MS, 30 * MS, 50 * MS};
    return (pat_came){.own_ns = came[rank],
                      .last_ns = 50 * MS,
                      .root_ns = 30 * MS,
                      .first_end_ns = 60 * MS,
                      .last = 2,
                      .root = 1,
                      .own = rank};
}

static void check(enum pat_waits waits, int rank, int64_t wait_ns, int late)
{
    int for_whom;
    const pat_came came = as_seen_by(rank);
    assert_int_equal(pat_waits_ns(waits, &came, 70 * MS, &for_whom), wait_ns);
    assert_int_equal(for_whom, late);
}

static void who_waits_for_whom(void **state)
{
    (void)state;
    check(PAT_WAITS_FOR_ALL, 0, 40 * MS, 2);
    check(PAT_WAITS_FOR_ALL, 1, 20 * MS, 2);
    check(PAT_WAITS_FOR_ALL, 2, 0, -1);
    check(PAT_WAITS_FOR_ROOT, 0, 20 * MS, 1);
    check(PAT_WAITS_FOR_ROOT, 1, 0, -1);
    check(PAT_WAITS_FOR_ROOT, 2, 0, -1); /* it came after the root */
    check(PAT_WAITS_AT_ROOT, 0, 0, -1);
    check(PAT_WAITS_AT_ROOT, 1, 20 * MS, 2);
    check(PAT_WAITS_AT_ROOT, 2, 0, -1);
    check(PAT_WAITS_NOT_KNOWN, 0, -1, -1);
}

static void what_is_not_waiting(void **state)
{
    (void)state;
    int late;
    pat_came came = as_seen_by(0);
    assert_int_equal(pat_waits_ns(PAT_WAITS_FOR_ROOT, &came, 5 * MS, &late),
                     5 * MS);    /* no longer than the call */
    came.first_end_ns = 20 * MS; /* one left long before the last one came */
    assert_int_equal(pat_waits_ns(PAT_WAITS_FOR_ALL, &came, 70 * MS, &late), -1);
    assert_int_equal(late, -1);
    assert_int_equal(pat_waits_ns(PAT_WAITS_FOR_ROOT, &came, 70 * MS, &late), 20 * MS);
    came.root = -1;
    assert_int_equal(pat_waits_ns(PAT_WAITS_FOR_ROOT, &came, 70 * MS, &late), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(functions_of_mpi),
                                       cmocka_unit_test(who_waits_for_whom),
                                       cmocka_unit_test(what_is_not_waiting)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
