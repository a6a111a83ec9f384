/*
 * profile_regular.c — the MPI library, or one of our algorithms that moves nothing early and is to take less by a calibration: see profile.h.
 */
#include "profile.h"

enum {
    SURE_SAMPLES = 2,
    FORESEEN_PERCENT = 10, /* of what a calibration says: it fits; and beyond it: it is clearly ahead */
    PROVEN_PERCENT = 5     /* longer than the MPI library: it has lost */
};

/* By a calibration it is clearly ahead of the MPI library; and did it take what that says? A first call may have opened connections. */
static bool fits(const pat_profile *p, const pat_outlook *o)
{
    const double mine = 1e3 * (o->relay_us - o->waiting_us), other = 1e3 * (o->native_us - o->waiting_us),
                 took = (double)pat_profile_least_ns(p, PAT_BY_REGULAR);
    return other * 100 > mine * (100 + FORESEEN_PERCENT) &&
           (p->num_past[PAT_BY_REGULAR] < SURE_SAMPLES || took * 100 <= mine * (100 + FORESEEN_PERCENT));
}

/* So many calls after the MPI library was measured it is tried again. */
static int rest_of(const pat_profile *p, const pat_terms *terms)
{
    const int not_felt = pat_profile_not_felt(p, terms, PAT_BY_REGULAR);
    return not_felt < PAT_MOST_GAP ? PAT_MOST_GAP : not_felt < PAT_MOST_TRY ? not_felt : PAT_MOST_TRY;
}

/*
 * They are measured by turns, and the one that takes clearly longer gives way, whatever the calibration says. While calls show that it is right the MPI
 * library is tried so seldom that nobody feels it: on 32 nodes it took half as long again as ring, and two tries in ten calls cost a tenth.
 */
enum pat_runner pat_profile_regular(const pat_profile *p, const pat_terms *terms, const pat_outlook *o,
                                    bool is_look, bool again)
{
    const int64_t mine = pat_profile_least_ns(p, PAT_BY_REGULAR),
                  other = pat_profile_cost_ns(p, terms, PAT_BY_MPI);
    if (fits(p, o) && !(is_look && p->regular_calls >= rest_of(p, terms)))
        return PAT_BY_REGULAR;
    if (p->num_past[PAT_BY_MPI] < SURE_SAMPLES || (is_look && p->sampled == PAT_BY_REGULAR))
        return PAT_BY_MPI;
    const bool lost = p->num_past[PAT_BY_REGULAR] >= SURE_SAMPLES &&
                      (double)mine * 100 > (double)other * (100 + PROVEN_PERCENT);
    return lost && !again ? PAT_BY_MPI : PAT_BY_REGULAR;
}
