/*
 * link.h — what messages take between the ranks of a communicator. Measured once and agreed by all ranks; it shapes plans.
 */
#ifndef PAT_LINK_H
#define PAT_LINK_H

#include <mpi.h>
#include <stdint.h>

#include "bells.h"
#include "config.h"

typedef struct pat_link {
    int64_t alpha_ns;    /* latency: a small message, one way */
    int64_t beta_ps;     /* picoseconds per byte while all ranks send and receive at once */
    int64_t piece_ns;    /* what each piece after the first costs, where all ranks send a message in pieces */
    int64_t eager_bytes; /* longer messages are asked for first, and wait for the answer; 0: not known */
    int64_t packet_bytes; /* data that a packet of the network carries; 0: not known */
} pat_link;

/*
 * The eager limit: how long a message over TCP may be that the MPI library sends without asking. INT_MAX: not known (0
 * in pat_link). Open MPI's default, or
 * what mpirun --mca btl_tcp_eager_limit has put into the environment. Asking the library itself (MPI_T) would be surer, but
 * Open MPI then opens every component that it has, which takes 0.2 s.
 */
int pat_link_eager_bytes(void);

/* The same inside a node, through memory that its ranks share. */
int pat_link_eager_inside_bytes(void);

/*
 * UCX's setting for a lock that sleeps, in place of one that spins while another thread of the process has it. Is it set, be it for this program or for MPI alone? Does the MPI library go by
 * UCX without it, as far as is known?
 */
#define PAT_LINK_UCX_LOCK "UCX_USE_MT_MUTEX"
bool pat_link_ucx_lock_is_set(void);
bool pat_link_ucx_spins(void);

/*
 * How long a message may be that the MPI library takes at once, whoever it is for: its sender has the buffer back without a call of the receiver's
 * (over TCP once the socket has taken it, which the receiver's thread reads).
 * has_mates: some ranks are on one node. 0: nobody knows, which is so but for Open MPI's ob1 over TCP and shared memory. A limit lowered in a file
 * of Open MPI's parameters is not seen. Some tens of microseconds.
 */
int pat_link_taken_bytes(bool has_mates);

/*
 * In how many looks, one after the other, is what MPI takes in at the first one seen? Over Open MPI's ob1, by TCP and shared memory, a message is seen in two: a
 * test that finds nothing takes in what there is, and the next one sees it. Three are taken. With two, calls of 8 x 4 ranks that were late by up to 22 ms were seen to
 * stand still for 10 to 60 ms, and later with three, too, on two processors that were always busy: a yield then takes as long. Elsewhere, and where it is not known, four: UCX asks for a block in shared memory, fetches it, and says
 * so. Each look in which MPI finds nothing gives away the processor where Open MPI yields (mpi_yield_when_idle, which it sets itself where there are more ranks
 * than cores). Some tens of microseconds.
 */
int pat_link_looks(void);

/*
 * Collective over comm, the library's own. Neighbours are those of a ring through the ranks in this order (NULL: by number).
 * They bounce a byte; then every rank sends a stream of messages to its right neighbour at once, of longer and longer ones until each takes
 * half a millisecond or has half a MiB; then one in pieces. Of latencies the mean counts, of the rest the slowest rank. It takes some tens of milliseconds, up to some
 * hundreds where many ranks share a core. It leaves eager_bytes and packet_bytes alone. Returns an MPI error code.
 */
int pat_link_measure(pat_link *link, MPI_Comm comm, const int *order);

/*
 * The same on one node whose ranks copy from each other's memory: all copy from a neighbour at once. Some milliseconds. Collective over comm. Returns
 * an MPI error code.
 */
int pat_link_copies(pat_link *link, MPI_Comm comm, const pat_mates *mates);

/* Nobody has measured it: what PAT_LINK says where that is set, else, and with NULL, what an Ethernet of 1 Gbit/s takes by TCP. The same on all ranks. */
pat_link pat_link_reckoned(const pat_config *config);

/* Measure it, or take what PAT_LINK says where that is set. Returns as above. */
int pat_link_find(pat_link *link, const pat_config *config, MPI_Comm comm, const int *order);

/*
 * The least that a piece is reckoned to cost: a quarter of alpha. A piece is passed on by a thread that wakes for it,
 * which takes about alpha; but the link carries other pieces meanwhile. Measured in the emulated cluster against the
 * whole of alpha: there are twice as many pieces, calls take 0.1 % longer when all ranks arrive at once, the time past
 * a late last arrival is 1 to 9 % shorter (16 nodes), and a third shorter after ascending arrivals (32 nodes). A
 * sixteenth of alpha saves little more and costs 0.5 %.
 */
static inline int64_t pat_link_least_piece_ns(int64_t alpha_ns)
{
    return alpha_ns / 4;
}

/* How long `bytes` keep the link, without the latency. */
static inline int64_t pat_link_busy_ns(const pat_link *link, int64_t bytes)
{
    return bytes / 1000 * link->beta_ps + bytes % 1000 * link->beta_ps / 1000;
}

/* Its rate. */
static inline double pat_link_mbit(const pat_link *link)
{
    return 8e6 / (double)link->beta_ps;
}

/* One-way time of `bytes`, at least 1 ns. */
static inline int64_t pat_link_tau_ns(const pat_link *link, int64_t bytes)
{
    int64_t tau = link->alpha_ns + pat_link_busy_ns(link, bytes);
    return tau > 0 ? tau : 1;
}

#endif
