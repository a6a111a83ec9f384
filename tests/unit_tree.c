/*
 * unit_tree.c — trees hang together for every number of ranks, and have the shapes that they should have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tree.h"

enum { MOST = 1100 };

static const pat_tree kinds[] = {
    {.kind = PAT_TREE_FLAT},
    {.kind = PAT_TREE_CHAIN, .fanout = 1},
    {.kind = PAT_TREE_CHAIN, .fanout = 4},
    {.kind = PAT_TREE_BINARY},
    {.kind = PAT_TREE_BINOMIAL},
    {.kind = PAT_TREE_IN_ORDER},
    {.kind = PAT_TREE_CHAIN, .fanout = 7},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* "0>1,2 1>3": every rank that has children, with them in order. */
static const char *text_of(enum pat_tree_kind kind, int num_ranks, int fanout)
{
    static char text[512];
    pat_tree t = {kind, num_ranks, fanout};
    text[0] = '\0';
    for (int r = 0; r < num_ranks; r++)
        for (int i = 0; i < pat_tree_num_children(&t, r); i++) {
            char more[32];
            if (i == 0)
                snprintf(more, sizeof(more), "%s%d>%d", r ? " " : "", r, pat_tree_child(&t, r, i));
            else
                snprintf(more, sizeof(more), ",%d", pat_tree_child(&t, r, i));
            strcat(text, more);
        }
    return text;
}

static void shapes(void **state)
{
    (void)state;
    assert_string_equal(text_of(PAT_TREE_FLAT, 4, 0), "0>1,2,3");
    assert_string_equal(text_of(PAT_TREE_CHAIN, 4, 1), "0>1 1>2 2>3");
    assert_string_equal(text_of(PAT_TREE_CHAIN, 9, 4), "0>1,3,5,7 1>2 3>4 5>6 7>8");
    assert_string_equal(text_of(PAT_TREE_CHAIN, 7, 4), "0>1,3,5,6 1>2 3>4");
    assert_string_equal(text_of(PAT_TREE_CHAIN, 3, 4), "0>1,2");
    assert_string_equal(text_of(PAT_TREE_CHAIN, 11, 4), "0>1,4,7,9 1>2 2>3 4>5 5>6 7>8 9>10");
    assert_string_equal(text_of(PAT_TREE_BINARY, 7, 0), "0>1,2 1>3,5 2>4,6");
    assert_string_equal(text_of(PAT_TREE_BINARY, 10, 0), "0>1,2 1>3,5 2>4,6 3>7 4>8 5>9");
    assert_string_equal(text_of(PAT_TREE_BINOMIAL, 8, 0), "0>1,2,4 1>3,5 2>6 3>7");
    assert_string_equal(text_of(PAT_TREE_BINOMIAL, 6, 0), "0>1,2,4 1>3,5");
    assert_string_equal(text_of(PAT_TREE_IN_ORDER, 8, 0), "0>1,2,4 2>3 4>5,6 6>7");
    assert_string_equal(text_of(PAT_TREE_IN_ORDER, 6, 0), "0>1,2,4 2>3 4>5");
}

/* Every rank but the root is the child of just its parent, and parents have lower numbers. */
static void children_and_parents(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++)
        for (int P = 1; P <= MOST; P += P < 70 ? 1 : 103) {
            static int from[MOST];
            pat_tree t = kinds[k];
            int met = 0;
            t.num_ranks = P;
            memset(from, -1, sizeof(from));
            for (int r = 0; r < P; r++)
                for (int i = 0; i < pat_tree_num_children(&t, r); i++) {
                    int child = pat_tree_child(&t, r, i);
                    assert_in_range(child, r + 1, P - 1);
                    assert_int_equal(from[child], -1);
                    from[child] = r;
                    met++;
                }
            assert_int_equal(met, P - 1);
            for (int r = 0; r < P; r++)
                assert_int_equal(pat_tree_parent(&t, r), from[r]);
        }
}

/* ---- The same trees grown, from the root on, as Open MPI's coll/base describes them ---- */

typedef struct grown {
    int num_ranks, count[MOST], child[MOST][PAT_TREE_MAX_CHILDREN];
} grown;

static void adopt(grown *g, int parent, int child)
{
    g->child[parent][g->count[parent]++] = child;
}

/* In step k every rank that is there takes one 2^k further on. */
static void grow_binomial(grown *g)
{
    for (int there = 1; there < g->num_ranks; there *= 2)
        for (int r = 0; r < there && r + there < g->num_ranks; r++)
            adopt(g, r, r + there);
}

/* A run of 2^k ranks is its first rank, and runs of 1, 2, 4 ... ranks behind it. */
static void grow_in_order(grown *g, int first, int run)
{
    for (int length = 1; length < run && first + length < g->num_ranks; length *= 2) {
        adopt(g, first, first + length);
        grow_in_order(g, first + length, length);
    }
}

/* Level by level: first every rank's one child, then every rank's other one. */
static void grow_binary(grown *g)
{
    int next = 1;
    for (int first = 0, on_level = 1; next < g->num_ranks; first += on_level, on_level *= 2)
        for (int which = 0; which < 2; which++)
            for (int r = first; r < first + on_level && next < g->num_ranks; r++)
                adopt(g, r, next++);
}

/* The others are dealt out to the chains, one more to each of the first ones, and stand one behind the other. */
static void grow_chains(grown *g, int chains)
{
    const int others = g->num_ranks - 1;
    int next = 1;
    for (int c = 0; c < chains && next < g->num_ranks; c++) {
        const int length = others / chains + (c < others % chains);
        adopt(g, 0, next);
        for (int i = 1; i < length; i++)
            adopt(g, next + i - 1, next + i);
        next += length;
    }
}

static void grow(grown *g, const pat_tree *t)
{
    memset(g->count, 0, sizeof(g->count));
    g->num_ranks = t->num_ranks;
    switch (t->kind) {
    case PAT_TREE_BINOMIAL:
        grow_binomial(g);
        break;
    case PAT_TREE_IN_ORDER:
        grow_in_order(g, 0, 2 * MOST);
        break;
    case PAT_TREE_BINARY:
        grow_binary(g);
        break;
    default:
        grow_chains(g, t->fanout);
    }
}

/* 2 to 1100 ranks, every rank's children in their order, and their parent. */
static void as_grown(void **state)
{
    static grown g;
    (void)state;
    for (int k = 0; k < KINDS; k++)
        for (int P = 2; P <= MOST && kinds[k].kind != PAT_TREE_FLAT; P++) {
            pat_tree t = kinds[k];
            t.num_ranks = P;
            grow(&g, &t);
            for (int r = 0; r < P; r++) {
                if (pat_tree_num_children(&t, r) != g.count[r])
                    fail_msg("tree %d of %d ranks: rank %d has %d children", k, P, r, g.count[r]);
                for (int i = 0; i < g.count[r]; i++)
                    if (pat_tree_child(&t, r, i) != g.child[r][i] || pat_tree_parent(&t, g.child[r][i]) != r)
                        fail_msg("tree %d of %d ranks: rank %d has child %d", k, P, r, g.child[r][i]);
            }
        }
}

/* What algorithms rely on: odd ranks lie left in a binary tree, and a subtree in order is a run of ranks. */
static void sides_and_runs(void **state)
{
    (void)state;
    for (int P = 2; P <= 200; P++) {
        pat_tree binary = {.kind = PAT_TREE_BINARY, .num_ranks = P},
                 in_order = {.kind = PAT_TREE_IN_ORDER, .num_ranks = P};
        for (int r = 1; r < P; r++) {
            int side = r;
            while (pat_tree_parent(&binary, side) > 0)
                side = pat_tree_parent(&binary, side);
            assert_int_equal(side, r % 2 ? 1 : 2);
            int parent = pat_tree_parent(&in_order, r), distance = r - parent;
            assert_true((distance & (distance - 1)) == 0 && parent % (2 * distance) == 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes),
        cmocka_unit_test(children_and_parents),
        cmocka_unit_test(as_grown),
        cmocka_unit_test(sides_and_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
