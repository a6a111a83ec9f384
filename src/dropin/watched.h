/*
 * watched.h — every collective that is taken over. TAKE: the library may run it itself; PASS: it is passed on.
 * Its names, parameters, arguments, and the bytes of a rank's buffer as far as one figure can tell. One list for all languages: who
 * includes it defines TAKE and PASS, and what a parameter of each kind is there; all of that is undefined again at the end.
 * LARGE: only calls that have a form with counts of type MPI_Count, in which displacements are of type MPI_Aint.
 */
#undef LIST
#define LIST(...) __VA_ARGS__
#ifndef LARGE
#define PLACES INTS
#else
#define PLACES AINTS
#endif
/* An operation, and its non-blocking form, which takes a request as well. */
#define BOTH(name, lower, upper, parameters, arguments, bytes)                                               \
    PASS(name, lower, upper, parameters, arguments, bytes)                                                   \
    ONLY(lower, upper, parameters, arguments, bytes)
#define ONLY(lower, upper, parameters, arguments, bytes)                                                     \
    PASS(I##lower, i##lower, I##upper, (LIST parameters, REQUEST request), (LIST arguments, request), bytes)

#define SEND     IN sendbuf, SIZE sendcount, TYPE sendtype
#define SENDV    IN sendbuf, SIZES sendcounts, PLACES sdispls
#define RECV     OUT recvbuf, SIZE recvcount, TYPE recvtype
#define RECVV    OUT recvbuf, SIZES recvcounts, PLACES rdispls
#define OPERANDS IN sendbuf, OUT recvbuf, SIZE count, TYPE datatype, OP op

TAKE(Allgather, allgather, ALLGATHER, (SEND, RECV, COMM comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), BYTES(recvcount, recvtype))
TAKE(Allgatherv, allgatherv, ALLGATHERV, (SEND, RECVV, TYPE recvtype, COMM comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
     IN_PLACE(sendbuf) ? 0 : BYTES(sendcount, sendtype))
TAKE(Bcast, bcast, BCAST, (OUT buffer, SIZE count, TYPE datatype, INT root, COMM comm),
     (buffer, count, datatype, root, comm), BYTES(count, datatype))
TAKE(Gather, gather, GATHER, (SEND, RECV, INT root, COMM comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
     IN_PLACE(sendbuf) ? BYTES(recvcount, recvtype) : BYTES(sendcount, sendtype))
TAKE(Allreduce, allreduce, ALLREDUCE, (OPERANDS, COMM comm), (sendbuf, recvbuf, count, datatype, op, comm),
     BYTES(count, datatype))

ONLY(allreduce, ALLREDUCE, (OPERANDS, COMM comm), (sendbuf, recvbuf, count, datatype, op, comm),
     BYTES(count, datatype))
ONLY(allgather, ALLGATHER, (SEND, RECV, COMM comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), BYTES(recvcount, recvtype))
ONLY(allgatherv, ALLGATHERV, (SEND, RECVV, TYPE recvtype, COMM comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
     IN_PLACE(sendbuf) ? 0 : BYTES(sendcount, sendtype))
ONLY(bcast, BCAST, (OUT buffer, SIZE count, TYPE datatype, INT root, COMM comm),
     (buffer, count, datatype, root, comm), BYTES(count, datatype))
ONLY(gather, GATHER, (SEND, RECV, INT root, COMM comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
     IN_PLACE(sendbuf) ? BYTES(recvcount, recvtype) : BYTES(sendcount, sendtype))

#ifndef LARGE
BOTH(Barrier, barrier, BARRIER, (COMM comm), (comm), 0)
#endif
BOTH(Gatherv, gatherv, GATHERV, (SEND, RECVV, TYPE recvtype, INT root, COMM comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, rdispls, recvtype, root, comm),
     IN_PLACE(sendbuf) ? 0 : BYTES(sendcount, sendtype))
BOTH(Scatter, scatter, SCATTER, (SEND, RECV, INT root, COMM comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
     IN_PLACE(recvbuf) ? BYTES(sendcount, sendtype) : BYTES(recvcount, recvtype))
BOTH(Scatterv, scatterv, SCATTERV, (SENDV, TYPE sendtype, RECV, INT root, COMM comm),
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcount, recvtype, root, comm),
     IN_PLACE(recvbuf) ? 0 : BYTES(recvcount, recvtype))
BOTH(Alltoall, alltoall, ALLTOALL, (SEND, RECV, COMM comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), BYTES(recvcount, recvtype))
BOTH(Alltoallv, alltoallv, ALLTOALLV, (SENDV, TYPE sendtype, RECVV, TYPE recvtype, COMM comm),
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm), 0)
BOTH(Alltoallw, alltoallw, ALLTOALLW, (SENDV, TYPES sendtypes, RECVV, TYPES recvtypes, COMM comm),
     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm), 0)
BOTH(Reduce, reduce, REDUCE, (OPERANDS, INT root, COMM comm),
     (sendbuf, recvbuf, count, datatype, op, root, comm), BYTES(count, datatype))
BOTH(Scan, scan, SCAN, (OPERANDS, COMM comm), (sendbuf, recvbuf, count, datatype, op, comm),
     BYTES(count, datatype))
BOTH(Exscan, exscan, EXSCAN, (OPERANDS, COMM comm), (sendbuf, recvbuf, count, datatype, op, comm),
     BYTES(count, datatype))
BOTH(Reduce_scatter, reduce_scatter, REDUCE_SCATTER,
     (IN sendbuf, OUT recvbuf, SIZES recvcounts, TYPE datatype, OP op, COMM comm),
     (sendbuf, recvbuf, recvcounts, datatype, op, comm), 0)
BOTH(Reduce_scatter_block, reduce_scatter_block, REDUCE_SCATTER_BLOCK, (OPERANDS, COMM comm),
     (sendbuf, recvbuf, count, datatype, op, comm), BYTES(count, datatype))

BOTH(Neighbor_allgather, neighbor_allgather, NEIGHBOR_ALLGATHER, (SEND, RECV, COMM comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), BYTES(recvcount, recvtype))
BOTH(Neighbor_allgatherv, neighbor_allgatherv, NEIGHBOR_ALLGATHERV, (SEND, RECVV, TYPE recvtype, COMM comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm), BYTES(sendcount, sendtype))
BOTH(Neighbor_alltoall, neighbor_alltoall, NEIGHBOR_ALLTOALL, (SEND, RECV, COMM comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), BYTES(recvcount, recvtype))
BOTH(Neighbor_alltoallv, neighbor_alltoallv, NEIGHBOR_ALLTOALLV,
     (SENDV, TYPE sendtype, RECVV, TYPE recvtype, COMM comm),
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm), 0)
BOTH(Neighbor_alltoallw, neighbor_alltoallw, NEIGHBOR_ALLTOALLW,
     (IN sendbuf, SIZES sendcounts, AINTS sdispls, TYPES sendtypes, OUT recvbuf, SIZES recvcounts,
      AINTS rdispls, TYPES recvtypes, COMM comm),
     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm), 0)

#undef TAKE
#undef PASS
#undef BOTH
#undef ONLY
#undef SEND
#undef SENDV
#undef RECV
#undef RECVV
#undef OPERANDS
#undef PLACES
#undef LARGE
#undef IN
#undef OUT
#undef INT
#undef INTS
#undef SIZE
#undef SIZES
#undef AINTS
#undef TYPE
#undef TYPES
#undef OP
#undef COMM
#undef REQUEST
#undef IN_PLACE
#undef BYTES
