/*
 * timekeeper.c — see timekeeper.h.
 */
#include "timekeeper.h"

#include <string.h>

_Static_assert(sizeof(pat_line) == (PAT_TIMEKEEPER_WORDS - 1) * sizeof(int64_t), "a line is so many words");

/* pat_clock_sync has the tag before. */
enum { TAG_QUESTION = 3, TAG_ANSWER = 4 };

/* What a child says: it wants to know the time, or it asks again at a moment of the common clock, which is never 0, or never. */
static const int64_t NOW = 0, NEVER = INT64_MAX;

/* The shortest of so many round trips is hardly ever one that was disturbed; the first is longer, since the parent has yet to wake. */
enum { ROUNDS = 12 };

/*
 * Between the meetings of ranks one step farther from rank 0: a meeting takes less. Those of one step are spread, for the sake of nodes that
 * share processors or a link: a meeting that goes on beside others has longer round trips.
 */
static const int64_t STAGE_NS = 25000000, SLOT_NS = 3000000;
enum { SLOTS = 8 };

/* A look is to follow at once where it is due so soon. */
static const int64_t SOON_NS = 1000000;

static void publish(pat_timekeeper *t, const pat_line *line)
{
    const unsigned turn = atomic_load_explicit(&t->turn, memory_order_relaxed) + 1;
    pat_shared_line *to = &t->lines[turn % 2];
    atomic_store_explicit(&to->ref_ns, line->ref_ns, memory_order_release);
    atomic_store_explicit(&to->offset_ns, line->offset_ns, memory_order_release);
    atomic_store_explicit(&to->error_ns, line->error_ns, memory_order_release);
    atomic_store_explicit(&to->rate, line->rate, memory_order_release);
    atomic_store_explicit(&to->rate_error, line->rate_error, memory_order_release);
    atomic_store_explicit(&t->turn, turn, memory_order_release);
}

static void no_meeting(pat_meeting *m)
{
    *m = (pat_meeting){.over = true, .request = MPI_REQUEST_NULL};
}

void pat_timekeeper_begin(pat_timekeeper *t, const pat_clock *clock)
{
    const pat_drift_sample first = {clock->measured_ns, clock->offset_ns, clock->error_ns};
    pat_line line = {0}; /* of rank 0, which has nothing to measure */
    pthread_mutex_lock(&t->lock);
    t->drift.num = 0;
    if (clock->error_ns > 0)
        pat_drift_add(&t->drift, &first, &line);
    publish(t, &line);
    atomic_store(&t->next_ns, NEVER);
    atomic_store(&t->num_measured, 0);
    t->comm = MPI_COMM_NULL;
    t->num_down = 0;
    no_meeting(&t->up);
    t->asked_ns = t->num_agreed = 0;
    t->rounds = 0;
    t->best.error_ns = INT64_MAX;
    t->ending = false;
    t->failed = MPI_SUCCESS;
    pthread_mutex_unlock(&t->lock);
}

static void meet(pat_meeting *m, const pat_clock_tie *tie, int64_t first_ns)
{
    no_meeting(m);
    m->peer = tie->peer;
    m->same = tie->same;
    m->due_ns = m->since_ns = first_ns + tie->step * STAGE_NS + tie->child % SLOTS * SLOT_NS;
    m->over = false;
}

static void set_next(pat_timekeeper *t, int64_t now)
{
    const pat_line line = pat_timekeeper_line(t);
    int64_t next_ns = NEVER;
    for (int i = -1; i < t->num_down && !t->failed && !t->ending; i++) {
        const pat_meeting *m = i < 0 ? &t->up : &t->down[i];
        if (m->over)
            continue;
        const int64_t at_ns = now < m->due_ns ? m->due_ns : pat_drift_look_ns(now, m->since_ns);
        next_ns = at_ns < next_ns ? at_ns : next_ns;
    }
    atomic_store(&t->next_ns, next_ns == NEVER ? NEVER : pat_line_local_ns(&line, next_ns));
}

void pat_timekeeper_track(pat_timekeeper *t, MPI_Comm comm, const pat_clock_tree *tree, int64_t first_ns)
{
    pthread_mutex_lock(&t->lock);
    t->comm = comm;
    if (tree->up.peer >= 0 && !tree->root)
        meet(&t->up, &tree->up, first_ns);
    for (int i = 0; i < tree->num_down; i++)
        if (!(tree->root && tree->down[i].same))
            meet(&t->down[t->num_down++], &tree->down[i], first_ns);
    set_next(t, pat_timekeeper_now_ns(t));
    pthread_mutex_unlock(&t->lock);
}

/* Has what was sent last gone, so that its memory is free? */
static int is_free(pat_meeting *m, bool *yes)
{
    int done = 1, rc = MPI_SUCCESS;
    if (m->request != MPI_REQUEST_NULL)
        rc = PMPI_Test(&m->request, &done, MPI_STATUS_IGNORE);
    *yes = rc == MPI_SUCCESS && done;
    return rc;
}

static int send(pat_timekeeper *t, pat_meeting *m, int count, int tag)
{
    bool gone;
    int rc = PMPI_Isend(m->words, count, MPI_INT64_T, m->peer, tag, t->comm, &m->request);
    return rc == MPI_SUCCESS ? is_free(m, &gone) : rc;
}

static int receive(pat_timekeeper *t, const pat_meeting *m, int64_t *words, int count, int tag, bool *came)
{
    int here = 0, rc = PMPI_Iprobe(m->peer, tag, t->comm, &here, MPI_STATUS_IGNORE);
    *came = rc == MPI_SUCCESS && here;
    return *came ? PMPI_Recv(words, count, MPI_INT64_T, m->peer, tag, t->comm, MPI_STATUS_IGNORE) : rc;
}

static int look_down(pat_timekeeper *t, pat_meeting *m, int64_t now, bool *moved)
{
    int64_t word;
    bool ready, came;
    int rc = is_free(m, &ready);
    if (!ready || m->over || (!t->ending && now < m->due_ns))
        return rc;
    rc = receive(t, m, &word, 1, TAG_QUESTION, &came);
    if (rc != MPI_SUCCESS || !came)
        return rc;
    *moved = true;
    m->over = word == NEVER;
    if (word != NOW) {
        m->due_ns = m->since_ns = word;
        return MPI_SUCCESS;
    }
    const pat_line line = pat_timekeeper_line(t);
    const int64_t local_ns = pat_clock_local_ns(), common_ns = local_ns + pat_line_offset_ns(&line, local_ns);
    m->since_ns = common_ns;
    if (m->same) {
        memcpy(m->words, &line, sizeof(line));
        m->words[PAT_TIMEKEEPER_WORDS - 1] = t->num_agreed;
    } else
        memcpy(m->words, (int64_t[]){common_ns, pat_line_error_ns(&line, local_ns)}, 2 * sizeof(int64_t));
    return send(t, m, PAT_TIMEKEEPER_WORDS, TAG_ANSWER);
}

static int say(pat_timekeeper *t, int64_t word)
{
    t->up.words[0] = word;
    t->up.over = word == NEVER;
    if (word == NOW) {
        t->asked_ns = pat_clock_local_ns();
        t->up.since_ns = t->asked_ns + pat_timekeeper_offset_ns(t, t->asked_ns);
    } else {
        t->up.due_ns = t->up.since_ns = word;
    }
    return send(t, &t->up, 1, TAG_QUESTION);
}

/* The parent read its clock somewhere between question and answer: the middle is wrong by half the round trip at most. */
static void take_in(pat_timekeeper *t, const int64_t answer[])
{
    const int64_t now_ns = pat_clock_local_ns(), took_ns = now_ns - t->asked_ns,
                  middle_ns = t->asked_ns + took_ns / 2, error_ns = (took_ns + 1) / 2 + 1 + answer[1];
    if (error_ns < t->best.error_ns)
        t->best = (pat_drift_sample){middle_ns, answer[0] - middle_ns, error_ns};
}

/* Out of the meeting comes one sample, or a line. Returns when the next one is; those that were missed are left out. */
static int64_t conclude(pat_timekeeper *t, const int64_t answer[])
{
    pat_line line;
    if (t->up.same) { /* what the parent has measured, and so as often as the parent */
        memcpy(&line, answer, sizeof(line));
        t->num_agreed = answer[PAT_TIMEKEEPER_WORDS - 1];
    } else {
        t->num_agreed = pat_drift_add(&t->drift, &t->best, &line) ? t->num_agreed + 1 : 1;
    }
    publish(t, &line);
    atomic_fetch_add(&t->num_measured, 1);
    t->rounds = 0;
    t->best.error_ns = INT64_MAX;
    const int64_t interval_ns = pat_drift_interval_ns(t->num_agreed),
                  late_ns = pat_timekeeper_now_ns(t) - t->up.due_ns;
    return t->up.due_ns + (late_ns / interval_ns + 1) * interval_ns;
}

static int look_up(pat_timekeeper *t, int64_t now, bool *moved)
{
    int64_t answer[PAT_TIMEKEEPER_WORDS];
    bool ready, came;
    int rc = is_free(&t->up, &ready);
    if (!ready || t->up.over)
        return rc;
    if (!t->asked_ns) {
        if (t->ending)
            return say(t, NEVER);
        return now < t->up.due_ns ? MPI_SUCCESS : say(t, NOW);
    }
    rc = receive(t, &t->up, answer, PAT_TIMEKEEPER_WORDS, TAG_ANSWER, &came);
    if (rc != MPI_SUCCESS || !came)
        return rc;
    *moved = true;
    if (!t->up.same)
        take_in(t, answer);
    t->asked_ns = 0;
    t->rounds++;
    if (t->ending)
        return say(t, NEVER);
    return say(t, t->rounds < ROUNDS && !t->up.same ? NOW : conclude(t, answer));
}

static int look(pat_timekeeper *t, bool *moved)
{
    const int64_t now = pat_timekeeper_now_ns(t);
    for (int i = 0; i < t->num_down && !t->failed; i++)
        t->failed = look_down(t, &t->down[i], now, moved);
    if (!t->failed && t->comm != MPI_COMM_NULL)
        t->failed = look_up(t, now, moved);
    set_next(t, now);
    return t->failed;
}

void pat_timekeeper_look(pat_timekeeper *t, bool *moved)
{
    if (pthread_mutex_trylock(&t->lock) != 0)
        return;
    if (!t->ending)
        look(t, moved);
    pthread_mutex_unlock(&t->lock);
}

bool pat_timekeeper_meets(pat_timekeeper *t, int64_t now_ns)
{
    return pat_timekeeper_next_ns(t) < now_ns + SOON_NS;
}

int pat_timekeeper_stop(pat_timekeeper *t)
{
    pthread_mutex_lock(&t->lock);
    t->ending = true;
    atomic_store(&t->next_ns, NEVER); /* from now on only pat_timekeeper_end looks */
    const int failed = t->failed;
    pthread_mutex_unlock(&t->lock);
    return failed;
}

int pat_timekeeper_end(pat_timekeeper *t, bool *done)
{
    bool moved;
    pthread_mutex_lock(&t->lock);
    const int rc = look(t, &moved);
    *done = t->up.over && t->up.request == MPI_REQUEST_NULL;
    for (int i = 0; i < t->num_down; i++)
        *done = *done && t->down[i].over && t->down[i].request == MPI_REQUEST_NULL;
    pthread_mutex_unlock(&t->lock);
    return rc;
}
