/*
 * plan.h — an algorithm as data: for one rank, the graph of what it has to do in one collective. A node is one thing to do;
 * computers are called nodes of the cluster.
 *
 * A plan must never call MPI, read a clock or use floating point: every rank derives its own part from the
 * same inputs, and they only fit together when the inputs give the same answer everywhere, bit for bit.
 *
 * Addresses: a node names the bytes that it reads and writes by their space and their offset in it. A space is one run of
 * bytes. Where it lies in memory (send buffer, receive buffer, early-data buffer) is the engine's business. In the result of
 * an all-gather block b is the bytes [b*block_bytes, (b+1)*block_bytes), in that of a gather likewise. The result of a
 * broadcast or an all-reduce is one block long.
 *
 * Blocks of different lengths: an algorithm builds as if all had the length of the longest, and pat_plan_fit then shortens what
 * each node moves to what the block really has.
 *
 * Order: nodes are numbered as they are made and an edge always leads from a lower to a higher number, so a
 * plan is acyclic by construction. The k-th send to a peer matches the peer's k-th receive from this rank.
 */
#ifndef PAT_PLAN_H
#define PAT_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum pat_node_kind {
    PAT_NODE_ARRIVE, /* the application has called: its data is here. Exactly one per plan */
    PAT_NODE_COPY,   /* bytes move from one address of this rank to another */
    PAT_NODE_SEND,
    PAT_NODE_RECV,
    PAT_NODE_REDUCE, /* to = op(from, to): `from` is the left operand, `to` the right one */
    PAT_NODE_NONE, /* was a message, of which pat_plan_fit left no byte: done as soon as what it waits for is */
};

enum pat_space {
    PAT_SPACE_OWN,    /* what this rank contributes: not there before ARRIVE, and never written */
    PAT_SPACE_RESULT, /* what this rank ends with */
    PAT_SPACE_SCRATCH, /* memory of the library, pat_plan.scratch_bytes long: holds nothing before it is written */
};

/* A byte of a space. Both parts share one 64-bit word, because small nodes make large plans faster to build. */
typedef struct pat_address {
    enum pat_space space : 2;
    int64_t offset : 62;
} pat_address;

#define PAT_STEP_FREE (-1)

/* No message is longer, since MPI counts its bytes in an int. */
#define PAT_MAX_MESSAGE ((int64_t)1 << 30)

/*
 * Sends in flight per peer: the engine posts the m-th message from one rank to another only when every message between
 * these two up to m - PAT_SEND_WINDOW is complete. A rule on numbers, not on readiness, so that it is the same on every
 * run and the checker can prove that it never deadlocks. Unordered sends are counted as they are posted, since
 * each can complete whatever becomes of the others. Receives are posted as soon as they are ready.
 */
enum { PAT_SEND_WINDOW = 4 };

/*
 * Pieces of a block that come by unordered sends are awaited so many at a time: each one's receive waits for the
 * one that is PAT_RECV_WINDOW before it in the block. That keeps the list of open receives short, which both MPI and
 * the engine search.
 */
enum { PAT_RECV_WINDOW = 4 };

typedef struct pat_node {
    enum pat_node_kind kind : 8;
    bool unordered; /* SEND: may overtake others to its peer: see pat_plan_send_unordered */
    bool sync;      /* SEND: ends when the receiver takes it, however short it is: see pat_plan_send_sync */
    bool early; /* no path from ARRIVE: may run before the application has called. Set by pat_plan_finish */
    int peer;   /* SEND, RECV, and NONE that was one: the other rank; else -1 */
    int match;  /* SEND, RECV: this is the match-th message of the ordered pair, from 0 */
    int step;   /* position in a step-by-step algorithm, from 0; PAT_STEP_FREE: ordered by its edges alone */
    pat_address from; /* COPY, REDUCE, SEND: the first byte that is read */
    pat_address to;   /* COPY, REDUCE, RECV: the first byte that is written */
    int64_t length;   /* bytes; 0 marks a control message, which carries no user bytes */
} pat_node;

typedef struct pat_edge {
    int from, to; /* `to` waits for `from`; from < to */
} pat_edge;

typedef struct pat_plan {
    int num_ranks;
    int rank;
    int root;            /* of a collective with a root: its rank here, which is 0 before pat_plan_reorder */
    int64_t block_bytes; /* the longest block's */
    int64_t own_bytes;   /* of PAT_SPACE_OWN, at most: those of a block, or as pat_plan_personal says */
    int64_t *starts; /* where each block begins, and the result's end; NULL: all blocks are equally long */
    int64_t scratch_bytes; /* of PAT_SPACE_SCRATCH */
    int64_t element_bytes; /* see pat_plan_reduces; 0: the plan reduces nothing */
    pat_node *nodes;
    int num_nodes, cap_nodes;
    pat_edge *edges;
    int num_edges, cap_edges;
    /* Filled by pat_plan_finish: successors of node i are succ[succ_at[i] .. succ_at[i+1]-1]. */
    int *succ, *succ_at, *num_preds;
    int num_early;    /* nodes that may run before ARRIVE */
    bool carries;     /* see pat_plan_carry_arrivals */
    bool has_control; /* some node is a control message */
    /* While building. */
    int *sent_to, *recv_from;    /* messages so far per peer: the match numbers */
    int *prev_group, *cur_group; /* nodes of the last finished step and of the one being built */
    int num_prev, cap_prev, num_cur, cap_cur;
    int step;  /* number of the step being built, -1 before the first */
    int error; /* ENOMEM or EINVAL, sticky: builders need not test every call */
} pat_plan;

/* What a block tells of the rank that it is from, where the plan carries arrivals (pat_plan_carry_arrivals). */
typedef struct pat_carried {
    int64_t arrival_ns; /* when it called, on the ranks' common clock */
    union {
        uint32_t site; /* from where it calls; 0: not known */
        uint32_t
            took_us; /* of a non-blocking call: what an earlier one took the rank (ahead.h); 0: not known */
    };
    uint32_t last_site; /* from where it called before */
} pat_carried;

/* When a node ran, as the model predicts it or as the engine has noted it. */
typedef struct pat_span {
    int64_t start_ns, end_ns;
} pat_span;

/* The inputs every rank shares, but where own lists are said to be one's own. Times in nanoseconds on one clock, beta in picoseconds per byte. */
typedef struct pat_job {
    int num_ranks;
    int64_t block_bytes;   /* the longest block's; of an all-reduce, the vector's */
    int64_t element_bytes; /* of what is reduced: block_bytes has whole elements. Else not looked at */
    const int64_t *starts; /* num_ranks + 1, see pat_plan; NULL: all blocks are equally long */
    /*
     * Only of a collective whose ranks contribute a block for each rank, with `starts`: where in this rank's contribution each begins, and its end. NULL: all blocks are equally long.
     * These lists, and block_bytes, may be of this rank alone where an algorithm is `direct` (algorithms.h): two ranks then know of each other no more than how long the blocks between them are.
     */
    const int64_t *own_starts;
    /*
     * order[i]: the rank that stands at place i, where an algorithm takes that; NULL: by number. The root, if any, stands at the first; but where the
     * plan counts ranks from the root all the same, anywhere
     */
    const int *order;
    /* node_of[i]: which node of the cluster the rank at place i is on, by any number. NULL: every rank is on one of its own */
    const int *node_of;
    const int64_t *arrival_ns; /* when each rank is expected to arrive; NULL: the algorithm does not ask */
    int64_t tau_ns;            /* one-way time of one block: alpha + block_bytes * beta, at least 1 */
    int64_t alpha_ns;          /* latency of a small message */
    int64_t beta_ps;           /* picoseconds per byte */
    int64_t piece_ns;          /* what each piece after the first costs, where a message is sent in pieces */
    int64_t eager_bytes;   /* longer messages are asked for first, and wait for the answer; 0: not known */
    int64_t packet_bytes;  /* data that a packet of the network carries; 0: not known */
    int64_t segment_bytes; /* for algorithms that cut messages into segments; 0: they do not */
    int most_messages;     /* that one rank may send another in a round; 0: any number */
    bool carries;          /* blocks are to carry what pat_carried has, whatever the algorithm */
    bool together;         /* the ranks are expected to call almost at once, as they did lately */
} pat_job;

/* ---- Building (used by algorithms/) ---- */

void pat_plan_init(pat_plan *plan, int num_ranks, int rank, int64_t block_bytes);

/* All these, up to pat_plan_await, add a node and return its number. Lengths and offsets are in bytes. */
int pat_plan_arrive(pat_plan *plan);
int pat_plan_copy(pat_plan *plan, pat_address from, pat_address to, int64_t length);
/*
 * to = op(from, to), as MPI_Reduce_local has it. The plan alone decides which operand is left and which is right, and in
 * which order contributions are joined. So every rank can be made to get the same bits, and an operation need not be
 * commutative. Only after pat_plan_reduces.
 */
int pat_plan_reduce(pat_plan *plan, pat_address from, pat_address to, int64_t length);
/* Messages from the sender's result to the receiver's: the offset is one in PAT_SPACE_RESULT. */
int pat_plan_send(pat_plan *plan, int peer, int64_t offset, int64_t length);
/*
 * A send that ends when the receiver has it. An ordinary one may end as soon as the MPI library has taken the
 * bytes; if more sends follow without waiting for anything, all then share this rank's link and the first
 * arrives when the last does.
 */
int pat_plan_send_sync(pat_plan *plan, int peer, int64_t offset, int64_t length);
/*
 * A send that may overtake the others to its peer: of those that are ready, the one with the lowest number goes
 * first, at most PAT_SEND_WINDOW at a time. All sends to that peer must be unordered too. Their receives wait for
 * nothing but what PAT_RECV_WINDOW says, or, of whole blocks, for the call alone. Then no send stands in the way of another: of the pieces of a block that are
 * under way the sender got and passed on the first one first, and for that one the receiver always has a receive
 * posted.
 */
int pat_plan_send_unordered(pat_plan *plan, int peer, int64_t offset, int64_t length);
int pat_plan_recv(pat_plan *plan, int peer, int64_t offset, int64_t length);
/* Messages from any address to any other: the two ends of a message need not name the same one. */
int pat_plan_send_from(pat_plan *plan, int peer, pat_address from, int64_t length);
int pat_plan_recv_to(pat_plan *plan, int peer, pat_address to, int64_t length);
int pat_plan_signal(pat_plan *plan, int peer); /* control message: send */
int pat_plan_await(pat_plan *plan, int peer);  /* control message: receive */
/*
 * Each block is to carry when the rank that it is from arrived, and what else pat_carried has: it goes behind the data of the
 * message with the block's last byte. When the plan is done, every rank knows all arrivals of the round.
 */
void pat_plan_carry_arrivals(pat_plan *plan);
void pat_plan_after(pat_plan *plan, int node,
                    int before); /* `node` waits for `before`; negative `before`: none */

/*
 * The plan reduces elements of so many bytes. From now on every offset and every length must be a multiple of that, those
 * of messages too, so that no element is ever cut. To be called right after pat_plan_init. Such a plan cannot be fitted or reordered.
 */
void pat_plan_reduces(pat_plan *plan, int64_t element_bytes);

/*
 * The rank contributes a block for each rank, the i-th for rank i. To be called before any node is added. Such a plan cannot be
 * reordered.
 */
void pat_plan_personal(pat_plan *plan);

/* Ask for so many more bytes of scratch. Returns where they begin. */
pat_address pat_plan_scratch(pat_plan *plan, int64_t bytes);

/*
 * Step-by-step algorithms: pat_plan_next_step opens a step; pat_plan_in_step puts a node into it, which then
 * waits for every node of the last step that was not empty. A step left empty leaves no trace.
 */
void pat_plan_next_step(pat_plan *plan);
void pat_plan_in_step(pat_plan *plan, int node);

/*
 * Until now the nodes name bytes of blocks that are all as long as the longest; make them name what blocks really have. `starts`
 * says where each block begins in the result, without gaps, and then where the result ends; `own_starts` the same of what this rank contributes where it is personal, else it is NULL. To be called once, before
 * pat_plan_finish. Arrivals cannot go with the last byte of a block that is empty: if there is one, they go with no block. Only
 * the own block and the result are fitted: a plan that uses scratch cannot be.
 */
void pat_plan_fit(pat_plan *plan, const int64_t *starts, const int64_t *own_starts);

/*
 * Until now the plan names ranks by their places in an order; make it name the ranks themselves, order[i] for place i.
 * Where there is a root, it is order[0]. Every message must lie within one block, since the blocks of ranks that are
 * neighbours in the order need not lie side by side in the result. To be called once, before pat_plan_fit.
 */
void pat_plan_reorder(pat_plan *plan, const int *order);

/* Find every node's successors and which nodes are early. Returns 0, or ENOMEM or EINVAL of this or any earlier call. */
int pat_plan_finish(pat_plan *plan);
void pat_plan_free(pat_plan *plan);

static inline pat_address pat_own(int64_t offset)
{
    return (pat_address){.space = PAT_SPACE_OWN, .offset = offset};
}

static inline pat_address pat_result(int64_t offset)
{
    return (pat_address){.space = PAT_SPACE_RESULT, .offset = offset};
}

static inline bool pat_plan_is_personal(const pat_plan *plan)
{
    return plan->own_bytes != plan->block_bytes;
}

/* Have two ranges of this length a byte in common? */
static inline bool pat_overlap(pat_address a, pat_address b, int64_t length)
{
    return a.space == b.space && a.offset < b.offset + length && b.offset < a.offset + length;
}

static inline bool pat_is_message(const pat_node *node)
{
    return node->kind == PAT_NODE_SEND || node->kind == PAT_NODE_RECV;
}

/* Where the bytes of a message lie on this rank. */
static inline pat_address pat_node_address(const pat_node *node)
{
    return node->kind == PAT_NODE_SEND ? node->from : node->to;
}

/* Where part i begins when `bytes` are cut into parts of whole elements, as equal as can be; i may be `parts`: the end. */
static inline int64_t pat_cut(int64_t bytes, int64_t element_bytes, int parts, int i)
{
    const int64_t elements = bytes / element_bytes, more = elements % parts;
    return (elements / parts * i + (i < more ? i : more)) * element_bytes;
}

/* Where block b begins in a result; with b the number of blocks, where the result ends. */
static inline int64_t pat_block_start(int64_t block_bytes, const int64_t *starts, int b)
{
    return starts ? starts[b] : b * block_bytes;
}

static inline int64_t pat_plan_block_start(const pat_plan *plan, int b)
{
    return pat_block_start(plan->block_bytes, plan->starts, b);
}

/* Do the blocks begin at the same places? NULL: all are equally long. */
static inline bool pat_starts_same(const int64_t *a, const int64_t *b, int num_blocks)
{
    if (!a || !b)
        return a == b;
    return memcmp(a, b, ((size_t)num_blocks + 1) * sizeof(*a)) == 0;
}

/* The block that byte `offset` of the result belongs to. */
int pat_plan_block_of(const pat_plan *plan, int64_t offset);

/* Bytes this rank receives in the plan, and the bytes of the early receives among them. */
int64_t pat_plan_recv_bytes(const pat_plan *plan, int64_t *early_bytes);

#endif
