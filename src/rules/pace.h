/*
 * pace.h — when the background thread, or a caller that waits, looks again: asks MPI what has come in. Intervals and reasons: docs/epochs.md,
 * "When the background thread works". Must never call MPI, read a clock or keep anything: times and facts come in, a time
 * comes out.
 *
 * All times are of one clock, in ns. INT64_MAX as a result: not before somebody wakes the thread.
 */
#ifndef PAT_PACE_H
#define PAT_PACE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Is the next look to follow at once, after so many that found nothing? What MPI takes in at one look is only seen at a later one: `looks` says in how
 * many it is (pat_link_looks).
 */
bool pat_pace_at_once(int idle_looks, int looks);

/* ---- The background thread ---------------------------------------------------------------------------- */

/* What the thread knows of this process at the end of a look. */
typedef struct pat_pace_facts {
    bool came;    /* something has just come in, or a socket has said so */
    bool sending; /* a socket may be full */
    bool calling; /* a thread waits in a call */
} pat_pace_facts;

/* When to look, where `when_ns` is late enough for what is awaited: then, or sooner where the facts ask for it. */
int64_t pat_pace_come_again(const pat_pace_facts *facts, int64_t now_ns, int64_t when_ns);

/* When to look, where another thread has the lock, or a look elsewhere may have taken in what is awaited. */
int64_t pat_pace_soon(int64_t now_ns);

/* When to look for the other ranks' estimates; this rank has posted its own at posted_ns. */
int64_t pat_pace_estimates(int64_t now_ns, int64_t posted_ns);

/* What is known of early data that is awaited. */
typedef struct pat_pace_early {
    bool estimates;   /* its senders have said when they arrive */
    int64_t moved_ns; /* when something came in last, or the round was made */
    int64_t here_ns;  /* when the first of the messages can be here; INT64_MAX: none is expected */
    int64_t tau_ns;   /* that message's time on the link */
} pat_pace_early;

/* How long something may lie that MPI took in at the thread's last look, before the thread passes it on. */
int64_t pat_pace_passes_on_ns(void);

/* Begin with no message expected. */
pat_pace_early pat_pace_early_none(bool estimates, int64_t moved_ns);

/* Add a message that needs tau_ns on the link, from a rank that sends nothing before from_ns. */
void pat_pace_early_expect(pat_pace_early *early, int64_t from_ns, int64_t tau_ns);

/*
 * When to look for it where sockets do not tell of messages. *poll_ns: the interval, at first 0, which grows while
 * nothing moves.
 */
int64_t pat_pace_early_look(const pat_pace_early *early, int64_t now_ns, int64_t *poll_ns);

/* When to look for it where sockets tell of messages, in case one did not. */
int64_t pat_pace_early_spare(int64_t now_ns, int64_t moved_ns);

/*
 * Until when PAT_Open is awaited after a call of a request that was over at over_ns, so that early data can come in in a buffer of the
 * program's; then the library's memory takes it, because others may have to wait until it does. waited: PAT_Wait was called.
 */
int64_t pat_pace_open(int64_t over_ns, bool waited);

/* When to look at a started request. announced: sockets tell of messages; it has nothing to do with estimates. */
int64_t pat_pace_started(int64_t now_ns, bool announced);

/*
 * How long after a non-blocking call the thread looks after it: by then the program may be expected in the MPI call that waits for it, if it does nothing else. crowded: on a node with more ranks than
 * processing units, where each look takes the processor from a rank that needs it.
 */
int64_t pat_pace_call_started_ns(bool crowded);

/* The same where all that this rank has to do is done but to receive a few bytes, so that only the end has to be seen. */
int64_t pat_pace_call_settled_ns(void);

/*
 * Does the program wait in a call of MPI, so that it drives non-blocking calls itself? It last looked for messages there at looked_ns. Then the thread leaves that to
 * it, and sees later whether it still does: the later, the longer it has waited, as far as is known since since_ns. crowded: as above, where the program may look no more because it has no processor.
 */
bool pat_pace_is_in_mpi(int64_t now_ns, int64_t looked_ns, bool crowded);
int64_t pat_pace_in_mpi(int64_t now_ns, int64_t since_ns);

/* Does a thread of the program's that looks now wait in MPI, since it has looked at last_ns? */
bool pat_pace_waits_in_mpi(int64_t now_ns, int64_t last_ns);

/*
 * By when an estimate is to be sent, so that all have it when the first rank calls, at first_ns; exchange_ns: what the network needs for
 * that. Not before now.
 */
int64_t pat_pace_tell(int64_t now_ns, int64_t first_ns, int64_t exchange_ns);

/* How long after a call that the MPI library has run here others may still be in it. */
int64_t pat_pace_call_over_ns(void);

/* When to look for what ranks tell each other of a measured call, which ended here at ended_ns. */
int64_t pat_pace_measured(int64_t now_ns, int64_t ended_ns);

/*
 * When to look at rounds of credits (credits.h). under_way: a round is, and it last moved at moved_ns. calls_follow:
 * none is, but calls follow each other, so that the next one is soon to be expected.
 */
int64_t pat_pace_credits(int64_t now_ns, int64_t moved_ns, bool under_way, bool calls_follow);

/* In a meeting of two clocks (timekeeper.h): is the next look to follow at once, where something came last at moved_ns? */
bool pat_pace_meeting_at_once(int64_t now_ns, int64_t moved_ns);

/* ---- A caller that waits ------------------------------------------------------------------------------ */

/*
 * How long to sleep where nothing has moved for quiet_ns; 0: only yield the processor. announced: sockets tell of
 * messages.
 */
int64_t pat_pace_nap_ns(bool announced, int64_t quiet_ns);

/* Is it not to sleep at all, in a round of `ranks` blocks that take block_ns each? together: see pat_job. */
bool pat_pace_stays_awake(bool together, int ranks, int64_t block_ns, int64_t quiet_ns);

#endif
