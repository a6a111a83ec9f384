/*
 * large.c — the forms of the collectives with counts of type MPI_Count, where the MPI library has them: MPI_Allgather_c,
 * MPI_Allreduce_c, MPI_Bcast_c and MPI_Gather_c with counts that an int can hold go as the calls without _c do; all others are passed on,
 * and timed while a report is wanted.
 */
#include <limits.h>

#include "dropin.h"

#if PAT_MPI_HAS_LARGE

#define TAKE(name, lower, upper, parameters, arguments, bytes)
#define PASS(name, lower, upper, parameters, arguments, bytes)                                               \
    WATCH(name, lower, parameters, arguments, bytes)
#define WATCH(name, lower, parameters, arguments, bytes)                                                     \
    static int watch_##lower(__typeof__(&PMPI_##name##_c) next, const void *site, LIST parameters)           \
    {                                                                                                        \
        if (!pat_dropin_reports || pat_dropin_inside)                                                        \
            return next arguments;                                                                           \
        pat_dropin_inside = true;                                                                            \
        const int64_t start = pat_clock_local_ns();                                                          \
        const int rc = next arguments;                                                                       \
        pat_dropin_count(pat_dropin_site(site), "MPI_" #name "_c", bytes, pat_clock_local_ns() - start,      \
                         NULL);                                                                              \
        pat_dropin_inside = false;                                                                           \
        return rc;                                                                                           \
    }
#define LARGE
#define IN                 const void *
#define OUT                void *
#define INT                int
#define INTS               const int *
#define SIZE               MPI_Count
#define SIZES              const MPI_Count *
#define AINTS              const MPI_Aint *
#define TYPE               MPI_Datatype
#define TYPES              const MPI_Datatype *
#define OP                 MPI_Op
#define COMM               MPI_Comm
#define REQUEST            MPI_Request *
#define IN_PLACE(buffer)   ((buffer) == MPI_IN_PLACE)
#define BYTES(count, type) pat_dropin_bytes(count, type)
#include "watched.h"

WATCH(Allgather, allgather,
      (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
       MPI_Datatype recvtype, MPI_Comm comm),
      (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
      pat_dropin_bytes(recvcount, recvtype))
WATCH(Allgatherv, allgatherv,
      (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
       const MPI_Count *recvcounts, const MPI_Aint *displs, MPI_Datatype recvtype, MPI_Comm comm),
      (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
      sendbuf == MPI_IN_PLACE ? 0 : pat_dropin_bytes(sendcount, sendtype))
WATCH(Allreduce, allreduce,
      (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
      (sendbuf, recvbuf, count, datatype, op, comm), pat_dropin_bytes(count, datatype))
WATCH(Bcast, bcast, (void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm),
      (buffer, count, datatype, root, comm), pat_dropin_bytes(count, datatype))
WATCH(Gather, gather,
      (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
       MPI_Datatype recvtype, int root, MPI_Comm comm),
      (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
      pat_dropin_bytes(sendcount, sendtype))

/*
 * All ranks must decide alike. Where one has a count that no int holds, a block has more bytes than plans are for, so that
 * the call is passed on everywhere. What does not count, because of MPI_IN_PLACE or at a rank that is not the root, may be
 * anything.
 */
static bool fits(MPI_Count count)
{
    return count == (int)count;
}

/* What of a call with small counts is not run here goes on under its own name. */
static int next_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                          int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return PAT_NEXT(Allgather_c)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

static int next_allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                          MPI_Comm comm)
{
    return PAT_NEXT(Allreduce_c)(sendbuf, recvbuf, count, datatype, op, comm);
}

static int next_bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    return PAT_NEXT(Bcast_c)(buffer, count, datatype, root, comm);
}

static int next_gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                       int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return PAT_NEXT(Gather_c)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

static int large_allgather(__typeof__(&PMPI_Allgather_c) next, const void *site, const void *sendbuf,
                           MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm)
{
    if (!fits(recvcount) || (sendbuf != MPI_IN_PLACE && !fits(sendcount)))
        return watch_allgather(next, site, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    return pat_dropin_allgather((pat_gate_any *)next_allgather, site, sendbuf, (int)sendcount, sendtype,
                                recvbuf, (int)recvcount, recvtype, comm);
}

static int large_allreduce(__typeof__(&PMPI_Allreduce_c) next, const void *site, const void *sendbuf,
                           void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    if (!fits(count))
        return watch_allreduce(next, site, sendbuf, recvbuf, count, datatype, op, comm);
    return pat_dropin_allreduce((pat_gate_any *)next_allreduce, site, sendbuf, recvbuf, (int)count, datatype,
                                op, comm);
}

static int large_bcast(__typeof__(&PMPI_Bcast_c) next, const void *site, void *buffer, MPI_Count count,
                       MPI_Datatype datatype, int root, MPI_Comm comm)
{
    if (!fits(count))
        return watch_bcast(next, site, buffer, count, datatype, root, comm);
    return pat_dropin_bcast((pat_gate_any *)next_bcast, site, buffer, (int)count, datatype, root, comm);
}

static int large_gather(__typeof__(&PMPI_Gather_c) next, const void *site, const void *sendbuf,
                        MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                        MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    int rank = -1;
    if (!fits(recvcount) && comm != MPI_COMM_NULL)
        PMPI_Comm_rank(comm, &rank);
    if ((!fits(recvcount) && rank == root) || (sendbuf != MPI_IN_PLACE && !fits(sendcount)))
        return watch_gather(next, site, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                            comm);
    return pat_dropin_gather((pat_gate_any *)next_gather, site, sendbuf, (int)sendcount, sendtype, recvbuf,
                             (int)recvcount, recvtype, root, comm);
}

void pat_dropin_take_large(void)
{
    pat_dropin_set(PAT_WAY_LARGE, PAT_CALL_Allgather, (pat_gate_any *)large_allgather);
    pat_dropin_set(PAT_WAY_LARGE, PAT_CALL_Allreduce, (pat_gate_any *)large_allreduce);
    pat_dropin_set(PAT_WAY_LARGE, PAT_CALL_Bcast, (pat_gate_any *)large_bcast);
    pat_dropin_set(PAT_WAY_LARGE, PAT_CALL_Gather, (pat_gate_any *)large_gather);
}

void pat_dropin_watch_large(bool on)
{
    pat_dropin_set(PAT_WAY_LARGE, PAT_CALL_Allgatherv, on ? (pat_gate_any *)watch_allgatherv : NULL);
#define TAKE(name, lower, upper, parameters, arguments, bytes)
#define PASS(name, lower, upper, parameters, arguments, bytes)                                               \
    pat_dropin_set(PAT_WAY_LARGE, PAT_CALL_##name, on ? (pat_gate_any *)watch_##lower : NULL);
#define LARGE
#include "watched.h"
}

#else

void pat_dropin_take_large(void) {}

void pat_dropin_watch_large(bool on)
{
    (void)on;
}

#endif
