/*
 * mockups.h — mock-ups: collectives put together out of the MPI library's other collectives. A library whose own all-gather is slower
 * than its gather and broadcast one after the other does not keep a promise that its users count on; a mock-up is the other side of that
 * comparison, and may stand in for the collective where it is faster. Right in every case that it runs: any type, root, count and
 * operation, MPI_IN_PLACE where MPI has it. What it cannot run it says, on all ranks alike, and touches nothing.
 */
#ifndef PAT_MOCKUPS_H
#define PAT_MOCKUPS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What whoever looks at a call before has asked MPI already. Not of a communicator between groups. */
typedef struct pat_mock_known {
    int rank, size;
    int64_t bytes; /* pat_mock_bytes */
} pat_mock_known;

/*
 * A call as its caller made it; what the collective does not have stays 0. A broadcast has its buffer in recv, recv_count and
 * recv_type; a reduction and a scan have count and type in recv_count and recv_type.
 */
typedef struct pat_mock_call {
    const void *send;
    void *recv;
    int send_count, recv_count;
    MPI_Datatype send_type, recv_type;
    MPI_Op op;
    int root;
    MPI_Comm comm;
    const pat_mock_known *known; /* NULL: it is to be asked */
} pat_mock_call;

/* Did a mock-up run, and if not, why? The same on all ranks of the communicator. */
enum pat_mock_why {
    PAT_MOCK_RAN,
    PAT_MOCK_NO_DATA,  /* the scratch for data is too small */
    PAT_MOCK_NO_INTS,  /* the scratch for counts and places is too small */
    PAT_MOCK_TOO_LONG, /* all ranks' parts together are more than an int can count */
    PAT_MOCK_GROUPS,   /* an intercommunicator */
    PAT_MOCK_EXTENT,   /* elements of a negative extent */
    PAT_MOCK_ORDER,    /* the operation does not commute, and ranks of a node do not follow one another */
    PAT_MOCK_FAULT,    /* the MPI library's own reduce-scatter is known to get such elements wrong */
    PAT_MOCK_UNEVEN,   /* nodes have unequal numbers of ranks */
    /* Not of pat_mock_run, and the last three of PAT's own algorithms in a mock-up's place: */
    PAT_MOCK_BITS,  /* the program is to have the bits that the MPI library's own order of operands makes */
    PAT_MOCK_PLAN,  /* no plan is for such a call: no bytes, too many, or an operation that nobody knows */
    PAT_MOCK_FIRST, /* it is one of a communicator's first calls, for which nothing is made that takes time */
    PAT_MOCK_STATE, /* no plan runs on this communicator */
    PAT_NUM_MOCK_WHYS
};

/* What stands for it in reports: whole words, without a point at the end. */
const char *pat_mock_why_text(enum pat_mock_why why);

/* ---- Scratch ---------------------------------------------------------------------------------------------- */

enum {
    PAT_MOCK_DATA_BYTES = 100000000,
    PAT_MOCK_INT_BYTES = 200000
}; /* as the first such library had them */

/*
 * Memory beside the user's buffers, made once, of which a call gets never more than this, so that no call pays for malloc; and what
 * communicators are known to be like, which is kept with each as an attribute. Any thread may use it: the first call that is run beside
 * another one makes as much memory once more, which then stays. Must be as large on all ranks.
 */
typedef struct pat_mock_scratch pat_mock_scratch;

/* ranks_per_node: so many, by their numbers in MPI_COMM_WORLD, count as a node; 0: those that can share memory. NULL: no memory. */
pat_mock_scratch *pat_mock_scratch_make(size_t data_bytes, size_t int_bytes, int ranks_per_node);
/* While MPI still runs; NULL is nothing. */
void pat_mock_scratch_free(pat_mock_scratch *scratch);

typedef struct pat_mock_need {
    int64_t data_bytes, int_bytes;
    int64_t longest; /* the largest count in the calls that the mock-up makes; not of a peak */
} pat_mock_need;

/* The most that one call has used since the last reset. To be asked while none is run. */
pat_mock_need pat_mock_scratch_peak(const pat_mock_scratch *scratch);
void pat_mock_scratch_reset_peak(pat_mock_scratch *scratch);

/* ---- The list --------------------------------------------------------------------------------------------- */

/* Where a collective's arguments stand in pat_mock_call, and which of them count on all ranks. */
enum pat_mock_kind {
    PAT_MOCK_BLOCKS,  /* all-gather, all-to-all: what is received */
    PAT_MOCK_GATHER,  /* what is sent, but for a root in place */
    PAT_MOCK_SCATTER, /* what is received, but for a root in place */
    PAT_MOCK_BUFFER,  /* broadcast */
    PAT_MOCK_VECTOR,  /* reductions and scan: count, type and operation */
};

/* What a mock-up wants to know of a communicator. */
enum pat_mock_topology {
    PAT_MOCK_FLAT,  /* nothing */
    PAT_MOCK_NODES, /* which ranks share a node; it has communicators of its own, for messages too */
    PAT_MOCK_LANES, /* the same, and nodes must have equal numbers of ranks */
};

typedef struct pat_mock_parts pat_mock_parts; /* mock_parts.h */

typedef struct pat_mock {
    const char *cli_name; /* "bcast", or "reduce_scatter_block" */
    const char *mpi_name; /* "MPI_Bcast" */
    const char *name;     /* "bcast_as_allgatherv"; "default": the MPI library's own */
    const char *made_of;  /* "Scatter + Allgather", for people */
    bool is_rooted;
    bool by_reduce_scatter;
    int pattern; /* 1 to 22: the published guidelines 2.1 to 2.22; 0: a further one, or the default */
    enum pat_mock_kind kind;
    enum pat_mock_topology topology;
    /* For pat_mock_run: what is needed of the scratch (NULL: nothing is judged, as of the default), and how the call is run. */
    void (*needs)(const pat_mock_parts *parts, pat_mock_need *need);
    int (*run)(pat_mock_parts *parts);
} pat_mock;

/* All, collective after collective, of each the default first; NULL past the end. */
const pat_mock *pat_mock_at(int i);
/* "MPI_Bcast" and "bcast_as_allgatherv"; NULL: there is none. */
const pat_mock *pat_mock_find(const char *mpi_name, const char *name);

/* ---- Calls ------------------------------------------------------------------------------------------------ */

/*
 * By what profiles speak of the length of a call: the bytes that a rank gives or gets of a gather, scatter, all-gather, all-to-all or
 * reduce-scatter of blocks, those of the whole vector of the others. The same on all ranks of a correct program.
 */
int64_t pat_mock_bytes(const pat_mock *mock, const pat_mock_call *call);

/* What the call takes of the scratch. Local; of what is made of nodes not known before pat_mock_prepare, and all 0 till then. */
pat_mock_need pat_mock_needs(const pat_mock *mock, const pat_mock_call *call,
                             const pat_mock_scratch *scratch);

/*
 * All ranks call it. Makes, at the first call on a communicator, what a mock-up wants to know of it, so that no sample pays for that.
 * Returns an error code of MPI; *why: whether the mock-up could run the call.
 */
int pat_mock_prepare(const pat_mock *mock, const pat_mock_call *call, pat_mock_scratch *scratch,
                     enum pat_mock_why *why);

/*
 * Run a call. *why is PAT_MOCK_RAN and the return value an error code of MPI; or it is something else, nothing was touched and the
 * return value is MPI_SUCCESS. The native call is never run in a mock-up's place.
 */
int pat_mock_run(const pat_mock *mock, const pat_mock_call *call, pat_mock_scratch *scratch,
                 enum pat_mock_why *why);

#endif
