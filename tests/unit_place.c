/*
 * unit_place.c — where background threads go on machines we do not have: synthetic topologies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "place.h"

enum { MAX_RANKS = 64 };

/* A machine and its ranks. Sets are lists as "0-3,8"; NULL: not bound. */
typedef struct node {
    hwloc_topology_t topology;
    hwloc_bitmap_t allowed;
    hwloc_bitmap_t compute[MAX_RANKS];
    int num_local;
} node;

static void node_open(node *n, const char *description)
{
    memset(n, 0, sizeof(*n));
    assert_int_equal(hwloc_topology_init(&n->topology), 0);
    assert_int_equal(hwloc_topology_set_synthetic(n->topology, description), 0);
    assert_int_equal(hwloc_topology_load(n->topology), 0);
    n->allowed = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(n->topology));
}

static void node_allow(node *n, const char *list)
{
    assert_int_equal(hwloc_bitmap_list_sscanf(n->allowed, list), 0);
}

static void node_rank(node *n, const char *list)
{
    hwloc_bitmap_t set = hwloc_bitmap_dup(n->allowed);
    if (list)
        assert_int_equal(hwloc_bitmap_list_sscanf(set, list), 0);
    n->compute[n->num_local++] = set;
}

static void node_close(node *n)
{
    for (int i = 0; i < n->num_local; i++)
        hwloc_bitmap_free(n->compute[i]);
    hwloc_bitmap_free(n->allowed);
    hwloc_topology_destroy(n->topology);
}

static pat_place choose(const node *n, int rank)
{
    return pat_place_choose(n->topology, n->allowed, (const hwloc_const_cpuset_t *)n->compute, n->num_local,
                            rank);
}

static void expect_pu(const node *n, int rank, int pu)
{
    pat_place place = choose(n, rank);
    assert_int_equal(place.kind, PAT_PLACE_PU);
    assert_int_equal(place.pu_os_index, pu);
}

static void expect_float(const node *n, int rank)
{
    pat_place place = choose(n, rank);
    assert_int_equal(place.kind, PAT_PLACE_FLOAT);
    assert_int_equal(place.pu_os_index, -1);
}

static void test_small_machine(void **state)
{
    (void)state;
    node n;
    node_open(&n, "core:2 pu:1");
    node_rank(&n, "0");
    expect_pu(&n, 0, 1);
    node_rank(&n, "1"); /* now every PU is computed on */
    expect_float(&n, 0);
    expect_float(&n, 1);
    node_rank(&n, "0"); /* and now by more ranks than there are PUs */
    expect_float(&n, 2);
    node_close(&n);

    node_open(&n, "core:1 pu:1");
    node_rank(&n, "0");
    expect_float(&n, 0);
    node_close(&n);
}

static void test_unbound(void **state)
{
    (void)state;
    node n;
    node_open(&n, "core:8 pu:1");
    node_rank(&n, NULL);
    expect_float(&n, 0);
    node_rank(&n, "0");
    expect_float(&n, 0);
    expect_float(&n, 1); /* the other rank may compute on any PU: none is free */
    node_close(&n);

    node_open(&n, "core:8 pu:1");
    node_allow(&n, "0-3");
    node_rank(&n, "0-7"); /* more than is allowed is not bound either */
    expect_float(&n, 0);
    node_close(&n);

    node_open(&n, "core:8 pu:1");
    node_allow(&n, "0-3");
    node_rank(&n, "0");
    node_rank(&n, "6"); /* not understood */
    expect_float(&n, 0);
    expect_float(&n, 1);
    node_close(&n);
}

static void test_nearest(void **state)
{
    (void)state;
    node n;
    node_open(&n, "pack:2 core:4 pu:2");
    node_rank(&n, "0-1");
    node_rank(&n, "8-9");
    expect_pu(&n, 0, 2);
    expect_pu(&n, 1, 10); /* in its own package */
    node_rank(&n, "2-3");
    expect_pu(&n, 0, 4);
    expect_pu(&n, 2, 6); /* an idle core, not the sibling of another background thread */
    node_close(&n);

    node_open(&n, "numa:2 core:8 pu:1");
    node_rank(&n, "12");
    expect_pu(&n, 0, 8);
    node_close(&n);

    node_open(&n, "pack:3 core:4 pu:1"); /* near to any PU that it computes on, not just to the first one */
    node_rank(&n, "0,8");
    node_rank(&n, "1-3");
    expect_pu(&n, 0, 9);
    node_close(&n);

    node_open(&n, "pack:1 l3:2 core:4 pu:1");
    node_rank(&n, "5");
    node_rank(&n, "4");
    node_rank(&n, "7");
    expect_pu(&n, 0, 6); /* the last one under its own L3 */
    expect_pu(&n, 1, 0);
    expect_pu(&n, 2, 1);
    node_close(&n);
}

static void test_package_full(void **state)
{
    (void)state;
    static const char *const cores[] = {"0-1", "2-3", "4-5", "6-7"};
    static const int pus[] = {8, 10, 12, 14};
    node n;
    node_open(&n, "pack:2 core:4 pu:2");
    for (int i = 0; i < 4; i++)
        node_rank(&n, cores[i]);
    for (int i = 0; i < 4; i++)
        expect_pu(&n, i, pus[i]);
    node_close(&n);
}

static void test_sibling_last(void **state)
{
    (void)state;
    node n;
    node_open(&n, "pack:2 core:4 pu:2");
    node_rank(&n, "0");
    expect_pu(&n, 0, 2); /* not 1, which shares the core */
    node_rank(&n, "2");
    node_rank(&n, "4");
    node_rank(&n, "6");
    for (int i = 0; i < 4; i++)
        expect_pu(&n, i, 8 + 2 * i); /* even the other package before a sibling */
    node_rank(&n, "8-15");           /* one rank with many threads */
    for (int i = 0; i < 4; i++)
        expect_pu(&n, i, 1 + 2 * i); /* nothing else left: its own sibling */
    expect_float(&n, 4);
    node_close(&n);
}

static void test_too_few(void **state)
{
    (void)state;
    node n;
    node_open(&n, "core:4 pu:1");
    node_rank(&n, "0");
    node_rank(&n, "1");
    node_rank(&n, "2");
    expect_pu(&n, 0, 3);
    expect_float(&n, 1);
    expect_float(&n, 2);
    node_close(&n);
}

static void test_restricted(void **state)
{
    (void)state;
    node n;
    node_open(&n, "pack:2 core:4 pu:2");
    node_allow(&n, "0-3,15");
    node_rank(&n, "0-1");
    node_rank(&n, "2");
    expect_pu(&n, 0, 15); /* no neighbour is allowed but a sibling */
    expect_pu(&n, 1, 3);
    node_close(&n);

    node_open(&n, "pack:2 core:4 pu:2");
    node_allow(&n, "0,8");
    node_rank(&n, "8");
    expect_pu(&n, 0, 0);
    node_close(&n);
}

/*
 * Random machines: threads are where nobody computes, each on a PU of its own, no rank floats while a PU is
 * free, and another process, with a topology of its own, works out the same.
 */
static void test_invariants(void **state)
{
    (void)state;
    static const char *const machines[] = {"core:2 pu:1",
                                           "core:3 pu:2",
                                           "pack:2 core:4 pu:2",
                                           "numa:2 core:8 pu:1",
                                           "numa:4 l3:2 core:2 pu:4",
                                           "pack:2 l3:2 core:8 pu:2(indexes=32*2:1*32)"};
    srand(1);
    for (int trial = 0; trial < 300; trial++) {
        node n, twin;
        const char *machine = machines[trial % 6];
        node_open(&n, machine);
        node_open(&twin, machine);
        const int num_pus = hwloc_get_nbobjs_by_type(n.topology, HWLOC_OBJ_PU);
        for (int pu = 1; pu < num_pus; pu++) /* 0 stays, so that the set is not empty */
            if (rand() % 4 == 0)
                hwloc_bitmap_clr(n.allowed, (unsigned)pu);
        hwloc_bitmap_copy(twin.allowed, n.allowed);
        const int num_allowed = hwloc_bitmap_weight(n.allowed);
        const int num_ranks = 1 + rand() % (num_allowed + 2);
        for (int i = 0; i < num_ranks; i++) {
            node_rank(&n, "0");
            node_rank(&twin, "0");
            hwloc_bitmap_zero(n.compute[i]);
            int pu = -1, skip = rand() % num_allowed;
            do
                pu = hwloc_bitmap_next(n.allowed, pu);
            while (skip-- > 0);
            hwloc_bitmap_set(n.compute[i], (unsigned)pu);
            hwloc_bitmap_copy(twin.compute[i], n.compute[i]);
        }
        hwloc_bitmap_t free_pus = hwloc_bitmap_dup(n.allowed);
        for (int i = 0; i < num_ranks; i++)
            hwloc_bitmap_andnot(free_pus, free_pus, n.compute[i]);
        for (int i = 0; i < num_ranks; i++) {
            pat_place place = choose(&n, i), again = choose(&twin, i);
            assert_int_equal(place.kind, again.kind);
            assert_int_equal(place.pu_os_index, again.pu_os_index);
            if (place.kind == PAT_PLACE_FLOAT) {
                assert_true(hwloc_bitmap_iszero(free_pus));
                continue;
            }
            assert_true(hwloc_bitmap_isset(free_pus, (unsigned)place.pu_os_index));
            hwloc_bitmap_clr(free_pus, (unsigned)place.pu_os_index);
        }
        hwloc_bitmap_free(free_pus);
        node_close(&n);
        node_close(&twin);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_machine), cmocka_unit_test(test_unbound),
        cmocka_unit_test(test_nearest),       cmocka_unit_test(test_package_full),
        cmocka_unit_test(test_sibling_last),  cmocka_unit_test(test_too_few),
        cmocka_unit_test(test_restricted),    cmocka_unit_test(test_invariants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
