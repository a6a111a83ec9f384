/*
 * comm.c — see comm.h. Making the state is collective over the user's communicator and happens inside its
 * first eligible call, never in the background thread; whether plans may run there is agreed by reduction, so
 * no rank decides alone.
 */
#include "comm.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "explain.h"
#include "machine.h"
#include "runtime.h"
#include "sockets.h"

static int lane_slots(int op)
{
    return pat_collective_of((enum pat_op)op)->moves_early ? PAT_LANE_SLOTS : 0;
}

/*
 * What has tags of its own on the library's communicator: what ranks tell each other; each collective whose data may move early (guess.h); after these one slot
 * for all rounds that are made in the call alone, and that of credits. A round that is made in the call ends all its messages before the call
 * returns, and so does a round of credits before the next one begins: the order that MPI keeps between two ranks is then enough to tell
 * one from the next.
 */
enum { CALL_SLOT, CREDITS_SLOT, SLOTS_AFTER_LANES };

static int lanes_slots(void)
{
    int num = 0;
    for (int op = 0; op < PAT_NUM_OPS; op++)
        num += lane_slots(op);
    return num;
}

static int num_slots(void)
{
    return lanes_slots() + SLOTS_AFTER_LANES;
}

static void make_lanes(pat_comm *c)
{
    int next_slot = 0;
    for (int op = 0; op < PAT_NUM_OPS; op++) {
        pat_lane *lane = &c->lanes[op];
        lane->op = (enum pat_op)op;
        lane->first_slot = next_slot;
        next_slot += lane_slots(op);
        lane->chooses = atomic_load(&pat_rt.alg[op])->chooses;
        pat_shapes_begin(&lane->shapes);
        lane->current = &lane->rounds[0];
        lane->prepared = &lane->rounds[1];
        c->follows[op] = (enum pat_op)op;
    }
}

int pat_comm_slot_tags(void)
{
    return (pat_contact_most_tags() - PAT_NUM_TELLS) / num_slots();
}

/*
 * The calibration that PAT_CALIBRATION names was measured with ranks that were placed as those of the world. It says nothing of a communicator
 * whose ranks are placed in another way, as of those of one node.
 */
static void take_named(pat_comm *c)
{
    char why[200];
    if (!pat_rt.calibration)
        return;
    if (pat_calibration_is_placed(pat_rt.calibration, &c->layout.placing, why, sizeof(why)))
        c->calibration = pat_rt.calibration;
    else if (pat_rt.config.explain && c->rank == 0)
        pat_explain_not_taken(&c->size, pat_rt.config.calibration, why);
    c->calibrated = pat_calibration_knows(c->calibration, PAT_OP_ALLGATHER);
}

/*
 * What is stored for this machine was measured on some network, with ranks that were placed in some way: the communicator takes what is of its own
 * link, which pat-calibrate measures between neighbours by number, and placing. All members have the same list and agree on the link, so they take the same.
 */
static int take_stored(pat_comm *c)
{
    pat_link link = c->link;
    if (c->calibration || pat_rt.num_stored == 0 || !pat_comm_chooses_here(c->layout.one_node, false))
        return MPI_SUCCESS;
    int rc = c->layout.order ? pat_link_find(&link, &pat_rt.config, c->own, NULL) : MPI_SUCCESS;
    if (rc != MPI_SUCCESS)
        return rc;
    const bool tells = pat_rt.config.explain && c->rank == 0;
    const pat_store_listener listener = {pat_explain_not_taken, &c->size};
    const pat_store_wish wish = {c->layout.placing, pat_link_mbit(&link)};
    pat_stored *taken;
    rc = pat_machine_take(c->own, pat_rt.stored, pat_rt.num_stored, &wish, tells ? &listener : NULL, &taken);
    if (rc != MPI_SUCCESS || !taken)
        return rc;
    if (tells)
        pat_explain_taken(c->size, taken->path);
    c->calibration = &taken->calibration;
    c->calibrated = pat_calibration_knows(c->calibration, PAT_OP_ALLGATHER);
    pthread_mutex_lock(&pat_rt.lock);
    taken->taken = true;
    pthread_mutex_unlock(&pat_rt.lock);
    return MPI_SUCCESS;
}

static int comm_agree(pat_comm *c)
{
    c->arrival_ns = malloc((size_t)c->size * sizeof(*c->arrival_ns));
    c->from_root = malloc((size_t)c->size * sizeof(*c->from_root));
    const bool room = c->arrival_ns && c->from_root && pat_layout_find(&c->layout, c->user, c->size);
    c->taken_bytes = pat_link_taken_bytes(!c->layout.one_a_node);
    const pat_tellers estimates = {c->own, PAT_TELL_ESTIMATES, c->rank, c->size, c->layout.mates},
                      samples = {c->own, PAT_TELL_SAMPLES, c->rank, c->size, c->layout.mates};
    int mine[5] = {room && pat_exchange_init(&c->exchange, &estimates) == 0 &&
                       pat_sample_init(&c->sample, &samples) == 0,
                   pat_rt.thread != NULL, pat_link_eager_bytes(), pat_sockets_packet_bytes(c->sockets),
                   pat_comm_slot_tags()};
    int all[5] = {0};
    int rc = PMPI_Allreduce(mine, all, 5, MPI_INT, MPI_MIN, c->own);
    c->slot_tags = all[4];
    c->usable = all[0] && c->slot_tags >= pat_comm_tags_needed(c->size);
    c->background = all[1];
    c->link.eager_bytes = all[2] == INT_MAX ? 0 : all[2];
    c->link.packet_bytes = all[3] == INT_MAX ? 0 : all[3];
    c->credits.members = pat_comm_members(c);
    c->call_tags = pat_comm_tags(c, lanes_slots() + CALL_SLOT);
    c->credits.tags = pat_comm_tags(c, lanes_slots() + CREDITS_SLOT);
    if (rc != MPI_SUCCESS || !c->usable)
        return rc;
    take_named(c);
    if (c->layout.one_node && c->layout.mates.reach && !pat_rt.config.link_set && !c->calibration)
        rc = pat_link_copies(&c->link, c->own, &c->layout.mates);
    else
        rc = pat_link_find(&c->link, &pat_rt.config, c->own, c->layout.order);
    return rc == MPI_SUCCESS ? take_stored(c) : rc;
}

/* Each of a communicator's first calls, so many, is followed by a look for the connections that it may have opened. */
enum { OPENING_CALLS = 16 };

pat_comm *pat_comm_begin(MPI_Comm comm, int size)
{
    pat_comm *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->user = comm;
    c->size = size;
    make_lanes(c);
    c->refs = 1;
    c->sockets = pat_sockets_create();
    pat_sockets_hear(c->sockets, pat_rt.bells);
    c->opening = OPENING_CALLS;
    pthread_mutex_init(&c->lock, NULL);
    PMPI_Comm_rank(comm, &c->rank);
    if (c->sockets)
        pat_sockets_scan(c->sockets);
    return c;
}

void pat_comm_list(pat_comm *c)
{
    pat_comm **tail =
        &pat_rt.comms; /* in the order they were made, which but for contacts is the same on all members */
    while (*tail)
        tail = &(*tail)->next;
    *tail = c;
    c->listed = true;
    c->number = ++pat_rt.num_comms;
}

static int comm_create(MPI_Comm comm, int size, pat_comm **out)
{
    pat_comm *c = pat_comm_begin(comm, size);
    if (!c)
        return pat_error(MPI_ERR_NO_MEM, "no memory for a communicator's state");
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
    if (c->sockets) /* now most connections are open */
        pat_sockets_scan(c->sockets);
    if (pat_rt.thread)
        pat_thread_rescan(pat_rt.thread);
    pthread_mutex_lock(&pat_rt.lock);
    pat_comm_list(c);
    pthread_mutex_unlock(&pat_rt.lock);
    *out = c;
    return MPI_SUCCESS;
}

/* What is kept with a communicator that has no state: its calls so far, ONE_NODE added, or FOR_EVER. */
enum { FOR_EVER = -1, ONE_NODE = 1 << 20 };

/*
 * Before anything collective, by what every member sees. For ever without a state is a communicator with a member of another
 * world, in which nobody may have started the library.
 */
static intptr_t first_look(MPI_Comm comm, int size)
{
    bool one;
    const bool inside = pat_layout_look(comm, size, &one);
    return !inside ? FOR_EVER : one ? ONE_NODE : 0;
}

static bool kept_with(MPI_Comm comm, intptr_t *kept)
{
    void *value = NULL;
    int found;
    bool known = PMPI_Comm_get_attr(comm, pat_rt.calls_keyval, &value, &found) == MPI_SUCCESS && found;
    *kept = (intptr_t)value;
    return known;
}

/* A calibration that is named is of ranks that are placed as the world's are. */
static bool named_is_of_one_node(void)
{
    if (!pat_rt.calibration)
        return false;
    const pat_placing measured = pat_calibration_placing(pat_rt.calibration);
    return pat_placing_on_one_node(&measured);
}

bool pat_comm_chooses_here(bool one_node, bool copies)
{
    return !one_node || pat_rt.config.link_set || named_is_of_one_node() || (copies && pat_rt.reach);
}

bool pat_comm_copies(const pat_comm *c)
{
    return c->layout.one_node && c->layout.mates.reach && !c->calibrated && !pat_rt.config.link_set;
}

void pat_comm_explain_plan(const pat_comm *c, pat_lane *lane, const pat_algorithm *alg, const pat_job *job)
{
    if (!pat_rt.config.explain || c->rank > 0 || job->block_bytes < 1)
        return;
    const pat_algorithm *on = pat_algorithm_runs_as(alg, job);
    if (on != alg && lane->told_back != alg) {
        pat_explain_falls_back(alg, on, job);
        lane->told_back = alg;
    }
    const int limit = pat_link_eager_inside_bytes();
    const bool is_cut = job->segment_bytes > 0 && job->segment_bytes < job->block_bytes;
    const pat_collective *row = pat_collective_of(alg->op);
    if (is_cut && !row->all_give && !row->personal && !c->layout.one_a_node && job->segment_bytes > limit &&
        !lane->told_waits) {
        pat_explain_waits(c->size, job->segment_bytes, limit);
        lane->told_waits = true;
    }
}

/* For people who have asked: once, by rank 0. */
static void explain_left(MPI_Comm comm, int size)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    if (pat_rt.config.explain && rank == 0)
        pat_explain_left(size, pat_comm_why_not(comm, false), pat_rt.reach && size > 2);
}

/* Is it the first time that anybody asks? What is kept is kept from then on. */
static bool look_for_the_first_time(MPI_Comm comm, int size, intptr_t *kept)
{
    if (kept_with(comm, kept))
        return false;
    *kept = first_look(comm, size);
    PMPI_Comm_set_attr(comm, pat_rt.calls_keyval, (void *)*kept);
    return true;
}

static bool is_left(MPI_Comm comm, int size, bool choosing, bool copies, intptr_t *kept)
{
    const bool first = look_for_the_first_time(comm, size, kept);
    const bool left = *kept == FOR_EVER || (choosing && !pat_comm_chooses_here(*kept & ONE_NODE, copies));
    if (left && first)
        explain_left(comm, size);
    return left;
}

bool pat_comm_is_left(MPI_Comm comm, int size, bool choosing, bool copies)
{
    intptr_t kept;
    return pat_comm_is_inter(comm) || size < 2 || is_left(comm, size, choosing, copies, &kept);
}

/* Is it one of so many first calls, which may be all that there are? It is counted. */
static bool is_first_call(MPI_Comm comm, intptr_t kept)
{
    if ((kept & ~ONE_NODE) >= pat_rt.patience)
        return false;
    PMPI_Comm_set_attr(comm, pat_rt.calls_keyval, (void *)(kept + 1));
    return true;
}

/*
 * Shall a call here be left to the MPI library without a state, which takes time to make? Yes where auto would leave it to that
 * library anyway, and for some calls where there is too little history to say that a state will pay.
 */
static bool left_alone(MPI_Comm comm, int size, bool choosing, bool copies)
{
    intptr_t kept;
    if (is_left(comm, size, choosing, copies, &kept))
        return true;
    return choosing && is_first_call(comm, kept);
}

bool pat_comm_waits(MPI_Comm comm)
{
    intptr_t kept;
    int size, found;
    pat_comm *c;
    if (pat_rt.patience == 0 || pat_comm_is_inter(comm) || PMPI_Comm_size(comm, &size) != MPI_SUCCESS ||
        size < 2 || PMPI_Comm_get_attr(comm, pat_rt.comm_keyval, &c, &found) != MPI_SUCCESS || found)
        return false;
    look_for_the_first_time(comm, size, &kept);
    return kept != FOR_EVER && is_first_call(comm, kept);
}

bool pat_comm_is_inter(MPI_Comm comm)
{
    int inter = 0;
    return comm != MPI_COMM_NULL && PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter;
}

enum pat_why pat_comm_why_left_ever(MPI_Comm comm)
{
    intptr_t kept;
    int size = 1;
    PMPI_Comm_size(comm, &size);
    return pat_comm_is_inter(comm)                      ? PAT_WHY_GROUPS
           : size < 2                                   ? PAT_WHY_ONE_RANK
           : kept_with(comm, &kept) && kept == FOR_EVER ? PAT_WHY_GROUPS
                                                        : PAT_WHY_ONE_NODE;
}

enum pat_why pat_comm_why_not(MPI_Comm comm, bool copies)
{
    intptr_t kept;
    int size = 1, found = 0;
    pat_comm *c = NULL;
    PMPI_Comm_size(comm, &size);
    if (!pat_rt.all_threads)
        return PAT_WHY_NO_THREAD;
    if (pat_comm_is_inter(comm))
        return PAT_WHY_GROUPS;
    if (size < 2)
        return PAT_WHY_ONE_RANK;
    if (PMPI_Comm_get_attr(comm, pat_rt.comm_keyval, &c, &found) == MPI_SUCCESS && found)
        return c->slot_tags < pat_comm_tags_needed(c->size) ? PAT_WHY_TAGS : PAT_WHY_CANNOT;
    if (!kept_with(comm, &kept))
        return PAT_WHY_CANNOT;
    return kept == FOR_EVER                                          ? PAT_WHY_GROUPS
           : kept & ONE_NODE && !pat_comm_chooses_here(true, copies) ? PAT_WHY_ONE_NODE
                                                                     : PAT_WHY_FIRST;
}

enum pat_why pat_comm_why_left(MPI_Comm comm, enum pat_why why)
{
    intptr_t kept;
    int size = 1;
    PMPI_Comm_size(comm, &size);
    if (pat_comm_is_inter(comm))
        return PAT_WHY_GROUPS;
    if (size < 2)
        return PAT_WHY_ONE_RANK;
    const bool first = look_for_the_first_time(comm, size, &kept);
    if (kept != FOR_EVER && (!(kept & ONE_NODE) || pat_comm_chooses_here(true, false)))
        return why;
    if (first)
        explain_left(comm, size);
    return pat_comm_why_not(comm, false);
}

void pat_comm_explain_order(MPI_Comm comm)
{
    int rank, size;
    if (pat_rt.config.explain && PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == 0 &&
        PMPI_Comm_size(comm, &size) == MPI_SUCCESS && !atomic_exchange(&pat_rt.told_order, true))
        pat_explain_left(size, PAT_WHY_ORDER, false);
}

int pat_comm_get(MPI_Comm comm, bool choosing, bool copies, pat_comm **out)
{
    int found, size;
    pat_comm *c = NULL;
    *out = NULL;
    int rc = PMPI_Comm_get_attr(comm, pat_rt.comm_keyval, &c, &found);
    if (rc != MPI_SUCCESS)
        return rc;
    if (!found) {
        PMPI_Comm_size(comm, &size);
        if (pat_comm_is_inter(comm) || size < 2 || left_alone(comm, size, choosing, copies))
            return MPI_SUCCESS;
        if (pat_rt.dropin) /* a report leaves out how long the last member is waited for */
            PMPI_Barrier(comm);
        const int64_t start_ns = pat_clock_local_ns();
        rc = comm_create(comm, size, &c);
        if (rc == MPI_SUCCESS && !c->usable)
            explain_left(comm, size);
        atomic_fetch_add(&pat_rt.state_ns, pat_clock_local_ns() - start_ns);
        if (rc != MPI_SUCCESS)
            return rc;
    }
    *out = c->usable ? c : NULL;
    return MPI_SUCCESS;
}

void pat_comm_is_used_no_more(pat_comm *c)
{
    pthread_mutex_lock(&pat_rt.lock);
    c->number = 0; /* which no communicator has */
    if (pat_rt.last == c)
        pat_rt.last = NULL;
    if (pat_rt.announced == c)
        pat_rt.announced = NULL;
    pthread_mutex_unlock(&pat_rt.lock);
}

bool pat_comm_unlist(pat_comm *c)
{
    pthread_mutex_lock(&pat_rt.lock);
    const bool was_listed = c->listed;
    for (pat_comm **at = &pat_rt.comms; *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            c->listed = false;
            break;
        }
    pthread_mutex_unlock(&pat_rt.lock);
    return was_listed;
}

void pat_comm_called(pat_comm *c, enum pat_op op)
{
    c->follows[c->last_op] = op;
    c->last_op = op;
    pat_comm_opens(c);
}

void pat_comm_opens(pat_comm *c)
{
    /* Open MPI opens the connection of two ranks with their first message. */
    if (c->opening > 0 && pat_rt.thread)
        pat_thread_rescan(pat_rt.thread);
    c->opening -= c->opening > 0;
}
