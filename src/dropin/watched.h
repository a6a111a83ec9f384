/*
 * watched.h — every collective that is passed on: its names, parameters, arguments, and the bytes of a rank's buffer as far as
 * one figure can tell. One list for all languages: who includes it defines PASS, and what a parameter of each kind is there.
 */
#define LIST(...) __VA_ARGS__
/* An operation, and its non-blocking form, which takes a request as well. */
#define BOTH(name, lower, upper, parameters, arguments, bytes)                                               \
    PASS(name, lower, upper, parameters, arguments, bytes)                                                   \
    ONLY(lower, upper, parameters, arguments, bytes)
#define ONLY(lower, upper, parameters, arguments, bytes)                                                     \
    PASS(I##lower, i##lower, I##upper, (LIST parameters, REQUEST request), (LIST arguments, request), bytes)

#define SEND     IN sendbuf, INT sendcount, TYPE sendtype
#define SENDV    IN sendbuf, INTS sendcounts, INTS sdispls
#define RECV     OUT recvbuf, INT recvcount, TYPE recvtype
#define RECVV    OUT recvbuf, INTS recvcounts, INTS rdispls
#define OPERANDS IN sendbuf, OUT recvbuf, INT count, TYPE datatype, OP op

/* Run by the library when they block: collectives.c. */
ONLY(allgather, ALLGATHER, (SEND, RECV, COMM comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), BYTES(recvcount, recvtype))
ONLY(allgatherv, ALLGATHERV, (SEND, RECVV, TYPE recvtype, COMM comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
     IN_PLACE(sendbuf) ? 0 : BYTES(sendcount, sendtype))
ONLY(bcast, BCAST, (OUT buffer, INT count, TYPE datatype, INT root, COMM comm),
     (buffer, count, datatype, root, comm), BYTES(count, datatype))
ONLY(gather, GATHER, (SEND, RECV, INT root, COMM comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
     IN_PLACE(sendbuf) ? BYTES(recvcount, recvtype) : BYTES(sendcount, sendtype))

BOTH(Barrier, barrier, BARRIER, (COMM comm), (comm), 0)
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
BOTH(Allreduce, allreduce, ALLREDUCE, (OPERANDS, COMM comm), (sendbuf, recvbuf, count, datatype, op, comm),
     BYTES(count, datatype))
BOTH(Reduce, reduce, REDUCE, (OPERANDS, INT root, COMM comm),
     (sendbuf, recvbuf, count, datatype, op, root, comm), BYTES(count, datatype))
BOTH(Scan, scan, SCAN, (OPERANDS, COMM comm), (sendbuf, recvbuf, count, datatype, op, comm),
     BYTES(count, datatype))
BOTH(Exscan, exscan, EXSCAN, (OPERANDS, COMM comm), (sendbuf, recvbuf, count, datatype, op, comm),
     BYTES(count, datatype))
BOTH(Reduce_scatter, reduce_scatter, REDUCE_SCATTER,
     (IN sendbuf, OUT recvbuf, INTS recvcounts, TYPE datatype, OP op, COMM comm),
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
     (IN sendbuf, INTS sendcounts, AINTS sdispls, TYPES sendtypes, OUT recvbuf, INTS recvcounts,
      AINTS rdispls, TYPES recvtypes, COMM comm),
     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm), 0)
