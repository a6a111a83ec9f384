/*
 * history.c — see history.h. Rules of thumb, each by measurement or by what a wrong one costs: the other algorithm is tried
 * after 2, 4, 8 ... calls, so that trying is soon not felt; one that is measured slower must be so clearly, since two that are
 * alike would be tossed about by noise.
 */
#include "history.h"

#include <string.h>

enum {
    FAR_BLOCKS = 5, /* ranks that come this many blocks' times apart gain by relay however short blocks are */
    MOST_GAP = 64,  /* calls by the MPI library between two looks at when ranks come */
    FIRST_COMPARE = 8,    /* calls by relay before the MPI library is tried */
    MOST_COMPARE = 1024,  /* and at most */
    CLEARLY_PERCENT = 105 /* of the other one's time: slower */
};

uint16_t pat_history_site(const void *address)
{
    return (uint16_t)((uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15) >> 48 | 1);
}

pat_told pat_told_make(const pat_carried *carried, int num_ranks, int64_t bytes)
{
    if (!carried)
        return (pat_told){.bytes = bytes, .spread_ns = -1};
    int64_t first = carried[0].arrival_ns, took = 0, waited = 0;
    int last_rank = 0;
    bool all = true;
    for (int r = 0; r < num_ranks; r++) {
        first = carried[r].arrival_ns < first ? carried[r].arrival_ns : first;
        last_rank = carried[r].arrival_ns > carried[last_rank].arrival_ns ? r : last_rank;
        took += carried[r].took;
        all = all && carried[r].took > 0;
    }
    const int64_t last = carried[last_rank].arrival_ns;
    for (int r = 0; r < num_ranks; r++)
        waited += (last - carried[r].arrival_ns) / num_ranks;
    return (pat_told){.bytes = bytes,
                      .spread_ns = last - first,
                      .last_rank = last_rank,
                      .waited_ns = waited,
                      .took_ns = all ? took * PAT_TOOK_NS / num_ranks : 0,
                      .site = carried[0].site,
                      .last_site = carried[0].last_site};
}

/* ---- Which place comes next ------------------------------------------------------------------------------- */

static int place_of(uint16_t site)
{
    return site * 40503u >> 12 & (PAT_PLACES - 1);
}

static void follows(pat_history *h, uint16_t site, uint16_t next)
{
    h->place[place_of(site)] = site;
    h->next_of[place_of(site)] = next;
}

/* The same place again, until something else was seen to follow it. */
static void foretell(pat_history *h, uint16_t site)
{
    h->site = h->place[place_of(site)] == site && site ? h->next_of[place_of(site)] : site;
}

/* ---- One habit -------------------------------------------------------------------------------------------- */

static int slot_of(int64_t bytes, uint16_t site)
{
    const uint64_t key = (uint64_t)bytes ^ (uint64_t)site << 40;
    return (int)(key * UINT64_C(0x9e3779b97f4a7c15) >> 60) & (PAT_HABITS - 1);
}

static bool is_of(const pat_habit *habit, int64_t bytes, uint16_t site)
{
    return habit->bytes == bytes && habit->site == site;
}

static int at_most(int a, int b)
{
    return a < b ? a : b;
}

/*
 * Lengths and places that share a slot put each other out. What is put out leaves its trial behind: else two of them in turn
 * would be tried in every call.
 */
static pat_habit fresh_after(const pat_habit *old, int64_t bytes, uint16_t site)
{
    return (pat_habit){.bytes = bytes,
                       .site = site,
                       .left = at_most(old->left, MOST_GAP),
                       .gap = at_most(old->gap, MOST_GAP)};
}

const pat_habit *pat_history_look(const pat_history *h, int64_t bytes, pat_habit *fresh)
{
    const pat_habit *habit = &h->habits[slot_of(bytes, h->site)];
    if (is_of(habit, bytes, h->site))
        return habit;
    *fresh = fresh_after(habit, bytes, h->site);
    return fresh;
}

static pat_habit *keep(pat_history *h, int64_t bytes, uint16_t site, enum pat_verdict verdict)
{
    pat_habit *habit = &h->habits[slot_of(bytes, site)];
    if (!is_of(habit, bytes, site))
        *habit = fresh_after(habit, bytes, site);
    habit->verdict = verdict;
    return habit;
}

static int rounds_lately(const pat_habit *habit)
{
    return habit->num_rounds < PAT_LATELY ? (int)habit->num_rounds : PAT_LATELY;
}

pat_outlook pat_habit_lately(const pat_habit *habit)
{
    pat_outlook mean = {0};
    const int num = rounds_lately(habit);
    for (int i = 0; i < num; i++) {
        mean.waiting_us += habit->outlooks[i].waiting_us / num;
        mean.native_us += habit->outlooks[i].native_us / num;
        mean.relay_us += habit->outlooks[i].relay_us / num;
    }
    return mean;
}

static bool far_apart(const pat_habit *habit, int64_t block_ns)
{
    const int num = rounds_lately(habit);
    int64_t sum = 0;
    for (int i = 0; i < num; i++)
        sum += habit->spread_ns[i];
    return num > 0 && sum / num >= FAR_BLOCKS * block_ns;
}

static int64_t waited_lately(const pat_habit *habit)
{
    const int num = rounds_lately(habit);
    int64_t sum = 0;
    for (int i = 0; i < num; i++)
        sum += habit->round_waited_ns[i];
    return num > 0 ? sum / num : 0;
}

/* By figures where there are any. Who runs must be beaten clearly, so that noise does not toss the choice about. */
static bool relay_pays(const pat_habit *habit, int64_t block_ns, bool runs)
{
    const pat_outlook o = pat_habit_lately(habit);
    return pat_outlook_is_known(&o) ? pat_outlook_relay_pays(&o, runs) : far_apart(habit, block_ns);
}

int64_t pat_habit_took_ns(const pat_habit *habit, enum pat_runner runner)
{
    const int64_t *t = habit->took_ns[runner];
    if (habit->num_took[runner] < PAT_SAMPLES)
        return 0;
    const int64_t low = t[0] < t[1] ? t[0] : t[1], high = t[0] < t[1] ? t[1] : t[0];
    return t[2] < low ? low : t[2] > high ? high : t[2];
}

/* ---- Who runs it ------------------------------------------------------------------------------------------ */

/*
 * Ranks may come far apart or together: a call that the MPI library runs tells nobody. So every so often relay runs one and
 * tells.
 */
static enum pat_runner by_arrivals(const pat_habit *habit, enum pat_why *why)
{
    const bool runs = habit->gap <= 1 && habit->num_rounds > 0;
    *why = habit->left > 0 ? PAT_WHY_TOGETHER : runs ? PAT_WHY_APART : PAT_WHY_COMPARE;
    return habit->left > 0 ? PAT_BY_MPI : PAT_BY_RELAY;
}

/*
 * Relay, unless it was measured to be slower; and now and then the other one, to measure that. While ranks come far apart
 * there is nothing to measure: the MPI library waits for the last one.
 */
static enum pat_runner by_measurement(const pat_habit *habit, int64_t block_ns, enum pat_why *why)
{
    const bool compare = habit->gap > 0 && habit->left <= 0;
    if (habit->slower) {
        *why = compare ? PAT_WHY_COMPARE : PAT_WHY_SLOWER;
        return compare ? PAT_BY_RELAY : PAT_BY_MPI;
    }
    if (compare && habit->is_timed && !far_apart(habit, block_ns)) {
        *why = PAT_WHY_COMPARE;
        return PAT_BY_MPI;
    }
    *why = PAT_WHY_LONG;
    return PAT_BY_RELAY;
}

enum pat_runner pat_habit_runner(const pat_habit *habit, enum pat_verdict verdict, int num_ranks,
                                 int64_t block_ns, enum pat_why *why)
{
    const bool always = verdict == PAT_RELAY_ALWAYS;
    if (verdict == PAT_RELAY_NEVER ||
        num_ranks < 3) { /* two pass nothing on, so they do not tell each other */
        *why = always ? PAT_WHY_LONG : PAT_WHY_SHORT;
        return always ? PAT_BY_RELAY : PAT_BY_MPI;
    }
    return always ? by_measurement(habit, block_ns, why) : by_arrivals(habit, why);
}

/* ---- What a call teaches ---------------------------------------------------------------------------------- */

static int longer(int gap, int most)
{
    return at_most(2 * gap, most);
}

/* Returns whether the verdict on relay has changed. */
static bool compare(pat_habit *habit)
{
    const int64_t relay = pat_habit_took_ns(habit, PAT_BY_RELAY);
    const int64_t mpi = pat_habit_took_ns(habit, PAT_BY_MPI);
    if (relay == 0 || mpi == 0)
        return false;
    const bool was = habit->slower;
    habit->slower = was ? relay > mpi : 100 * (double)relay > CLEARLY_PERCENT * (double)mpi;
    if (was != habit->slower)
        habit->left = habit->gap = FIRST_COMPARE;
    return was != habit->slower;
}

static bool take_sample(pat_habit *habit, int64_t took_ns)
{
    if (took_ns == 0 || habit->verdict != PAT_RELAY_ALWAYS)
        return false;
    const int64_t ns = took_ns > habit->waited_ns ? took_ns - habit->waited_ns : 1;
    habit->took_ns[habit->last][habit->num_took[habit->last]++ % PAT_SAMPLES] = ns;
    return compare(habit);
}

/* A call of this habit is over: when is the other one tried next? */
static void advance(pat_habit *habit, enum pat_runner ran, int64_t block_ns)
{
    habit->last = ran;
    if (habit->verdict == PAT_RELAY_NEVER)
        return;
    if (habit->verdict == PAT_RELAY_BY_ARRIVALS) {
        const int gap = habit->gap > 0 ? habit->gap : 1;
        if (ran == PAT_BY_MPI) {
            habit->left -= habit->left > 0;
        } else if (relay_pays(habit, block_ns, gap == 1)) {
            habit->left = 0;
            habit->gap = 1;
        } else {
            habit->left = gap;
            habit->gap = longer(gap, MOST_GAP);
        }
    } else if (habit->gap == 0) {
        habit->left = habit->gap = FIRST_COMPARE;
    } else if (!habit->slower && ran == PAT_BY_MPI) {
        habit->left = habit->gap = longer(habit->gap, MOST_COMPARE);
    } else if (habit->slower && ran == PAT_BY_RELAY) {
        /* Twice: the first call carries what the MPI library took, the second what the first one took. */
        const bool both = habit->left < 0;
        habit->gap = both ? longer(habit->gap, MOST_GAP) : habit->gap;
        habit->left = both ? habit->gap : -1;
    } else if (habit->left > 0) {
        habit->left--;
    }
}

static void note_round(pat_habit *habit, const pat_told *told)
{
    const int at = (int)(habit->num_rounds++ % PAT_LATELY);
    habit->spread_ns[at] = told->spread_ns;
    habit->round_waited_ns[at] = told->waited_ns;
    habit->outlooks[at] = told->outlook;
}

const pat_habit *pat_history_relay_ran(pat_history *h, const pat_told *told, enum pat_verdict verdict,
                                       int64_t block_ns, uint32_t my_took)
{
    const bool carried = told->spread_ns >= 0;
    pat_habit *chosen = keep(h, told->bytes, h->site, verdict);
    bool changed = carried && take_sample(chosen, told->took_ns);
    chosen->waited_ns = told->waited_ns;
    chosen->is_timed = told->took_ns > 0;
    chosen->my_took = my_took;
    if (carried && told->last_site)
        follows(h, told->last_site, told->site);
    if (carried) { /* the place that was foretold may have been another, and may now be put out */
        pat_habit *real = keep(h, told->bytes, told->site, verdict);
        note_round(real, told);
        if (real->slower && far_apart(real, block_ns)) { /* what was measured was of other times */
            real->slower = false;
            real->left = real->gap = FIRST_COMPARE;
            memset(real->num_took, 0, sizeof(real->num_took));
            changed = changed || real == chosen;
        }
    }
    if (changed)
        chosen->last = PAT_BY_RELAY;
    else
        advance(chosen, PAT_BY_RELAY, block_ns);
    foretell(h, carried ? told->site : h->site);
    return changed ? chosen : NULL;
}

void pat_history_mpi_ran(pat_history *h, int64_t bytes, enum pat_verdict verdict, uint32_t my_took)
{
    pat_habit *chosen = keep(h, bytes, h->site, verdict);
    advance(chosen, PAT_BY_MPI, 0);
    chosen->waited_ns = waited_lately(chosen); /* it does not tell: taken to be as before */
    chosen->my_took = my_took;
    foretell(h, h->site);
}

uint32_t pat_history_took(int64_t ns)
{
    const int64_t took = ns / PAT_TOOK_NS;
    return ns <= 0 ? 0 : took < 1 ? 1 : took > UINT32_MAX ? 0 : (uint32_t)took;
}

const char *pat_why_text(enum pat_why why)
{
    static const char *const texts[PAT_NUM_WHYS] = {
        [PAT_WHY_NOT_KNOWN] = "not known",
        [PAT_WHY_ASKED] = "asked for",
        [PAT_WHY_SHORT] = "too short to gain",
        [PAT_WHY_FIRST] = "first calls",
        [PAT_WHY_LONG] = "long blocks",
        [PAT_WHY_LEAST] = "least by calibration",
        [PAT_WHY_APART] = "ranks come apart",
        [PAT_WHY_TOGETHER] = "ranks come together",
        [PAT_WHY_SLOWER] = "relay was slower",
        [PAT_WHY_COMPARE] = "to compare",
        [PAT_WHY_NOT_CALIBRATED] = "no calibration",
        [PAT_WHY_ONE_NODE] = "ranks on one node",
        [PAT_WHY_ONE_RANK] = "one rank",
        [PAT_WHY_GROUPS] = "between groups or jobs",
        [PAT_WHY_NO_THREAD] = "no background thread",
        [PAT_WHY_TAGS] = "too few message tags",
        [PAT_WHY_CANNOT] = "not for plans",
    };
    return texts[why];
}
