/*
 * mpi_forced.h — who sends how much to whom in a collective of the MPI library: counted in its point-to-point layer, through which Open MPI's
 * own collectives send and which lies below all that a program can see.
 */
#ifndef MPI_FORCED_H
#define MPI_FORCED_H

#include "mpi_common.h"

#include "algorithms.h"

enum { MOST_RANKS = 8 };

/* What this rank has sent to each other one. */
typedef struct sends {
    long messages[MOST_RANKS], bytes[MOST_RANKS];
} sends;

/* Open MPI's table of functions, ompi/mca/pml/pml.h: isend is the eleventh, send the twelfth. Not there in another MPI library. */
extern void *mca_pml[] __attribute__((weak));
enum { PML_ISEND = 10, PML_SEND = 11 };
typedef int pml_isend(const void *, size_t, MPI_Datatype, int, int, int, MPI_Comm, MPI_Request *);
typedef int pml_send(const void *, size_t, MPI_Datatype, int, int, int, MPI_Comm);

static sends counted;
static pml_isend *true_isend;
static pml_send *true_send;

static void count(size_t elements, MPI_Datatype type, int to)
{
    int size;
    MPI_Type_size(type, &size);
    counted.messages[to]++;
    counted.bytes[to] += (long)elements * size;
}

static int isend(const void *from, size_t n, MPI_Datatype type, int to, int tag, int mode, MPI_Comm comm,
                 MPI_Request *r)
{
    count(n, type, to);
    return true_isend(from, n, type, to, tag, mode, comm, r);
}

static int send(const void *from, size_t n, MPI_Datatype type, int to, int tag, int mode, MPI_Comm comm)
{
    count(n, type, to);
    return true_send(from, n, type, to, tag, mode, comm);
}

/* False: messages of this MPI library cannot be counted. */
static inline bool count_sends(void)
{
    char byte = 0;
    if (!mca_pml)
        return false;
    memcpy(&true_isend, &mca_pml[PML_ISEND], sizeof(true_isend));
    memcpy(&true_send, &mca_pml[PML_SEND], sizeof(true_send));
    pml_isend *const my_isend = isend;
    pml_send *const my_send = send;
    memcpy(&mca_pml[PML_ISEND], &my_isend, sizeof(my_isend));
    memcpy(&mca_pml[PML_SEND], &my_send, sizeof(my_send));
    const int right = (test.rank + 1) % test.size, left = (test.rank + test.size - 1) % test.size;
    MPI_Request request;
    MPI_Isend(&byte, 1, MPI_BYTE, right, 0, MPI_COMM_WORLD, &request);
    MPI_Recv(&byte, 1, MPI_BYTE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return counted.messages[right] == 1 && counted.bytes[right] == 1;
}

/* What this rank sends in one call of the collective, rank 0 the root. */
static inline sends sends_of(MPI_Comm comm, const char *collective, int bytes)
{
    static char from[1 << 16], to[MOST_RANKS << 16];
    MPI_Barrier(MPI_COMM_WORLD);
    counted = (sends){.messages = {0}};
    if (!strcmp(collective, "bcast"))
        MPI_Bcast(from, bytes, MPI_BYTE, 0, comm);
    else if (!strcmp(collective, "gather"))
        MPI_Gather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, 0, comm);
    else
        MPI_Allgather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, comm);
    return counted;
}

/* What the plan of one of the library's algorithms sends. */
static inline sends sends_by_plan(const char *name, int bytes, int segment_bytes)
{
    const pat_job job = {
        .num_ranks = test.size, .block_bytes = bytes, .element_bytes = 1, .segment_bytes = segment_bytes};
    pat_plan plan;
    sends s = {.messages = {0}};
    if (pat_algorithm_plan(pat_algorithm_find(name), &job, test.rank, &plan) != 0)
        test_fail("%s has no plan", name);
    for (int i = 0; i < plan.num_nodes; i++)
        if (plan.nodes[i].kind == PAT_NODE_SEND) {
            s.messages[plan.nodes[i].peer]++;
            s.bytes[plan.nodes[i].peer] += plan.nodes[i].length;
        }
    pat_plan_free(&plan);
    return s;
}

static inline bool same_sends(const sends *a, const sends *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

/* The same on this rank? Else it says what was sent. */
static inline void expect_sends(const char *what, const sends *expected, const sends *got)
{
    if (same_sends(expected, got))
        return;
    for (int r = 0; r < test.size; r++)
        test_fail("%s: to rank %d: expected %ld messages, %ld bytes, got %ld, %ld", what, r,
                  expected->messages[r], expected->bytes[r], got->messages[r], got->bytes[r]);
}

#endif
