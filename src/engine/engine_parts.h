/*
 * engine_parts.h — what the engine's files share: an execution from inside, and the steps from one state of a node to the next.
 */
#ifndef PAT_ENGINE_PARTS_H
#define PAT_ENGINE_PARTS_H

#include "engine_types.h"
#include "wire.h"

enum node_state {
    WAITING,  /* for its predecessors */
    READY,    /* they are complete; a send may still wait for room in its queue */
    DEFERRED, /* they are complete, but it has to wait until the rank has called */
    ACTIVE,   /* its message is in flight */
    DONE,
};

/*
 * Sends to one peer. Ordered ones: `nodes` in match order, those below `low` are complete. Unordered ones: a binary
 * heap of those that wait for room, lowest number first.
 */
typedef struct queue {
    int *nodes;
    int count, low;
    bool unordered;
    int num_active, num_waiting;
} queue;

struct pat_exec {
    const pat_plan *plan;
    int num_tags;
    unsigned char *state;
    bool *in_landing; /* RECV: its bytes are, or will be, in the landing place and not at home */
    int *missing;     /* predecessors not yet complete */
    int *ready;       /* queue: every node passes through once */
    int ready_head, ready_tail;
    queue *queues; /* per peer */
    int *queue_nodes;
    pat_wire wire; /* messages in flight; a message's owner is its node */
    int num_sending; /* but for those to ranks of this node that tell when they have taken them: no socket is full */
    int num_done, num_deferred;
    int num_data; /* of the active ones, those with user bytes */
    bool arrived, voided;
    char *home, *landing, *scratch;
    MPI_Datatype element; /* what op takes: see pat_exec_reduces */
    MPI_Op op;
    int num_forwards; /* while the landing place changes: messages in flight since before, which may read from the old one */
    int root;               /* the plan counts ranks from this one */
    enum pat_space rotated; /* of that space */
    int64_t shift, wrap;    /* byte i is shift bytes further on, and from wrap on at the beginning */
    pat_carried *carried; /* one per rank, as they come along with the blocks; NULL: the plan carries none */
    const char *own;
    int64_t budget, landed;
    pat_exec_stats stats;
    pat_span *spans; /* per node; NULL: not noted */
};

/* Make the queues of sends from the plan. Returns 0, EINVAL or ENOTSUP: see pat_exec_create. */
int pat_exec_build_queues(pat_exec *e);

/* ---- engine_post.c: what nodes do. Those that return int return MPI error codes. ---- */

/* The node is complete: whatever waited for it alone is ready. */
void pat_exec_complete(pat_exec *e, int node);

/* Let the node wait until the rank has called. Or: the node need not wait any more. */
void pat_exec_defer(pat_exec *e, int node);
void pat_exec_make_ready(pat_exec *e, int node);

/* Post a receive, or defer it. Run or post all nodes that are ready. */
int pat_exec_post_recv(pat_exec *e, int node);
int pat_exec_post_ready(pat_exec *e);

/* Is the peer on this node, and told of messages by a bell? */
bool pat_exec_is_mate(const pat_exec *e, int peer);

/* Does a send to the peer wait until others to it are over? Where sends are ordered that is taken for granted. */
bool pat_exec_is_held_up(const pat_exec *e, int peer);

/* A send to the peer is complete: the window of its queue may have moved on. */
int pat_exec_advance_queue(pat_exec *e, int peer);

/* The node's message is over: complete the node and what depends on it. */
int pat_exec_finish_message(pat_exec *e, int node);

/* Early data goes to its place in the result, once the rank has called. */
void pat_exec_move_home(pat_exec *e, int node);

#endif
