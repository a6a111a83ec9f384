/*
 * placing.c — see placing.h.
 */
#include "placing.h"

#include <stdio.h>
#include <string.h>

static const char *const texts[PAT_NUM_NUMBERINGS] = {[PAT_NODE_BY_NODE] = "node by node",
                                                      [PAT_ACROSS_NODES] = "across nodes",
                                                      [PAT_ANOTHER_ORDER] = "in another order"};

const char *pat_numbering_text(enum pat_numbering numbering)
{
    return texts[numbering];
}

enum pat_numbering pat_numbering_find(const char *text)
{
    for (int n = 0; text && n < PAT_NUM_NUMBERINGS; n++)
        if (texts[n] && strcmp(text, texts[n]) == 0)
            return (enum pat_numbering)n;
    return PAT_NUMBERING_NOT_KNOWN;
}

/* "on one node", "on nodes with 4 ranks each" */
static void describe(const pat_placing *p, char *text, size_t size)
{
    if (pat_placing_on_one_node(p))
        snprintf(text, size, "on one node");
    else if (p->ranks_per_node > 0)
        snprintf(text, size, "on nodes with %d rank%s each", p->ranks_per_node,
                 p->ranks_per_node > 1 ? "s" : "");
    else
        snprintf(text, size, "on nodes with different numbers of ranks");
}

bool pat_placing_is_alike(const pat_placing *measured, const pat_placing *these, char *why, size_t why_size)
{
    const bool one = pat_placing_on_one_node(measured),
               as_many = measured->ranks_per_node == these->ranks_per_node;
    char there[64], here[64];
    if (these->ranks < 2 || (one && pat_placing_on_one_node(these)))
        return true;
    if (one || pat_placing_on_one_node(these) || !as_many || these->ranks_per_node == 0) {
        describe(measured, there, sizeof(there));
        describe(these, here, sizeof(here));
        snprintf(why, why_size, "it is of ranks %s, these are %s", there, here);
        return false;
    }
    if (these->ranks_per_node > 1 && measured->ranks < 3 * measured->ranks_per_node &&
        measured->ranks != these->ranks) {
        snprintf(why, why_size, "it is of %d ranks on two nodes, which says nothing of %d", measured->ranks,
                 these->ranks);
        return false;
    }
    if (these->ranks_per_node == 1 || measured->numbering == these->numbering)
        return true;
    if (!texts[measured->numbering])
        snprintf(why, why_size, "it does not say how ranks were numbered, and nodes have several");
    else
        snprintf(why, why_size, "it is of ranks numbered %s, these are numbered %s",
                 texts[measured->numbering], texts[these->numbering] ? texts[these->numbering] : "otherwise");
    return false;
}
