/*
 * comm_local.c — see comm_local.h.
 */
#include "comm_local.h"

#include <limits.h>
#include <stdlib.h>

#include "calibration.h"
#include "error.h"
#include "runtime.h"

/* Enough for a message of so many segments, the same on all members: what MPI has beyond that other communicators need. */
static int slot_tags(int num_ranks)
{
    enum { SPARE = 32 };
    const int needed = pat_comm_tags_needed(num_ranks), segments = PAT_MOST_SEGMENTS + SPARE;
    return needed > segments ? needed : segments;
}

static int make(pat_comm *c, int num_slots, int more_tags)
{
    c->own = pat_rt.world;
    c->slot_tags = slot_tags(c->size);
    c->link = pat_link_reckoned(&pat_rt.config);
    c->from_root = malloc((size_t)c->size * sizeof(*c->from_root));
    const bool made =
        c->from_root && pat_contact_begin(&c->contact, c->size, num_slots * c->slot_tags + more_tags) &&
        pat_layout_find(&c->layout, c->user, c->size) && pat_layout_ranks(c->user, c->size, c->contact.rank);
    return made ? MPI_SUCCESS : pat_error(MPI_ERR_NO_MEM, "no memory for a communicator's state");
}

static int begin(MPI_Comm comm, int size, pat_comm **out)
{
    pat_comm *c = pat_comm_begin(comm, size);
    if (!c)
        return pat_error(MPI_ERR_NO_MEM, "no memory for a communicator's state");
    int rc = make(c, PAT_ALL_SLOTS, 0);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Comm_set_attr(comm, pat_rt.local_keyval, c);
    if (rc != MPI_SUCCESS) {
        pat_comm_unref(c);
        return rc;
    }
    pthread_mutex_lock(&pat_rt.lock);
    pat_comm_list(c);
    pthread_mutex_unlock(&pat_rt.lock);
    *out = c;
    return MPI_SUCCESS;
}

/* By what all members see. */
static enum pat_why why_left(MPI_Comm comm, int size, bool choosing)
{
    return !pat_rt.all_threads                                      ? PAT_WHY_NO_THREAD
           : pat_comm_is_left(comm, size, choosing, false)          ? pat_comm_why_left_ever(comm)
           : !pat_contact_has_tags(PAT_ALL_SLOTS * slot_tags(size)) ? PAT_WHY_TAGS
                                                                    : PAT_WHY_NOT_KNOWN;
}

int pat_comm_get_local(MPI_Comm comm, bool choosing, pat_comm **out, enum pat_why *why)
{
    int found, size;
    pat_comm *c = NULL;
    *out = NULL;
    int rc = PMPI_Comm_get_attr(comm, pat_rt.local_keyval, &c, &found);
    if (rc != MPI_SUCCESS)
        return rc;
    if (found) {
        const bool chosen = !choosing || pat_comm_chooses_here(c->layout.one_node, false);
        *out = chosen ? c : NULL;
        *why = chosen ? *why : PAT_WHY_ONE_NODE;
        return MPI_SUCCESS;
    }
    PMPI_Comm_size(comm, &size);
    const enum pat_why left = why_left(comm, size, choosing);
    if (left != PAT_WHY_NOT_KNOWN) {
        *why = left;
        return MPI_SUCCESS;
    }
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

static void choose_tags(pat_comm *c, int most)
{
    pthread_mutex_lock(&pat_rt.lock);
    pat_contact_choose(&c->contact, &pat_rt.contacts, most);
    pthread_mutex_unlock(&pat_rt.lock);
}

static int tell(pat_comm *c, bool waits)
{
    int rc =
        pat_contact_tell(&c->contact, c->user, pat_link_eager_bytes(), pat_sockets_packet_bytes(c->sockets));
    pat_rest rest = pat_runtime_rest_begin();
    for (bool moved = false; waits && rc == MPI_SUCCESS && !c->contact.known;) {
        rc = pat_comm_look_local(c, true, &moved);
        pat_runtime_rest(&rest, moved);
    }
    return rc;
}

int pat_comm_tell_local(pat_comm *c)
{
    if (c->contact.begun)
        return MPI_SUCCESS;
    choose_tags(c, pat_contact_most_tags());
    return tell(c, PAT_CONTACT_WAITS);
}

/* ---- For a persistent request --------------------------------------------------------------------------- */

int pat_comm_own_tag(const pat_comm *c)
{
    return c->contact.own_first + c->contact.num_tags - 1;
}

/* One tag more is for what the rank sends itself. Requests take no more than half of the tags, so that communicators find some. */
pat_comm *pat_comm_begin_own(MPI_Comm comm, int num_slots)
{
    int size;
    const int64_t start_ns = pat_clock_local_ns();
    pat_comm *c = PMPI_Comm_size(comm, &size) == MPI_SUCCESS ? pat_comm_begin(comm, size) : NULL;
    bool made = false;
    if (c) {
        c->of_request = true;
        atomic_store(&c->idle, true);
        made = make(c, num_slots, 1) == MPI_SUCCESS;
    }
    if (made) {
        choose_tags(c, pat_contact_most_tags() / 2);
        made = c->contact.own_first >= 0;
    }
    if (c && !made) {
        pat_comm_unref(c);
        c = NULL;
    }
    atomic_fetch_add(&pat_rt.state_ns, pat_clock_local_ns() - start_ns);
    return c;
}

int pat_comm_agree_own(pat_comm *c, MPI_Comm comm, bool *all)
{
    int mine = c != NULL, least = 0;
    const int64_t start_ns = pat_clock_local_ns();
    int rc = PMPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, comm);
    *all = rc == MPI_SUCCESS && least;
    if (*all)
        rc = pat_comm_ended(c, tell(c, true));
    atomic_fetch_add(&pat_rt.state_ns, pat_clock_local_ns() - start_ns);
    if (*all && rc == MPI_SUCCESS)
        pat_comm_list_own(c);
    return rc;
}

void pat_comm_list_own(pat_comm *c)
{
    c->user = MPI_COMM_NULL; /* the program may free it before the request */
    pthread_mutex_lock(&pat_rt.lock);
    pat_comm_list(c);
    pthread_mutex_unlock(&pat_rt.lock);
}

void pat_comm_end_own(pat_comm *c)
{
    if (!c->listed) { /* nobody else knows it */
        pat_comm_unref(c);
        return;
    }
    atomic_store(&c->freed, true);
    if (pat_rt.thread)
        pat_thread_kick(pat_rt.thread);
}
