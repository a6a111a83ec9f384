/*
 * taulop_mpi.h — the team's members as ranks of an MPI library on one machine, and its messages and collectives as a way.
 */
#ifndef TAULOP_MPI_H
#define TAULOP_MPI_H

#include <stdbool.h>

#include "taulop_way.h"

/*
 * one-copy: the receiver copies straight from the sender (CMA), the library's default; two-copies: through segments in shared memory;
 * tree: the broadcast of coll/sm, whose copies are measured through slots as long as its segments.
 */
#define TAULOP_MPI_HOWS "one-copy, two-copies, tree"
bool taulop_mpi_knows(const char *how);

/*
 * Starts MPI, runs body in every rank, ends MPI. -1, and rank 0 has said why, when the ranks are not on one machine, not a power of two,
 * or the MPI library is not Open MPI.
 */
typedef void taulop_rank_body(taulop_member *m, const taulop_way *way, void *arg);
int taulop_mpi(const char *how, int64_t cold_bytes, taulop_rank_body *body, void *arg);

#endif
