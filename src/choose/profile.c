/*
 * profile.c — see profile.h. Rules of thumb, each by measurement or by what a wrong one costs: the other one is tried after 8,
 * 16, 32 ... calls, so that trying is soon not felt; calls are measured as often as is not felt; and whoever runs must be beaten
 * clearly, since two that are alike would be tossed about by noise.
 */
#include "profile.h"

#include <math.h>

enum {
    FAR_TIMES = 2, /* ranks gain by relay that come so many times as far apart as it takes beyond the link */
    FELT_CALL = 100, /* measuring calls may take this part of their time, */
    FELT = 200,      /* and what ranks tell each other this part of the time between calls */
    OFTEN_CALLS = 8, /* how many calls the mean of often_apart is over, or so */
    LOOK_AGAIN = 4,  /* calls by relay between two measured ones, and twice as many as are not felt */
    MOST_GAP = PAT_MOST_GAP,
    FIRST_TRY = 8,           /* calls between two tries, at first */
    MOST_TRY = PAT_MOST_TRY, /* and at most, while relay runs */
    HELD_CALLS = 130,        /* by the MPI library before a try that is held back */
    ROOM_PERCENT = 150,      /* of what the link needs: who takes more leaves room for relay */
    ROOM_APART_PERCENT = 90, /* the same while ranks come far apart */
    LEAST_PERCENT = 5,       /* above what the link needs: whoever is within it can hardly be beaten */
    LINK_PERCENT = 10,       /* below it: a link that carried so much more than when it was measured */
    FORESEEN_PERCENT = 10,   /* of what a calibration says: it fits */
    CLEARLY_PERCENT = 2,     /* of its time: faster than the one that runs */
    PROVEN_PERCENT = 5,      /* than relay, where relay was proven and there are few samples */
    UNPROVEN_PERCENT = 10,   /* than the MPI library, where relay was not proven */
    MOST_LOSSES = 16,        /* that are counted */
    SURE_SAMPLES = 2,        /* of the MPI library before relay gives way to it */
    FIRST_ANNOUNCED = 6 /* so many measured calls that ranks have announced, one after the other, at first */
};

static int at_most(int a, int b)
{
    return a < b ? a : b;
}

static int at_least(int a, int b)
{
    return a > b ? a : b;
}

/* Calls between two measured ones, at most. */
static int most_gap(const pat_profile *p)
{
    return p->most_gap < 0 ? MOST_GAP : p->most_gap;
}

/*
 * So far apart that relay gains whatever was found by tries: what can move early takes longer than what relay takes beyond the link, and
 * it is half of what the link needs at least. Nobody else is tried then, so that a little jitter must never be that.
 */
static int64_t farthest_ns(const pat_terms *terms)
{
    const int64_t beyond_ns = FAR_TIMES * terms->beyond_ns, half_ns = terms->least_ns / 2;
    return beyond_ns > half_ns ? beyond_ns : half_ns;
}

/* So far apart that relay gains: as found by tries, at the latest the above. */
static int64_t far_ns(const pat_profile *p, const pat_terms *terms)
{
    return p->far_ns > 0 && p->far_ns < farthest_ns(terms) ? p->far_ns : farthest_ns(terms);
}

static bool far_apart(const pat_profile *p, const pat_terms *terms)
{
    return pat_profile_rounds(p) > 0 && pat_profile_spread_ns(p) >= far_ns(p, terms);
}

/* Whatever the rest: then there is nothing to compare, since the MPI library waits for the last one. */
static bool farthest_apart(const pat_profile *p, const pat_terms *terms)
{
    return pat_profile_rounds(p) > 0 && pat_profile_spread_ns(p) >= farthest_ns(terms);
}

/* The same in one call of four or more: one of the next ones may be such again, whatever the last two were. */
static bool often_apart(const pat_profile *p, const pat_terms *terms)
{
    return farthest_apart(p, terms) || p->often_apart >= PAT_ALL_APART / 4;
}

/*
 * So many calls by the MPI library are measured before relay is tried, unless blocks are long and relay is proven: a first one that took
 * long is not to speak for relay.
 */
static int enough_of_mpi(const pat_terms *terms)
{
    return terms->relay_first && terms->verdict != PAT_RELAY_BY_ARRIVALS ? 1 : SURE_SAMPLES;
}

/*
 * By what ranks say now one runs a call and now the other: what either takes is to be known soon, since until then only figures
 * decide.
 */
static bool is_new(const pat_profile *p, const pat_terms *terms)
{
    return terms->announced && terms->verdict == PAT_RELAY_BY_ARRIVALS && p->num_announced < FIRST_ANNOUNCED;
}

/* Is `one` clearly ahead of the other by what was measured? Not where one of them was not. */
static bool ahead(const pat_profile *p, const pat_terms *terms, enum pat_runner one)
{
    /* Where arrivals decide, a first call of the MPI library that took long is not to speak for relay. */
    const bool least = one == PAT_BY_RELAY && terms->relay_first && terms->verdict == PAT_RELAY_BY_ARRIVALS;
    const int64_t mine = pat_profile_cost_ns(p, terms, one),
                  other = least ? pat_profile_least_ns(p, PAT_BY_MPI)
                                : pat_profile_cost_ns(p, terms, one == PAT_BY_MPI);
    int percent = CLEARLY_PERCENT;
    if (one == PAT_BY_MPI && terms->relay_first && p->num_past[PAT_BY_MPI] < PAT_SAMPLES)
        percent = PROVEN_PERCENT;
    if (one == PAT_BY_RELAY && !terms->relay_first)
        percent = UNPROVEN_PERCENT;
    return mine > 0 && other > 0 && (double)mine * (100 + percent) < (double)other * 100;
}

/* By when ranks come, and by figures where there are any. */
static bool relay_pays(const pat_profile *p, const pat_terms *terms, bool runs)
{
    const pat_outlook o = pat_profile_lately(p);
    return pat_outlook_is_known(&o) ? pat_outlook_relay_pays(&o, runs) : far_apart(p, terms);
}

/*
 * Measured: the MPI library takes far longer than the link needs when all ranks call at once; or, while they come far apart, about as
 * long, so that it has moved little before the last one.
 */
static bool leaves_room(const pat_profile *p, const pat_terms *terms)
{
    const int percent = relay_pays(p, terms, false) ? ROOM_APART_PERCENT : ROOM_PERCENT;
    return pat_profile_cost_ns(p, terms, PAT_BY_MPI) * 100 > terms->least_ns * percent;
}

/*
 * On an emulated cluster of 4 x 4 ranks, numbered across nodes, relay took 0.93 of the MPI library's time with 64 KiB and no delays, but 1.05 to 1.1 with
 * 16 KiB and 1.3 to 1.7 with 4 KiB; and then a try stood still now and again for several calls' time. So where the MPI library leaves no room a
 * try waits until even that is not felt, and ever longer while relay loses; but not where relay has won before.
 */
static bool held_back(const pat_profile *p, const pat_terms *terms)
{
    if (!terms->many_a_node || (p->losses < 2 && leaves_room(p, terms)))
        return false;
    return p->calls < (p->losses == 0 ? HELD_CALLS : at_most(MOST_GAP << p->losses, MOST_TRY));
}

/* A try that was lost puts the next one off by 8, 16, 32 ... calls. */
static int rest_of(const pat_profile *p)
{
    return p->losses == 0 ? 0 : at_most(FIRST_TRY << (p->losses - 1), MOST_GAP);
}

/* Nobody who moves data early was measured lately: might relay pay with half of what it is reckoned to take beyond the link? Formulas have nothing beyond it. */
static bool hopes(const pat_profile *p, const pat_terms *terms, const pat_outlook *o)
{
    pat_outlook hoped = *o;
    const bool long_ago = p->calls >= MOST_TRY; /* then what was learnt from the last try does not count */
    if (!o->contender || pat_algorithm_is_ahead(o->contender))
        hoped.relay_us -= 1e-3 * (double)(terms->beyond_ns / 2 + (long_ago && p->off_ns > 0 ? p->off_ns : 0));
    return terms->reckoned && (p->num_past[PAT_BY_RELAY] == 0 || long_ago) &&
           pat_outlook_relay_pays(&hoped, false);
}

/* Relay need not gain by when ranks come, but it was not found to lose there, or that was long ago. */
static bool may_gain(const pat_profile *p, const pat_terms *terms)
{
    const pat_outlook o = pat_profile_lately(p);
    const int64_t spread_ns = pat_profile_spread_ns(p);
    if (terms->verdict != PAT_RELAY_BY_ARRIVALS)
        return false;
    if (pat_outlook_is_known(&o))
        return hopes(p, terms, &o);
    return spread_ns >= terms->beyond_ns && (spread_ns > p->lost_ns + p->lost_ns / 4 || p->calls >= MOST_TRY);
}

/* The MPI library runs: may relay take less? Not if it must lose by what the link needs. */
static bool promises(const pat_profile *p, const pat_terms *terms)
{
    return relay_pays(p, terms, false) || may_gain(p, terms) ||
           (terms->verdict == PAT_RELAY_ALWAYS &&
            terms->least_ns < pat_profile_cost_ns(p, terms, PAT_BY_MPI));
}

static bool worth_a_try(const pat_profile *p, const pat_terms *terms)
{
    return promises(p, terms) && !held_back(p, terms) && p->calls >= rest_of(p);
}

/*
 * Relay takes what the link needs, or what a calibration says that has the MPI library take clearly longer: then the MPI library is
 * tried seldom, since it hardly takes less. Where relay takes anything else, also much less, what is known may be wrong.
 */
static bool is_least(const pat_profile *p, const pat_terms *terms)
{
    const bool ahead = 100 * (double)terms->native_ns > (100 + FORESEEN_PERCENT) * (double)terms->early_ns;
    return pat_profile_took_about(p, terms->least_ns, LINK_PERCENT, LEAST_PERCENT) ||
           (ahead && pat_profile_took_about(p, terms->early_ns, FORESEEN_PERCENT, FORESEEN_PERCENT));
}

/* ---- Who runs it ------------------------------------------------------------------------------------------ */

static enum pat_runner in_use(const pat_profile *p, const pat_terms *terms)
{
    if (p->used)
        return p->in_use;
    return terms->relay_first && terms->verdict == PAT_RELAY_ALWAYS ? PAT_BY_RELAY : PAT_BY_MPI;
}

static enum pat_why reason(const pat_profile *p, const pat_terms *terms)
{
    const bool both = p->num_past[PAT_BY_MPI] > 0 && p->num_past[PAT_BY_RELAY] > 0;
    if (in_use(p, terms) == PAT_BY_RELAY)
        return far_apart(p, terms) ? PAT_WHY_APART : both ? PAT_WHY_FASTER : PAT_WHY_LONG;
    if (p->num_past[PAT_BY_MPI] >= SURE_SAMPLES && promises(p, terms) && held_back(p, terms))
        return PAT_WHY_LATER;
    if (terms->verdict == PAT_RELAY_BY_ARRIVALS)
        return PAT_WHY_TOGETHER;
    return p->num_past[PAT_BY_MPI] == 0 ? PAT_WHY_COMPARE : both ? PAT_WHY_SLOWER : PAT_WHY_NO_GAIN;
}

pat_next pat_profile_plain(const pat_profile *p, const pat_terms *terms)
{
    if (terms->verdict == PAT_RELAY_NEVER)
        return (pat_next){PAT_BY_MPI, false, PAT_WHY_SHORT};
    return (pat_next){in_use(p, terms), false, reason(p, terms)};
}

/* Did relay take clearly longer than the MPI library in its last measured call, or so many before it? There are so many. */
static bool took_longer(const pat_profile *p, int before)
{
    const int64_t *const past = p->past_ns[PAT_BY_RELAY], other_ns = pat_profile_past_ns(p, PAT_BY_MPI);
    const int64_t mine = past[(p->num_past[PAT_BY_RELAY] - 1 - before) % PAT_SAMPLES];
    return other_ns > 0 && (double)mine * 100 > (double)other_ns * (100 + CLEARLY_PERCENT);
}

/* Relay runs: is the next call to be measured? Now and then, or it would go on when it came to take longer; and at once after a first call that did. */
static bool looks_again(const pat_profile *p, const pat_terms *terms)
{
    if (p->left == 1 || p->num_past[PAT_BY_RELAY] < PAT_SAMPLES || !terms->relay_first)
        return true;
    const bool at_once = took_longer(p, 0) && !took_longer(p, 1) && !farthest_apart(p, terms);
    return at_once || p->since >= LOOK_AGAIN + 2 * most_gap(p);
}

/* Is the MPI library to be tried? While ranks come apart it can only wait, unless it seems the faster one, or relay takes long and it is not known. */
static bool mpi_worth_a_try(const pat_profile *p, const pat_terms *terms)
{
    const bool not_known = p->num_past[PAT_BY_MPI] == 0 && !is_least(p, terms);
    return !often_apart(p, terms) ||
           ((not_known || ahead(p, terms, PAT_BY_MPI)) && !farthest_apart(p, terms));
}

pat_next pat_profile_next(const pat_profile *p, const pat_terms *terms)
{
    pat_next next = pat_profile_plain(p, terms);
    if (terms->verdict == PAT_RELAY_NEVER)
        return next;
    const enum pat_runner other = next.runner == PAT_BY_MPI ? PAT_BY_RELAY : PAT_BY_MPI;
    /* Who runs is measured first, and once more just before the other one is tried. */
    const int enough = next.runner == PAT_BY_MPI ? enough_of_mpi(terms) : 1;
    if (p->left > 0 || p->num_past[next.runner] < enough) {
        next.measured =
            p->left <= 0 || is_new(p, terms) || (next.runner == PAT_BY_RELAY && looks_again(p, terms));
        return next;
    }
    next.measured = true;
    if (other == PAT_BY_RELAY ? worth_a_try(p, terms) : mpi_worth_a_try(p, terms)) {
        next.runner = other;
        next.why = PAT_WHY_COMPARE;
    }
    return next;
}

/*
 * By figures relay pays, and one of the two is measured by the MPI library itself: so it must go on being measured, or one call of
 * it that took long would speak for relay for ever. Not where ranks come so far apart that it can only wait.
 */
static bool wants_mpi(const pat_profile *p, const pat_terms *terms, const pat_told *said,
                      const pat_next *next)
{
    return terms->reckoned && next->measured && next->runner == PAT_BY_MPI &&
           said->spread_ns < farthest_ns(terms) &&
           (p->num_past[PAT_BY_MPI] < SURE_SAMPLES ||
            (p->sampled != PAT_BY_MPI && (p->gap >= FIRST_TRY || p->gap >= most_gap(p))));
}

bool pat_profile_hears(const pat_profile *p, const pat_terms *terms, const pat_told *said)
{
    const bool news =
        said->ran == PAT_BY_RELAY && p->in_use == PAT_BY_MPI && pat_profile_goes_beyond(p, terms, said);
    return !pat_profile_doubts(said) && (p->num_past[PAT_BY_RELAY] == 0 || news);
}

enum pat_runner pat_profile_said(const pat_profile *p, const pat_terms *terms, const pat_told *said)
{
    const pat_next next = pat_profile_next(p, terms);
    const bool is_try = next.why == PAT_WHY_COMPARE,
               is_look = next.measured &&
                         !(is_new(p, terms) && p->left > 0); /* else it is measured because it is new */
    const bool known = pat_outlook_is_known(&said->outlook);
    const bool pays = !known            ? said->spread_ns >= far_ns(p, terms)
                      : terms->reckoned ? pat_outlook_relay_pays(&said->outlook, false)
                                        : pat_outlook_surely_pays(&said->outlook);
    if (known && said->outlook.contender && !pat_algorithm_is_early(said->outlook.contender))
        return pays ? pat_profile_regular(p, is_look) : PAT_BY_MPI;
    if (pays && wants_mpi(p, terms, said, &next))
        return PAT_BY_MPI;
    /* A call that is announced as apart is none to compare in; and relay may gain by that where the MPI library is in use, which was faster. */
    const bool mpi_won = next.runner == PAT_BY_MPI && !is_try && p->num_past[PAT_BY_MPI] >= SURE_SAMPLES;
    if (terms->verdict != PAT_RELAY_BY_ARRIVALS && !(mpi_won && pays))
        return is_try && said->spread_ns >= far_ns(p, terms) ? PAT_BY_RELAY : next.runner;
    /* Apart, by estimates that were too wrong lately to say so: it goes by the last calls. */
    if (pays && pat_profile_doubts(said))
        return next.runner;
    /* Relay was measured to take longer than the MPI library although ranks came about as far apart: it gains by no such arrivals. */
    const int64_t mpi_ns = pat_profile_cost_ns(p, terms, PAT_BY_MPI),
                  alike_ns = pat_profile_alike_ns(p, said);
    const bool lost = p->num_past[PAT_BY_MPI] >= SURE_SAMPLES &&
                      (double)mpi_ns * (100 + CLEARLY_PERCENT) < (double)alike_ns * 100;
    const bool might = known ? hopes(p, terms, &said->outlook) : said->spread_ns >= terms->beyond_ns;
    /* That relay was slower says nothing of what moves whole blocks early and is still to be measured. */
    const bool other = known && said->outlook.contender && !pat_algorithm_is_ahead(said->outlook.contender) &&
                       pat_profile_hopes_for_steps(p, terms);
    const bool may =
        pays ? other || !lost || next.runner == PAT_BY_RELAY : is_try && next.runner == PAT_BY_RELAY && might;
    return may ? PAT_BY_RELAY : PAT_BY_MPI;
}

/* ---- What a call teaches ---------------------------------------------------------------------------------- */

static int longer(int gap, int most)
{
    return at_most(2 * at_least(gap, 1), most);
}

/* Calls go on being measured as often as takes so little of their time that nobody feels it. */
static int longer_look(const pat_profile *p)
{
    return longer(p->gap, most_gap(p));
}

/* How often that is, and whether the program would feel it if ranks told each other something before every call. */
static void note_cost(pat_profile *p, const pat_told *told)
{
    const int64_t call_ns = told->past_ns + told->waited_ns;
    if (told->cost_ns > 0) {
        p->most_gap = told->cost_ns < call_ns * MOST_GAP / FELT_CALL
                          ? (int)(told->cost_ns * FELT_CALL / call_ns)
                          : MOST_GAP;
        p->seldom = p->came_ns > 0 && told->cost_ns <= (told->came_ns - p->came_ns) / p->since / FELT;
    }
    p->came_ns = told->came_ns;
    p->since = 0;
}

static void note_round(pat_profile *p, const pat_terms *terms, const pat_told *told)
{
    const int at = (int)(p->num_rounds++ % PAT_LATELY);
    const bool apart = told->spread_ns >= farthest_ns(terms);
    p->often_apart += ((apart ? PAT_ALL_APART : 0) - p->often_apart) / OFTEN_CALLS;
    p->spread_ns[at] = told->spread_ns;
    p->outlooks[at] = told->outlook;
    if (told->outlook.contender && !pat_algorithm_is_early(told->outlook.contender))
        p->outlooks[at].relay_us = INFINITY; /* that another one gains says nothing for relay */
}

static void take_sample(pat_profile *p, const pat_told *told)
{
    if (told->ran == PAT_BY_RELAY && p->in_use == PAT_BY_MPI && p->calls >= FIRST_TRY)
        p->num_past[PAT_BY_RELAY] = 0; /* it goes by when ranks come: what it took long ago says little */
    const int at = p->num_past[told->ran] % PAT_SAMPLES;
    p->past_ns[told->ran][at] = told->past_ns > 0 ? told->past_ns : 1;
    if (told->ran == PAT_BY_RELAY)
        p->apart_ns[at] = told->spread_ns;
    p->turns += p->num_past[PAT_BY_REGULAR] > 0 && told->ran != p->sampled && p->turns < MOST_LOSSES;
    p->since_past[told->ran] = 0;
    p->sampled = told->ran;
    p->num_past[told->ran]++;
    if (p->num_past[told->ran] >= 2 * PAT_SAMPLES)
        p->num_past[told->ran] -= PAT_SAMPLES; /* so that it is never too large a number */
}

static void use(pat_profile *p, enum pat_runner runner, int gap)
{
    p->in_use = runner;
    p->left = p->gap = gap;
}

/* Relay has won against the MPI library, or has lost, while ranks came so far apart. */
static void learn_far(pat_profile *p, const pat_terms *terms, bool won)
{
    const int64_t spread_ns = pat_profile_spread_ns(p);
    if (won)
        p->far_ns = spread_ns < far_ns(p, terms) ? spread_ns - spread_ns / 4 : p->far_ns;
    else if (spread_ns < farthest_ns(terms)) {
        p->lost_ns = spread_ns > p->lost_ns ? spread_ns : p->lost_ns;
        p->far_ns = spread_ns >= far_ns(p, terms) ? spread_ns + spread_ns / 4 : p->far_ns;
    }
}

/* The MPI library runs. */
static void after_mpi(pat_profile *p, const pat_terms *terms, const pat_told *told)
{
    const bool measured = told->past_ns >= 0;
    p->calls = at_most(p->calls + (told->ran == PAT_BY_MPI), MOST_TRY);
    if (measured && told->ran == PAT_BY_RELAY && ahead(p, terms, PAT_BY_RELAY)) {
        learn_far(p, terms, true);
        use(p, PAT_BY_RELAY, FIRST_TRY);
        p->losses = 0;
        p->calls = MOST_TRY;
    } else if (!measured || (terms->announced && p->left > 0)) { /* it was no look, and no try */
        p->left -= p->left > 0;
        /* Ranks have said that they come apart, as they did not before: relay is not tried, or measured, at the next look, but now. */
        const bool tried = p->num_past[PAT_BY_RELAY] > 0;
        if (told->spread_ns >= 0 &&
            (tried ? told->ran == PAT_BY_RELAY && pat_profile_goes_beyond(p, terms, told)
                   : worth_a_try(p, terms)))
            p->left = 0;
    } else if (told->ran == PAT_BY_RELAY) {
        learn_far(p, terms, false);
        p->losses = at_most(p->losses + 1, MOST_LOSSES);
        p->calls = 0;
        p->left = p->gap = at_most(rest_of(p), most_gap(p));
        if (terms->announced && pat_profile_goes_beyond(p, terms, told))
            p->left = 0; /* or it goes on in such calls until it is measured again */
    } else if (p->num_past[PAT_BY_MPI] < enough_of_mpi(terms)) {
        p->left = 0; /* measured once more before anything is tried */
    } else if (worth_a_try(p, terms) &&
               (p->num_past[PAT_BY_RELAY] == 0 || relay_pays(p, terms, false) || may_gain(p, terms))) {
        p->left = 0;
    } else {
        p->left = p->gap = longer_look(p);
    }
}

/* Relay runs. */
static void after_relay(pat_profile *p, const pat_terms *terms, const pat_told *told)
{
    const bool measured = told->past_ns >= 0, by_arrivals = terms->verdict == PAT_RELAY_BY_ARRIVALS;
    const bool was_said = terms->announced && by_arrivals; /* then the MPI library's was no try */
    if (by_arrivals && told->spread_ns >= 0 && !relay_pays(p, terms, true)) {
        use(p, PAT_BY_MPI, 1);
    } else if (ahead(p, terms, PAT_BY_MPI) && !farthest_apart(p, terms)) {
        if (p->num_past[PAT_BY_MPI] >= SURE_SAMPLES) {
            learn_far(p, terms, false);
            use(p, PAT_BY_MPI, FIRST_TRY);
        } else {
            p->left = 0;
        }
    } else if (told->ran == PAT_BY_MPI && !was_said) {
        const int not_felt = at_most(pat_profile_not_felt(p, terms), MOST_TRY);
        p->left = p->gap = at_least(longer(p->gap, MOST_TRY), at_least(not_felt, FIRST_TRY));
    } else if (measured && p->left <= 1 && p->gap < MOST_GAP && is_least(p, terms)) {
        p->left = p->gap = MOST_GAP;
    } else if (measured && p->gap == MOST_GAP && p->num_past[PAT_BY_MPI] == 0 && !is_least(p, terms)) {
        p->left = 0; /* what the try was put off for holds no more */
        p->gap = FIRST_TRY;
    } else if (p->left > 0) {
        p->left--;
    } else if (measured) {
        p->gap = at_least(p->gap, FIRST_TRY);
        p->left =
            p->gap + often_apart(p, terms); /* or every third call, say, might stand in the way each time */
    }
}

bool pat_profile_note(pat_profile *p, const pat_terms *terms, const pat_told *told)
{
    const bool hoped = pat_profile_is_hoped(p, terms, told),
               missed = told->past_ns < 0 && pat_profile_hopes_for_steps(p, terms);
    pat_told booked = *told;
    if (hoped)
        booked.past_ns = -1;
    p->misses = at_most(p->misses + missed, PAT_MOST_MISSES);
    for (int r = 0; r < PAT_NUM_RUNNERS; r++)
        p->since_past[r] = at_most(p->since_past[r] + 1, PAT_MOST_TRY);
    p->in_use = in_use(p, terms);
    p->used = true;
    p->since++;
    const enum pat_runner was = p->in_use;
    if (told->spread_ns >= 0)
        note_round(p, terms, told);
    if (told->past_ns >= 0) {
        if (!hoped)
            take_sample(p, told);
        p->num_announced += terms->announced && p->num_announced < FIRST_ANNOUNCED;
        note_cost(p, told);
    }
    pat_profile_note_off(p, terms, told);
    (p->in_use == PAT_BY_MPI ? after_mpi : after_relay)(p, terms, &booked);
    return p->in_use != was;
}

void pat_profile_pass(pat_profile *p)
{
    p->since++;
    if (p->left > 0)
        p->left--;
    else
        p->left = p->gap = longer_look(p);
}
