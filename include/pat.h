/*
 * pat.h — the one public header of PAT, arrival-aware collectives on top of MPI.
 *
 * Error convention, stated once for every function below: the return value is MPI_SUCCESS or an MPI error
 * class; PAT_Error_string() gives its text, and for the last error of the calling thread also the detail
 * (the bad value and the accepted ones). Nothing is printed and the library never exits. Arguments that MPI
 * itself would reject are handed to MPI unchanged: its verdict and the communicator's error handler stand.
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
 * Stop the library: settles every communicator, stops the background thread, frees everything. Collective
 * over MPI_COMM_WORLD, before MPI_Finalize. Opened requests are closed. After it PAT_Init may be called
 * again. A program that calls MPI_Finalize without it is shut down cleanly all the same.
 */
PAT_PUBLIC int PAT_Finalize(void);

/* Version of the library in use (the macros above tell the one compiled against). Callable at any time. */
PAT_PUBLIC int PAT_Get_version(int *major, int *minor, int *patch);

/*
 * Text for any error code, callable at any time and from any thread. For the code last returned to the
 * calling thread the text also says what was wrong. The pointer stays valid until the thread's next PAT call.
 */
PAT_PUBLIC const char *PAT_Error_string(int errorcode);

/* ---- Milestones: when will this rank arrive? -------------------------------------------------------- */

/* The computation phase before the next collective starts now. Local, does not block. */
PAT_PUBLIC int PAT_ProcessingStart(void);

/*
 * `percent` (0 < percent < 100, increasing within a phase) of the phase's work is done. The background
 * thread extrapolates this rank's arrival and exchanges it with the other ranks of the communicator last
 * used. The first Edge of a phase is the one that is exchanged. Local, does not block.
 * Errors: MPI_ERR_ARG for a percentage out of range or not above the last one, MPI_ERR_OTHER without a
 * PAT_ProcessingStart before it.
 */
PAT_PUBLIC int PAT_Edge(double percent);

/* The computation phase is over. Local, does not block. Error: MPI_ERR_OTHER without PAT_ProcessingStart. */
PAT_PUBLIC int PAT_ProcessingEnd(void);

/* ---- All-gather ------------------------------------------------------------------------------------- */

/*
 * Choose an algorithm by name. For the all-gather: auto (relay or native, call by call), native, ring, nex, lnbc,
 * bdr, bslb, relay. For the other operations names begin with what they are for: see below. Collective over
 * MPI_COMM_WORLD; a mismatch of the names is MPI_ERR_ARG on every rank, and nothing changes (PAT_Init has compared the
 * settings). MPI_ERR_REQUEST on every rank while a request is started on some. An unknown name is MPI_ERR_ARG, its text lists
 * the valid ones.
 */
PAT_PUBLIC int PAT_UseAlg(const char *name);

/*
 * MPI_Allgather, argument by argument; inter-communicators are passed on to MPI. Allowed while a request is
 * open on the communicator. While one is started there, a call that a plan is to run is MPI_ERR_REQUEST, and one that is left to
 * MPI is allowed. Before PAT_Init and after PAT_Finalize it is MPI_Allgather. With auto, bdr and bslb, MPI_Comm_free of a
 * communicator that was used here may wait for its other members.
 */
PAT_PUBLIC int PAT_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                             int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/*
 * MPI_Allgatherv in the same way and by the same algorithms. Every rank knows how long every block is, so nothing more is
 * exchanged. Early data needs a second copy where blocks do not lie one after the other in the receive buffer. A call in which
 * some block is empty may wait until all ranks have made the last such call, and MPI_Comm_free then waits for the other members.
 */
PAT_PUBLIC int PAT_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                              const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                              MPI_Comm comm);

/* ---- All-gather, persistent -------------------------------------------------------------------------- */

/*
 * Persistent form. Early data needs no copy here: from PAT_Open to PAT_Wait the receive buffer is the
 * library's, and other ranks' blocks may land in it before this rank has called PAT_Start. Programs that
 * read the last result while they compute alternate two requests with two buffers.
 *
 * One request at a time may be open or started on a communicator. A PAT_Start without PAT_Open is allowed
 * and opens the request at that moment. Where some member has no background thread,
 * a started round is the MPI library's own non-blocking all-gather. With MPI_IN_PLACE the own block may
 * be written until PAT_Start.
 */
typedef struct pat_request *PAT_Request;
#define PAT_REQUEST_NULL ((PAT_Request)0)

/* Collective over comm. The arguments are kept until PAT_Request_free; datatypes may be freed at once. */
PAT_PUBLIC int PAT_Allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm, PAT_Request *request);

/* From now on the receive buffer is the library's. Local, does not block. */
PAT_PUBLIC int PAT_Open(PAT_Request request);

/* This rank has arrived: the send buffer is ready and is the library's until PAT_Wait. Does not wait for
 * others, but for ranks that are still in an earlier call on the communicator. */
PAT_PUBLIC int PAT_Start(PAT_Request request);

/*
 * Returns when the result is complete in the receive buffer. Without a PAT_Start it returns at once, and an
 * opened request stays open.
 */
PAT_PUBLIC int PAT_Wait(PAT_Request request);

/*
 * Free a request and set the handle to PAT_REQUEST_NULL. An opened request may be freed: the library then
 * lets go of the buffer first, which may take some tens of milliseconds when a block is just being passed on from
 * there (where the next rank's PAT_MEM is used up, until that rank calls). A started one must be waited for: MPI_ERR_REQUEST.
 */
PAT_PUBLIC int PAT_Request_free(PAT_Request *request);

/* ---- Operations with a root ------------------------------------------------------------------------- */

/*
 * MPI_Bcast, argument by argument. PAT_UseAlg and PAT_ALG_BCAST choose: bcast_auto (the fastest by PAT_CALIBRATION,
 * without one bcast_native; the default), bcast_native (the MPI library's own), bcast_linear, bcast_chain,
 * bcast_kchain (four chains), bcast_binary, bcast_split (split-binary), bcast_binomial; the trees are Open
 * MPI's. Like MPI_Bcast it does not synchronise, but no rank comes more than 64 calls ahead of another (fewer, if they are
 * long), and MPI_Comm_free of a communicator that was used here may wait for its other members. Inter-communicators, and
 * messages of more than 512 MiB, are passed on to MPI; before PAT_Init and after PAT_Finalize it is MPI_Bcast. The first call
 * on a communicator is collective in the strict sense.
 */
PAT_PUBLIC int PAT_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);

/*
 * MPI_Gather, argument by argument. PAT_UseAlg and PAT_ALG_GATHER choose: gather_auto (the default) and
 * gather_native as above, gather_linear, gather_sync (linear, each rank when it is asked), gather_binomial.
 * Results of 2 GiB and more are passed on to MPI. With gather_binomial inner ranks need memory for their
 * subtree's blocks. Else as PAT_Bcast.
 */
PAT_PUBLIC int PAT_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                          int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);

/*
 * MPI_Allreduce, argument by argument. PAT_UseAlg and PAT_ALG_ALLREDUCE choose: allreduce_auto (the default, for now always
 * allreduce_native), allreduce_native (the MPI library's own), allreduce_doubling (recursive doubling), allreduce_ring
 * (reduce-scatter and all-gather round a ring), allreduce_converge: each rank's vector sets out when the rank calls, to the ranks
 * that join its parts, and the later a rank is expected the less it joins; it goes by the milestones of all ranks. An
 * algorithm joins the vectors in an order that follows from the number of ranks and the count alone, so all ranks get
 * the same bits, in every run. Predefined operations on the predefined types for which MPI defines them run so; all others,
 * and vectors of more than 512 MiB, are passed on to MPI, as are inter-communicators; before PAT_Init and after PAT_Finalize
 * it is MPI_Allreduce. The first call on a communicator is collective in the strict sense; with allreduce_converge MPI_Comm_free
 * of a communicator that was used here may wait for its other members. While a request is started on the communicator, a call that
 * a plan is to run is MPI_ERR_REQUEST.
 */
PAT_PUBLIC int PAT_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                             MPI_Comm comm);

/*
 * MPI_Alltoall, argument by argument. PAT_UseAlg and PAT_ALG_ALLTOALL choose: alltoall_auto (the default, for now always
 * alltoall_native), alltoall_native (the MPI library's own), alltoall_linear (all blocks at once), alltoall_pairwise (P-1 steps). With
 * MPI_IN_PLACE the blocks are copied first. Else as PAT_Allgather.
 */
PAT_PUBLIC int PAT_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                            int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* ---- Counters --------------------------------------------------------------------------------------- */

#define PAT_COUNTERS_MAX_ALGS 32

/* What the library did in this process since PAT_Init. Times are in nanoseconds. */
typedef struct PAT_Counters {
    int64_t calls;                               /* of collectives, all algorithms */
    int num_algs;                                /* entries used in the two arrays below */
    const char *alg_name[PAT_COUNTERS_MAX_ALGS]; /* static strings */
    int64_t alg_calls[PAT_COUNTERS_MAX_ALGS];    /* calls, by who ran them: those of no bytes,
                                                    of one rank or between groups native */
    int64_t bytes_received;                      /* user bytes received from other ranks by our own plans */
    int64_t bytes_early;                         /* of these, received before this rank had arrived */
    int64_t bytes_copied;   /* user bytes copied inside this process, own block included */
    int64_t wait_ns;        /* time callers spent waiting for plans to end; not for MPI's own calls */
    int64_t thread_cpu_ns;  /* processor time of the background thread */
    int64_t thread_wakeups; /* how often the background thread woke */
    int64_t plans_void;     /* prepared rounds thrown away: the call was another one */
} PAT_Counters;

/* Fill in *counters. Error: MPI_ERR_ARG for a null pointer, MPI_ERR_OTHER when the library is not started. */
PAT_PUBLIC int PAT_Get_counters(PAT_Counters *counters);

#ifdef __cplusplus
}
#endif

#endif
