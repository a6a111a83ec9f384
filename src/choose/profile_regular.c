/*
 * profile_regular.c — the MPI library, or one of our algorithms that moves nothing early and is to take less by a calibration: see profile.h.
 */
#include "profile.h"

enum {
    SURE_SAMPLES = 2,
    PROVEN_PERCENT = 5, /* longer than the MPI library: it has lost */
    FELT_TRY =
        32, /* tries of the slower one may take this part of the time, and then half of that, and so on */
    LEAST_REST = 8, /* calls between two tries of the MPI library, at least */
    MOST_TURNS = 7
};

/* So many calls after the slower one was measured it is tried again. */
static int rest_of(const pat_profile *p, int64_t slower_ns, int64_t faster_ns, int least)
{
    const double not_felt = FELT_TRY * (double)(slower_ns - faster_ns) / (double)faster_ns,
                 rest = (not_felt > least ? not_felt : least) *
                        (1 << (p->turns < MOST_TURNS ? p->turns : MOST_TURNS));
    return rest < PAT_MOST_TRY ? (int)rest : PAT_MOST_TRY;
}

/*
 * Both are measured first, the MPI library before anything else runs, and the one that takes clearly longer gives way, whatever the calibration says. It is tried again, since it
 * may have stood still, or the machine changed, but so seldom that nobody feels it: on 32 nodes the MPI library took half as long again as ring, and where they
 * were measured by turns one or two of ten calls were its.
 */
enum pat_runner pat_profile_regular(const pat_profile *p, bool is_look)
{
    const int64_t mine = pat_profile_least_ns(p, PAT_BY_REGULAR), other = pat_profile_least_ns(p, PAT_BY_MPI);
    if (p->num_past[PAT_BY_MPI] < SURE_SAMPLES)
        return PAT_BY_MPI;
    if (p->num_past[PAT_BY_REGULAR] < SURE_SAMPLES)
        return PAT_BY_REGULAR;
    if ((double)mine * 100 > (double)other * (100 + PROVEN_PERCENT)) {
        const bool again = is_look && p->since_past[PAT_BY_REGULAR] >= rest_of(p, mine, other, PAT_MOST_GAP);
        return again ? PAT_BY_REGULAR : PAT_BY_MPI;
    }
    const bool compares = is_look && p->since_past[PAT_BY_MPI] >= rest_of(p, other, mine, LEAST_REST);
    return compares ? PAT_BY_MPI : PAT_BY_REGULAR;
}
