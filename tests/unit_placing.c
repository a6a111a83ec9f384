/*
 * unit_placing.c — what was measured with ranks that are placed in one way holds for those that are placed alike, and for no others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "placing.h"

/* NULL: they are alike. */
static void expect(pat_placing measured, pat_placing these, const char *differs)
{
    char why[200] = "";
    assert_int_equal(pat_placing_is_alike(&measured, &these, why, sizeof(why)), differs == NULL);
    assert_string_equal(why, differs ? differs : "");
}

static void alike(void **state)
{
    (void)state;
    expect((pat_placing){16, 4, PAT_NODE_BY_NODE}, (pat_placing){8, 4, PAT_NODE_BY_NODE}, NULL);
    expect((pat_placing){16, 4, PAT_ACROSS_NODES}, (pat_placing){64, 4, PAT_ACROSS_NODES}, NULL);
    expect((pat_placing){8, 4, PAT_ACROSS_NODES}, (pat_placing){8, 4, PAT_ACROSS_NODES}, NULL);
    expect((pat_placing){12, 4, PAT_ACROSS_NODES}, (pat_placing){8, 4, PAT_ACROSS_NODES}, NULL);
    expect((pat_placing){2, 1, PAT_NODE_BY_NODE}, (pat_placing){3, 1, PAT_NODE_BY_NODE}, NULL);
    expect((pat_placing){16, 1, PAT_NUMBERING_NOT_KNOWN}, (pat_placing){3, 1, PAT_NODE_BY_NODE}, NULL);
    expect((pat_placing){8, 8, PAT_NUMBERING_NOT_KNOWN}, (pat_placing){4, 4, PAT_NODE_BY_NODE}, NULL);
    expect((pat_placing){16, 4, PAT_ACROSS_NODES}, (pat_placing){1, 1, PAT_NODE_BY_NODE}, NULL);
}

static void different(void **state)
{
    (void)state;
    expect((pat_placing){16, 4, PAT_NODE_BY_NODE}, (pat_placing){16, 4, PAT_ACROSS_NODES},
           "it is of ranks numbered node by node, these are numbered across nodes");
    expect((pat_placing){16, 4, PAT_NUMBERING_NOT_KNOWN}, (pat_placing){16, 4, PAT_NODE_BY_NODE},
           "it does not say how ranks were numbered, and nodes have several");
    expect((pat_placing){8, 4, PAT_NODE_BY_NODE}, (pat_placing){16, 4, PAT_NODE_BY_NODE},
           "it is of 8 ranks on two nodes, which says nothing of 16");
    expect((pat_placing){16, 4, PAT_NODE_BY_NODE}, (pat_placing){4, 1, PAT_NODE_BY_NODE},
           "it is of ranks on nodes with 4 ranks each, these are on nodes with 1 rank each");
    expect((pat_placing){16, 4, PAT_NODE_BY_NODE}, (pat_placing){4, 4, PAT_NODE_BY_NODE},
           "it is of ranks on nodes with 4 ranks each, these are on one node");
    expect((pat_placing){4, 4, PAT_NODE_BY_NODE}, (pat_placing){16, 4, PAT_NODE_BY_NODE},
           "it is of ranks on one node, these are on nodes with 4 ranks each");
    expect((pat_placing){16, 4, PAT_NODE_BY_NODE}, (pat_placing){7, 0, PAT_NODE_BY_NODE},
           "it is of ranks on nodes with 4 ranks each, these are on nodes with different numbers of ranks");
    expect((pat_placing){7, 0, PAT_NODE_BY_NODE}, (pat_placing){7, 0, PAT_NODE_BY_NODE},
           "it is of ranks on nodes with different numbers of ranks, these are on nodes with different "
           "numbers of ranks");
}

static void in_words(void **state)
{
    (void)state;
    for (int n = 0; n < PAT_NUM_NUMBERINGS; n++)
        assert_int_equal(pat_numbering_find(pat_numbering_text((enum pat_numbering)n)), n);
    assert_int_equal(pat_numbering_find("upside down"), PAT_NUMBERING_NOT_KNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alike),
        cmocka_unit_test(different),
        cmocka_unit_test(in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
