/*
 * history.c — see history.h. A small table of pairs: of three that share one, the last but two gives way.
 */
#include "history.h"

uint32_t pat_history_site(const void *address)
{
    return (uint32_t)((uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15) >> 32 | 1);
}

__extension__ typedef __int128 wide;

pat_told pat_told_make(const int64_t *arrival_ns, int num_ranks, const pat_carried *rank_0, int64_t bytes,
                       enum pat_runner ran)
{
    if (!arrival_ns)
        return (pat_told){.bytes = bytes, .ran = ran, .spread_ns = -1, .past_ns = -1};
    int64_t first = arrival_ns[0];
    wide waited = 0; /* one division, not one for each rank: this is done before every call */
    int last_rank = 0;
    for (int r = 0; r < num_ranks; r++) {
        first = arrival_ns[r] < first ? arrival_ns[r] : first;
        last_rank = arrival_ns[r] > arrival_ns[last_rank] ? r : last_rank;
    }
    const int64_t last = arrival_ns[last_rank];
    for (int r = 0; r < num_ranks; r++)
        waited += last - arrival_ns[r];
    return (pat_told){.bytes = bytes,
                      .ran = ran,
                      .spread_ns = last - first,
                      .last_rank = last_rank,
                      .waited_ns = (int64_t)(waited / num_ranks),
                      .past_ns = -1,
                      .site = rank_0->site,
                      .last_site = rank_0->last_site};
}

/* ---- Which place comes next ------------------------------------------------------------------------------- */

static int place_of(uint32_t site)
{
    return (int)((uint64_t)site * UINT64_C(0x9e3779b97f4a7c15) >> 60) & (PAT_PLACES - 1);
}

static void follows(pat_history *h, uint32_t site, uint32_t next)
{
    h->place[place_of(site)] = site;
    h->next_of[place_of(site)] = next;
}

/* The same place again, until something else was seen to follow it. */
static void foretell(pat_history *h, uint32_t site)
{
    h->site = h->place[place_of(site)] == site && site ? h->next_of[place_of(site)] : site;
}

/* ---- Profiles --------------------------------------------------------------------------------------------- */

static int pair_of(int64_t bytes, uint32_t site)
{
    const uint64_t key = (uint64_t)bytes ^ (uint64_t)site << 32;
    return (int)(key * UINT64_C(0x9e3779b97f4a7c15) >> 60) & (PAT_PAIRS - 1);
}

/* Which of the pair it is, or, where it is neither, which one it would replace. */
static int which_of(const pat_history *h, int pair, int64_t bytes, uint32_t site, bool *found)
{
    for (int i = 0; i < 2; i++) {
        const pat_profile *p = &h->profiles[pair][i];
        *found = p->bytes == bytes && p->site == site;
        if (*found)
            return i;
    }
    return !h->newer[pair];
}

static const pat_profile *look(const pat_history *h, int64_t bytes, uint32_t site, pat_profile *fresh)
{
    bool found;
    const int pair = pair_of(bytes, site), i = which_of(h, pair, bytes, site, &found);
    const pat_profile *p = &h->profiles[pair][i];
    if (found)
        return p;
    *fresh = pat_profile_after(p, bytes, site);
    return fresh;
}

const pat_profile *pat_history_look(const pat_history *h, int64_t bytes, pat_profile *fresh)
{
    return look(h, bytes, h->site, fresh);
}

const pat_profile *pat_history_of(const pat_history *h, const pat_told *told, pat_profile *fresh)
{
    return look(h, told->bytes, told->site ? told->site : h->site, fresh);
}

static pat_profile *keep(pat_history *h, int64_t bytes, uint32_t site)
{
    bool found;
    const int pair = pair_of(bytes, site), i = which_of(h, pair, bytes, site, &found);
    pat_profile *p = &h->profiles[pair][i];
    if (!found)
        *p = pat_profile_after(p, bytes, site);
    h->newer[pair] = (unsigned char)i;
    return p;
}

const pat_profile *pat_history_note(pat_history *h, const pat_terms *terms, const pat_told *told)
{
    const uint32_t foretold = h->site, site = told->site ? told->site : foretold;
    if (terms->verdict == PAT_RELAY_NEVER) { /* nothing to decide: it must not put out what has */
        foretell(h, site);
        return NULL;
    }
    if (foretold != site)
        pat_profile_pass(keep(h, told->bytes, foretold));
    if (told->last_site && told->site)
        follows(h, told->last_site, told->site);
    pat_profile *p = keep(h, told->bytes, site);
    const bool changed = pat_profile_note(p, terms, told);
    foretell(h, site);
    return changed ? p : NULL;
}
