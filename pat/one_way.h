/*
 * one_way.h — T(n): how long one message of n bytes takes one way between two ranks, half a round trip, as a table that is measured here. By it times
 * are told in messages (A. Faraj, P. Patarasu and X. Yuan, A study of process arrival patterns for MPI collective operations, 2008).
 */
#ifndef PAT_ONE_WAY_H
#define PAT_ONE_WAY_H

#include <mpi.h>
#include <stdint.h>

enum { PAT_ONE_WAY_SIZES = 10 };

typedef struct pat_one_way {
    int num; /* sizes that were measured; 0: none */
    int64_t bytes[PAT_ONE_WAY_SIZES], ns[PAT_ONE_WAY_SIZES];
} pat_one_way;

/*
 * In nanoseconds: on the line between the two sizes around it; a shorter one takes as long as the shortest that was measured, a longer one goes on along the line
 * through the last two. 0 where nothing was measured. Any thread.
 */
double pat_one_way_ns(const pat_one_way *table, double bytes);

/*
 * Collective over comm: measure between its rank 0 and the first rank on another node, or else rank 1, the least of some round trips each, up to the first size that is not
 * below most_bytes (4 bytes to 1 MiB). Takes some 10 ms for each size at most, more where four round trips do. All ranks get the table; of one rank it is empty. Returns an MPI error code.
 */
int pat_one_way_measure(pat_one_way *table, MPI_Comm comm, int64_t most_bytes);

#endif
