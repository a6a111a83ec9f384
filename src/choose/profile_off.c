/*
 * profile_off.c — what measured calls show of the time that algorithms take, against what was reckoned: see profile.h.
 */
#include "profile.h"

enum {
    SOON = 8, /* this part of what one is off by is forgotten in each measured call of the other kind */
    SURE_STEPS = 2
};

bool pat_profile_is_hoped(const pat_profile *p, const pat_terms *terms, const pat_told *told)
{
    return terms->reckoned && !terms->many_a_node && told->past_ns >= 0 && told->outlook.ran_us > 0 &&
           told->alg && pat_algorithm_is_early(told->alg) && !pat_algorithm_is_ahead(told->alg) &&
           p->num_steps < SURE_STEPS;
}

bool pat_profile_hopes_for_steps(const pat_profile *p, const pat_terms *terms)
{
    return terms->reckoned && !terms->many_a_node && p->num_steps < SURE_STEPS &&
           p->misses < PAT_MOST_MISSES && pat_profile_next(p, terms).measured;
}

/* Calls by another one say nothing of it: what is reckoned is believed again. Of longer times a part is forgotten. */
static int64_t faded(int64_t off_ns, int part)
{
    return off_ns > 0 ? off_ns - off_ns / part : off_ns;
}

/*
 * What relay takes on this machine, calls by it show: more or less than the link lets expect, or than a calibration says, which was made with
 * nothing else to do. The outlook was made with what was known until now, so that the half of its error is added; but a call that took less, the first
 * one after the MPI library has run, or the first two of those that move only whole blocks early, is believed at once, because noise makes calls longer. A call that stood still counts as one that took
 * twice what was to be expected.
 */
static void learn_off(pat_profile *p, const pat_terms *terms, const pat_told *told, bool hoped)
{
    if (told->ran != PAT_BY_RELAY || !(told->outlook.ran_us > 0)) /* nor with NaN */
        return;
    const bool steps = told->alg && !pat_algorithm_is_ahead(told->alg);
    int64_t *const off_ns = steps ? &p->steps_off_ns : &p->off_ns;
    const double foreseen_us = told->outlook.ran_us - told->outlook.waiting_us;
    const int64_t most_ns = 2 * (terms->least_ns + terms->beyond_ns),
                  more_ns = told->past_ns - (int64_t)(1e3 * foreseen_us);
    const bool believed = more_ns < 0 && (hoped || p->num_past[PAT_BY_RELAY] == 1);
    *off_ns += believed ? more_ns : (more_ns < most_ns ? more_ns : most_ns) / 2;
    *off_ns = *off_ns > -terms->beyond_ns ? *off_ns : -terms->beyond_ns;
    /* One that stood still is not to be left for ever because others run. */
    int64_t *const other_ns = off_ns == &p->off_ns ? &p->steps_off_ns : &p->off_ns;
    if (!hoped)
        *other_ns = faded(*other_ns, SOON);
}

void pat_profile_note_off(pat_profile *p, const pat_terms *terms, const pat_told *told)
{
    const bool hoped = pat_profile_is_hoped(p, terms, told);
    if (told->past_ns >= 0)
        learn_off(p, terms, told, hoped);
    p->num_steps += hoped;
    if (told->ran != PAT_BY_RELAY && !terms->reckoned) {
        p->off_ns = faded(p->off_ns, PAT_MOST_GAP);
        p->steps_off_ns = faded(p->steps_off_ns, PAT_MOST_GAP);
    }
}
