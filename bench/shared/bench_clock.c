/*
 * bench_clock.c — see bench_clock.h. Must never call two clocks one because their host names are alike: the
 * emulated cluster gives every node its own, and clones of a machine share theirs.
 */
#include "bench_clock.h"

#include <stddef.h>

int bench_clock_sync(pat_clock *clock, MPI_Comm comm, int rounds, int *same_machine)
{
    const uint64_t mine = pat_clock_id();
    uint64_t first = mine;
    pat_clock_tree tree;
    int rc = MPI_Bcast(&first, 1, MPI_UINT64_T, 0, comm);
    int same = mine != 0 && mine == first;
    if (rc == MPI_SUCCESS)
        rc = MPI_Allreduce(&same, same_machine, 1, MPI_INT, MPI_MIN, comm);
    *clock = (pat_clock){0};
    if (rc == MPI_SUCCESS && !*same_machine)
        rc = pat_clock_tree_find(&tree, comm, NULL);
    return rc != MPI_SUCCESS || *same_machine ? rc : pat_clock_sync(clock, comm, &tree, rounds);
}
