/*
 * pat.h — the one public header of PAT, arrival-aware collectives on top of MPI.
 *
 * The words: a rank arrives when it calls a collective; what it receives of that collective before then is early data. A call
 * is run either by the MPI library or by plan: a plan is what one rank has to send, receive, copy and reduce. A round is one
 * run of a plan. What the algorithms are called and do: pat-info lists them.
 *
 * Error convention, stated once for every function below: the return value is MPI_SUCCESS or an MPI error
 * class; PAT_Error_string() gives its text, and for the last error of the calling thread also the detail
 * (the bad value and the accepted ones). No error is printed, and the library itself never ends the program. Arguments that MPI
 * itself would reject are handed to MPI unchanged: its verdict and the communicator's error handler stand. Errors of a
 * collective, of PAT_Allgather_init and its relatives, and of a request of PAT_Allgather_init that is started first go to the communicator's error handler, and errors
 * of MPI in PAT_UseAlg to the error handler of MPI_COMM_WORLD; MPI's default handler ends the program. While the
 * library is not started, PAT_Finalize, the milestones,
 * PAT_UseAlg, PAT_Allgather_init and its relatives, PAT_Open, PAT_Start and PAT_Get_counters return MPI_ERR_OTHER.
 *
 * Thread safety, unless a function says otherwise: as MPI at the thread level it was initialised with. With
 * MPI_THREAD_MULTIPLE different threads may use different communicators at once; one communicator is used by
 * one thread at a time, as MPI demands of its own collectives. PAT_Init, PAT_Finalize and PAT_UseAlg must not
 * run beside any other PAT call, nor beside the creation or release of a communicator.
 */
#ifndef PAT_H
#define PAT_H

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PAT_VERSION_MAJOR 0
#define PAT_VERSION_MINOR 2
#define PAT_VERSION_PATCH 0
/* One comparable number: 0.2.0 is 200. */
#define PAT_VERSION (PAT_VERSION_MAJOR * 10000 + PAT_VERSION_MINOR * 100 + PAT_VERSION_PATCH)

#if defined(__GNUC__)
#define PAT_PUBLIC __attribute__((visibility("default")))
#else
#define PAT_PUBLIC
#endif

/* ---- The library's life ---------------------------------------------------------------------------- */

/*
 * Start the library. Collective over MPI_COMM_WORLD, after MPI_Init or MPI_Init_thread, once.
 * Needs MPI_THREAD_MULTIPLE for early data; below that everything works, without early data.
 * Errors: MPI_ERR_OTHER before MPI_Init, after MPI_Finalize, or when already started; MPI_ERR_ARG on every
 * rank when a PAT_* variable is malformed or the ranks' settings differ.
 */
PAT_PUBLIC int PAT_Init(void);

/*
 * Stop the library: complete started requests, withdraw what was prepared for next calls, stop the background thread, free
 * everything. Collective over MPI_COMM_WORLD, before MPI_Finalize. Requests that are open no longer are; each must still be freed.
 * After it PAT_Init may be called again. A program that calls MPI_Finalize without it is shut down cleanly all the same; with MPICH not
 * always, where some ranks have freed a communicator and others have not.
 * Errors: MPI_ERR_OTHER when the library is not started or after MPI_Finalize; what MPI returned.
 */
PAT_PUBLIC int PAT_Finalize(void);

/*
 * Get the version of the library in use (the macros above tell the one compiled against). Callable at any time and from any
 * thread. Error: MPI_ERR_ARG for a null pointer.
 */
PAT_PUBLIC int PAT_Get_version(int *major, int *minor, int *patch);

/*
 * Returns the text for any error code. Callable at any time and from any thread. For the code last returned to the
 * calling thread the text also says what was wrong. The pointer stays valid until the thread's next PAT call.
 */
PAT_PUBLIC const char *PAT_Error_string(int errorcode);

/* ---- Milestones: when will this rank arrive? -------------------------------------------------------- */

/* The computation phase before the next collective starts now. A second one begins the phase anew. Local, does not block. */
PAT_PUBLIC int PAT_ProcessingStart(void);

/*
 * `percent` (0 < percent < 100, increasing within a phase) of the phase's work is done. Local, does not block.
 *
 * From it the background thread extrapolates when this rank will arrive, and tells this estimate to the other ranks of
 * the communicator in which the phase is likely to end, as the last phases did. It does so only where an algorithm is
 * in use that goes by estimates: bdr, bslb, gather_bsls, allreduce_converge, or auto where the choice depends on when
 * ranks come (docs/settings.md says when it does). A rank sends one estimate before each call: that of the last
 * PAT_Edge that comes early enough for all ranks to hear of it before the first rank calls, if this phase goes on as
 * the last one did. With allreduce_converge, after calls for which no rank gave an estimate, up to eight calls may pass
 * until estimates count again.
 * Errors: MPI_ERR_ARG for a percentage out of range or not above the last one, MPI_ERR_OTHER without a
 * PAT_ProcessingStart before it.
 */
PAT_PUBLIC int PAT_Edge(double percent);

/* The computation phase is over. Local, does not block. Error: MPI_ERR_OTHER without PAT_ProcessingStart. */
PAT_PUBLIC int PAT_ProcessingEnd(void);

/* ---- Choice of the algorithm ------------------------------------------------------------------------- */

/*
 * Choose a collective's algorithm by name, from the next call on; until then the collective's setting chooses, here PAT_ALG. For
 * the all-gather: auto (the default: relay or native, call by call, with milestones bdr too, or with a calibration as well any of them), native
 * (the MPI library's own), direct, bruck, ring, nex, lnbc, bdr, bslb, relay. The names of another collective's algorithms begin with
 * its own name, as in bcast_chain: see there. Collective over MPI_COMM_WORLD, between calls.
 * Errors, on every rank and with nothing changed: MPI_ERR_ARG when the ranks give different names, or an unknown one
 * (the error's text then lists the valid ones); MPI_ERR_REQUEST while a request of PAT_Allgather_init is started on some rank.
 */
PAT_PUBLIC int PAT_UseAlg(const char *name);

/* ---- All-gather ------------------------------------------------------------------------------------- */

/*
 * MPI_Allgather, argument by argument. Calls on inter-communicators are passed on to MPI, and so are all calls before PAT_Init and
 * after PAT_Finalize. A call is allowed while a persistent request (PAT_Allgather_init) is open on the communicator. While one is
 * started there, auto and native leave the call to MPI, and with another algorithm it returns MPI_ERR_REQUEST. MPI_Comm_free does
 * not wait for other members to free the communicator too.
 */
PAT_PUBLIC int PAT_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                             int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/*
 * MPI_Allgatherv in the same way and by the same algorithms. Where blocks do not lie one after the other in the receive buffer,
 * early data is copied once more. A call in which some block is empty may wait until all ranks have made the previous such call,
 * and MPI_Comm_free then waits for the other members.
 */
PAT_PUBLIC int PAT_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                              const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                              MPI_Comm comm);

/* ---- All-gather, persistent -------------------------------------------------------------------------- */

/*
 * A persistent request for an all-gather. It is open from PAT_Open to PAT_Start and started from then to PAT_Wait. Early data needs
 * no copy here: from PAT_Open to PAT_Wait the receive buffer is the library's, and other ranks' blocks may land in it before this
 * rank has called PAT_Start. Where PAT_Open comes later than 20 ms after PAT_Wait, blocks that come in before PAT_Open
 * are copied. A program that reads the last result while it computes should use two requests with two buffers in turn.
 *
 * One such request at a time may be open or started on a communicator. A PAT_Start without PAT_Open is allowed
 * and opens the request at that moment. Where some member has no background thread, a started request is the MPI library's own
 * non-blocking all-gather. With MPI_IN_PLACE this rank's own block may be written until PAT_Start.
 */
typedef struct pat_request *PAT_Request;
#define PAT_REQUEST_NULL ((PAT_Request)0)

/*
 * Make a request, which is neither open nor started. Collective over comm. The buffers must exist until PAT_Request_free; the
 * datatypes may be freed at once. Errors: MPI_ERR_ARG for wrong arguments, MPI_ERR_COMM for MPI_COMM_NULL, MPI_ERR_NO_MEM;
 * *request is then PAT_REQUEST_NULL.
 */
PAT_PUBLIC int PAT_Allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm, PAT_Request *request);

/*
 * From now on the receive buffer is the library's. Local, does not block. Errors: MPI_ERR_REQUEST for PAT_REQUEST_NULL
 * and when this request or another one of the communicator is open or started, MPI_ERR_COMM when the communicator was
 * freed.
 */
PAT_PUBLIC int PAT_Open(PAT_Request request);

/*
 * This rank has arrived: the send buffer is ready and is the library's until PAT_Wait. PAT_Start may wait for ranks
 * that are still in an earlier call on the communicator, and for no others. Errors: MPI_ERR_REQUEST for
 * PAT_REQUEST_NULL and when this request is started or another one of the communicator is open or started, MPI_ERR_COMM
 * when the communicator was freed.
 */
PAT_PUBLIC int PAT_Start(PAT_Request request);

/*
 * Returns when the result is complete in the receive buffer. Without a PAT_Start it returns at once, and an
 * opened request stays open. Where other collectives are called on the communicator between PAT_Start and PAT_Wait, PAT_Wait
 * must stand at the same place among them on all ranks: while the request is started they are chosen otherwise. Error: MPI_ERR_REQUEST for PAT_REQUEST_NULL.
 */
PAT_PUBLIC int PAT_Wait(PAT_Request request);

/*
 * Free a request and set the handle to PAT_REQUEST_NULL. An opened request may be freed: the library first moves early data out of
 * its buffer. Where it is passing a block on from there, it waits until the MPI library has taken the message, which waits for no other
 * rank's call (but where a file of Open MPI's parameters lowers an eager limit: then it may, if that rank's PAT_MEM is used up). Error:
 * MPI_ERR_REQUEST for a started request, which PAT_Wait must end first, and for PAT_REQUEST_NULL.
 */
PAT_PUBLIC int PAT_Request_free(PAT_Request *request);

/* ---- Collectives with a root ------------------------------------------------------------------------ */

/*
 * MPI_Bcast, argument by argument. PAT_UseAlg and PAT_ALG_BCAST choose: bcast_auto (the fastest by calibration, see
 * PAT_CALIBRATION, or bcast_native where there is none; the default), bcast_native (the MPI library's own), bcast_linear, bcast_chain,
 * bcast_kchain (four chains), bcast_binary, bcast_split (split-binary), bcast_binomial; the trees are Open
 * MPI's. Like MPI_Bcast it does not synchronise, but a rank waits before it gets more than 64 calls ahead of another (fewer, if
 * their messages are long), and MPI_Comm_free of a communicator that was used here may wait for its other members. Calls on
 * inter-communicators and those with messages of more than 512 MiB are passed on to MPI, and so are all calls before PAT_Init and
 * after PAT_Finalize. The first call on a communicator may wait for all its members.
 */
PAT_PUBLIC int PAT_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);

/*
 * MPI_Gather, argument by argument. PAT_UseAlg and PAT_ALG_GATHER choose: gather_auto (the default) and
 * gather_native as for PAT_Bcast, gather_together (all ranks at once), gather_linear (one after the other), gather_sync (linear, each rank sends when the root asks it), gather_binomial,
 * gather_bsls (as gather_sync, in the order of predicted arrival: the root's background thread takes blocks in while the root computes; a
 * call waits until every rank has called or given its PAT_Edge; while a request is started on the communicator it returns MPI_ERR_REQUEST).
 * Calls with a result of 2 GiB or more are passed on to MPI. With gather_binomial inner ranks of the tree need memory for their
 * subtree's blocks. What else PAT_Bcast says of waiting and of calls that are passed on holds here too.
 */
PAT_PUBLIC int PAT_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                          int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);

/*
 * MPI_Scatter, argument by argument. PAT_UseAlg and PAT_ALG_SCATTER choose: scatter_auto (the default, for now always scatter_native),
 * scatter_native (the MPI library's own), scatter_linear (the root sends all blocks at once), scatter_binomial. Calls whose blocks are 2 GiB
 * or more together are passed on to MPI. With scatter_binomial inner ranks of the tree need memory for their subtree's blocks. What else
 * PAT_Bcast says of waiting and of calls that are passed on holds here too.
 */
PAT_PUBLIC int PAT_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                           int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);

/*
 * MPI_Reduce, argument by argument. PAT_UseAlg and PAT_ALG_REDUCE choose: reduce_auto (the default, for now always reduce_native),
 * reduce_native (the MPI library's own), reduce_halving (every rank sums up a part, as with allreduce_halving, and sends it to the root),
 * reduce_binomial and reduce_chain, both in segments. An algorithm joins the vectors in an order that follows from the number of ranks, the
 * root and the count alone, with reduce_halving also from which ranks share a node. Inner ranks of the tree need memory for a vector, and with
 * reduce_halving the root needs it for one, all others for two. What PAT_Allreduce says of operations and types, and PAT_Bcast of waiting and
 * of calls that are passed on, holds here too.
 */
PAT_PUBLIC int PAT_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                          int root, MPI_Comm comm);

/* ---- All-reduce ------------------------------------------------------------------------------------- */

/*
 * MPI_Allreduce, argument by argument. PAT_UseAlg and PAT_ALG_ALLREDUCE choose: allreduce_auto (the default:
 * allreduce_native or allreduce_converge, whichever is measured to be faster), allreduce_native (the MPI library's
 * own), allreduce_doubling (recursive doubling), allreduce_ring (reduce-scatter and all-gather round a ring),
 * allreduce_halving (every rank sums up a part of the vector, and all parts are handed round; where nodes have equally many
 * ranks, contributions are joined inside nodes first), allreduce_converge. With the last one each rank sends its vector when it calls, in parts, to the ranks that join
 * these parts; the later a rank is expected to call, the smaller is the part that it joins. When a rank is expected
 * follows from the milestones of all ranks or, where no rank gives any, from when the ranks came to the last calls.
 *
 * An algorithm joins the vectors in an order that follows from the number of ranks and the count alone, with
 * allreduce_halving also from which ranks share a node. So all ranks get the same bits, and get them in every run (with
 * allreduce_halving, in every run in which the same ranks share nodes). allreduce_auto may choose otherwise for the same call in
 * another run, so it leaves floating-point numbers to the MPI library unless
 * PAT_REORDER is set. Only predefined operations on the predefined types for which MPI defines them run by plan. All
 * others, vectors of more than 512 MiB and calls on inter-communicators are passed on to MPI, and so are all calls
 * before PAT_Init and after PAT_Finalize.
 *
 * The first call on a communicator may wait for all its members. While a request is started on the
 * communicator, allreduce_auto leaves calls to MPI, and with an algorithm that is named they return MPI_ERR_REQUEST.
 */
PAT_PUBLIC int PAT_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                             MPI_Comm comm);

/* ---- All-to-all ------------------------------------------------------------------------------------- */

/*
 * MPI_Alltoall, argument by argument. PAT_UseAlg and PAT_ALG_ALLTOALL choose: alltoall_auto (the default, for now always
 * alltoall_native), alltoall_native (the MPI library's own), alltoall_linear (all blocks at once), alltoall_pairwise
 * (P-1 steps). With MPI_IN_PLACE the blocks are copied first, to memory that the communicator keeps. What PAT_Allgather
 * says of requests and of calls that are passed on holds here too.
 */
PAT_PUBLIC int PAT_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                            int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* MPI_Alltoallv, argument by argument. Always the MPI library's own. */
PAT_PUBLIC int PAT_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                             MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                             const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm);

/*
 * MPI_Gatherv and MPI_Scatterv, argument by argument. Always the MPI library's own.
 */
PAT_PUBLIC int PAT_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                           const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                           MPI_Comm comm);
PAT_PUBLIC int PAT_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                            MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                            int root, MPI_Comm comm);

/* ---- Reduce-scatter --------------------------------------------------------------------------------- */

/*
 * MPI_Reduce_scatter_block and MPI_Reduce_scatter, argument by argument. PAT_UseAlg and PAT_ALG_REDUCE_SCATTER choose:
 * reduce_scatter_auto (the default, for now always reduce_scatter_native), reduce_scatter_native (the MPI library's own),
 * reduce_scatter_halving (log2(P) steps, for any number of ranks; needs memory for P-2 blocks), reduce_scatter_pairwise (P-1 steps). Calls
 * that do not give all ranks equally many elements are passed on to MPI. With MPI_IN_PLACE the contribution is copied first. What PAT_Allreduce
 * says of operations and types, and (as of allreduce_halving) of the order of joining, and PAT_Allgather of requests and of calls that are passed
 * on, holds here too.
 */
PAT_PUBLIC int PAT_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
PAT_PUBLIC int PAT_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

/* ---- Non-blocking collectives ------------------------------------------------------------------------ */

/*
 * MPI_Iallgather and so on, argument by argument. The background thread moves the data while the program computes, which an MPI library
 * does only while the program is in one of its calls. *request is one of MPI's: MPI_Wait, MPI_Test and their relatives take it, alone or among
 * others, as does MPI_Request_free; MPI_Cancel refuses it. Several calls may be under way on a communicator, beside calls of all other kinds, and
 * are completed in any order.
 *
 * What PAT_UseAlg or the collective's setting names runs the call. If that goes by when ranks arrive, or chooses (auto,
 * bcast_auto, ...), it is the algorithm that takes least by its formula: on the link that blocking calls have measured on the communicator or PAT_LINK names, else on an Ethernet
 * of 1 Gbit/s (of a reduction of floating-point numbers always). With one that chooses, these calls are left to the MPI
 * library, since a plan would gain nothing: gathers, scatters, and PAT_Ialltoallv (but in place); those in which a rank receives less than 4 KiB (of a gather or a reduce: blocks or vectors of less); broadcasts of at most 32 KiB, and longer ones where nodes
 * have several ranks that are not numbered node by node; reductions where nodes have different numbers of ranks (but reduces where these are numbered node by node); broadcasts and reduces between two ranks, and other calls of two, but all-reduces and reduce-scatters, whose data the MPI library is known to
 * send without asking; and all where all ranks are on one node (unless PAT_LINK or a calibration says what messages take there). Where nodes have several
 * ranks, and equally many, a reduction that is not left to the MPI library sends only one sum of each part over the network per node.
 *
 * What is left is moved on by the background thread as well, with Open MPI and ranks on several nodes, where this rank gives or gets 4 KiB or more (in a broadcast 16): it tests MPI's own request, in place of which the program has one of the
 * library's. An error handler of the communicator may be called in that thread then, and must not wait for it.
 *
 * In PAT_Ialltoallv, PAT_Igatherv and PAT_Iscatterv a rank does not know how long the blocks of other ranks are. Only algorithms whose
 * messages go from the rank that gives a block to the one that keeps it can run them: alltoall_linear, alltoall_pairwise, gather_together, gather_linear, gather_sync, scatter_linear; with another one
 * that is named they are left to the MPI library. Blocks may be of any length there.
 *
 * Always left are those with arguments that no plan is for, as an operation that is not predefined, or counts of PAT_Ireduce_scatter that differ, and
 * those of a job some rank of which has no background thread. A reduction joins floating-point numbers in an order that follows from the number of
 * ranks, the root, the count, and which ranks share a node, unless PAT_REORDER is set; it need not be that of the blocking call or of the MPI library.
 *
 * With MPICH, which does not call this library when it looks for messages, algorithms that choose leave all these calls to it, and the first call on a communicator that is run by
 * one that is named waits for its other members. With Open MPI no such call waits for another rank. MPI_Comm_free completes what is under way, and so do PAT_Finalize and MPI_Finalize.
 *
 * Calls before PAT_Init and after PAT_Finalize, on inter-communicators, and with messages of more than 512 MiB (but in these three) are passed on to MPI. Where the program has
 * attached attributes to a datatype, their callbacks may run in the background thread when it was freed while a call was under way.
 *
 * An error in starting a call goes to the communicator's error handler. One on the way is returned by MPI_Wait, which first calls the error
 * handler that MPI has for requests of this kind: that of MPI_COMM_WORLD. It ends
 * all calls that are under way on the communicator, and MPI may write to their buffers still: they must exist until MPI_Finalize.
 */
PAT_PUBLIC int PAT_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                              int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
PAT_PUBLIC int PAT_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                               const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                               MPI_Comm comm, MPI_Request *request);
PAT_PUBLIC int PAT_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                          MPI_Request *request);
PAT_PUBLIC int PAT_Igather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                           int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                           MPI_Request *request);
PAT_PUBLIC int PAT_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm, MPI_Request *request);
PAT_PUBLIC int PAT_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                             int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
PAT_PUBLIC int PAT_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                              MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                              const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                              MPI_Request *request);
PAT_PUBLIC int PAT_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                            const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                            MPI_Comm comm, MPI_Request *request);
PAT_PUBLIC int PAT_Iscatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                             MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                             int root, MPI_Comm comm, MPI_Request *request);
PAT_PUBLIC int PAT_Iscatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                            int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                            MPI_Request *request);
PAT_PUBLIC int PAT_Ireduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                           int root, MPI_Comm comm, MPI_Request *request);
PAT_PUBLIC int PAT_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                         MPI_Request *request);
PAT_PUBLIC int PAT_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request);

/*
 * MPI_Ibarrier in the same way: an all-gather of a byte, which is run by what is named for all-gathers; algorithms that choose leave it to the MPI library. With MPICH it is always left. (So is the blocking barrier everywhere: whoever waits in it moves it on himself.) It counts as an all-gather.
 */
PAT_PUBLIC int PAT_Ibarrier(MPI_Comm comm, MPI_Request *request);

/* ---- Persistent requests for the other collectives ------------------------------------------------------- */

/*
 * Make a request for a collective, by the arguments of its MPI function. PAT_Start makes a non-blocking call with them, as PAT_Iallgatherv and so on do, and PAT_Wait completes it; PAT_Open
 * prepares nothing, since no data comes in before the call. Any number of these requests may be open or started on a communicator, and they are started in the same order on all its members.
 * Local. The communicator must exist at each PAT_Start; if it is freed while the request is started, MPI_Comm_free completes the call. Buffers, lists of counts and places (which stay as they are), and of a reduction the datatype and the operation must exist until
 * PAT_Request_free, of a call with a root between groups all datatypes. Elsewhere datatypes may be freed at once. Errors: MPI_ERR_ARG for a null pointer as `request`, MPI_ERR_COMM for MPI_COMM_NULL, MPI_ERR_OTHER while the library is not
 * started, MPI_ERR_NO_MEM. Most other wrong arguments PAT_Start finds. An error on the way goes to the error handler of MPI_COMM_WORLD, as that of a non-blocking call. That the communicator was freed nobody tells, and PAT_Finalize leaves an open request open.
 */
PAT_PUBLIC int PAT_Allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                   const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                                   MPI_Comm comm, PAT_Request *request);
PAT_PUBLIC int PAT_Bcast_init(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                              PAT_Request *request);
PAT_PUBLIC int PAT_Gather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                               int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                               PAT_Request *request);
PAT_PUBLIC int PAT_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                                  MPI_Op op, MPI_Comm comm, PAT_Request *request);
PAT_PUBLIC int PAT_Alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm, PAT_Request *request);
PAT_PUBLIC int PAT_Alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                  MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                                  const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                  PAT_Request *request);
PAT_PUBLIC int PAT_Gatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                                MPI_Comm comm, PAT_Request *request);
PAT_PUBLIC int PAT_Scatterv_init(const void *sendbuf, const int sendcounts[], const int displs[],
                                 MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                                 int root, MPI_Comm comm, PAT_Request *request);
PAT_PUBLIC int PAT_Scatter_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                PAT_Request *request);
PAT_PUBLIC int PAT_Reduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                               MPI_Op op, int root, MPI_Comm comm, PAT_Request *request);
PAT_PUBLIC int PAT_Reduce_scatter_block_init(const void *sendbuf, void *recvbuf, int recvcount,
                                             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                             PAT_Request *request);
PAT_PUBLIC int PAT_Reduce_scatter_init(const void *sendbuf, void *recvbuf, const int recvcounts[],
                                       MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, PAT_Request *request);
PAT_PUBLIC int PAT_Barrier_init(MPI_Comm comm, PAT_Request *request);

/* ---- Counters --------------------------------------------------------------------------------------- */

#define PAT_COUNTERS_MAX_ALGS 64

/* What the library did in this process since PAT_Init. Times are in nanoseconds. */
typedef struct PAT_Counters {
    int64_t calls;                               /* of collectives, all algorithms */
    int num_algs;                                /* entries used in the two arrays below */
    const char *alg_name[PAT_COUNTERS_MAX_ALGS]; /* static strings */
    int64_t alg_calls[PAT_COUNTERS_MAX_ALGS];    /* calls that each algorithm ran; calls of no bytes, of one
                                                    rank or on inter-communicators count for native */
    int64_t bytes_received;                      /* user bytes received from other ranks, in calls by plan */
    int64_t bytes_early;  /* of these, what MPI had told of before this rank had arrived */
    int64_t bytes_copied; /* user bytes copied inside this process, own block included */
    int64_t wait_ns;      /* time that callers spent waiting for plans to end, in MPI_Comm_free too; MPI's own
                             calls do not count */
    int64_t thread_cpu_ns;    /* processor time of the background thread */
    int64_t thread_wakeups;   /* how often the background thread woke */
    int64_t plans_void;       /* rounds that were prepared and thrown away, because another call came */
    int64_t estimates;        /* calls for which this rank had sent an estimate, after a PAT_Edge */
    int64_t estimates_off_ns; /* by how much these estimates were wrong, early or late; the sum of all */
} PAT_Counters;

/*
 * Fill in *counters. Local; any thread may call it. Errors: MPI_ERR_ARG for a null pointer, MPI_ERR_OTHER when the library is not
 * started; all is then 0.
 */
PAT_PUBLIC int PAT_Get_counters(PAT_Counters *counters);

#ifdef __cplusplus
}
#endif

#endif
