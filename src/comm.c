/*
 * comm.c — see comm.h. Making the state is collective over the user's communicator and happens inside its
 * first eligible call, never in the background thread; whether plans may run there is agreed by reduction, so
 * no rank decides alone.
 */
#include "comm.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "epoch.h"
#include "error.h"
#include "runtime.h"
#include "sockets.h"

/* Plans need every member in this job's MPI_COMM_WORLD: PAT_UseAlg is agreed there and nowhere else. */
static bool all_in_world(MPI_Comm comm, int size)
{
    MPI_Group group, world;
    bool inside = true;
    int *ranks = malloc(2 * (size_t)size * sizeof(*ranks));
    if (!ranks)
        return false;
    for (int r = 0; r < size; r++)
        ranks[r] = r;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(pat_rt.world, &world);
    PMPI_Group_translate_ranks(group, size, ranks, world, ranks + size);
    for (int r = 0; r < size; r++)
        inside = inside && ranks[size + r] != MPI_UNDEFINED;
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    free(ranks);
    return inside;
}

static bool tags_suffice(void)
{
    int *tag_ub, found;
    return PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &found) == MPI_SUCCESS && found &&
           *tag_ub >= PAT_TAG_NEEDED;
}

/* Asked for once in a process, by the first communicator that may need it: MPI_T is slow to start. */
static int eager_bytes(void)
{
    if (pat_rt.thread && atomic_load(&pat_rt.eager_bytes) == 0)
        atomic_store(&pat_rt.eager_bytes, pat_link_eager_bytes());
    return atomic_load(&pat_rt.eager_bytes);
}

static int comm_agree(pat_comm *c)
{
    if (c->sockets)
        pat_sockets_scan(c->sockets);
    int mine[4] = {pat_exchange_init(&c->exchange, c->size) == 0 && tags_suffice(), pat_rt.thread != NULL,
                   eager_bytes(), pat_sockets_packet_bytes(c->sockets)};
    int all[4] = {0, 0, 0, 0};
    int rc = PMPI_Allreduce(mine, all, 4, MPI_INT, MPI_MIN, c->own);
    c->usable = all[0];
    c->background = all[1];
    c->link.eager_bytes = all[2] == INT_MAX ? 0 : all[2];
    c->link.packet_bytes = all[3] == INT_MAX ? 0 : all[3];
    if (rc != MPI_SUCCESS || !c->usable)
        return rc;
    return pat_link_find(&c->link, &pat_rt.config, c->own);
}

static int comm_create(MPI_Comm comm, int size, pat_comm **out)
{
    pat_comm *c = calloc(1, sizeof(*c));
    if (!c)
        return pat_error(MPI_ERR_NO_MEM, "no memory for a communicator's state");
    c->user = comm;
    c->size = size;
    c->last.bytes = PAT_NO_CALL;
    c->refs = 1;
    c->current = &c->rounds[0];
    c->prepared = &c->rounds[1];
    c->sockets = pat_sockets_create();
    pthread_mutex_init(&c->lock, NULL);
    PMPI_Comm_rank(comm, &c->rank);
    int rc = PMPI_Comm_split(comm, 0, c->rank, &c->own);
    if (rc == MPI_SUCCESS) {
        PMPI_Comm_set_errhandler(c->own, MPI_ERRORS_RETURN);
        rc = comm_agree(c);
    }
    if (rc == MPI_SUCCESS)
        rc = PMPI_Comm_set_attr(comm, pat_rt.comm_keyval, c);
    if (rc != MPI_SUCCESS) {
        pat_comm_unref(c);
        return rc;
    }
    if (c->sockets) /* now all connections are open */
        pat_sockets_scan(c->sockets);
    if (pat_rt.thread)
        pat_thread_rescan(pat_rt.thread);
    pthread_mutex_lock(&pat_rt.lock);
    pat_comm **tail = &pat_rt.comms; /* in the order they were made, which is the same on all members */
    while (*tail)
        tail = &(*tail)->next;
    *tail = c;
    c->listed = true;
    pthread_mutex_unlock(&pat_rt.lock);
    *out = c;
    return MPI_SUCCESS;
}

enum { FOR_EVER = -1 };

bool pat_comm_is_new(MPI_Comm comm)
{
    void *kept = NULL;
    int found;
    return PMPI_Comm_get_attr(comm, pat_rt.calls_keyval, &kept, &found) == MPI_SUCCESS && found &&
           (intptr_t)kept != FOR_EVER;
}

/*
 * Shall calls here be left to the MPI library without a state? For ever where some member is of another world, in which nobody
 * may have started the library: every member sees that, so it is asked before anything collective. And for some calls
 * where a state, which takes time to make, has too little history to say that it will pay.
 */
static bool left_alone(MPI_Comm comm, int size)
{
    void *kept = NULL;
    int found;
    if (PMPI_Comm_get_attr(comm, pat_rt.calls_keyval, &kept, &found) != MPI_SUCCESS)
        return true;
    intptr_t calls = found ? (intptr_t)kept : all_in_world(comm, size) ? 0 : FOR_EVER;
    const bool alone = calls == FOR_EVER || calls < pat_rt.patience;
    if (alone && calls != FOR_EVER)
        calls++;
    if (alone)
        PMPI_Comm_set_attr(comm, pat_rt.calls_keyval, (void *)calls);
    return alone;
}

int pat_comm_get(MPI_Comm comm, pat_comm **out)
{
    int found, inter, size;
    pat_comm *c = NULL;
    *out = NULL;
    int rc = PMPI_Comm_get_attr(comm, pat_rt.comm_keyval, &c, &found);
    if (rc != MPI_SUCCESS)
        return rc;
    if (!found) {
        PMPI_Comm_test_inter(comm, &inter);
        PMPI_Comm_size(comm, &size);
        if (inter || size < 2 || left_alone(comm, size))
            return MPI_SUCCESS;
        if (pat_rt.dropin) /* a report leaves out how long the last member is waited for */
            PMPI_Barrier(comm);
        const int64_t start_ns = pat_clock_local_ns();
        rc = comm_create(comm, size, &c);
        atomic_fetch_add(&pat_rt.state_ns, pat_clock_local_ns() - start_ns);
        if (rc != MPI_SUCCESS)
            return rc;
    }
    *out = c->usable ? c : NULL;
    return MPI_SUCCESS;
}

void pat_comm_ref(pat_comm *c)
{
    pthread_mutex_lock(&pat_rt.lock);
    c->refs++;
    pthread_mutex_unlock(&pat_rt.lock);
}

void pat_comm_unref(pat_comm *c)
{
    pthread_mutex_lock(&pat_rt.lock);
    bool last = --c->refs == 0;
    pthread_mutex_unlock(&pat_rt.lock);
    if (!last)
        return;
    pat_exchange_free(&c->exchange);
    pat_sockets_free(c->sockets);
    pat_plan_free(&c->rounds[0].plan);
    pat_plan_free(&c->rounds[1].plan);
    pat_plan_free(&c->rooted.plan);
    pat_plan_free(&c->credits.plan);
    if (c->stage) {
        munmap(c->stage, c->stage_size);
        atomic_fetch_sub(&pat_rt.stage_bytes, (int64_t)c->stage_size);
    }
    free(c->last_starts);
    if (c->pack)
        munmap(c->pack, c->pack_size);
    if (c->rooted_pack)
        munmap(c->rooted_pack, c->rooted_pack_size);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* MPI_Comm_free and the end of the library both come here, on every member. */
int pat_comm_delete_attr(MPI_Comm comm, int keyval, void *attr, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)extra;
    pat_comm *c = attr;
    const int64_t start_ns = pat_clock_local_ns();
    pthread_mutex_lock(&c->lock);
    int rc = pat_credits_end(c);
    pthread_mutex_unlock(&c->lock);
    int rc_settle = pat_epoch_settle_one(c);
    if (rc == MPI_SUCCESS)
        rc = rc_settle;

    pthread_mutex_lock(&pat_rt.lock);
    for (pat_comm **at = &pat_rt.comms; *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            c->listed = false;
            break;
        }
    if (pat_rt.last == c)
        pat_rt.last = NULL;
    pthread_mutex_unlock(&pat_rt.lock);

    pthread_mutex_lock(&c->lock);
    int rc_drop = pat_epoch_drop_ahead(c);
    if (rc == MPI_SUCCESS)
        rc = rc_drop;
    c->dead = true;
    c->holder = NULL;
    pthread_mutex_unlock(&c->lock);
    int rc_free = PMPI_Comm_free(&c->own);
    pat_comm_unref(c);
    if (!pat_rt.settled) /* else it belongs to the end of the library */
        atomic_fetch_add(&pat_rt.state_ns, pat_clock_local_ns() - start_ns);
    return rc != MPI_SUCCESS ? rc : rc_free;
}

bool pat_comm_buffer(char **buf, size_t *have, size_t size)
{
    if (*have >= size)
        return true;
    if (*buf)
        munmap(*buf, *have);
    /* Only what is touched costs memory: the early-data image is as long as the result but mostly empty. */
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *buf = p == MAP_FAILED ? NULL : p;
    *have = *buf ? size : 0;
    return *buf != NULL;
}
