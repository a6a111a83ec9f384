/*
 * pace.c — see pace.h. All intervals are in one table; a change there is a change of the one in docs/epochs.md.
 */
#include "pace.h"

#define USEC INT64_C(1000)
#define MSEC INT64_C(1000000)

/* The part that an interval grows by after a look that found nothing. */
enum { GROWTH = 8 };

/* A part of some time, within two limits; without a part it is always most_ns. */
typedef struct interval {
    int64_t part;
    int64_t least_ns, most_ns;
    int64_t grown_ns; /* what it grows to while nothing moves */
} interval;

enum row {
    /* The rows of the table in docs/epochs.md. */
    ESTIMATES,            /* of the time waited so far */
    ESTIMATE_TOLD,        /* of the time until the first rank calls: so much of it is left for the exchange */
    EARLY_WITH_ESTIMATES, /* of a message's time on the link: so much of it is not slept */
    EARLY_FROM_THEN_ON,   /* of a message's time on the link */
    EARLY_NOT_PREDICTED,
    OPEN_AFTER_ROUND,
    OPEN_AFTER_WAIT,
    STARTED_REQUEST,
    MEASURED_CALL, /* of the time since its end */
    CREDITS,       /* of the time that nothing has moved */
    CREDITS_CALLS_FOLLOW,
    /* The rules below it. */
    EARLY_ANNOUNCED, /* of the time that nothing has moved */
    STARTED_ANNOUNCED,
    CAME_IN,
    FULL_OR_CALLING,
    CALL_STARTED,
    CALL_STARTED_CROWDED,
    CALL_SETTLED,
    IN_MPI,
    IN_MPI_CROWDED,
    IN_MPI_STILL, /* of the time that it has been */
    LOOKS_ON,
    MEETING, /* without sleep, since something came */
    /* A caller's naps. */
    NAP, /* of the time that nothing has moved */
    NAP_ANNOUNCED,
    NUM_ROWS
};

static const interval table[NUM_ROWS] = {
    [ESTIMATES] = {.part = 4, .least_ns = 300 * USEC, .most_ns = 4 * MSEC},
    [ESTIMATE_TOLD] = {.part = 4, .least_ns = 1 * MSEC, .most_ns = 1000 * MSEC},
    [EARLY_WITH_ESTIMATES] = {.part = 16, .most_ns = 10 * MSEC},
    [EARLY_FROM_THEN_ON] = {.part = 16, .least_ns = 100 * USEC, .most_ns = 1 * MSEC, .grown_ns = 4 * MSEC},
    [EARLY_NOT_PREDICTED] = {.part = 16, .least_ns = 100 * USEC, .most_ns = 1 * MSEC, .grown_ns = 10 * MSEC},
    [OPEN_AFTER_ROUND] = {.most_ns = 200 * MSEC},
    [OPEN_AFTER_WAIT] = {.most_ns = 20 * MSEC},
    [STARTED_REQUEST] = {.most_ns = 500 * USEC},
    [MEASURED_CALL] = {.part = 4, .least_ns = 300 * USEC, .most_ns = 10 * MSEC},
    [CREDITS] = {.part = 4, .least_ns = 500 * USEC, .most_ns = 10 * MSEC},
    [CREDITS_CALLS_FOLLOW] = {.most_ns = 4 * MSEC},
    [EARLY_ANNOUNCED] = {.part = 2, .least_ns = 10 * MSEC, .most_ns = 50 * MSEC},
    [STARTED_ANNOUNCED] = {.most_ns = 2 * MSEC},
    [CAME_IN] = {.most_ns = 200 * USEC},
    [FULL_OR_CALLING] = {.most_ns = 1 * MSEC},
    [CALL_STARTED] = {.most_ns = 100 * USEC},
    [CALL_STARTED_CROWDED] = {.most_ns = 1 * MSEC},
    [CALL_SETTLED] = {.most_ns = 2 * MSEC},
    [IN_MPI] = {.most_ns = 500 * USEC},
    [IN_MPI_CROWDED] = {.most_ns = 4 * MSEC},
    [IN_MPI_STILL] = {.part = 2, .least_ns = 500 * USEC, .most_ns = 4 * MSEC},
    [LOOKS_ON] = {.most_ns = 100 * USEC},
    [MEETING] = {.most_ns = 100 * USEC},
    [NAP] = {.part = 20, .least_ns = 50 * USEC, .most_ns = 1 * MSEC},
    [NAP_ANNOUNCED] = {.part = 4, .least_ns = 100 * USEC, .most_ns = 1 * MSEC},
};

/* A caller only lets others run where nothing has moved for less than this. */
static const int64_t YIELD_NS = 50 * USEC;

/* It stays awake in a round that takes less than this, until nothing has moved for so many blocks' times. */
static const int64_t AWAKE_NS = 5 * MSEC, AWAKE_BLOCKS = 4;

static int64_t part_of(enum row row, int64_t time_ns)
{
    const interval *i = &table[row];
    const int64_t part_ns = time_ns / i->part;
    return part_ns < i->least_ns ? i->least_ns : part_ns > i->most_ns ? i->most_ns : part_ns;
}

static int64_t since(enum row row, int64_t now_ns, int64_t then_ns)
{
    return now_ns + part_of(row, now_ns - then_ns);
}

static int64_t after(enum row row, int64_t now_ns)
{
    return now_ns + table[row].most_ns;
}

bool pat_pace_at_once(int idle_looks, int looks)
{
    return idle_looks < looks;
}

/* ---- The background thread ---------------------------------------------------------------------------- */

/*
 * Soon if something has just come in: what MPI took in last is seen only at the next look. In a millisecond while a socket
 * may be full, or a caller's looks may take in what is for us.
 */
int64_t pat_pace_come_again(const pat_pace_facts *facts, int64_t now_ns, int64_t when_ns)
{
    const int64_t latest_ns = facts->came                        ? after(CAME_IN, now_ns)
                              : facts->sending || facts->calling ? after(FULL_OR_CALLING, now_ns)
                                                                 : when_ns;
    return latest_ns < when_ns ? latest_ns : when_ns;
}

int64_t pat_pace_soon(int64_t now_ns)
{
    return after(CAME_IN, now_ns);
}

int64_t pat_pace_estimates(int64_t now_ns, int64_t posted_ns)
{
    return since(ESTIMATES, now_ns, posted_ns); /* the others' milestones are about as far off as ours was */
}

int64_t pat_pace_passes_on_ns(void)
{
    return table[CAME_IN].most_ns;
}

pat_pace_early pat_pace_early_none(bool estimates, int64_t moved_ns)
{
    return (pat_pace_early){estimates, moved_ns, INT64_MAX, 0};
}

/* A message cannot be here before its sender has arrived, nor sooner after the last one than the link needs for it. */
void pat_pace_early_expect(pat_pace_early *early, int64_t from_ns, int64_t tau_ns)
{
    const int64_t here_ns = (from_ns > early->moved_ns ? from_ns : early->moved_ns) + tau_ns -
                            tau_ns / table[EARLY_WITH_ESTIMATES].part;
    if (here_ns < early->here_ns) {
        early->here_ns = here_ns;
        early->tau_ns = tau_ns;
    }
}

/*
 * Sleep until the first message can be here, but never trust a prediction for long. From then on look every sixteenth of its
 * time, and less and less often while nothing moves.
 */
int64_t pat_pace_early_look(const pat_pace_early *early, int64_t now_ns, int64_t *poll_ns)
{
    if (early->here_ns != INT64_MAX && now_ns < early->here_ns) {
        const int64_t latest_ns = after(EARLY_WITH_ESTIMATES, now_ns);
        *poll_ns = 0;
        return early->here_ns < latest_ns ? early->here_ns : latest_ns;
    }
    /* Without estimates nobody has said that anything will come. */
    const enum row row = early->estimates ? EARLY_FROM_THEN_ON : EARLY_NOT_PREDICTED;
    const int64_t first_ns = part_of(row, early->tau_ns);
    *poll_ns = *poll_ns < first_ns ? first_ns : *poll_ns + *poll_ns / GROWTH;
    if (*poll_ns > table[row].grown_ns)
        *poll_ns = table[row].grown_ns;
    return now_ns + *poll_ns;
}

/*
 * Sockets tell of what comes in, unless somebody else's call to MPI has read it: half of the time that nothing has
 * moved is not much to lose.
 */
int64_t pat_pace_early_spare(int64_t now_ns, int64_t moved_ns)
{
    return since(EARLY_ANNOUNCED, now_ns, moved_ns);
}

int64_t pat_pace_open(int64_t over_ns, bool waited)
{
    return over_ns + table[waited ? OPEN_AFTER_WAIT : OPEN_AFTER_ROUND].most_ns;
}

int64_t pat_pace_started(int64_t now_ns, bool announced)
{
    return after(announced ? STARTED_ANNOUNCED : STARTED_REQUEST, now_ns);
}

int64_t pat_pace_call_started_ns(bool crowded)
{
    return table[crowded ? CALL_STARTED_CROWDED : CALL_STARTED].most_ns;
}

int64_t pat_pace_call_settled_ns(void)
{
    return table[CALL_SETTLED].most_ns;
}

bool pat_pace_is_in_mpi(int64_t now_ns, int64_t looked_ns, bool crowded)
{
    return now_ns - looked_ns < table[crowded ? IN_MPI_CROWDED : IN_MPI].most_ns;
}

bool pat_pace_waits_in_mpi(int64_t now_ns, int64_t last_ns)
{
    return now_ns - last_ns < table[LOOKS_ON].most_ns;
}

/* Each wake-up may take the processor from another rank that waits or computes. */
int64_t pat_pace_in_mpi(int64_t now_ns, int64_t since_ns)
{
    return since(IN_MPI_STILL, now_ns, since_ns);
}

int64_t pat_pace_tell(int64_t now_ns, int64_t first_ns, int64_t exchange_ns)
{
    const int64_t left_ns = first_ns - now_ns, part_ns = part_of(ESTIMATE_TOLD, left_ns),
                  ahead_ns = part_ns + (exchange_ns < part_ns ? exchange_ns : part_ns);
    return left_ns > ahead_ns ? first_ns - ahead_ns : now_ns;
}

int64_t pat_pace_call_over_ns(void)
{
    return table[MEASURED_CALL].least_ns;
}

int64_t pat_pace_measured(int64_t now_ns, int64_t ended_ns)
{
    return since(MEASURED_CALL, now_ns, ended_ns);
}

/*
 * Others may wait for what this rank has to pass on, but only if they are far ahead, so it is looked for less and less
 * often while nothing moves. Where one round follows the other, callers look themselves: the thread only goes on coming.
 */
int64_t pat_pace_credits(int64_t now_ns, int64_t moved_ns, bool under_way, bool calls_follow)
{
    if (under_way)
        return since(CREDITS, now_ns, moved_ns);
    return calls_follow ? after(CREDITS_CALLS_FOLLOW, now_ns) : INT64_MAX;
}

bool pat_pace_meeting_at_once(int64_t now_ns, int64_t moved_ns)
{
    return now_ns < after(MEETING, moved_ns);
}

/* ---- A caller that waits ------------------------------------------------------------------------------ */

int64_t pat_pace_nap_ns(bool announced, int64_t quiet_ns)
{
    if (!announced && quiet_ns < YIELD_NS)
        return 0;
    return part_of(announced ? NAP_ANNOUNCED : NAP, quiet_ns);
}

/*
 * When ranks arrive together, whoever waits waits for the network only. In a round of few milliseconds waking up, some
 * 50 us a hop, weighs more than the time burnt; unless one has stayed away after all.
 */
bool pat_pace_stays_awake(bool together, int ranks, int64_t block_ns, int64_t quiet_ns)
{
    return together && (ranks - 1) * block_ns < AWAKE_NS && quiet_ns < AWAKE_BLOCKS * block_ns;
}
