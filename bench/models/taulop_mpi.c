/*
 * taulop_mpi.c — see taulop_mpi.h. Open MPI is told which algorithm to run by its control variables, before it starts and for each
 * communicator: the models foretell algorithms, and the library's own choice would change from length to length.
 */
#include "taulop_mpi.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_finalize.h"
#include "taulop_slots.h"
#include "tool_options.h"

enum { TREE_SEGMENT = 8192, TAG = 1 }; /* bytes of a segment of coll/sm; tag of messages */

typedef struct communicators {
    MPI_Comm by_ring, by_doubling; /* which all-gather they run */
} communicators;

static const struct {
    const char *how;
    const char *single_copy; /* btl_vader_single_copy_mechanism; NULL: the default */
    const char *tree_priority;
} ways[] = {{"one-copy", NULL, "0"}, {"two-copies", "none", "0"}, {"tree", NULL, "100"}};
enum { NUM_WAYS = 3 };

static int number_of(const char *how)
{
    int i = 0;
    while (i < NUM_WAYS && strcmp(how, ways[i].how) != 0)
        i++;
    return i;
}

bool taulop_mpi_knows(const char *how)
{
    return number_of(how) < NUM_WAYS;
}

/* Reads a control variable, or writes it, for what is made from now on. False when the library has none of that name. */
static bool variable(const char *name, bool set, int64_t *value)
{
    int index, count, word = (int)*value;
    MPI_T_cvar_handle handle;
    if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS ||
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return false;
    const bool good =
        set ? MPI_T_cvar_write(handle, &word) == MPI_SUCCESS : MPI_T_cvar_read(handle, value) == MPI_SUCCESS;
    MPI_T_cvar_handle_free(&handle);
    return good;
}

/* ---- Messages and collectives --------------------------------------------------------------------------- */

static void send_to(taulop_member *m, int to, const char *data, int64_t bytes)
{
    (void)m;
    MPI_Send(data, (int)bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD);
}

static void receive_from(taulop_member *m, int from, char *data, int64_t bytes)
{
    (void)m;
    MPI_Recv(data, (int)bytes, MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void exchange(taulop_member *m, int to, const char *out, int from, char *in, int64_t bytes)
{
    (void)m;
    MPI_Sendrecv(out, (int)bytes, MPI_BYTE, to, TAG, in, (int)bytes, MPI_BYTE, from, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void collective(taulop_member *m, enum pat_node_op op, int64_t bytes)
{
    const communicators *c = m->of_way;
    const int count = (int)bytes;
    const bool alone =
        op == PAT_NODE_BINOMIAL || op == PAT_NODE_TREE || (op == PAT_NODE_SCATTER && m->number);
    char *own = taulop_cold(m, alone ? bytes : m->num * bytes);
    if (op == PAT_NODE_BINOMIAL || op == PAT_NODE_TREE)
        MPI_Bcast(own, count, MPI_BYTE, 0, c->by_ring);
    else if (op == PAT_NODE_SCATTER && m->number == 0)
        MPI_Scatter(own, count, MPI_BYTE, MPI_IN_PLACE, count, MPI_BYTE, 0, c->by_ring);
    else if (op == PAT_NODE_SCATTER)
        MPI_Scatter(NULL, 0, MPI_BYTE, own, count, MPI_BYTE, 0, c->by_ring);
    else
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, own, count, MPI_BYTE,
                      op == PAT_NODE_RING ? c->by_ring : c->by_doubling);
}

/* ---- o(m) ----------------------------------------------------------------------------------------------- */

/* A message without data to and fro. */
static void nothing(taulop_member *m, void *arg)
{
    const bool *synchronous = arg;
    for (int i = 0; i < 200 && m->number < 2; i++) {
        if (m->number != i % 2)
            MPI_Recv(NULL, 0, MPI_BYTE, 1 - m->number, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (*synchronous)
            MPI_Ssend(NULL, 0, MPI_BYTE, 1 - m->number, TAG, MPI_COMM_WORLD);
        else
            MPI_Send(NULL, 0, MPI_BYTE, 1 - m->number, TAG, MPI_COMM_WORLD);
    }
}

static double nothing_us(taulop_member *m, bool synchronous)
{
    double least = taulop_timed(m, 2, nothing, &synchronous);
    for (int i = 0; i < 10; i++) {
        const double us = taulop_timed(m, 2, nothing, &synchronous);
        least = us < least ? us : least;
    }
    return least / 200;
}

static void overhead(taulop_member *m, pat_transfers *t)
{
    const double asked = nothing_us(m, true), not_asked = nothing_us(m, false);
    for (int k = 0; k < t->num_taus; k++)
        t->overhead_us[k] = not_asked;
    t->protocol_us = asked > not_asked ? asked - not_asked : 0;
    variable("btl_vader_eager_limit", false, &t->threshold_bytes);
}

/* ---- The MPI library ------------------------------------------------------------------------------------ */

static bool choose(const char *name, int64_t algorithm)
{
    return variable(name, true, &algorithm);
}

/* Numbers of coll/tuned's algorithms. */
static bool make_communicators(communicators *c)
{
    enum { BCAST_BINOMIAL = 6, SCATTER_BINOMIAL = 2, ALLGATHER_DOUBLING = 3, ALLGATHER_RING = 4 };
    if (!choose("coll_tuned_bcast_algorithm", BCAST_BINOMIAL) ||
        !choose("coll_tuned_scatter_algorithm", SCATTER_BINOMIAL) ||
        !choose("coll_tuned_allgather_algorithm", ALLGATHER_RING))
        return false;
    MPI_Comm_dup(MPI_COMM_WORLD, &c->by_ring);
    choose("coll_tuned_allgather_algorithm", ALLGATHER_DOUBLING);
    MPI_Comm_dup(MPI_COMM_WORLD, &c->by_doubling);
    return true;
}

static void tell_library(int number)
{
    if (ways[number].single_copy)
        setenv("OMPI_MCA_btl_vader_single_copy_mechanism", ways[number].single_copy, 1);
    setenv("OMPI_MCA_pml", "ob1", 1);
    setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 1);
    setenv("OMPI_MCA_coll_sm_priority", ways[number].tree_priority, 1);
    setenv("OMPI_MCA_coll_sm_tree_degree", "2", 1); /* TAULOP_TREE_DEGREE, as in the source */
    setenv("OMPI_MCA_coll_sm_fragment_size", "8192", 1);
}

static taulop_way way_of(int number)
{
    const unsigned tree = 1u << PAT_NODE_TREE;
    taulop_way way = taulop_slots_way(TREE_SEGMENT);
    way.collective = collective;
    way.ops = tree;
    way.setup = TAULOP_BCAST; /* as the broadcast copies */
    if (strcmp(ways[number].how, "tree") == 0)
        return way;
    int64_t segment = 0;
    const bool straight = !ways[number].single_copy;
    if (!straight)
        variable("btl_vader_max_send_size", false, &segment);
    return (taulop_way){.copies = straight ? 1 : 2,
                        .segment_bytes = segment,
                        .ops = ((1u << PAT_NUM_NODE_OPS) - 1) & ~tree,
                        .send = send_to,
                        .receive = receive_from,
                        .exchange = exchange,
                        .collective = collective,
                        .overhead = overhead};
}

static const char *what_is_wrong(int num, MPI_Comm node, communicators *c)
{
    int here;
    MPI_Comm_size(node, &here);
    if (here != num)
        return "the ranks are not all on one machine";
    if (num < 2 || num > TAULOP_MAX_MEMBERS || num & (num - 1))
        return "accepted: a power of two of ranks, from 2 to 128";
    return make_communicators(c) ? NULL : "--mpi needs Open MPI, whose control variables name its algorithms";
}

/* One rank's part of memory that all see; its pages are all zero. */
static taulop_shared *shared_memory(MPI_Comm node, int rank, int num, MPI_Win *window)
{
    const size_t bytes = taulop_shared_bytes(taulop_slots_bytes(num, TREE_SEGMENT));
    MPI_Aint size = rank == 0 ? (MPI_Aint)(bytes + TAULOP_LINE) : 0;
    char *memory;
    int unit;
    MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, node, &memory, window);
    MPI_Win_shared_query(*window, 0, &size, &unit, &memory);
    memory += (TAULOP_LINE - (uintptr_t)memory % TAULOP_LINE) % TAULOP_LINE;
    if (rank == 0)
        memset(memory, 0, bytes);
    MPI_Barrier(node);
    return (taulop_shared *)(void *)memory;
}

int taulop_mpi(const char *how, int64_t cold_bytes, taulop_rank_body *body, void *arg)
{
    const int number = number_of(how);
    int provided, rank, num;
    MPI_Comm node;
    MPI_Win window;
    communicators made = {MPI_COMM_NULL, MPI_COMM_NULL};
    tell_library(number);
    MPI_Init(NULL, NULL);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &num);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    const char *wrong = what_is_wrong(num, node, &made);
    if (wrong && rank == 0)
        fprintf(stderr, "pat-taulop: %s\n", wrong);
    if (!wrong) {
        taulop_member m = {.number = rank,
                           .num = num,
                           .segment_bytes = TREE_SEGMENT,
                           .looks = TAULOP_LOOKS,
                           .cold_bytes = cold_bytes,
                           .of_way = &made};
        m.shared = shared_memory(node, rank, num, &window);
        m.cold = malloc((size_t)cold_bytes);
        if (!m.cold)
            MPI_Abort(MPI_COMM_WORLD, 1);
        taulop_settle(&m);
        taulop_slots_settle(&m);
        taulop_meet(&m);
        const taulop_way way = way_of(number);
        body(&m, &way, arg);
        free(m.cold);
        MPI_Comm_free(&made.by_ring);
        MPI_Comm_free(&made.by_doubling);
        MPI_Win_free(&window);
    }
    MPI_Comm_free(&node);
    MPI_T_finalize();
    bench_finalize(wrong ? TOOL_FAILED : 0);
    return wrong ? -1 : 0;
}
