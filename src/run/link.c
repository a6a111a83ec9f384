/*
 * link.c — see link.h. A token bucket or an idle TCP connection flatters the first bytes: the rate is taken
 * from the difference between the largest message and a quarter of it, so that what is let through at once
 * cancels out.
 */
#include "link.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

enum { MAX_BYTES = 4 << 20, ENOUGH_NS = 5000000, PIECES = 16, BOUNCES = 21, TAG = 1 };

#ifdef OPEN_MPI
/* `set`: what an environment variable says; NULL: nothing. */
static int eager_limit(const char *set, long unset)
{
    enum { HEADERS = 256 }; /* what the protocol puts before the data counts against the limit */
    const char *pml = getenv("OMPI_MCA_pml");
    char *end = NULL;
    const long limit = set ? strtol(set, &end, 10) : unset;
    if (pml && strcmp(pml, "ob1") != 0)
        return INT_MAX;
    return limit > HEADERS && limit < INT_MAX && (!set || *end == '\0') ? (int)limit - HEADERS : INT_MAX;
}
#endif

int pat_link_eager_bytes(void)
{
#ifdef OPEN_MPI
    return eager_limit(getenv("OMPI_MCA_btl_tcp_eager_limit"), 65536);
#else
    return INT_MAX;
#endif
}

int pat_link_eager_inside_bytes(void)
{
#ifdef OPEN_MPI
    /* Its component has another name since Open MPI 5. */
    const char *named =
        OMPI_MAJOR_VERSION < 5 ? "OMPI_MCA_btl_vader_eager_limit" : "OMPI_MCA_btl_sm_eager_limit";
    return eager_limit(getenv(named), 4096);
#else
    return INT_MAX;
#endif
}

/*
 * Yields the processor between looks: where ranks share cores, one that looks without pause keeps others from sending, and
 * the link looks slower than it is. Sleeping would too, but Linux 6.18 may leave a rank that has slept for 50 us among ranks
 * that yield waiting for a processor for a minute.
 */
static int wait_for(int count, MPI_Request *requests)
{
    int rc, done = 0;
    while ((rc = PMPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE)) == MPI_SUCCESS && !done)
        sched_yield();
    return rc;
}

/* The ranks in the order in which they are measured, and this one's place. */
typedef struct ring {
    MPI_Comm comm;
    const int *order; /* NULL: by number */
    int size, place;
    char *out, *in; /* MAX_BYTES each */
} ring;

static int at_place(const ring *r, int place)
{
    return r->order ? r->order[place % r->size] : place % r->size;
}

/* The best of `repeats`: what the link can do, less what the scheduler did to us. Sent as so many messages at once. */
static int64_t shift(const ring *r, int bytes, int pieces, int repeats, int *rc)
{
    int64_t best = INT64_MAX;
    const int piece = bytes / pieces;
    for (int i = 0; i < repeats && *rc == MPI_SUCCESS; i++) {
        MPI_Request requests[2 * PIECES];
        for (int k = 0; k < 2 * pieces; k++)
            requests[k] = MPI_REQUEST_NULL;
        const int64_t start = pat_clock_local_ns();
        for (int k = 0; k < pieces && *rc == MPI_SUCCESS; k++)
            *rc = PMPI_Irecv(r->in + k * piece, piece, MPI_BYTE, at_place(r, r->place + r->size - 1), TAG,
                             r->comm, &requests[k]);
        for (int k = 0; k < pieces && *rc == MPI_SUCCESS; k++)
            *rc = PMPI_Isend(r->out + k * piece, piece, MPI_BYTE, at_place(r, r->place + 1), TAG, r->comm,
                             &requests[pieces + k]);
        if (*rc == MPI_SUCCESS)
            *rc = wait_for(2 * pieces, requests);
        for (int k = 0; k < 2 * pieces && *rc != MPI_SUCCESS; k++)
            if (requests[k] !=
                MPI_REQUEST_NULL) { /* nothing may come into memory that is not ours any more */
                PMPI_Cancel(&requests[k]);
                PMPI_Request_free(&requests[k]);
            }
        const int64_t took = pat_clock_local_ns() - start;
        best = took < best ? took : best;
    }
    return best;
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/*
 * One way of a byte and back, halved: the median, because the usual wait for a processor belongs to it. All pairs of
 * neighbours at once, 0 and 1, 2 and 3 and so on, where the ring's first rank counts as number `turn`.
 */
static int64_t bounce(int turn, const ring *r, int *rc)
{
    int64_t took[BOUNCES];
    const int place = (r->place + turn) % r->size, peer = at_place(r, (place ^ 1) + r->size - turn);
    char byte = 0;
    if ((place ^ 1) >= r->size)
        return 0; /* an odd number of ranks leaves one over */
    for (int i = 0; i < BOUNCES && *rc == MPI_SUCCESS; i++) {
        int64_t start = pat_clock_local_ns();
        if (place % 2 == 0)
            *rc = PMPI_Send(&byte, 1, MPI_BYTE, peer, TAG, r->comm);
        if (*rc == MPI_SUCCESS)
            *rc = PMPI_Recv(&byte, 1, MPI_BYTE, peer, TAG, r->comm, MPI_STATUS_IGNORE);
        if (*rc == MPI_SUCCESS && place % 2 == 1)
            *rc = PMPI_Send(&byte, 1, MPI_BYTE, peer, TAG, r->comm);
        took[i] = (pat_clock_local_ns() - start) / 2;
    }
    if (*rc != MPI_SUCCESS)
        return 0;
    qsort(took, BOUNCES, sizeof(took[0]), by_time);
    return took[BOUNCES / 2];
}

static int64_t slowest(int64_t value, MPI_Comm comm, int *rc)
{
    int64_t result = value;
    if (*rc == MPI_SUCCESS)
        *rc = PMPI_Allreduce(&value, &result, 1, MPI_INT64_T, MPI_MAX, comm);
    return result;
}

int pat_link_measure(pat_link *link, MPI_Comm comm, const int *order)
{
    int rank, rc = MPI_SUCCESS, bytes = 16384;
    ring r = {.comm = comm, .order = order};
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &r.size);
    while (order && order[r.place] != rank)
        r.place++;
    r.place = order ? r.place : rank;
    char *buf = calloc(2, MAX_BYTES);
    int ok = buf != NULL, all_ok = 0;
    rc = PMPI_Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, comm);
    if (rc != MPI_SUCCESS || !all_ok) {
        free(buf);
        return rc != MPI_SUCCESS ? rc : MPI_ERR_NO_MEM;
    }
    r.out = buf;
    r.in = buf + MAX_BYTES;
    shift(&r, 1, 1, 2, &rc); /* open the connections */
    int64_t alpha = 0;
    for (int turn = 0; turn < 2 + r.size % 2; turn++) { /* an odd number of neighbours takes three rounds */
        int64_t other = slowest(bounce(turn, &r, &rc), comm, &rc);
        alpha = alpha > other ? alpha : other;
    }
    int64_t took = slowest(shift(&r, bytes, 1, 5, &rc), comm, &rc);
    while (rc == MPI_SUCCESS && took < ENOUGH_NS && bytes < MAX_BYTES) {
        bytes *= 2;
        took = slowest(shift(&r, bytes, 1, 5, &rc), comm, &rc);
    }
    int64_t quarter = slowest(shift(&r, bytes / 4, 1, 5, &rc), comm, &rc);
    int64_t pieces = slowest(shift(&r, bytes / 4, PIECES, 5, &rc), comm, &rc);
    free(buf);
    if (rc != MPI_SUCCESS)
        return rc;
    link->piece_ns = pieces > quarter ? (pieces - quarter) / (PIECES - 1) : 0;
    if (link->piece_ns < pat_link_least_piece_ns(alpha))
        link->piece_ns = pat_link_least_piece_ns(alpha);
    int64_t span = took - quarter > 0 ? took - quarter : took;
    link->alpha_ns = alpha;
    link->beta_ps = span * 1000 / (bytes - bytes / 4);
    if (link->beta_ps < 1)
        link->beta_ps = 1;
    return rc;
}

int pat_link_find(pat_link *link, const pat_config *config, MPI_Comm comm, const int *order)
{
    if (!config->link_set)
        return pat_link_measure(link, comm, order);
    link->alpha_ns = config->link_alpha_ns;
    link->piece_ns = pat_link_least_piece_ns(link->alpha_ns);
    link->beta_ps = config->link_beta_ps;
    return MPI_SUCCESS;
}
