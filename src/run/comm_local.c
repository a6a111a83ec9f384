/*
 * comm_local.c — see comm_local.h.
 */
#include "comm_local.h"

#include <limits.h>
#include <stdlib.h>

#include "calibration.h"
#include "error.h"
#include "runtime.h"

static int no_memory(void)
{
    return pat_error(MPI_ERR_NO_MEM, "no memory for a communicator's state");
}

static int add(const pat_comm *list, const pat_contact *others[], int num)
{
    for (const pat_comm *c = list; c; c = c->next)
        if (c->contact.local)
            others[num++] = &c->contact;
    return num;
}

/*
 * Choose tags, and enter the state in the list, after which nobody else chooses them; those that have ended with an error keep theirs. What others have sent to this
 * rank on a communicator that is freed it had received before, so those tags are free again. False: there is no memory.
 */
static bool enter(pat_comm *c, int most)
{
    pthread_mutex_lock(&pat_rt.lock);
    const pat_contact **others = malloc((size_t)(pat_rt.num_comms + 1) * sizeof(*others));
    if (others) {
        const int num = add(pat_rt.kept, others, add(pat_rt.comms, others, 0));
        pat_contact_choose(&c->contact, others, num, most);
    }
    pat_comm_list(c);
    pthread_mutex_unlock(&pat_rt.lock);
    free(others);
    return others != NULL;
}

/* Enough for a message of so many segments, the same on all members: what MPI has beyond that other communicators need. */
static int slot_tags(int num_ranks)
{
    enum { SPARE = 32 };
    const int needed = pat_comm_tags_needed(num_ranks), segments = PAT_MOST_SEGMENTS + SPARE;
    return needed > segments ? needed : segments;
}

static int make(pat_comm *c)
{
    c->own = pat_rt.world;
    c->slot_tags = slot_tags(c->size);
    c->link = pat_link_reckoned(&pat_rt.config);
    int rc = pat_contact_begin(&c->contact, c->user, c->size, PAT_PENDING_SLOTS * c->slot_tags, c->own);
    if (rc == MPI_SUCCESS && !pat_layout_find(&c->layout, c->user, c->size))
        rc = no_memory();
    if (rc == MPI_SUCCESS)
        rc = PMPI_Comm_set_attr(c->user, pat_rt.local_keyval, c);
    return rc;
}

/* Other members wait for what this one tells, so an error from here on is the state's. */
static int begin(MPI_Comm comm, int size, pat_comm **out)
{
    pat_comm *c = pat_comm_begin(comm, size);
    int rc = c ? make(c) : no_memory();
    if (rc != MPI_SUCCESS) {
        if (c)
            pat_comm_unref(c);
        return rc;
    }
    *out = c;
    pat_comm_lock(c);
    rc = enter(c, pat_contact_most_tags()) ? MPI_SUCCESS : no_memory();
    if (rc == MPI_SUCCESS)
        rc =
            pat_contact_tell(&c->contact, comm, pat_link_eager_bytes(), pat_sockets_packet_bytes(c->sockets));
    rc = pat_comm_ended(c, rc);
    pat_comm_unlock(c);
    return rc;
}

int pat_comm_get_local(MPI_Comm comm, bool choosing, pat_comm **out)
{
    int found, size;
    pat_comm *c = NULL;
    *out = NULL;
    int rc = PMPI_Comm_get_attr(comm, pat_rt.local_keyval, &c, &found);
    if (rc != MPI_SUCCESS)
        return rc;
    if (found) {
        *out = c;
        return MPI_SUCCESS;
    }
    PMPI_Comm_size(comm, &size);
    if (!pat_rt.all_threads || pat_comm_is_left(comm, size, choosing, false))
        return MPI_SUCCESS;
    const int64_t start_ns = pat_clock_local_ns();
    rc = begin(comm, size, out);
    atomic_fetch_add(&pat_rt.state_ns, pat_clock_local_ns() - start_ns);
    return rc;
}

/* In pat_link 0 stands for what is not known. */
static int64_t if_known(int64_t value)
{
    return value == INT_MAX ? 0 : value;
}

int pat_comm_look_local(pat_comm *c, bool asks_mpi, bool *moved)
{
    pat_contact_facts least;
    const bool known = c->contact.known;
    int rc = pat_contact_look(&c->contact, c->size, c->own, asks_mpi, moved, &least);
    if (rc == MPI_SUCCESS && c->contact.known && !known) {
        c->link.eager_bytes = if_known(least.eager_bytes);
        c->link.packet_bytes = if_known(least.packet_bytes);
        pat_comm_opens(c);
    }
    return rc;
}
