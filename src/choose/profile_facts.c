/*
 * profile_facts.c — what a profile says of its calls, without any judgement: see profile.h.
 */
#include "profile.h"

enum pat_runner pat_profile_runner(const pat_algorithm *alg)
{
    return !alg->build ? PAT_BY_MPI : pat_algorithm_is_early(alg) ? PAT_BY_RELAY : PAT_BY_REGULAR;
}

/* So many samples are kept. */
static int kept(const pat_profile *p, enum pat_runner runner)
{
    return p->num_past[runner] < PAT_SAMPLES ? p->num_past[runner] : PAT_SAMPLES;
}

int64_t pat_profile_past_ns(const pat_profile *p, enum pat_runner runner)
{
    const int64_t *t = p->past_ns[runner];
    const int num = kept(p, runner);
    if (num < PAT_SAMPLES)
        return num == 0 ? 0 : num == 1 ? t[0] : (t[0] + t[1]) / 2;
    const int64_t low = t[0] < t[1] ? t[0] : t[1], high = t[0] < t[1] ? t[1] : t[0];
    return t[2] < low ? low : t[2] > high ? high : t[2];
}

int64_t pat_profile_least_ns(const pat_profile *p, enum pat_runner runner)
{
    const int64_t *t = p->past_ns[runner];
    if (p->num_past[runner] != 2)
        return pat_profile_past_ns(p, runner);
    return t[0] < t[1] ? t[0] : t[1];
}

int64_t pat_profile_cost_ns(const pat_profile *p, const pat_terms *terms, enum pat_runner runner)
{
    const int num = kept(p, runner);
    int64_t sum = 0, least = INT64_MAX;
    if (num == 0 || terms->relay_first)
        return pat_profile_past_ns(p, runner);
    for (int i = 0; i < num; i++) {
        sum += p->past_ns[runner][i];
        least = p->past_ns[runner][i] < least ? p->past_ns[runner][i] : least;
    }
    return runner == PAT_BY_RELAY ? sum / num : least;
}

bool pat_profile_took_about(const pat_profile *p, int64_t ns, int less_percent, int more_percent)
{
    const int num = kept(p, PAT_BY_RELAY);
    const int64_t less_ns = ns * less_percent / 100, more_ns = ns * more_percent / 100;
    int fit = 0;
    for (int i = 0; i < num; i++) {
        const int64_t past_ns = p->past_ns[PAT_BY_RELAY][i];
        fit += past_ns <= ns + more_ns && past_ns + p->apart_ns[i] >= ns - less_ns;
    }
    return 2 * fit > num;
}

int64_t pat_profile_alike_ns(const pat_profile *p, const pat_told *told)
{
    /* With ranks more times less far apart than this relay's time says little; and one call may have stood still. */
    enum { ALIKE_TIMES = 2, ENOUGH = 2 };
    int64_t sum_ns = 0;
    int num = 0;
    for (int i = 0; i < kept(p, PAT_BY_RELAY); i++)
        if (told->spread_ns <= ALIKE_TIMES * p->apart_ns[i]) {
            sum_ns += p->past_ns[PAT_BY_RELAY][i];
            num++;
        }
    return num < ENOUGH ? 0 : sum_ns / num;
}

bool pat_profile_goes_beyond(const pat_profile *p, const pat_terms *terms, const pat_told *told)
{
    return told->spread_ns >= terms->beyond_ns && pat_profile_alike_ns(p, told) == 0;
}

int pat_profile_rounds(const pat_profile *p)
{
    return p->num_rounds < PAT_LATELY ? (int)p->num_rounds : PAT_LATELY;
}

pat_outlook pat_profile_lately(const pat_profile *p)
{
    pat_outlook sum = {0};
    int num = 0;
    for (int i = 0; i < pat_profile_rounds(p); i++) {
        const pat_outlook *o = &p->outlooks[i];
        if (!pat_outlook_is_known(
                o)) /* of a first call it is not, and the next one is not to wait for that */
            continue;
        num++;
        sum.waiting_us += o->waiting_us;
        sum.native_us += o->native_us;
        sum.relay_us += o->relay_us;
        sum.contender = o->contender;
    }
    return num == 0 ? sum
                    : (pat_outlook){.contender = sum.contender,
                                    .waiting_us = sum.waiting_us / num,
                                    .native_us = sum.native_us / num,
                                    .relay_us = sum.relay_us / num};
}

int64_t pat_profile_spread_ns(const pat_profile *p)
{
    const int num = pat_profile_rounds(p);
    int64_t sum = 0;
    for (int i = 0; i < num; i++)
        sum += p->spread_ns[i];
    return num > 0 ? sum / num : 0;
}

bool pat_profile_doubts(const pat_told *said)
{
    enum {
        SURE_TIMES = 5
    }; /* ranks that say they come apart by so many times what they were wrong by do come apart */
    return said->doubt_ns > said->spread_ns / SURE_TIMES;
}

pat_profile pat_profile_after(const pat_profile *old, int64_t bytes, uint32_t site)
{
    return (pat_profile){.bytes = bytes,
                         .site = site,
                         .left = old->left < PAT_MOST_GAP ? old->left : PAT_MOST_GAP,
                         .gap = old->gap < PAT_MOST_GAP ? old->gap : PAT_MOST_GAP,
                         .most_gap = -1,
                         .losses = old->losses};
}

int pat_profile_not_felt(const pat_profile *p, const pat_terms *terms)
{
    enum { FELT_TRY = 32, MOST = 1 << 20 }; /* tries may take this part of the time */
    const int64_t mine = pat_profile_cost_ns(p, terms, PAT_BY_RELAY),
                  other = pat_profile_least_ns(p, PAT_BY_MPI);
    const double calls = mine > 0 && other > mine ? (double)(other - mine) / (double)mine * FELT_TRY : 0;
    const int most = p->num_past[PAT_BY_MPI] < 2 ? PAT_MOST_GAP : MOST;
    return calls < most ? (int)calls : most;
}
