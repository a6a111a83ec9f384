/*
 * guide_profile.c — see guide_profile.h. Must never have a program take a right side at a size where nobody has looked and no neighbour speaks for it.
 */
#include "guide_profile.h"

#include <string.h>
#include <unistd.h>

#include "bench_file.h"
#include "guide_judge.h"
#include "guide_need.h"
#include "mockup_own.h"

typedef struct range {
    int64_t first, last;
    int id;
} range;

typedef struct profile {
    const char *mpi;
    int ranks;
    const guide_cell **cells; /* by size */
    int num;
    const char **algs; /* number i is called i + 1 in the file */
    int num_algs;
    range *ranges;
    int num_ranges;
} profile;

/* A mock-up, or an algorithm of PAT's that calls of some sizes alone can be run by. */
static bool may_stand_in(const guide_cell *c, const guide_series *s)
{
    if (strncmp(s->alg, "pat", 3) == 0)
        return pat_mockup_own(c->mpi, s->alg) != NULL;
    return strcmp(s->alg, "mpi") != 0 && strcmp(s->alg, "default") != 0;
}

/* Does its verdict justify that it stands in? */
static bool is_better(const guide_cell *c, const guide_series *s)
{
    const guide_verdict *v = &s->verdict;
    return may_stand_in(c, s) && v->violation && !v->starred &&
           (v->certain || v->launches < GUIDE_CERTAIN_LAUNCHES);
}

static const guide_series *pick(const guide_cell *c)
{
    const guide_series *best = NULL;
    for (int i = 1; i < c->num; i++)
        if (is_better(c, &c->series[i]) && (!best || c->series[i].median_ms < best->median_ms))
            best = &c->series[i];
    return best;
}

static bool is_better_at(const guide_cell *c, const char *alg)
{
    const guide_series *s = guide_cell_find(c, alg);
    return s && is_better(c, s);
}

static int id_of(profile *p, const char *alg)
{
    for (int i = 0; i < p->num_algs; i++)
        if (strcmp(p->algs[i], alg) == 0)
            return i + 1;
    p->algs[p->num_algs++] = alg;
    return p->num_algs;
}

static void find_ranges(profile *p)
{
    const guide_series *before = NULL;
    for (int i = 0; i < p->num; i++) {
        const guide_cell *c = p->cells[i];
        const guide_series *now = pick(c);
        range *open = before ? &p->ranges[p->num_ranges - 1] : NULL;
        int64_t first = c->bytes;
        if (now && before && strcmp(now->alg, before->alg) == 0) {
            open->last = c->bytes;
        } else if (now) {
            if (before && is_better_at(c, before->alg))
                open->last = c->bytes - 1;
            else if (before && is_better_at(p->cells[i - 1], now->alg))
                first = open->last + 1;
            p->ranges[p->num_ranges++] = (range){first, c->bytes, id_of(p, now->alg)};
        }
        before = now;
    }
}

static int by_size(const void *va, const void *vb)
{
    const guide_cell *const *a = va, *const *b = vb;
    return ((*a)->bytes > (*b)->bytes) - ((*a)->bytes < (*b)->bytes);
}

/* The collective's profile on the grid of r's cell i. */
static void make(profile *p, const guide_results *r, int i)
{
    const guide_cell *of = &r->cells[i];
    *p = (profile){.mpi = of->mpi,
                   .ranks = of->grid.ranks,
                   .cells = guide_need_array((size_t)r->num, sizeof(*p->cells)),
                   .algs = guide_need_array((size_t)r->num, sizeof(*p->algs)),
                   .ranges = guide_need_array((size_t)r->num, sizeof(*p->ranges))};
    for (int k = 0; k < r->num; k++)
        if (strcmp(r->cells[k].mpi, of->mpi) == 0 && guide_same_grid(r->cells[k].grid, of->grid))
            p->cells[p->num++] = &r->cells[k];
    qsort(p->cells, (size_t)p->num, sizeof(*p->cells), by_size);
    find_ranges(p);
}

static void print(const profile *p, const guide_results *r, FILE *to)
{
    fprintf(to, "# %s on %d ranks, %s: what pat-guidelines found to be faster\n%s\n%d\n%d\n", p->mpi,
            p->ranks, r->library, p->mpi, p->ranks, p->num_algs);
    for (int i = 0; i < p->num_algs; i++)
        fprintf(to, "%d %s\n", i + 1, p->algs[i]);
    fprintf(to, "%d\n", p->num_ranges);
    for (int i = 0; i < p->num_ranges; i++)
        fprintf(to, "%lld %lld %d\n", (long long)p->ranges[i].first, (long long)p->ranges[i].last,
                p->ranges[i].id);
}

static int write_one(const profile *p, const guide_results *r, const char *dir, char *why, size_t why_size)
{
    char *path = NULL, *text = NULL;
    size_t length;
    int error = 0;
    if (asprintf(&path, "%s/%s_%d.prf", dir, p->mpi, p->ranks) < 0)
        path = NULL;
    guide_need(path);
    if (p->num_ranges == 0) {
        unlink(path);
    } else {
        FILE *to = guide_need(open_memstream(&text, &length));
        print(p, r, to);
        fclose(to);
        error = bench_file_write(path, guide_need(text), length, why, why_size);
    }
    free(path);
    free(text);
    return error;
}

int guide_profile_write(const guide_results *r, const char *dir, int *num, char *why, size_t why_size)
{
    int error = 0;
    *num = 0;
    for (int i = 0; i < r->num && !error; i++) {
        profile p;
        bool is_first = true;
        for (int k = 0; k < i; k++)
            is_first = is_first && (strcmp(r->cells[k].mpi, r->cells[i].mpi) != 0 ||
                                    !guide_same_grid(r->cells[k].grid, r->cells[i].grid));
        if (!is_first)
            continue;
        make(&p, r, i);
        error = write_one(&p, r, dir, why, why_size);
        *num += p.num_ranges > 0;
        free(p.cells);
        free(p.algs);
        free(p.ranges);
    }
    return error;
}
