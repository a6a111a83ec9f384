/*
 * plan_cache.c — see plan_cache.h. A list in the order of use: a communicator has few plans, and the one that is wanted is nearly always
 * among the first.
 */
#include "plan_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct pat_cached_plan {
    pat_plan plan; /* first, so that a pointer to the plan is one to this */
    const pat_algorithm *alg;
    int64_t segment_bytes, tau_ns, alpha_ns, beta_ps, piece_ns; /* of the job */
    bool together, carries, once; /* once: it goes by arrivals, which will not come again */
    int64_t *own_starts;          /* of the job */
    int uses;
    pat_cached_plan *older;
};

static pat_cached_plan *cached(const pat_plan *plan)
{
    return (pat_cached_plan *)(uintptr_t)plan;
}

static int64_t bytes_of(const pat_cached_plan *p)
{
    const pat_plan *plan = &p->plan;
    return (int64_t)sizeof(*p) + plan->cap_nodes * (int64_t)sizeof(*plan->nodes) +
           plan->cap_edges * (int64_t)sizeof(*plan->edges) +
           (plan->num_edges + 2 * (int64_t)plan->num_nodes) * (int64_t)sizeof(int) +
           (p->own_starts ? 2 : 1) * (int64_t)plan->num_ranks * (int64_t)sizeof(*plan->starts);
}

static bool fits(const pat_cached_plan *p, const pat_algorithm *alg, const pat_job *job, int rank)
{
    return !p->once && !job->arrival_ns && p->alg == alg && p->plan.rank == rank &&
           p->plan.num_ranks == job->num_ranks && p->plan.block_bytes == job->block_bytes &&
           p->segment_bytes == job->segment_bytes && p->together == job->together &&
           p->carries == job->carries && p->tau_ns == job->tau_ns && p->alpha_ns == job->alpha_ns &&
           p->beta_ps == job->beta_ps && p->piece_ns == job->piece_ns &&
           (p->plan.element_bytes == 0 || p->plan.element_bytes == job->element_bytes) &&
           pat_starts_same(p->plan.starts, job->starts, job->num_ranks) &&
           pat_starts_same(p->own_starts, job->own_starts, job->num_ranks);
}

static void discard(pat_cached_plan *p)
{
    pat_plan_free(&p->plan);
    free(p->own_starts);
    free(p);
}

/* The newest of those that nobody uses stay, as far as there is room. */
static void make_room(pat_plan_cache *cache)
{
    int64_t bytes = 0;
    int count = 0;
    for (pat_cached_plan **at = &cache->newest; *at;) {
        pat_cached_plan *p = *at;
        bytes += bytes_of(p);
        count++;
        if (p->uses == 0 && (p->once || count > PAT_CACHED_PLANS || bytes > PAT_CACHED_BYTES)) {
            bytes -= bytes_of(p);
            count--;
            *at = p->older;
            discard(p);
        } else {
            at = &p->older;
        }
    }
}

static void put_first(pat_plan_cache *cache, pat_cached_plan *p)
{
    p->older = cache->newest;
    cache->newest = p;
}

/* Take it out of the list; NULL: there is none. */
static pat_cached_plan *take(pat_plan_cache *cache, const pat_algorithm *alg, const pat_job *job, int rank)
{
    for (pat_cached_plan **at = &cache->newest; *at; at = &(*at)->older) {
        pat_cached_plan *p = *at;
        if (fits(p, alg, job, rank)) {
            *at = p->older;
            return p;
        }
    }
    return NULL;
}

static int build(pat_plan_cache *cache, const pat_algorithm *alg, const pat_job *job, int rank,
                 pat_cached_plan **out)
{
    pat_cached_plan *p = calloc(1, sizeof(*p));
    const size_t size = ((size_t)job->num_ranks + 1) * sizeof(*p->own_starts);
    if (!p)
        return ENOMEM;
    if (job->own_starts)
        p->own_starts = malloc(size);
    int error = job->own_starts && !p->own_starts ? ENOMEM : pat_algorithm_plan(alg, job, rank, &p->plan);
    if (error) {
        free(p->own_starts);
        free(p);
        return error;
    }
    if (job->own_starts)
        memcpy(p->own_starts, job->own_starts, size);
    p->alg = alg;
    p->segment_bytes = job->segment_bytes;
    p->tau_ns = job->tau_ns;
    p->alpha_ns = job->alpha_ns;
    p->beta_ps = job->beta_ps;
    p->piece_ns = job->piece_ns;
    p->together = job->together;
    p->carries = job->carries;
    p->once = job->arrival_ns != NULL;
    cache->num_built++;
    *out = p;
    return 0;
}

int pat_plan_cache_get(pat_plan_cache *cache, const pat_algorithm *alg, const pat_job *job, int rank,
                       const pat_plan **plan)
{
    pat_cached_plan *p = take(cache, alg, job, rank);
    int error = p ? 0 : build(cache, alg, job, rank, &p);
    if (error)
        return error;
    p->uses++;
    put_first(cache, p);
    make_room(cache);
    *plan = &p->plan;
    return 0;
}

void pat_plan_cache_release(pat_plan_cache *cache, const pat_plan **plan)
{
    if (!*plan)
        return;
    pat_cached_plan *p = cached(*plan);
    *plan = NULL;
    p->uses--;
    if (p->uses == 0)
        make_room(cache);
}

const pat_algorithm *pat_plan_cache_algorithm(const pat_plan *plan)
{
    return cached(plan)->alg;
}

bool pat_plan_cache_together(const pat_plan *plan)
{
    return cached(plan)->together;
}

void pat_plan_cache_free(pat_plan_cache *cache)
{
    while (cache->newest) {
        pat_cached_plan *p = cache->newest;
        cache->newest = p->older;
        discard(p);
    }
}
