/*
 * link.c — see link.h. The rate is the steady pace of a stream of messages around the ring. One message at a time would say less:
 * nothing keeps the ranks together between two of them, so that a rank that comes a little late finds its message there, and the first bytes
 * of each are let through at once by a token bucket, or held up by a TCP connection that knows nothing of the link yet.
 */
#include "link.h"

#include <dlfcn.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "reach.h"

enum { MAX_BYTES = 4 << 20, PIECES = 16, BOUNCES = 21, TAG = 1 };

/*
 * A stream: so many messages, the first of which do not count, and so many under way at once, that a rank without a processor for some
 * milliseconds does not leave the link idle. (On 4 to 32 nodes with 2 cores in all, 24 messages gave 97 to 99 % of the rate that 48 gave.)
 */
enum {
    STREAM = 24,
    SETTLING = 8,
    WINDOW = 8,
    MOST_STREAMS = 3, /* while the ranks disagree by more than */
    AGREE_PERCENT = 10
};

/* Messages grow until each takes so long, since each costs some microseconds whatever its length. */
enum { FIRST_BYTES = 4096, ENOUGH_NS = 500000 };

#ifdef OPEN_MPI
/* Is one of these components of Open MPI in use? Those that are not are closed. What is built into the library itself is not seen. */
static bool is_in_use(int count, const char *const names[])
{
    bool found = false;
    for (int i = 0; i < count && !found; i++) {
        void *file = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
        found = file != NULL;
        if (file)
            dlclose(file);
    }
    return found;
}

/* Does something other than ob1 move messages, as UCX does where there is InfiniBand? */
static bool is_other_pml(void)
{
    static const char *const others[] = {"mca_pml_ucx.so", "mca_pml_cm.so"};
    const char *set = getenv("OMPI_MCA_pml");
    return (set && strcmp(set, "ob1") != 0) || is_in_use(2, others);
}

/* Does ob1 move all messages, by TCP and shared memory alone? */
static bool is_ob1_by_tcp(void)
{
    static const char *const ob1[] = {"mca_pml_ob1.so"};
    static const char *const others[] = {"mca_btl_openib.so", "mca_btl_uct.so",      "mca_btl_ofi.so",
                                         "mca_btl_usnic.so",  "mca_btl_portals4.so", "mca_btl_ugni.so",
                                         "mca_btl_smcuda.so"};
    return is_in_use(1, ob1) && !is_other_pml() && !is_in_use(7, others);
}

/* `set`: what an environment variable says; NULL: nothing. */
static int eager_limit(const char *set, long unset)
{
    enum { HEADERS = 256 }; /* what the protocol puts before the data counts against the limit */
    char *end = NULL;
    const long limit = set ? strtol(set, &end, 10) : unset;
    if (is_other_pml())
        return INT_MAX;
    return limit > HEADERS && limit < INT_MAX && (!set || *end == '\0') ? (int)limit - HEADERS : INT_MAX;
}
#endif

bool pat_link_ucx_lock_is_set(void)
{
    return getenv(PAT_LINK_UCX_LOCK) || getenv("UCX_MPI_USE_MT_MUTEX");
}

bool pat_link_ucx_spins(void)
{
#ifdef OPEN_MPI
    static const char *const ucx[] = {"mca_pml_ucx.so"};
    return !pat_link_ucx_lock_is_set() && is_in_use(1, ucx);
#else
    return false;
#endif
}

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

int pat_link_looks(void)
{
    enum { OB1 = 3, OTHERS = 4 };
#ifdef OPEN_MPI
    return is_ob1_by_tcp() ? OB1 : OTHERS;
#else
    return OTHERS;
#endif
}

int pat_link_taken_bytes(bool has_mates)
{
    int limit = INT_MAX;
#ifdef OPEN_MPI
    if (is_ob1_by_tcp()) {
        const int inside = pat_link_eager_inside_bytes(), far = pat_link_eager_bytes();
        limit = has_mates && (inside == INT_MAX || inside < far) ? inside : far;
    }
#endif
    (void)has_mates;
    return limit == INT_MAX ? 0 : limit;
}

/*
 * Yields the processor between looks: where ranks share cores, one that looks without pause keeps others from sending, and
 * the link looks slower than it is. Sleeping would too, but Linux 6.18 may leave a rank that has slept for 50 us among ranks
 * that yield waiting for a processor for a minute (why: pat_runtime_rest), and those of other libraries' calls yield. This is over in some milliseconds.
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
    int bounces;    /* of a byte between two neighbours, at most BOUNCES */
} ring;

static int at_place(const ring *r, int place)
{
    return r->order ? r->order[place % r->size] : place % r->size;
}

/* Nothing may come into memory that is not ours any more. */
static void give_up(MPI_Request *requests, int count)
{
    for (int k = 0; k < count; k++)
        if (requests[k] != MPI_REQUEST_NULL) {
            PMPI_Cancel(&requests[k]);
            PMPI_Request_free(&requests[k]);
        }
}

static int receive(const ring *r, int bytes, int slot, MPI_Request *request)
{
    return PMPI_Irecv(r->in + (size_t)slot * (size_t)bytes, bytes, MPI_BYTE,
                      at_place(r, r->place + r->size - 1), TAG, r->comm, request);
}

static int send(const ring *r, int bytes, int slot, MPI_Request *request)
{
    return PMPI_Isend(r->out + (size_t)slot * (size_t)bytes, bytes, MPI_BYTE, at_place(r, r->place + 1), TAG,
                      r->comm, request);
}

/* The best of `repeats`: what the link can do, less what the scheduler did to us. Sent as so many messages at once. */
static int64_t shift(const ring *r, int bytes, int pieces, int repeats, int *rc)
{
    int64_t best = INT64_MAX;
    for (int i = 0; i < repeats && *rc == MPI_SUCCESS; i++) {
        MPI_Request requests[2 * PIECES];
        for (int k = 0; k < 2 * pieces; k++)
            requests[k] = MPI_REQUEST_NULL;
        const int64_t start = pat_clock_local_ns();
        for (int k = 0; k < pieces && *rc == MPI_SUCCESS; k++)
            *rc = receive(r, bytes / pieces, k, &requests[k]);
        for (int k = 0; k < pieces && *rc == MPI_SUCCESS; k++)
            *rc = send(r, bytes / pieces, k, &requests[pieces + k]);
        if (*rc == MPI_SUCCESS)
            *rc = wait_for(2 * pieces, requests);
        if (*rc != MPI_SUCCESS)
            give_up(requests, 2 * pieces);
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

/* How long after another message came, of those that are at least half of what counts apart: the median. */
static int64_t steady_pace(const int64_t *came_ns, int count)
{
    int64_t pace_ns[STREAM * STREAM];
    int num = 0;
    for (int i = SETTLING; i < count; i++)
        for (int k = i + (count - SETTLING) / 2; k < count; k++)
            pace_ns[num++] = (came_ns[k] - came_ns[i]) / (k - i);
    qsort(pace_ns, (size_t)num, sizeof(pace_ns[0]), by_time);
    return pace_ns[num / 2];
}

/* A message for each that has come, so that all keep the pace of the slowest link. Returns how long each takes. */
static int64_t stream(const ring *r, int bytes, int count, int *rc)
{
    MPI_Request in[WINDOW], out[WINDOW];
    int64_t came_ns[STREAM];
    for (int k = 0; k < WINDOW; k++)
        in[k] = out[k] = MPI_REQUEST_NULL;
    for (int k = 0; k < WINDOW && *rc == MPI_SUCCESS; k++)
        *rc = receive(r, bytes, k, &in[k]);
    for (int k = 0; k < WINDOW && *rc == MPI_SUCCESS; k++)
        *rc = send(r, bytes, k, &out[k]);
    for (int k = 0; k < count && *rc == MPI_SUCCESS; k++) {
        const int slot = k % WINDOW;
        *rc = wait_for(1, &in[slot]);
        came_ns[k] = pat_clock_local_ns();
        if (*rc == MPI_SUCCESS)
            *rc = wait_for(1, &out[slot]);
        if (*rc == MPI_SUCCESS && k + WINDOW < count)
            *rc = receive(r, bytes, slot, &in[slot]);
        if (*rc == MPI_SUCCESS && k + WINDOW < count)
            *rc = send(r, bytes, slot, &out[slot]);
    }
    if (*rc == MPI_SUCCESS)
        return steady_pace(came_ns, count);
    give_up(in, WINDOW);
    give_up(out, WINDOW);
    return 0;
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
    for (int i = 0; i < r->bounces && *rc == MPI_SUCCESS; i++) {
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
    qsort(took, (size_t)r->bounces, sizeof(took[0]), by_time);
    return took[r->bounces / 2];
}

static int64_t slowest(int64_t value, MPI_Comm comm, int *rc)
{
    int64_t result = value;
    if (*rc == MPI_SUCCESS)
        *rc = PMPI_Allreduce(&value, &result, 1, MPI_INT64_T, MPI_MAX, comm);
    return result;
}

static int64_t mean(int64_t value, const ring *r, int *rc)
{
    int64_t sum = value;
    if (*rc == MPI_SUCCESS)
        *rc = PMPI_Allreduce(&value, &sum, 1, MPI_INT64_T, MPI_SUM, r->comm);
    return sum / r->size;
}

/*
 * The mean over all pairs of neighbours: a block on its way round the ring meets each of them once. (The slowest pair would be one
 * whose ranks happened to wait for a processor.)
 */
static int64_t latency(const ring *r, int *rc)
{
    const int turns =
        2 + r->size % 2; /* an odd number of neighbours takes three, and each leaves one rank over */
    int64_t sum = 0;
    for (int turn = 0; turn < turns; turn++)
        sum += mean(bounce(turn, r, rc), r, rc);
    return sum * r->size / (turns * (r->size - r->size % 2));
}

/* How long a message of *bytes keeps the slowest link, and so many bytes that this can be told. */
static int64_t pace(const ring *r, int *bytes, int *rc)
{
    *bytes = FIRST_BYTES;
    while (mean(stream(r, *bytes, STREAM / 2, rc), r, rc) < ENOUGH_NS && *rc == MPI_SUCCESS &&
           *bytes < MAX_BYTES / WINDOW)
        *bytes *= 2;
    int64_t least_ns = INT64_MAX, slowest_ns = 0;
    for (int i = 0; i < MOST_STREAMS && *rc == MPI_SUCCESS; i++) {
        const int64_t pace_ns = stream(r, *bytes, STREAM, rc);
        least_ns = pace_ns < least_ns ? pace_ns : least_ns;
        slowest_ns = slowest(least_ns, r->comm, rc);
        if (slowest_ns * 100 <= mean(least_ns, r, rc) * (100 + AGREE_PERCENT))
            break; /* else something held one of them up, or its link is slower: then it is slower again */
    }
    return slowest_ns;
}

int pat_link_measure(pat_link *link, MPI_Comm comm, const int *order)
{
    int rank, rc = MPI_SUCCESS, bytes;
    ring r = {.comm = comm, .order = order, .bounces = BOUNCES};
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
    const int64_t alpha = latency(&r, &rc);
    const int64_t pace_ns = pace(&r, &bytes, &rc);
    const int64_t whole = slowest(shift(&r, bytes, 1, 5, &rc), comm, &rc);
    const int64_t pieces = slowest(shift(&r, bytes, PIECES, 5, &rc), comm, &rc);
    free(buf);
    if (rc != MPI_SUCCESS)
        return rc;
    link->piece_ns = pieces > whole ? (pieces - whole) / (PIECES - 1) : 0;
    if (link->piece_ns < pat_link_least_piece_ns(alpha))
        link->piece_ns = pat_link_least_piece_ns(alpha);
    link->alpha_ns = alpha;
    link->beta_ps = pace_ns * 1000 / bytes;
    if (link->beta_ps < 1)
        link->beta_ps = 1;
    return rc;
}

pat_link pat_link_reckoned(const pat_config *config)
{
    enum { ETHERNET_NS = 50000, ETHERNET_PS = 8500, ETHERNET_PIECE_NS = 5000 };
    const bool set = config && config->link_set;
    pat_link link = {.alpha_ns = set ? config->link_alpha_ns : ETHERNET_NS,
                     .beta_ps = set ? config->link_beta_ps : ETHERNET_PS};
    link.piece_ns = set ? pat_link_least_piece_ns(link.alpha_ns) : ETHERNET_PIECE_NS;
    return link;
}

int pat_link_find(pat_link *link, const pat_config *config, MPI_Comm comm, const int *order)
{
    if (!config->link_set)
        return pat_link_measure(link, comm, order);
    const pat_link set = pat_link_reckoned(config);
    link->alpha_ns = set.alpha_ns;
    link->piece_ns = set.piece_ns;
    link->beta_ps = set.beta_ps;
    return MPI_SUCCESS;
}

/* What a copy of so many bytes at `at` in rank `from` takes while all copy, the best of some; 0 where it cannot be copied. */
static int64_t copy_ns(const pat_mates *mates, int from, uint64_t at, char *to, int bytes)
{
    enum { TIMES = 3 };
    const pat_there there = {{at, 0}, {bytes, 0}};
    int64_t least = INT64_MAX;
    for (int i = 0; i < TIMES; i++) {
        const int64_t start = pat_clock_local_ns();
        if (pat_reach_copy(mates->reach, mates->mate_of[from], &there, (char *[]){to, NULL}, there.bytes) !=
            0)
            return 0;
        const int64_t took = pat_clock_local_ns() - start;
        least = took < least ? took : least;
    }
    return least;
}

int pat_link_copies(pat_link *link, MPI_Comm comm, const pat_mates *mates)
{
    enum { BYTES = 256 << 10, FEW_BOUNCES = 5 };
    ring r = {.comm = comm, .bounces = FEW_BOUNCES};
    int rc = MPI_SUCCESS;
    PMPI_Comm_rank(comm, &r.place);
    PMPI_Comm_size(comm, &r.size);
    const int left = (r.place + r.size - 1) % r.size, right = (r.place + 1) % r.size;
    char *data = malloc(2 * BYTES);
    uint64_t mine = (uintptr_t)data, there = 0;
    if (data)
        memset(data, 1, 2 * BYTES); /* or the kernel would give all of it the same page */
    const int64_t alpha_ns = latency(&r, &rc);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Sendrecv(&mine, sizeof(mine), MPI_BYTE, left, TAG, &there, sizeof(there), MPI_BYTE, right,
                           TAG, comm, MPI_STATUS_IGNORE);
    int64_t took[2] = {0}, all[2] = {0}; /* a copy's time, and whether it is known */
    if (rc == MPI_SUCCESS && data && there)
        took[0] = copy_ns(mates, right, there, data + BYTES, BYTES);
    took[1] = took[0] > 0;
    if (rc == MPI_SUCCESS) /* and until then all data stays where it is */
        rc = PMPI_Allreduce(took, all, 2, MPI_INT64_T, MPI_SUM, comm);
    free(data);
    if (rc != MPI_SUCCESS)
        return rc;
    if (all[1] == 0)
        return pat_link_measure(link, comm, NULL);
    link->alpha_ns = alpha_ns > 0 ? alpha_ns : 1;
    link->beta_ps = all[0] * 1000 / (all[1] * BYTES) > 0 ? all[0] * 1000 / (all[1] * BYTES) : 1;
    link->piece_ns = pat_link_least_piece_ns(link->alpha_ns);
    return MPI_SUCCESS;
}
