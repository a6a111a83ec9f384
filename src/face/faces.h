/*
 * faces.h — every collective function of MPI as programs call it: its names, parameters, arguments, and the bytes of a rank's buffer, 0
 * where one number cannot say them. One list for all languages and for the library's own calls. A file that includes it first defines
 * what a row expands to, and what a parameter of each kind is there (as faces_c.h does); all of that is undefined again at the end.
 *  TAKE(name, lower, upper, op, kind, parameters, arguments, bytes): the library may run it itself, as the collective PAT_OP_op; `kind` says
 *  which arguments there are (PAT_ARGS_kind in face.h). Where TAKE is not defined, such a row is a PASS; so it is with START.
 *  START(lower, upper, parameters, arguments, bytes): the same for the non-blocking form of a TAKE, MPI_Iallgather and so on, which has a request as well;
 *  `parameters` and `arguments` are those of the TAKE.
 *  BEGUN(name, lower, upper, op, kind, parameters, arguments, bytes): its non-blocking form is a START, and it is itself a PASS. Where BEGUN is not defined, such a row is these two.
 *  PASS(name, lower, upper, parameters, arguments, bytes): it is always passed on. Where PASS is not defined, such a row is nothing.
 *  PASS_BEGUN: the same of a non-blocking one, whose last argument is the request. Where it is not defined, such a row is a PASS.
 *  KEPT(name, lower, upper, parameters, arguments, bytes, at_root): the persistent form of a TAKE or a BEGUN, MPI_Allgather_init and so on, which has an info and a request as
 *  well; `parameters` and `arguments` are those of the TAKE, and at_root is the root, negative where there is none. Where KEPT is not defined, such a row is a PASS_KEPT.
 *  KEPT_LISTS(name, lower, upper, parameters, arguments, bytes, at_root): the same of one that is a TAKE only without large counts. Where it is not defined, such a row is a KEPT.
 *  PASS_KEPT(name, lower, upper, parameters, arguments, bytes): the same of a PASS. Where it is not defined, such a row is nothing.
 * Each argument of a TAKE is wrapped in A_BUFFER, A_COUNT, A_COUNTS, A_TYPE, A_OP or A_COMM, of which all or none may be defined; a root
 * is an A_COUNT. Where they are not, all arguments are wrapped in ARGUMENT, and stand as they are where that is not defined either.
 * LISTED: the bytes that this rank has in a list of counts; 0 where it is not defined.
 * With LARGE defined, the list has only functions that have a form with counts of type MPI_Count, and displacements are of type MPI_Aint.
 */
#ifndef PASS
#define PASS(name, lower, upper, parameters, arguments, bytes)
#endif
#ifndef PASS_BEGUN
#define PASS_BEGUN(name, lower, upper, parameters, arguments, bytes)                                         \
    PASS(name, lower, upper, parameters, arguments, bytes)
#endif
#ifndef PASS_KEPT
#define PASS_KEPT(name, lower, upper, parameters, arguments, bytes)
#endif
#ifndef KEPT
#define KEPT(name, lower, upper, parameters, arguments, bytes, at_root)                                      \
    PASS_KEPT(name, lower, upper, parameters, arguments, bytes)
#endif
#ifndef KEPT_LISTS
#define KEPT_LISTS(name, lower, upper, parameters, arguments, bytes, at_root)                                \
    KEPT(name, lower, upper, parameters, arguments, bytes, at_root)
#endif
#ifndef TAKE
#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)                                     \
    PASS(name, lower, upper, parameters, arguments, bytes)
#endif
#ifndef START
#define START(lower, upper, parameters, arguments, bytes)                                                    \
    PASS_BEGUN(I##lower, i##lower, I##upper, (LIST parameters, REQUEST request), (LIST arguments, request),  \
               bytes)
#endif
#ifndef BEGUN
#define BEGUN(name, lower, upper, op, kind, parameters, arguments, bytes)                                    \
    PASS(name, lower, upper, parameters, arguments, bytes)                                                   \
    START(lower, upper, parameters, arguments, bytes)
#endif
#ifndef ARGUMENT
#define ARGUMENT(x) x
#endif
#ifndef A_BUFFER
#define A_BUFFER(x) ARGUMENT(x)
#define A_COUNT(x)  ARGUMENT(x)
#define A_COUNTS(x) ARGUMENT(x)
#define A_TYPE(x)   ARGUMENT(x)
#define A_OP(x)     ARGUMENT(x)
#define A_COMM(x)   ARGUMENT(x)
#endif
#ifndef LISTED
#define LISTED(counts, type, comm) 0
#endif
#undef LIST
#define LIST(...) __VA_ARGS__
#ifndef LARGE
#define PLACES INTS
#else
#define PLACES AINTS
#endif
/* A collective function, and its non-blocking and its persistent form, which take a request as well. */
#define ALL_PASS(name, lower, upper, parameters, arguments, bytes)                                           \
    BOTH_PASS(name, lower, upper, parameters, arguments, bytes)                                              \
    PASS_KEPT(name, lower, upper, parameters, arguments, bytes)
/* The same where the forms without large counts are in a TAKES: a rank need not know in which form another one makes its request. */
#define ALL_PASS_KEPT(name, lower, upper, parameters, arguments, bytes, at_root)                             \
    BOTH_PASS(name, lower, upper, parameters, arguments, bytes)                                              \
    KEPT_LISTS(name, lower, upper, parameters, arguments, bytes, at_root)
#define BOTH_PASS(name, lower, upper, parameters, arguments, bytes)                                          \
    PASS(name, lower, upper, parameters, arguments, bytes)                                                   \
    PASS_BEGUN(I##lower, i##lower, I##upper, (LIST parameters, REQUEST request), (LIST arguments, request),  \
               bytes)
#define TAKES(name, lower, upper, op, kind, parameters, arguments, bytes)                                    \
    TAKES_ROOTED(name, lower, upper, op, kind, parameters, arguments, bytes, -1)
#define TAKES_ROOTED(name, lower, upper, op, kind, parameters, arguments, bytes, at_root)                    \
    TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)                                         \
    START(lower, upper, parameters, arguments, bytes)                                                        \
    KEPT(name, lower, upper, parameters, arguments, bytes, at_root)

#define SEND     IN sendbuf, SIZE sendcount, TYPE sendtype
#define SENDV    IN sendbuf, SIZES sendcounts, PLACES sdispls
#define RECV     OUT recvbuf, SIZE recvcount, TYPE recvtype
#define RECVV    OUT recvbuf, SIZES recvcounts, PLACES rdispls
#define OPERANDS IN sendbuf, OUT recvbuf, SIZE count, TYPE datatype, OP op

#define THERE_AND_BACK                                                                                       \
    A_BUFFER(sendbuf), A_COUNT(sendcount), A_TYPE(sendtype), A_BUFFER(recvbuf), A_COUNT(recvcount),          \
        A_TYPE(recvtype)

TAKES(Allgather, allgather, ALLGATHER, ALLGATHER, BLOCKS, (SEND, RECV, COMM comm),
      (THERE_AND_BACK, A_COMM(comm)), BYTES(recvcount, recvtype))
#ifndef LARGE
TAKES(Allgatherv, allgatherv, ALLGATHERV, ALLGATHER, LISTS, (SEND, RECVV, TYPE recvtype, COMM comm),
      (A_BUFFER(sendbuf), A_COUNT(sendcount), A_TYPE(sendtype), A_BUFFER(recvbuf), A_COUNTS(recvcounts),
       A_COUNTS(rdispls), A_TYPE(recvtype), A_COMM(comm)),
      IN_PLACE(sendbuf) ? LISTED(recvcounts, recvtype, comm) : BYTES(sendcount, sendtype))
#else
ALL_PASS_KEPT(Allgatherv, allgatherv, ALLGATHERV, (SEND, RECVV, TYPE recvtype, COMM comm),
              (sendbuf, sendcount, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
              IN_PLACE(sendbuf) ? 0 : BYTES(sendcount, sendtype), -1)
#endif
TAKES_ROOTED(Bcast, bcast, BCAST, BCAST, BUFFER, (OUT buffer, SIZE count, TYPE datatype, INT root, COMM comm),
             (A_BUFFER(buffer), A_COUNT(count), A_TYPE(datatype), A_COUNT(root), A_COMM(comm)),
             BYTES(count, datatype), GIVEN(root))
TAKES_ROOTED(Gather, gather, GATHER, GATHER, BLOCKS, (SEND, RECV, INT root, COMM comm),
             (THERE_AND_BACK, A_COUNT(root), A_COMM(comm)),
             IN_PLACE(sendbuf) ? BYTES(recvcount, recvtype) : BYTES(sendcount, sendtype), GIVEN(root))
TAKES(Allreduce, allreduce, ALLREDUCE, ALLREDUCE, VECTOR, (OPERANDS, COMM comm),
      (A_BUFFER(sendbuf), A_BUFFER(recvbuf), A_COUNT(count), A_TYPE(datatype), A_OP(op), A_COMM(comm)),
      BYTES(count, datatype))
TAKES(Alltoall, alltoall, ALLTOALL, ALLTOALL, BLOCKS, (SEND, RECV, COMM comm), (THERE_AND_BACK, A_COMM(comm)),
      BYTES(recvcount, recvtype))
#ifndef LARGE
TAKES(Alltoallv, alltoallv, ALLTOALLV, ALLTOALL, PAIRS,
      (SENDV, TYPE sendtype, RECVV, TYPE recvtype, COMM comm),
      (A_BUFFER(sendbuf), A_COUNTS(sendcounts), A_COUNTS(sdispls), A_TYPE(sendtype), A_BUFFER(recvbuf),
       A_COUNTS(recvcounts), A_COUNTS(rdispls), A_TYPE(recvtype), A_COMM(comm)),
      0)
TAKES_ROOTED(Gatherv, gatherv, GATHERV, GATHER, PAIRS, (SEND, RECVV, TYPE recvtype, INT root, COMM comm),
             (A_BUFFER(sendbuf), A_COUNT(sendcount), A_TYPE(sendtype), A_BUFFER(recvbuf),
              A_COUNTS(recvcounts), A_COUNTS(rdispls), A_TYPE(recvtype), A_COUNT(root), A_COMM(comm)),
             IN_PLACE(sendbuf) ? 0 : BYTES(sendcount, sendtype), GIVEN(root))
TAKES_ROOTED(Scatterv, scatterv, SCATTERV, SCATTER, PAIRS, (SENDV, TYPE sendtype, RECV, INT root, COMM comm),
             (A_BUFFER(sendbuf), A_COUNTS(sendcounts), A_COUNTS(sdispls), A_TYPE(sendtype), A_BUFFER(recvbuf),
              A_COUNT(recvcount), A_TYPE(recvtype), A_COUNT(root), A_COMM(comm)),
             IN_PLACE(recvbuf) ? 0 : BYTES(recvcount, recvtype), GIVEN(root))
#else
ALL_PASS_KEPT(Alltoallv, alltoallv, ALLTOALLV, (SENDV, TYPE sendtype, RECVV, TYPE recvtype, COMM comm),
              (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm), 0, -1)
ALL_PASS_KEPT(Gatherv, gatherv, GATHERV, (SEND, RECVV, TYPE recvtype, INT root, COMM comm),
              (sendbuf, sendcount, sendtype, recvbuf, recvcounts, rdispls, recvtype, root, comm),
              IN_PLACE(sendbuf) ? 0 : BYTES(sendcount, sendtype), GIVEN(root))
ALL_PASS_KEPT(Scatterv, scatterv, SCATTERV, (SENDV, TYPE sendtype, RECV, INT root, COMM comm),
              (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcount, recvtype, root, comm),
              IN_PLACE(recvbuf) ? 0 : BYTES(recvcount, recvtype), GIVEN(root))
#endif
TAKES_ROOTED(Scatter, scatter, SCATTER, SCATTER, BLOCKS, (SEND, RECV, INT root, COMM comm),
             (THERE_AND_BACK, A_COUNT(root), A_COMM(comm)),
             IN_PLACE(recvbuf) ? BYTES(sendcount, sendtype) : BYTES(recvcount, recvtype), GIVEN(root))
TAKES_ROOTED(Reduce, reduce, REDUCE, REDUCE, VECTOR, (OPERANDS, INT root, COMM comm),
             (A_BUFFER(sendbuf), A_BUFFER(recvbuf), A_COUNT(count), A_TYPE(datatype), A_OP(op), A_COUNT(root),
              A_COMM(comm)),
             BYTES(count, datatype), GIVEN(root))
TAKES(Reduce_scatter_block, reduce_scatter_block, REDUCE_SCATTER_BLOCK, REDUCE_SCATTER, VECTOR,
      (OPERANDS, COMM comm),
      (A_BUFFER(sendbuf), A_BUFFER(recvbuf), A_COUNT(count), A_TYPE(datatype), A_OP(op), A_COMM(comm)),
      BYTES(count, datatype))
#ifndef LARGE
TAKES(Reduce_scatter, reduce_scatter, REDUCE_SCATTER, REDUCE_SCATTER, PARTS,
      (IN sendbuf, OUT recvbuf, SIZES recvcounts, TYPE datatype, OP op, COMM comm),
      (A_BUFFER(sendbuf), A_BUFFER(recvbuf), A_COUNTS(recvcounts), A_TYPE(datatype), A_OP(op), A_COMM(comm)),
      LISTED(recvcounts, datatype, comm))
#else
ALL_PASS_KEPT(Reduce_scatter, reduce_scatter, REDUCE_SCATTER,
              (IN sendbuf, OUT recvbuf, SIZES recvcounts, TYPE datatype, OP op, COMM comm),
              (sendbuf, recvbuf, recvcounts, datatype, op, comm), 0, -1)
#endif

#ifndef LARGE
BEGUN(Barrier, barrier, BARRIER, ALLGATHER, NOTHING, (COMM comm), (A_COMM(comm)), 0)
KEPT(Barrier, barrier, BARRIER, (COMM comm), (A_COMM(comm)), 0, -1)
#endif
ALL_PASS(Alltoallw, alltoallw, ALLTOALLW, (SENDV, TYPES sendtypes, RECVV, TYPES recvtypes, COMM comm),
         (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm), 0)
ALL_PASS(Scan, scan, SCAN, (OPERANDS, COMM comm), (sendbuf, recvbuf, count, datatype, op, comm),
         BYTES(count, datatype))
ALL_PASS(Exscan, exscan, EXSCAN, (OPERANDS, COMM comm), (sendbuf, recvbuf, count, datatype, op, comm),
         BYTES(count, datatype))

ALL_PASS(Neighbor_allgather, neighbor_allgather, NEIGHBOR_ALLGATHER, (SEND, RECV, COMM comm),
         (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), BYTES(recvcount, recvtype))
ALL_PASS(Neighbor_allgatherv, neighbor_allgatherv, NEIGHBOR_ALLGATHERV,
         (SEND, RECVV, TYPE recvtype, COMM comm),
         (sendbuf, sendcount, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
         BYTES(sendcount, sendtype))
ALL_PASS(Neighbor_alltoall, neighbor_alltoall, NEIGHBOR_ALLTOALL, (SEND, RECV, COMM comm),
         (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), BYTES(recvcount, recvtype))
ALL_PASS(Neighbor_alltoallv, neighbor_alltoallv, NEIGHBOR_ALLTOALLV,
         (SENDV, TYPE sendtype, RECVV, TYPE recvtype, COMM comm),
         (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm), 0)
ALL_PASS(Neighbor_alltoallw, neighbor_alltoallw, NEIGHBOR_ALLTOALLW,
         (IN sendbuf, SIZES sendcounts, AINTS sdispls, TYPES sendtypes, OUT recvbuf, SIZES recvcounts,
          AINTS rdispls, TYPES recvtypes, COMM comm),
         (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm), 0)

#undef TAKE
#undef TAKES
#undef TAKES_ROOTED
#undef START
#undef BEGUN
#undef KEPT
#undef KEPT_LISTS
#undef PASS
#undef PASS_BEGUN
#undef PASS_KEPT
#undef ALL_PASS
#undef ALL_PASS_KEPT
#undef BOTH_PASS
#undef SEND
#undef SENDV
#undef RECV
#undef RECVV
#undef OPERANDS
#undef PLACES
#undef THERE_AND_BACK
#undef ARGUMENT
#undef A_BUFFER
#undef A_COUNT
#undef A_COUNTS
#undef A_TYPE
#undef A_OP
#undef A_COMM
#undef LISTED
#undef LARGE
#include "faces_end.h"
