/*
 * clock_tree.c — see clock_tree.h.
 */
#include "clock_tree.h"

#include <stdint.h>
#include <stdlib.h>

#include "clock.h"
#include "error.h"

/* What a rank tells the others of its clock. */
typedef struct word {
    uint64_t id;
    int64_t now_ns; /* read before anybody has the word of all */
} word;

/* Do the ranks of each node read one clock? On all nodes, or it is not taken for granted on any. all: room for a word of each rank. */
static int find_same(MPI_Comm comm, const int *node_of, word *all, bool *same)
{
    int rank, size, good = 1, all_good = 0;
    word own = {.id = pat_clock_id(), .now_ns = pat_clock_local_ns()};
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    int rc = PMPI_Allgather(&own, 2, MPI_INT64_T, all, 2, MPI_INT64_T, comm);
    const int64_t after_ns = pat_clock_local_ns();
    /* What has been read before is not later, by the same clock. */
    for (int r = 0; r < size && rc == MPI_SUCCESS; r++)
        if (node_of[r] == node_of[rank] && r != rank)
            good = good && own.id != 0 && all[r].id == own.id && all[r].now_ns <= after_ns;
    if (rc == MPI_SUCCESS)
        rc = PMPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, comm);
    *same = all_good;
    return rc;
}

static int step_of(int number)
{
    int step = 0;
    while (number >> step > 1)
        step++;
    return step;
}

/* Member `number` of `count` is below the one without its highest bit. */
static void tie_in(pat_clock_tree *tree, const int *members, int count, int number, bool same, int first_step)
{
    if (number > 0) {
        const int step = step_of(number);
        tree->up = (pat_clock_tie){
            .peer = members[number - (1 << step)], .same = same, .step = first_step + step, .child = number};
    }
    for (int64_t below = 1; number + below < count; below *= 2)
        if (below > number)
            tree->down[tree->num_down++] = (pat_clock_tie){.peer = members[number + below],
                                                           .same = same,
                                                           .step = first_step + step_of((int)below),
                                                           .child = (int)(number + below)};
}

int pat_clock_tree_find(pat_clock_tree *tree, MPI_Comm comm, const int *node_of)
{
    int rank, size, rc, num_leaders = 0, num_mates = 0, leader = 0, mate = 0;
    bool shared = false, same = false;
    *tree = (pat_clock_tree){.up = {.peer = -1}};
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    for (int r = 0; r < size && node_of; r++)
        shared = shared || node_of[r] != r;
    /* A word of each rank, and afterwards the members of both trees. All ranks go on, or none. */
    word *room = malloc((size_t)size * sizeof(*room));
    int good = room != NULL, all_good = 0;
    rc = PMPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, comm);
    if (rc == MPI_SUCCESS && !all_good)
        rc = pat_error(MPI_ERR_NO_MEM, "no memory for the clocks of %d ranks", size);
    if (rc == MPI_SUCCESS && shared)
        rc = find_same(comm, node_of, room, &same);
    if (rc != MPI_SUCCESS) {
        free(room);
        return rc;
    }
    int *members = (int *)room, *mates = members + size;
    for (int r = 0; r < size; r++) {
        leader = r == rank ? num_leaders : leader;
        if (!same || node_of[r] == r)
            members[num_leaders++] = r;
        mate = r == rank ? num_mates : mate;
        if (same && node_of[r] == node_of[rank])
            mates[num_mates++] = r;
    }
    if (!same || node_of[rank] == rank)
        tie_in(tree, members, num_leaders, leader, false, 0);
    if (same)
        tie_in(tree, mates, num_mates, mate, true, num_leaders > 1 ? step_of(num_leaders - 1) + 1 : 0);
    tree->root = rank == 0 || (same && node_of[rank] == 0);
    free(room);
    return MPI_SUCCESS;
}
