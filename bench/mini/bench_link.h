/*
 * bench_link.h — who sits on which node, and what a link between nodes does: latency and sustained payload
 * rate.
 */
#ifndef BENCH_LINK_H
#define BENCH_LINK_H

#include <mpi.h>
#include <stdint.h>

/* Collective: node number of every rank (0.. in order of first rank), nodes, and most ranks on one. MPI error
 * code. */
int bench_nodes_find(MPI_Comm comm, int *node_of, int *num_nodes, int *ppn);

typedef struct bench_link {
    int64_t lambda_ns;
    double mbit_min, mbit_median, mbit_max; /* 10^6 bits of payload a second, over the nodes */
} bench_link;

/*
 * Collective. lambda: half the smallest 1-byte round trip of all neighbours in the ring of nodes, which ping
 * one pair at a time: the bound must not count more than the fastest message took. Rate: one rank per node
 * streams chunks of 16 KiB round that ring, all at once, each measures what it receives after a warm-up; the
 * median counts, which a single late wake-up does not move, of the fastest of three streams. With one node only, the
 * ranks themselves form the ring. MPI error code.
 */
int bench_link_measure(MPI_Comm comm, const int *node_of, int num_nodes, bench_link *link);

#endif
