/*
 * guide_raw.c — see guide_raw.h: writing. Must never leave half a file.
 */
#include "guide_raw.h"

#include <string.h>

#include "bench_file.h"
#include "guide_need.h"

char *guide_raw_path(const char *mpi, const char *alg, const char *dir)
{
    char *path = NULL;
    if (asprintf(&path, "%s/data_%s_%s.dat", dir, mpi, alg) < 0)
        path = NULL;
    return guide_need(path);
}

/* The samples of a launch, or none. */
static void write_launch(const guide_series *s, int64_t bytes, const char *mpi, int launch, FILE *to)
{
    for (int i = 0; i < s->num_launches; i++) {
        const int begin = i > 0 ? s->end[i - 1] : 0;
        for (int k = begin; k < s->end[i] && s->launch[i] == launch; k++)
            fprintf(to, "%s %d %lld %.10f\n", mpi, k - begin, (long long)bytes, 1e-3 * s->ms[k]);
    }
}

static bool has_launch(const guide_series *s, int launch)
{
    for (int i = 0; i < s->num_launches; i++)
        if (s->launch[i] == launch)
            return true;
    return false;
}

static void write_alg(const guide_results *r, const char *mpi, const char *alg, const guide_way *way,
                      FILE *to)
{
    bool begun = false;
    for (int launch = 1; launch <= GUIDE_LAUNCHES; launch++) {
        bool told = false;
        for (int i = 0; i < r->num; i++) {
            const guide_cell *c = &r->cells[i];
            const guide_series *s = strcmp(c->mpi, mpi) == 0 ? guide_cell_find(c, alg) : NULL;
            if (!s)
                continue;
            if (!begun)
                fprintf(to,
                        "#@collective=%s\n#@algorithm=%s\n#@mpi_library=%s\n#@nodes=%d\n#@ppn=%d\n#@ranks=%"
                        "d\n#@left=%s\n#@arrival=%s\n#@runtime_type=%s\n#@sync=%s\n#@root=%d\n#@order=%s\n#@"
                        "threads=%s\n%s\n",
                        mpi, alg, r->library, c->grid.nodes, c->grid.ppn, c->grid.ranks, r->left, r->arrival,
                        r->score, way->sync, way->root, way->order, way->threads, GUIDE_RAW_HEADER);
            begun = true;
            if (!has_launch(s, launch))
                continue;
            if (!told)
                fprintf(to, "#@launch=%d\n", launch);
            told = true;
            write_launch(s, c->bytes, mpi, launch, to);
        }
    }
    for (int i = 0; i < r->num; i++) {
        const guide_series *s = strcmp(r->cells[i].mpi, mpi) == 0 ? guide_cell_find(&r->cells[i], alg) : NULL;
        if (s && s->reason[0])
            fprintf(to, "#@not_run=%lld bytes: %s\n", (long long)r->cells[i].bytes, s->reason);
    }
}

/* Is it an algorithm that no earlier cell of the collective has? */
static bool is_new(const guide_results *r, int i, const char *alg)
{
    for (int k = 0; k < i; k++)
        if (strcmp(r->cells[k].mpi, r->cells[i].mpi) == 0 && guide_cell_find(&r->cells[k], alg))
            return false;
    return true;
}

int guide_raw_write(const guide_results *r, const char *mpi, const guide_way *way, const char *dir, char *why,
                    size_t why_size)
{
    int error = 0;
    for (int i = 0; i < r->num; i++)
        for (int k = 0; k < r->cells[i].num && !error && strcmp(r->cells[i].mpi, mpi) == 0; k++) {
            const char *alg = r->cells[i].series[k].alg;
            char *text = NULL, *path;
            size_t length;
            if (!is_new(r, i, alg))
                continue;
            FILE *to = guide_need(open_memstream(&text, &length));
            path = guide_raw_path(mpi, alg, dir);
            write_alg(r, mpi, alg, way, to);
            fclose(to);
            error = bench_file_write(path, guide_need(text), length, why, why_size);
            free(path);
            free(text);
        }
    return error;
}
