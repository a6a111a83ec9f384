/*
 * placing.h — how ranks are spread over the nodes of the cluster, as far as it decides what their collectives take. The MPI library's
 * all-gather was found to take four times as long with ranks numbered node by node as with the same ranks numbered across nodes
 * (docs/measurements.md), so what was measured with one placing says little of another. Must never call MPI.
 */
#ifndef PAT_PLACING_H
#define PAT_PLACING_H

#include <stdbool.h>
#include <stddef.h>

/* In which order ranks are numbered; it makes no difference where nodes have one rank, or where there is one node. */
enum pat_numbering {
    PAT_NUMBERING_NOT_KNOWN,
    PAT_NODE_BY_NODE, /* as mpirun and Slurm do: a ring by number leaves a node no more often than it must */
    PAT_ACROSS_NODES, /* each rank's number is its node's, then one round later again */
    PAT_ANOTHER_ORDER,
    PAT_NUM_NUMBERINGS
};

typedef struct pat_placing {
    int ranks;
    int ranks_per_node; /* 0: nodes have different numbers of ranks; as many as `ranks`: all are on one node */
    enum pat_numbering numbering;
} pat_placing;

static inline bool pat_placing_on_one_node(const pat_placing *p)
{
    return p->ranks_per_node >= p->ranks;
}

/* In words: "node by node"; NULL where it is not known. A static string. */
const char *pat_numbering_text(enum pat_numbering numbering);

/* The numbering of these words, or PAT_NUMBERING_NOT_KNOWN. */
enum pat_numbering pat_numbering_find(const char *text);

/*
 * Does what was measured of ranks that are placed so hold for these? On one node both, or else with as many ranks a node, numbered alike, on however many
 * nodes; but where nodes have several ranks, what was measured on two nodes is only of as many ranks, since there it was with no other number. It holds for one rank alone, which has nobody to call with. If not, `why` says what differs.
 */
bool pat_placing_is_alike(const pat_placing *measured, const pat_placing *these, char *why, size_t why_size);

#endif
