/*
 * together.h — did the ranks arrive together? Said of a round that is over, from arrivals that all ranks know alike,
 * so that they all say the same.
 */
#ifndef PAT_TOGETHER_H
#define PAT_TOGETHER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Every rank has a block that takes `block_ns` on any link, and every link must take all others' blocks. A link that
 * lacks n blocks at the k-th arrival is done no sooner than n blocks later; the last of these arrivals to be done with
 * decides. If every block had been passed on from rank to rank as a whole half, would that have been later? Then the
 * arrivals were apart, and smaller pieces pay. Together: true. Sorts arrival_ns.
 */
bool pat_arrivals_together(int64_t *arrival_ns, int num_ranks, int64_t block_ns);

#endif
