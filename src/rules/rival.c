/*
 * rival.c — see rival.h.
 */
#include "rival.h"

enum {
    TRY_CALLS = 3,         /* of a try: the first one may open connections */
    FIRST_GAP = 16,        /* calls between two tries, at first */
    MOST_GAP = 1024,       /* and at most: so tries are soon not felt */
    MOST_CHANGES = 4,      /* each doubles the first gap: two that are alike are not to be tossed about */
    CLEARLY_PERCENT = 3,   /* so much less is less */
    DOUBTFUL_PERCENT = 25, /* so much more than the other one took: it is tried soon */
    FAR_TIMES = 2,         /* ranks come so many times as far apart as when it lost */
    FADES = 4,             /* a new call is so large a part of a mean, */
    FADES_TRIED = 2,       /* and one of a try: what calls before it took may be long ago */
    CLIP_TIMES = 2,        /* a call that stood still counts as so many times the mean */
    ASK_FIRST = 16,        /* so many first calls tell what they take, */
    ASK_EVERY = 32,        /* and of so many later ones */
    ASK_CALLS = 8          /* so many in a row */
};

pat_rival pat_rival_begin(int64_t bytes, int first)
{
    return (pat_rival){.bytes = bytes, .in_use = first, .gap = FIRST_GAP};
}

int pat_rival_next(const pat_rival *rival, int64_t least_ns)
{
    const int mine = rival->in_use;
    const bool due =
        rival->num_past[mine] >= TRY_CALLS && rival->left == 0 && rival->past_ns[mine] >= least_ns;
    if (rival->tried > 0)
        return rival->tried < TRY_CALLS ? !mine : mine;
    return due ? !mine : mine;
}

bool pat_rival_asks(const pat_rival *rival, int who)
{
    return who != rival->in_use || rival->calls < ASK_FIRST || rival->calls % ASK_EVERY < ASK_CALLS;
}

bool pat_rival_ran(pat_rival *rival, int who)
{
    const bool is_try = who != rival->in_use;
    rival->calls = rival->calls + 1 < 2 * ASK_EVERY ? rival->calls + 1 : ASK_EVERY;
    rival->tried += is_try;
    rival->left -= !is_try && rival->left > 0;
    return is_try;
}

/* So much of it in percent. */
static int64_t part(int64_t ns, int percent)
{
    return ns / 100 * percent;
}

static int64_t faded(int64_t mean_ns, int64_t ns, int fades)
{
    return mean_ns + (ns - mean_ns) / fades;
}

/* Of the first two calls the shorter one counts. */
static void note(pat_rival *rival, const pat_rival_told *told)
{
    int64_t *mean = &rival->past_ns[told->who];
    int *num = &rival->num_past[told->who];
    const int64_t ns = told->past_ns > 0 ? told->past_ns : 1, most = CLIP_TIMES * *mean;
    *mean = *num == 0 || (*num == 1 && ns < *mean)
                ? ns
                : faded(*mean, ns < most ? ns : most, told->is_try ? FADES_TRIED : FADES);
    *num += *num < TRY_CALLS;
}

/* May the calls be the other one's now, whatever its last try has shown? */
static bool has_changed(const pat_rival *rival)
{
    const int mine = rival->in_use;
    const int64_t mine_ns = rival->past_ns[mine], other_ns = rival->past_ns[!mine];
    const bool apart =
        rival->apart_ns > mine_ns / FAR_TIMES && rival->apart_ns > FAR_TIMES * rival->lost_apart_ns;
    return rival->num_past[!mine] > 0 &&
           (mine_ns > part(other_ns, 100 + DOUBTFUL_PERCENT) || (mine == PAT_REGULAR && apart));
}

/* The try is over. */
static bool judge(pat_rival *rival)
{
    const int mine = rival->in_use;
    const bool wins = rival->past_ns[!mine] < part(rival->past_ns[mine], 100 - CLEARLY_PERCENT);
    const int longer = 2 * rival->gap < MOST_GAP ? 2 * rival->gap : MOST_GAP;
    rival->in_use = wins ? !mine : mine;
    rival->lost_apart_ns = rival->apart_ns;
    rival->changes += wins && rival->changes < MOST_CHANGES;
    rival->gap = wins ? FIRST_GAP << (rival->changes - 1) : longer;
    rival->left = rival->gap;
    rival->tried = rival->answers = 0;
    return wins;
}

bool pat_rival_learn(pat_rival *rival, const pat_rival_told *told)
{
    note(rival, told);
    rival->apart_ns = faded(rival->apart_ns, told->apart_ns, FADES);
    if (told->is_try)
        return ++rival->answers >= TRY_CALLS && judge(rival);
    if (rival->left > FIRST_GAP && has_changed(rival))
        rival->left = FIRST_GAP;
    return false;
}
