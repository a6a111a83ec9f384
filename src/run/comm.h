/*
 * comm.h — what the library keeps for a communicator, its state: its own communicator, the agreed link, a lane for each collective,
 * the round under way. It is an attribute of the user's communicator, and is freed with it. What is called agreed is the same on all
 * members, because they have told each other.
 */
#ifndef PAT_COMM_H
#define PAT_COMM_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ahead_state.h"
#include "algorithms.h"
#include "collective.h"
#include "contact.h"
#include "credits.h"
#include "error.h"
#include "exchange.h"
#include "guess.h"
#include "lane.h"
#include "layout.h"
#include "link.h"
#include "pending.h"
#include "sample.h"
#include "sockets.h"
#include "transition.h"

/*
 * The holder: the persistent request of an all-gather that is open or started on the communicator. There is one at most; from PAT_Open to PAT_Wait
 * its receive buffer is the library's.
 */
typedef struct pat_hold {
    const void *request; /* NULL: none is open or started */
    bool started;
    enum pat_op op; /* the collective that it calls */
    const pat_call *
        open; /* what the opened request will call with; NULL: none is open, and early data must not go to its buffer */
} pat_hold;

/* A communicator that the program has freed (leave.h). */
enum pat_leave {
    PAT_LEAVE_NOT,  /* it is not freed, or has still to be left (pat_comm.freed) */
    PAT_LEAVE_SAID, /* this rank tells the others that it has freed it */
    PAT_LEAVE_OVER  /* nobody waits for what this rank says: its memory may go */
};

typedef struct pat_comm {
    /* Set when made. */
    MPI_Comm user, own;
    int rank, size;
    bool usable;     /* agreed: false leaves every call that is not non-blocking to the MPI library */
    bool background; /* agreed: every member has a background thread */
    pat_link link;
    const pat_calibration *calibration; /* the runtime's, or what it has stored for this link; NULL: none */
    bool calibrated;    /* the calibration knows all-gathers: auto then goes by it, and not by the link */
    int slot_tags;      /* agreed: tags that each slot has */
    pat_tags call_tags; /* of rounds that are made in the call alone; they share one slot */
    pat_layout layout;
    bool of_request; /* it is that of a persistent request, and no attribute (comm_local.h) */
    atomic_bool
        idle; /* with of_request: nothing is under way there, nor made before the call, and pat_comm_next leaves it out */
    int taken_bytes; /* messages up to so long leave their sender's memory at once (pat_link_taken_bytes); of this rank alone */

    /* Guarded by the runtime's lock. */
    struct pat_comm *next;
    bool listed;    /* it is in the runtime's list; else `next` has no meaning */
    int64_t number; /* of this communicator; none has had it before */
    int64_t led_to; /* number of the communicator where the phase after a call here last ended; 0: unknown */
    int refs;       /* see pat_comm_ref */

    /* The hand-over from PAT_Edge to the background thread. */
    atomic_bool edge; /* there is an estimate to be sent */
    atomic_int_fast64_t edge_arrival_ns;
    atomic_int_fast64_t
        edge_due_ns; /* it is to be sent now, by the local clock: until then a better one may come */
    atomic_int_fast64_t
        edge_next_ns; /* when the phase's next PAT_Edge is expected, by the local clock; INT64_MAX: none is */
    atomic_int_fast64_t ahead_ns; /* how long before this rank the first one comes, by the last estimates */
    atomic_bool listens;          /* some lane goes by estimates: the thread is to be woken */
    atomic_bool foreground;       /* a calling thread drives this communicator until its call returns */

    atomic_bool
        freed; /* the program has freed the communicator, and this rank is to leave when nothing is under way */
    atomic_int wanted; /* threads of the program that wait for the lock */

    pthread_mutex_t lock; /* guards all that follows; whoever holds it drives */
    enum pat_leave
        leave; /* where the program has freed the communicator, references, or what follows, keep this memory */
    bool cut_short; /* settling has failed here: what this rank has said in it since is still to be heard */
    bool idle_settled; /* settle.c is done with it */
    pat_failure
        failure; /* of a call or of the background thread: once there is one nothing runs here any more */
    pat_plan_cache plans;
    pat_lane lanes[PAT_NUM_OPS];
    enum pat_op last_op;              /* the collective of the last call that pat_comm_called was told of */
    enum pat_op follows[PAT_NUM_OPS]; /* which one came after a call of each the last time */
    pat_exchange exchange;            /* of this epoch's estimates, which say which collective comes */
    int64_t doubt_ns;                 /* by how much this rank's estimates were wrong: a mean that fades */
    int num_doubts;                   /* how many that is of, as far as they count */
    int64_t *arrival_ns;              /* scratch memory for one time per rank */
    int *from_root; /* scratch memory for one rank per place of a plan that counts from a root */
    pat_sample sample;
    pat_lane *measured;   /* the lane whose call the sample is of */
    enum pat_phase phase; /* of the call under way: transition.h */
    pat_lane *lane;       /* of the call under way, as are the next three */
    const pat_algorithm *alg;
    bool
        left; /* by estimates it is left to the MPI library, which may run it still: nothing is told or prepared here meanwhile */
    int64_t called_ns; /* when it began; for a trace */
    pat_call call;
    const pat_algorithm
        *said;           /* who runs the call that all estimates announce, in a lane that goes by them */
    bool rooted;         /* a call that rooted.h runs is under way, */
    pat_round alone;     /* in this round, beside the one that a request may have in the same lane, */
    pat_pack alone_pack; /* and with this memory */
    pat_lane *voiding;   /* the lane whose prepared round is being thrown away; else NULL */
    struct pat_sockets *sockets; /* what the calling thread watches while it waits; may be NULL */
    int opening; /* calls to come after which connections are looked for, since the first ones open them */
    pat_hold hold;
    pat_credits credits;
    pat_contact
        contact; /* of a state for non-blocking calls, which has nothing of all that but `own` and `link`; see comm_local.h */
    pat_pending *pending; /* its calls under way, in the order in which they were started: nbc.h */
    int64_t
        driven_ns; /* since then looks have been left to the program, which waits in MPI; 0: they are not */
    int64_t num_started; /* of them, ever; the same on all members */
    pat_ahead ahead;     /* of those whose rounds may be made before the call */
} pat_comm;

/* Has this rank left it? Then no call of the program's finds it any more. */
static inline bool pat_comm_is_dead(const pat_comm *c)
{
    return c->leave != PAT_LEAVE_NOT;
}

/* Is it the state of non-blocking calls (comm_local.h)? */
static inline bool pat_comm_is_local(const pat_comm *c)
{
    return c->contact.local;
}

/* Is this a communicator between two groups? */
bool pat_comm_is_inter(MPI_Comm comm);

/*
 * Get the state of `comm`, which is made at its first use (collective then). choosing: the algorithm in use chooses (`auto`); copies: the call may
 * gain where ranks of one node copy from each other's memory (pat_select_copies); both the same on all ranks. *out is NULL when this call is left to the MPI library. Returns an MPI error code.
 */
int pat_comm_get(MPI_Comm comm, bool choosing, bool copies, pat_comm **out);

/*
 * For a call that chooses nothing, and is not worth a state if it is one of few here: is it to wait for one? Yes for as many first calls without a state as
 * those that choose wait for (pat_rt.patience) at most: all are counted together, and a call twice at which both have looked. The same on all ranks.
 */
bool pat_comm_waits(MPI_Comm comm);

/*
 * For threads of the program: they wait for the lock, and the background thread, which may drive a round for as long as something comes in, then leaves it as
 * soon as it can.
 */
void pat_comm_lock(pat_comm *c);
bool pat_comm_trylock(pat_comm *c);
void pat_comm_unlock(pat_comm *c);

/* None that the program has freed goes meanwhile: for whoever goes through all communicators and waits. */
void pat_comm_keep(void);
void pat_comm_keep_end(void);

/* Is this thread in one of these, or has it a communicator's lock? Where MPI calls this library it may not wait then. */
bool pat_comm_holds_any(void);

/*
 * For whoever makes a state: what a rank does for itself; NULL: there is no memory. Then enter it in the runtime's list, whose lock the caller holds.
 */
pat_comm *pat_comm_begin(MPI_Comm comm, int size);
void pat_comm_list(pat_comm *c);

/* Is every call here left to the MPI library, whatever it is? By what all members see, before anything collective. copies: as above. */
bool pat_comm_is_left(MPI_Comm comm, int size, bool choosing, bool copies);

/* Why it is, for a report or PAT_EXPLAIN. */
enum pat_why pat_comm_why_left_ever(MPI_Comm comm);

/* Why *out was NULL, for a report or PAT_EXPLAIN; copies: as above. */
enum pat_why pat_comm_why_not(MPI_Comm comm, bool copies);

/* The same where pat_comm_get was not asked, since the call would be left for another reason, `why`: that, or one that holds for any call here. */
enum pat_why pat_comm_why_left(MPI_Comm comm, enum pat_why why);

/* For people who have asked: floating-point numbers keep their order here. Rank 0 says it once. */
void pat_comm_explain_order(MPI_Comm comm);

/*
 * May `auto` take anything but the MPI library? one_node: all ranks are on one node of the cluster. There it may only if a calibration
 * or PAT_LINK says what messages take, since inside a node the MPI library has the shorter way; or, where ranks copy from each other's memory, in
 * calls that gain by that (pat_select_copies).
 */
bool pat_comm_chooses_here(bool one_node, bool copies);

/* Are all ranks on one node, and copy from each other's memory, and does nothing but that say what messages take there? */
bool pat_comm_copies(const pat_comm *c);

/* Has something failed here for good? Returns its MPI error code, with its text for PAT_Error_string, or MPI_SUCCESS. */
static inline int pat_comm_failed(const pat_comm *c)
{
    return pat_failure_tell(&c->failure);
}

/* What has just been done here has ended with `rc`. The first error is kept for good. Returns the kept one, or MPI_SUCCESS. */
static inline int pat_comm_ended(pat_comm *c, int rc)
{
    return pat_failure_note(&c->failure, rc);
}

/* Is something told that others may wait for this rank to pass on? */
static inline bool pat_comm_tells(const pat_comm *c)
{
    return !pat_tell_is_over(&c->exchange.tell) || pat_sample_owes(&c->sample);
}

/*
 * Pass on what ranks tell each other: nothing is learnt by that, and nothing chosen. Whoever waits with the communicator's lock calls it again
 * and again, since the background thread is shut out. begins: also what this rank has to say of a measured call is sent. *moved: set
 * where something has come. The caller holds pat_rt.driving. Returns an MPI error code.
 */
static inline int pat_comm_pass_on(pat_comm *c, bool begins, bool *moved)
{
    int rc = pat_tell_pass(&c->exchange.tell, moved), rc_sample = pat_sample_pass(&c->sample, begins, moved);
    return rc != MPI_SUCCESS ? rc : rc_sample;
}

/*
 * One communicator after the other; NULL: the first. A reference keeps it in memory until the next one is asked for, which is to be done until the
 * answer is NULL. Persistent requests, of which there may be hundreds, are left out where nothing is under way. The runtime's lock is not held meanwhile. *cut_short: `after` has been freed, and what comes after it is not known.
 */
pat_comm *pat_comm_next(pat_comm *after, bool *cut_short);

/* A reference keeps the memory, not the communicator: look at pat_comm_is_dead after locking. */
void pat_comm_ref(pat_comm *c);
void pat_comm_unref(pat_comm *c);

/*
 * By what calls with `alg` are guessed. By nothing where some member has no background thread: nothing can be early there, so all
 * arrivals count as equal and nobody needs to be asked.
 */
static inline enum pat_basis pat_comm_basis(const pat_comm *c, const pat_algorithm *alg)
{
    const pat_lane *lane = &c->lanes[alg->op];
    if (!c->background || !(alg->arrival_aware || (lane->by_estimates && alg->build)))
        return PAT_BASIS_NONE;
    const bool last_calls = alg->uses_last_calls && pat_lane_by_last_calls(lane);
    return lane->by_estimates || (alg->uses_arrivals && !last_calls) ? PAT_BASIS_ESTIMATES : PAT_BASIS_LAST;
}

/* Does a call with `alg` wait for this epoch's estimates? They have come from all ranks when its round is made. */
static inline bool pat_comm_estimates(const pat_comm *c, const pat_algorithm *alg)
{
    return pat_comm_basis(c, alg) == PAT_BASIS_ESTIMATES;
}

/* Who is in a round here. */
static inline pat_members pat_comm_members(pat_comm *c)
{
    return (pat_members){c->own,    c->rank,         c->size,
                         &c->plans, c->layout.mates, {c->contact.rank, c->contact.first_tag}};
}

/* May rounds of `alg` be prepared without estimates, for the size that the last calls let expect? */
static inline bool pat_comm_ahead(const pat_comm *c, const pat_algorithm *alg)
{
    return pat_comm_basis(c, alg) == PAT_BASIS_LAST;
}

/* Is this process told of all its messages? Of those from ranks of this node, which mostly come in through shared memory, only a bell tells. */
static inline bool pat_comm_is_told(const pat_comm *c, pat_sockets_told told)
{
    return (c->layout.one_a_node || told.near) && (c->layout.one_node || told.far);
}

/*
 * Are the ranks expected to call together next time? Yes if in each of the last PAT_SPREADS rounds all of them came
 * within a quarter of what such a block keeps the link (pat_link_busy_ns): a wrong guess costs more than a right one
 * gains.
 */
static inline bool pat_comm_together(const pat_comm *c, const pat_lane *lane, int64_t block_bytes)
{
    int64_t block_ns = pat_link_busy_ns(&c->link, block_bytes);
    bool together = lane->num_spreads >= PAT_SPREADS;
    for (int i = 0; i < PAT_SPREADS; i++)
        together = together && lane->spread_ns[i] <= block_ns / 4;
    return together;
}

/* The inputs of a plan for blocks of so many bytes here, without arrivals; link: what messages take. */
static inline pat_job pat_comm_job(const pat_comm *c, const pat_lane *lane, const pat_link *link,
                                   int64_t block_bytes)
{
    return (pat_job){.num_ranks = c->size,
                     .block_bytes = block_bytes,
                     .order = c->layout.order,
                     .node_of = c->layout.node_of,
                     .tau_ns = pat_link_tau_ns(link, block_bytes),
                     .alpha_ns = link->alpha_ns,
                     .beta_ps = link->beta_ps,
                     .piece_ns = link->piece_ns,
                     .eager_bytes = link->eager_bytes,
                     .packet_bytes = link->packet_bytes,
                     .most_messages = c->slot_tags,
                     .together = pat_comm_together(c, lane, block_bytes)};
}

/*
 * For people who have asked: tell on rank 0, before a plan is made for this job, whether it will be another algorithm's, and whether its
 * segments will wait for receivers. Of an algorithm once, until it is another one's turn.
 */
void pat_comm_explain_plan(const pat_comm *c, pat_lane *lane, const pat_algorithm *alg, const pat_job *job);

/* Tags that this rank's MPI library has for each slot: at least 1260, since MPI promises 32767 as the highest. */
int pat_comm_slot_tags(void);

/* No algorithm sends another rank more messages of whole blocks than this in a round. */
static inline int pat_comm_tags_needed(int num_ranks)
{
    return 2 * num_ranks;
}

/* The tags of what ranks tell each other (tell.h), before those of the slots. */
enum { PAT_TELL_ESTIMATES, PAT_TELL_SAMPLES, PAT_NUM_TELLS };

/* The tags of one of its slots. */
static inline pat_tags pat_comm_tags(const pat_comm *c, int slot)
{
    return (pat_tags){PAT_NUM_TELLS + slot * c->slot_tags, c->slot_tags};
}

/* May MPI still write to its memory, after an error? Then neither that nor the library's own communicator is freed. */
bool pat_comm_stays(const pat_comm *c);

/* A call here may have opened connections: the first ones do, so the thread looks for them. */
void pat_comm_opens(pat_comm *c);

/* This rank has called here: note which collective the call came after. Not for calls with a root by a plan that waits for no estimates; a call by a profile counts as one that the MPI library runs. */
void pat_comm_called(pat_comm *c, enum pat_op op);

/* The program has freed the communicator: milestones no longer find it. */
void pat_comm_is_used_no_more(pat_comm *c);

/* Take it out of the runtime's list, so that the background thread does not find it any more either. Returns whether it was there: of several threads only that one goes on. */
bool pat_comm_unlist(pat_comm *c);

/* Grow *buf, of *have bytes, to at least `size`; what was in it is lost. Returns false when there is no memory. */
bool pat_comm_buffer(char **buf, size_t *have, size_t size);

#endif
