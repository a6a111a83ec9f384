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
#include "collective.h"
#include "credits.h"
#include "error.h"
#include "exchange.h"
#include "guess.h"
#include "lane.h"
#include "link.h"
#include "sample.h"
#include "transition.h"

/*
 * What a persistent request has handed over. From PAT_Open to PAT_Wait it is the only one here whose receive buffer is the
 * library's.
 */
typedef struct pat_hold {
    const void *request; /* NULL: none is open or started */
    bool started;
    enum pat_op op; /* the collective that it calls */
    const pat_call
        *open; /* what the opened request will call with; NULL: its buffer is not to be filled now */
} pat_hold;

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
    bool idle_settled;   /* scratch of pat_settle */
    pat_failure failure; /* of a call or of the background thread: nothing runs here any more */
    pat_plan_cache plans;
    pat_lane lanes[PAT_NUM_OPS];
    enum pat_op last_op;              /* of the last call that ran a plan by an epoch */
    enum pat_op follows[PAT_NUM_OPS]; /* what came after such a call the last time */
    pat_exchange exchange;            /* of this epoch's estimates, which say which collective comes */
    int64_t *arrival_ns;              /* room for one per rank */
    pat_sample sample;
    pat_lane *measured; /* whose call the sample is of */
    enum pat_phase phase;
    pat_lane *lane; /* of the call under way, as are the next three */
    const pat_algorithm *alg;
    int64_t called_ns; /* when it began; for a trace */
    pat_call call;
    pat_lane *rooted;            /* of the call with a root that is under way; else NULL */
    pat_lane *voiding;           /* whose prepared round is being thrown away; NULL: none */
    struct pat_sockets *sockets; /* what the calling thread watches while it waits; may be NULL */
    pat_hold hold;
    pat_credits credits;
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
 * By what calls with `alg` are guessed. By nothing where some member has no background thread: nothing can be early there, so all
 * arrivals count as equal and nobody needs to be asked.
 */
static inline enum pat_basis pat_comm_basis(const pat_comm *c, const pat_algorithm *alg)
{
    if (!c->background || !alg->arrival_aware)
        return PAT_BASIS_NONE;
    return alg->uses_arrivals ? PAT_BASIS_ESTIMATES : PAT_BASIS_LAST;
}

/* Does a call with `alg` wait for this epoch's estimates? */
static inline bool pat_comm_estimates(const pat_comm *c, const pat_algorithm *alg)
{
    return pat_comm_basis(c, alg) == PAT_BASIS_ESTIMATES;
}

static inline pat_members pat_comm_members(pat_comm *c)
{
    return (pat_members){c->own, c->rank, c->size, &c->plans};
}

/* May rounds of `alg` be prepared without estimates, for as many bytes as the last call had? */
static inline bool pat_comm_ahead(const pat_comm *c, const pat_algorithm *alg)
{
    return pat_comm_basis(c, alg) == PAT_BASIS_LAST;
}

/*
 * Are the ranks taken to call together next time? When in each of the last PAT_SPREADS rounds all of them came within a
 * quarter of the time of such a block: a wrong guess costs more than a right one gains.
 */
static inline bool pat_comm_together(const pat_comm *c, const pat_lane *lane, int64_t block_bytes)
{
    int64_t block_ns = pat_link_busy_ns(&c->link, block_bytes);
    bool together = lane->num_spreads >= PAT_SPREADS;
    for (int i = 0; i < PAT_SPREADS; i++)
        together = together && lane->spread_ns[i] <= block_ns / 4;
    return together;
}

/* The inputs of a plan for blocks of so many bytes here, without arrivals. */
static inline pat_job pat_comm_job(const pat_comm *c, const pat_lane *lane, int64_t block_bytes)
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
                     .together = pat_comm_together(c, lane, block_bytes)};
}

/* Tags that this rank's MPI library has for each slot: at least 1820, since MPI promises 32767 as the highest. */
int pat_comm_slot_tags(void);

/* No algorithm sends another rank more messages of whole blocks than this in a round. */
static inline int pat_comm_tags_needed(int num_ranks)
{
    return 2 * num_ranks;
}

/* The tags of one of its slots. */
static inline pat_tags pat_comm_tags(const pat_comm *c, int slot)
{
    return (pat_tags){slot * c->slot_tags, c->slot_tags};
}

/* May MPI still write to its memory, after an error? Then that stays, and the library's own communicator. */
bool pat_comm_stays(const pat_comm *c);

/* This rank has called a collective here: what follows what is a guess for the next time. */
void pat_comm_called(pat_comm *c, enum pat_op op);

/* The communicator goes: the background thread and milestones no longer find it. */
void pat_comm_unlist(pat_comm *c);

/* Grow *buf to at least `size` bytes of lazily backed memory. Returns false when there is none. */
bool pat_comm_buffer(char **buf, size_t *have, size_t size);

#endif
