/*
 * comm_local.h — a communicator's state for non-blocking calls. Each member makes it for itself, since nobody may wait in such a call (contact.h); what is
 * started before all members have told how they are reached begins when they have. So a communicator may have two states, two pat_comms: this one, in
 * which nothing but non-blocking calls is ever run, and that of blocking calls.
 */
#ifndef PAT_COMM_LOCAL_H
#define PAT_COMM_LOCAL_H

#include "comm.h"

/*
 * MPICH keeps a communicator that is freed, with its attributes, until nothing is under way there: the state would go in the middle of some other call. So there the first
 * call waits until all members have told.
 */
#ifdef OPEN_MPI
enum { PAT_CONTACT_WAITS = 0 };
#else
enum { PAT_CONTACT_WAITS = 1 };
#endif

/* What messages take, with what all members have told each other here, which never changes. */
static inline pat_link pat_comm_link_local(const pat_comm *c, pat_link link)
{
    link.eager_bytes = c->link.eager_bytes;
    link.packet_bytes = c->link.packet_bytes;
    return link;
}

/* The inputs of a plan for a call that is started, by such a link: nothing that this rank alone knows. */
static inline pat_job pat_comm_job_local(const pat_comm *c, const pat_lane *lane, const pat_link *link,
                                         pat_blocks blocks)
{
    pat_job job = pat_comm_job(c, lane, link, blocks.bytes);
    /* What the lane has learnt may not be the same on all ranks now: the round of a request may have ended on some of them only. */
    job.together = false;
    job.starts = blocks.starts;
    job.element_bytes = blocks.element_bytes;
    return job;
}

/*
 * Get it, which is made at the first call that asks for it; nobody is told yet. choosing: the algorithm in use chooses (`auto`); the same on all ranks. *out is NULL when
 * the call is left to the MPI library; *why says why, where somebody wants to know. Returns an MPI error code.
 */
int pat_comm_get_local(MPI_Comm comm, bool choosing, pat_comm **out, enum pat_why *why);

/*
 * Make a state of its own for one persistent request on `comm`; as if the request were alone on a communicator, so that ranks may start several in different orders. What a rank does for
 * itself; NULL: it cannot, and pat_error has said why. num_slots: how many rounds have tags of their own; the same on all members. To be freed by pat_comm_end_own.
 */
pat_comm *pat_comm_begin_own(MPI_Comm comm, int num_slots);

/* All members call this, and wait for each other. *all: all of them have such a state (c is not NULL); else it is of no use. Returns an MPI error code. */
int pat_comm_agree_own(pat_comm *c, MPI_Comm comm, bool *all);

/* Instead of that, where the request's starts send nothing of the library's: only this rank has it then. */
void pat_comm_list_own(pat_comm *c);

/* What this rank receives from itself with this tag, on the library's communicator, is nothing of a plan's. */
int pat_comm_own_tag(const pat_comm *c);

/* Its request is freed: the background thread frees the state when nothing is under way there; at once where not all have agreed. */
void pat_comm_end_own(pat_comm *c);

/* The first call that a plan runs: tell the members how this rank is reached, once. All members make this call. The caller holds c's lock. Returns an MPI error code. */
int pat_comm_tell_local(pat_comm *c);

/* Take in what members tell. asks_mpi: see pat_wire_test (wire.h). The caller holds c's lock. Returns an MPI error code. */
int pat_comm_look_local(pat_comm *c, bool asks_mpi, bool *moved);

#endif
