/*
 * comm.h — what the library keeps for a communicator: its own communicator, the agreed link, buffers, the
 * round under way. Hangs on the user's communicator as an MPI attribute and goes with it.
 */
#ifndef PAT_COMM_H
#define PAT_COMM_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "algorithms.h"
#include "credits.h"
#include "datatype.h"
#include "engine.h"
#include "error.h"
#include "exchange.h"
#include "history.h"
#include "link.h"
#include "plan_cache.h"
#include "sample.h"

/* A plan, which is the cache's, and its execution: either both or none. */
typedef struct pat_round {
    const pat_plan *plan;
    pat_exec *exec;
} pat_round;

/* The blocks of an all-gather, the same on all ranks. */
typedef struct pat_blocks {
    int64_t bytes;         /* the longest; PAT_NO_CALL: no call, or none that is known */
    const int64_t *starts; /* where each begins, and the end; NULL: all are alike */
    int64_t mean_bytes;    /* what an algorithm is chosen by */
} pat_blocks;

/*
 * What has tags of its own on the library's communicator. All-gathers: four epochs, each with the round that was prepared and
 * the one that takes its place; docs/epochs.md says why an epoch's tags may be used again four epochs later. An operation with
 * a root ends all its messages before the call returns, and so does a round of credits before the next one begins: the order
 * that MPI keeps between two ranks is then enough to tell one from the next.
 */
enum { PAT_TAG_EPOCHS = 4, PAT_SLOT_ROOTED = 2 * PAT_TAG_EPOCHS, PAT_SLOT_CREDITS, PAT_NUM_SLOTS };

enum { PAT_SPREADS = 4 };

/* What was chosen for so many bytes. */
typedef struct pat_choice {
    int64_t bytes; /* 0: nothing yet */
    const pat_algorithm *alg;
} pat_choice;

enum { PAT_CHOICES = 8 }; /* a power of two */

/* What was judged of all-gathers of so many bytes, whenever ranks come. */
typedef struct pat_judged {
    int64_t bytes; /* 0: nothing yet */
    enum pat_verdict verdict;
} pat_judged;

/* Who came last to a round, and how long before that this rank. */
typedef struct pat_late {
    int rank;
    int64_t waited_ns;
} pat_late;

/*
 * What a persistent request has handed over. From PAT_Open to PAT_Wait it is the only one here whose receive buffer is the
 * library's.
 */
typedef struct pat_hold {
    const void *request; /* NULL: none is open or started */
    bool started;
    const pat_call
        *open; /* what the opened request will call with; NULL: its buffer is not to be filled now */
} pat_hold;

enum pat_phase { PAT_IDLE, PAT_AWAIT_ESTIMATES, PAT_RUNNING };

typedef struct pat_comm {
    /* Set when made. */
    MPI_Comm user, own;
    int rank, size;
    bool usable;     /* agreed: false leaves every call to the MPI library */
    bool background; /* agreed: every member has a background thread */
    pat_link link;
    int slot_tags;             /* agreed: tags that each slot has */
    int *order;                /* in which rings visit ranks; NULL: by number */
    bool one_node, one_a_node; /* all ranks are on one node; every rank has a node of its own */
    int blocks_in; /* blocks that the node with the fewest ranks must be sent; on one node, that a rank must */

    /* Guarded by the runtime's lock. */
    struct pat_comm *next;
    bool listed; /* else `next` leads nowhere */
    int refs;

    /* The hand-over from PAT_Edge to the background thread. */
    atomic_bool edge;
    atomic_int_fast64_t edge_arrival_ns;
    atomic_bool foreground; /* a calling thread drives this communicator until its call returns */

    pthread_mutex_t lock; /* guards all that follows; whoever holds it drives */
    bool dead;
    bool idle_settled;   /* scratch of pat_runtime_settle */
    pat_failure failure; /* of a call or of the background thread: nothing runs here any more */
    int64_t epoch;       /* calls so far that ran a plan, plus settlements */
    pat_blocks last;     /* of the last such call: the guess for the next */
    int64_t spread_ns
        [PAT_SPREADS];   /* first to last arrival of the last rounds that tell; the same on all ranks */
    int64_t num_spreads; /* ever */
    int64_t *arrival_ns; /* room for one per rank */
    pat_late late;       /* of the last of these rounds */
    pat_told told;       /* of a round that is not learnt from yet */
    pat_history history;
    pat_judged judged[PAT_CHOICES];
    pat_carried mine; /* what the block of the call under way carries of this rank */
    pat_sample sample;
    pat_exchange exchange;
    enum pat_phase phase;
    const pat_algorithm *alg; /* of the call under way */
    int64_t called_ns;        /* when it began; for a trace */
    pat_call call;
    pat_plan_cache plans;
    pat_round rounds[2]; /* the next two point here */
    pat_round *current;  /* the call under way */
    pat_round *prepared; /* made before the call; becomes current, or is voided */
    bool voiding;        /* `prepared` is being thrown away */
    int64_t reserved;    /* early bytes reserved of PAT_MEM */
    int64_t poll_ns;     /* the background thread's present interval */
    int64_t moved_ns;    /* local time at which it last saw something come in */
    int64_t made_ns;     /* local time at which it made `prepared` */
    bool by_request;     /* the last call came from a request: early data waits for the next PAT_Open */
    struct pat_sockets *sockets; /* what the calling thread watches while it waits; may be NULL */
    pat_hold hold;
    bool landed_in_holder; /* `prepared` receives early data in the holder's buffer */
    int64_t *last_starts;  /* where those of `last` are kept */
    char *stage, *pack;    /* early data; the packed result for types that are not plain */
    size_t stage_size, pack_size;

    /* Operations with a root (rooted.h), which need nothing of the above. */
    pat_round rooted; /* exec: the one under way */
    pat_credits credits;
    pat_choice choices[PAT_NUM_OPS][PAT_CHOICES];
    char *rooted_pack; /* what passes through this rank, and packed data */
    size_t rooted_pack_size;
} pat_comm;

/*
 * The state of `comm`, made at its first use (collective then). choosing: asked for by `auto`, the same on all ranks. *out is
 * NULL when calls on it are left to the MPI library. Returns an MPI error code.
 */
int pat_comm_get(MPI_Comm comm, bool choosing, pat_comm **out);

/* Why it was NULL: for people. */
enum pat_why pat_comm_why_not(MPI_Comm comm);

/*
 * May `auto` take anything but the MPI library where all ranks are on one node, or not? Inside a node that library has the shorter
 * way, unless a calibration or PAT_LINK says what it takes there.
 */
bool pat_comm_chooses_here(bool one_node);

/* Has something failed here for good? Returns its MPI error code, with its text for PAT_Error_string, or MPI_SUCCESS. */
static inline int pat_comm_failed(const pat_comm *c)
{
    return pat_failure_tell(&c->failure);
}

/* What has just been done here has ended with `rc`. An error stays. Returns the one that stays, or MPI_SUCCESS. */
static inline int pat_comm_ended(pat_comm *c, int rc)
{
    return pat_failure_note(&c->failure, rc);
}

/* References keep the memory, not the communicator: look at `dead` after locking. */
void pat_comm_ref(pat_comm *c);
void pat_comm_unref(pat_comm *c);

/*
 * Does a call with `alg` wait for this epoch's estimates? Not where some member has no background thread:
 * nothing can be early there, so all arrivals count as equal and nobody needs to be asked.
 */
static inline bool pat_comm_estimates(const pat_comm *c, const pat_algorithm *alg)
{
    return alg->uses_arrivals && c->background;
}

/* May rounds of `alg` be prepared without estimates, for as many bytes as the last call had? */
static inline bool pat_comm_ahead(const pat_comm *c, const pat_algorithm *alg)
{
    return alg->arrival_aware && !alg->uses_arrivals && c->background;
}

/*
 * Are the ranks taken to call together next time? When in each of the last PAT_SPREADS rounds all of them came within a
 * quarter of the time of such a block: a wrong guess costs more than a right one gains.
 */
static inline bool pat_comm_together(const pat_comm *c, int64_t block_bytes)
{
    int64_t block_ns = pat_link_busy_ns(&c->link, block_bytes);
    bool together = c->num_spreads >= PAT_SPREADS;
    for (int i = 0; i < PAT_SPREADS; i++)
        together = together && c->spread_ns[i] <= block_ns / 4;
    return together;
}

/* All blocks together. */
static inline int64_t pat_blocks_total(const pat_comm *c, pat_blocks b)
{
    return pat_block_start(b.bytes, b.starts, c->size);
}

static inline pat_blocks pat_blocks_of(const pat_call *call)
{
    return (pat_blocks){call->block_bytes, call->starts, call->mean_bytes};
}

/* The inputs of a plan for blocks of so many bytes here, without arrivals. */
static inline pat_job pat_comm_job(const pat_comm *c, int64_t block_bytes)
{
    return (pat_job){.num_ranks = c->size,
                     .block_bytes = block_bytes,
                     .order = c->order,
                     .tau_ns = pat_link_tau_ns(&c->link, block_bytes),
                     .alpha_ns = c->link.alpha_ns,
                     .beta_ps = c->link.beta_ps,
                     .piece_ns = c->link.piece_ns,
                     .eager_bytes = c->link.eager_bytes,
                     .packet_bytes = c->link.packet_bytes,
                     .most_messages = c->slot_tags,
                     .together = pat_comm_together(c, block_bytes)};
}

/* Tags that this rank's MPI library has for each slot: at least 3276, since MPI promises 32767 as the highest. */
int pat_comm_slot_tags(void);

/* No algorithm sends another rank more messages of whole blocks than this in a round. */
static inline int pat_comm_tags_needed(int num_ranks)
{
    return 2 * num_ranks;
}

/* The tags of one of the PAT_NUM_SLOTS. */
static inline pat_tags pat_comm_tags(const pat_comm *c, int slot)
{
    return (pat_tags){slot * c->slot_tags, c->slot_tags};
}

/* The communicator goes: the background thread and milestones no longer find it. */
void pat_comm_unlist(pat_comm *c);

/* Grow *buf to at least `size` bytes of lazily backed memory. Returns false when there is none. */
bool pat_comm_buffer(char **buf, size_t *have, size_t size);

#endif
