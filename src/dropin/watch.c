/*
 * watch.c — all other collectives, blocking and not: passed on as they are, and timed when a report is asked for.
 */
#include "dropin.h"

int64_t pat_dropin_bytes(int count, MPI_Datatype type)
{
    int size;
    return count > 0 && type != MPI_DATATYPE_NULL && PMPI_Type_size(type, &size) == MPI_SUCCESS && size > 0
               ? (int64_t)count * size
               : 0;
}

/* A function that does nothing but pass on. `bytes`: of a rank's buffer, as far as one figure can tell. */
#define PASS(name, parameters, arguments, bytes)                                                             \
    int MPI_##name parameters                                                                                \
    {                                                                                                        \
        if (!pat_dropin_reports)                                                                             \
            return PAT_NEXT(name) arguments;                                                                 \
        const int64_t start = pat_clock_local_ns();                                                          \
        const int rc = PAT_NEXT(name) arguments;                                                             \
        pat_sites_add(__builtin_return_address(0), "MPI_" #name, bytes, pat_clock_local_ns() - start, NULL); \
        return rc;                                                                                           \
    }

#define LIST(...) __VA_ARGS__
/* An operation, and its non-blocking form, which takes a request as well. */
#define BOTH(name, iname, parameters, arguments, bytes)                                                      \
    PASS(name, (LIST parameters), (LIST arguments), bytes)                                                   \
    ONLY(iname, parameters, arguments, bytes)
#define ONLY(iname, parameters, arguments, bytes)                                                            \
    PASS(iname, (LIST parameters, MPI_Request * request), (LIST arguments, request), bytes)

#define SEND   const void *sendbuf, int sendcount, MPI_Datatype sendtype
#define SENDV  const void *sendbuf, const int sendcounts[], const int sdispls[]
#define RECV   void *recvbuf, int recvcount, MPI_Datatype recvtype
#define REDUCE const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op

ONLY(Iallgather, (SEND, RECV, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
     pat_dropin_bytes(recvcount, recvtype))
ONLY(Ibcast, (void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm),
     (buffer, count, datatype, root, comm), pat_dropin_bytes(count, datatype))
ONLY(Igather, (SEND, RECV, int root, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
     pat_dropin_bytes(sendbuf == MPI_IN_PLACE ? recvcount : sendcount,
                      sendbuf == MPI_IN_PLACE ? recvtype : sendtype))

BOTH(Barrier, Ibarrier, (MPI_Comm comm), (comm), 0)
ONLY(Iallgatherv,
     (SEND, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
     sendbuf == MPI_IN_PLACE ? 0 : pat_dropin_bytes(sendcount, sendtype))
BOTH(Gatherv, Igatherv,
     (SEND, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
      MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm),
     sendbuf == MPI_IN_PLACE ? 0 : pat_dropin_bytes(sendcount, sendtype))
BOTH(Scatter, Iscatter, (SEND, RECV, int root, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
     recvbuf == MPI_IN_PLACE ? pat_dropin_bytes(sendcount, sendtype) : pat_dropin_bytes(recvcount, recvtype))
BOTH(Scatterv, Iscatterv,
     (const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, RECV, int root,
      MPI_Comm comm),
     (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm),
     recvbuf == MPI_IN_PLACE ? 0 : pat_dropin_bytes(recvcount, recvtype))
BOTH(Alltoall, Ialltoall, (SEND, RECV, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
     pat_dropin_bytes(recvcount, recvtype))
BOTH(Alltoallv, Ialltoallv,
     (SENDV, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
      MPI_Datatype recvtype, MPI_Comm comm),
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm), 0)
BOTH(Alltoallw, Ialltoallw,
     (SENDV, const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[],
      const MPI_Datatype recvtypes[], MPI_Comm comm),
     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm), 0)
BOTH(Allreduce, Iallreduce, (REDUCE, MPI_Comm comm), (sendbuf, recvbuf, count, datatype, op, comm),
     pat_dropin_bytes(count, datatype))
BOTH(Reduce, Ireduce, (REDUCE, int root, MPI_Comm comm), (sendbuf, recvbuf, count, datatype, op, root, comm),
     pat_dropin_bytes(count, datatype))
BOTH(Scan, Iscan, (REDUCE, MPI_Comm comm), (sendbuf, recvbuf, count, datatype, op, comm),
     pat_dropin_bytes(count, datatype))
BOTH(Exscan, Iexscan, (REDUCE, MPI_Comm comm), (sendbuf, recvbuf, count, datatype, op, comm),
     pat_dropin_bytes(count, datatype))
BOTH(Reduce_scatter, Ireduce_scatter,
     (const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
      MPI_Comm comm),
     (sendbuf, recvbuf, recvcounts, datatype, op, comm), 0)
BOTH(Reduce_scatter_block, Ireduce_scatter_block,
     (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
     (sendbuf, recvbuf, recvcount, datatype, op, comm), pat_dropin_bytes(recvcount, datatype))
