/*
 * relay.c — chunked relay all-gather: a block sets out the moment its owner arrives.
 *
 * What:     blocks travel round a ring of nodes (of the cluster, here) in chunks; on every node one rank takes a block in,
 *           passes on to the next node whatever comes from the one before, at once and in whatever order the blocks set out, and hands the
 *           block to the other ranks of its node once it is whole. A node's ranks share that work, block by block (map.h).
 *           Receiving from other nodes and passing on wait for no ARRIVE: ranks that still compute take part in the background. A
 *           rank's own block waits for its call, and so does what is handed to it: inside a node that is a copy in memory, which
 *           is best made once, to its place, by whom it is for and not while he computes. With one rank a node it is a ring of ranks, and on a single node everybody
 *           sends his block to all others.
 * Source:   pipelined ring broadcast, once per rank; that passing on needs no call is what makes it
 *           arrival-aware. Routes and order need no prediction, so none can be wrong. Only the number of chunks heeds
 *           whether the ranks have lately arrived together, which they tell each other with the blocks; and
 *           four ranks that have, each on a node of its own, exchange as neighbours (nex.c).
 * Cost:     N nodes with p ranks each: each rank takes N-1 blocks in over the network and sends as many, in C chunks each, and
 *           gets and hands out N (p-1) blocks in its node. When all arrive at once, P-p blocks on every node's link and
 *           a chunk. When the last arrives alone, its block and N-2 chunks after it.
 *           Chunks: as many as cost as much as they save, none longer than what MPI sends unasked, as far as a plan
 *           has room for so many, cut to whole packets of the network.
 * Memory:   none beyond the result, and for early data what the engine is allowed.
 * Order:    a pair's messages may overtake each other: which block comes first is decided by the arrivals. Of
 *           those that could go, the block with the most hops left goes first, its chunks front first.
 * Limits:   every link carries every block: a slow link between neighbours slows everybody.
 * Example:  P = N = 4, two chunks a block, arrivals (3, 0, 0, 0) in times of a block. "1>2 (1a)": first half.
 *           0 to 0.5    1>2 (1a)   2>3 (2a)   3>0 (3a)
 *           0.5 to 1    1>2 (1b)   2>3 (2b)   3>0 (3b)
 *           1 to 3      2>3 (1)    3>0 (2)    0>1 (3)     rank 0 still computes, and passes 3 on,
 *                       3>0 (1)    0>1 (2)    1>2 (3)     then 2
 *           3 to 5      0>1 (0a, 0b)   1>2 (0a, 0b) half a block later   2>3 (0a, 0b) half a block after that
 *           Rank 0 has everything when it arrives and returns at 4, when its own block is out. The others return at
 *           4.5, 5 and 5: they too pass on what they have before they return.
 */
#include "map.h"

/* What a rank's plan may grow to, where more chunks gain little, and where headers begin to weigh. */
enum { MOST_MESSAGES = 4096, MOST_CHUNKS = 32, LEAST_BYTES = 1024 };

/* How many times fewer chunks do when ranks arrive together. */
enum { TOGETHER_FEWER = 3 };

/* What MPI puts before a message's data, at most: room for it in the packets. */
enum { MESSAGE_HEADERS = 64 };

/* How many of `each` make `total`; the last may be smaller. */
static int64_t parts(int64_t total, int64_t each)
{
    return (total - 1) / each + 1;
}

/* More than that a plan must not have, or a block is not worth. */
static int64_t most_chunks(const pat_job *job, const pat_map *map)
{
    int64_t messages = MOST_MESSAGES, worth = job->block_bytes / LEAST_BYTES;
    if (job->most_messages > 0)
        messages = pat_part_least(messages, job->most_messages);
    int64_t most = pat_part_least(messages / (map->most_served + 1), worth);
    return most > 1 ? most : 1;
}

/*
 * Chunks of a block. They shorten what is left to do after a single last arrival, where each of N-2 nodes holds a
 * chunk up by time / C; and each costs whoever takes it in piece_ns, (N-1) * C of them when all arrive at once. The sum has
 * its least where C is the root of (N-2) / (N-1) * time / piece_ns. When ranks arrive together hardly a link waits for
 * what is passed on, and chunks need only hide the latency of a hop: then a third of them. Chunks that MPI sends
 * without asking first are worth more of them: who asks waits for the answer at every hop. Between two nodes, where nobody
 * passes anything on, that is all: on one connection the answer would wait behind the whole block that goes the other way.
 */
static int64_t count_chunks(const pat_job *job, const pat_map *map)
{
    int64_t time_ns = job->tau_ns - job->alpha_ns, piece_ns = job->piece_ns > 0 ? job->piece_ns : 1;
    int64_t square = time_ns > 0 ? time_ns / piece_ns : 0;
    int64_t chunks = pat_part_root(square - square / (map->num_nodes - 1));
    if (chunks < 1)
        chunks = 1;
    if (chunks > MOST_CHUNKS)
        chunks = MOST_CHUNKS;
    if (job->together)
        chunks = chunks < 2 * TOGETHER_FEWER ? 1 : chunks / TOGETHER_FEWER;
    if (chunks < pat_part_unasked_messages(job))
        chunks = pat_part_unasked_messages(job);
    return pat_part_least(chunks, most_chunks(job, map));
}

/*
 * So many chunks, or a few more or less: a chunk a little longer than a packet of the network takes two. Of the
 * numbers of packets next to what a chunk would take, the nearer one, and as few chunks as that allows, all alike.
 */
static int64_t chunk_bytes(const pat_job *job, const pat_map *map)
{
    const int64_t block = job->block_bytes, packet = job->packet_bytes;
    if (map->num_nodes == 1) /* nobody passes anything on */
        return block;
    int64_t chunks = count_chunks(job, map);
    int64_t chunk = parts(block, chunks), most = most_chunks(job, map);
    if (most > MOST_CHUNKS)
        most = chunks > MOST_CHUNKS ? chunks : MOST_CHUNKS;
    if (chunks == 1 || packet <= MESSAGE_HEADERS || packet > 2 * chunk)
        return chunk;
    int64_t nearest = (2 * (chunk + MESSAGE_HEADERS) + packet) / (2 * packet);
    for (int64_t packets = nearest; packets <= nearest + 1; packets++) {
        int64_t filled = packets * packet - MESSAGE_HEADERS, needed = parts(block, filled);
        if (needed <= most && filled <= pat_part_unasked(job))
            return parts(block, needed);
    }
    return chunk;
}

/*
 * Four ranks, each on a node of its own, that arrive together, with blocks that go without asking first: neighbour exchange has two messages in a
 * row where the ring has three, and nothing gained from chunks outweighs that. Measured, 16 KiB at 100 Mbit/s: 3 % less
 * time. From eight ranks on the ring is as fast or faster. Its messages hold two blocks, so it takes ranks by number only.
 */
static bool exchange_pays(const pat_job *job)
{
    return job->together && job->num_ranks == 4 && !job->order && !job->node_of &&
           2 * job->block_bytes < job->eager_bytes;
}

/* A plan that is being built, and where its rank is. */
typedef struct relay {
    pat_plan *plan;
    pat_map map;
    int rank, node, arrive; /* arrive: the plan's node that is the call */
    int before, next;       /* its neighbours in the ring of nodes */
    int64_t block, chunk;   /* bytes */
} relay;

/* Once all of `here` is done the block is here: it goes to the other ranks of this node, whole, since they pass it to nobody. */
static void hand_out(const relay *r, int owner, const int *here, int num_here)
{
    for (int i = r->map.first[r->node]; i < r->map.first[r->node + 1]; i++) {
        const int mate = r->map.ranks[i];
        if (mate == r->rank)
            continue;
        const int send = pat_plan_send_unordered(r->plan, mate, owner * r->block, r->block);
        for (int k = 0; k < num_here; k++)
            pat_plan_after(r->plan, send, here[k]);
    }
}

/* This rank's own block sets out. */
static void set_out(const relay *r)
{
    const int copy = pat_plan_copy(r->plan, pat_own(0), pat_result(r->rank * r->block), r->block);
    const int to = pat_map_server(&r->map, r->next, r->rank);
    pat_plan_after(r->plan, copy, r->arrive);
    for (int64_t at = 0; at < r->block && r->next != r->node; at += r->chunk) {
        const int64_t bytes = pat_part_least(r->chunk, r->block - at);
        pat_plan_after(r->plan, pat_plan_send_unordered(r->plan, to, r->rank * r->block + at, bytes), copy);
    }
    hand_out(r, r->rank, &copy, 1);
}

/* A block that this rank serves comes from the node before, and goes on to the next one, unless that is where it is from. */
static void pass_on(const relay *r, int owner)
{
    const int from = pat_map_server(&r->map, r->before, owner), to = pat_map_server(&r->map, r->next, owner);
    int awaited[PAT_RECV_WINDOW], k = 0;
    for (int64_t at = 0; at < r->block; at += r->chunk, k++) {
        const int64_t bytes = pat_part_least(r->chunk, r->block - at);
        const int here = pat_plan_recv(r->plan, from, owner * r->block + at, bytes);
        if (k >= PAT_RECV_WINDOW)
            pat_plan_after(r->plan, here, awaited[k % PAT_RECV_WINDOW]);
        awaited[k % PAT_RECV_WINDOW] = here;
        if (r->map.node_of[owner] != r->next)
            pat_plan_after(r->plan, pat_plan_send_unordered(r->plan, to, owner * r->block + at, bytes), here);
    }
    /* Each of the last chunks has waited for every fourth one before it: all together for all. */
    hand_out(r, owner, awaited, k < PAT_RECV_WINDOW ? k : PAT_RECV_WINDOW);
}

/*
 * All blocks of others: those that this rank serves, or those that node-mates hand to it. The nearest node's come first, as blocks set out on
 * the way here: so both ends number the messages of two ranks alike.
 */
static void take_in(const relay *r, bool served)
{
    int node = r->node;
    do {
        for (int i = r->map.first[node]; i < r->map.first[node + 1]; i++) {
            const int owner = r->map.ranks[i], server = pat_map_server(&r->map, r->node, owner);
            if (served && server == r->rank && owner != r->rank)
                pass_on(r, owner);
            else if (!served && server != r->rank)
                pat_plan_after(r->plan, pat_plan_recv(r->plan, server, owner * r->block, r->block),
                               r->arrive);
        }
        node = pat_map_before(&r->map, node);
    } while (node != r->node);
}

void pat_relay_build(pat_plan *plan, const pat_job *job, int rank)
{
    relay r = {.plan = plan, .rank = rank, .block = job->block_bytes};
    if (job->num_ranks > 2) /* two ranks cut alike however they come, so they have no use for it */
        pat_plan_carry_arrivals(plan);
    if (exchange_pays(job)) {
        pat_nex_build(plan, job, rank);
        return;
    }
    if (pat_map_make(&r.map, plan, job)) {
        r.node = r.map.node_of[rank];
        r.before = pat_map_before(&r.map, r.node);
        r.next = pat_map_next(&r.map, r.node);
        r.chunk = chunk_bytes(job, &r.map);
        r.arrive = pat_plan_arrive(plan);
        set_out(&r);
        take_in(&r, true); /* first, where there is not memory for all early data: others wait for these */
        take_in(&r, false);
    }
    pat_map_free(&r.map);
}

/* Chunks are under way side by side: what a link is busy for, and a latency for each block. */
void pat_relay_formula(pat_formula *formula, const pat_job *job)
{
    pat_ring_formula(formula, job);
}
