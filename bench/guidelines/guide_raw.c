/*
 * guide_raw.c — see guide_raw.h. Must never join samples of different machines or ways of measuring.
 */
#include "guide_raw.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bench_file.h"
#include "guide_need.h"
#include "tool_options.h"

static const char header[] = "test nrep count runtime_sec";

static char *path_of(const char *mpi, const char *alg, const char *dir)
{
    char *path = NULL;
    if (asprintf(&path, "%s/data_%s_%s.dat", dir, mpi, alg) < 0)
        path = NULL;
    return guide_need(path);
}

void guide_raw_remove(const char *mpi, const char *alg, const char *dir)
{
    char *path = path_of(mpi, alg, dir);
    unlink(path);
    free(path);
}

/* ---- Out ------------------------------------------------------------------------------------------------------ */

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

static void write_alg(const guide_results *r, const char *mpi, const char *alg, FILE *to)
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
                        "#@collective=%s\n#@algorithm=%s\n#@mpi_library=%s\n#@nodes=%d\n#@ppn=%d\n#@left=%"
                        "s\n#@arrival=%s\n#@runtime_type=%s\n%s\n",
                        mpi, alg, r->library, c->nodes, c->ppn, r->left, r->arrival, r->score, header);
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

int guide_raw_write(const guide_results *r, const char *mpi, const char *dir, char *why, size_t why_size)
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
            path = path_of(mpi, alg, dir);
            write_alg(r, mpi, alg, to);
            fclose(to);
            error = bench_file_write(path, guide_need(text), length, why, why_size);
            free(path);
            free(text);
        }
    return error;
}

/* ---- In ------------------------------------------------------------------------------------------------------- */

typedef struct reading {
    guide_results *r;
    const char *mpi, *alg;
    int nodes, ppn, launch;
    char wrong[256];
} reading;

static bool is_as(reading *in, const char *line, const char *key, const char *value)
{
    const size_t length = strlen(key);
    if (strncmp(line, key, length) != 0 || strcmp(line + length, value) == 0)
        return true;
    snprintf(in->wrong, sizeof(in->wrong), "it was measured with %.80s, this is %s%.60s", line + 2, key + 2,
             value);
    return false;
}

static bool take_key(reading *in, const char *line)
{
    char nodes[16], ppn[16];
    int64_t launch;
    snprintf(nodes, sizeof(nodes), "%d", in->nodes);
    snprintf(ppn, sizeof(ppn), "%d", in->ppn);
    if (strncmp(line, "#@launch=", 9) == 0) {
        if (!tool_read_whole(line + 9, in->launch + 1, GUIDE_LAUNCHES, &launch)) {
            snprintf(in->wrong, sizeof(in->wrong), "launches do not follow one another");
            return false;
        }
        in->launch = (int)launch;
    }
    return is_as(in, line, "#@collective=", in->mpi) && is_as(in, line, "#@algorithm=", in->alg) &&
           is_as(in, line, "#@mpi_library=", in->r->library) && is_as(in, line, "#@nodes=", nodes) &&
           is_as(in, line, "#@ppn=", ppn) && is_as(in, line, "#@left=", in->r->left) &&
           is_as(in, line, "#@arrival=", in->r->arrival) && is_as(in, line, "#@runtime_type=", in->r->score);
}

static bool take_sample(reading *in, char *line)
{
    char *word[4], *rest = line;
    int64_t number, bytes;
    double seconds;
    int words = 0;
    for (char *item; words < 4 && (item = strsep(&rest, " \t")) != NULL;)
        if (*item)
            word[words++] = item;
    if (words != 4 || rest || in->launch == 0 || strcmp(word[0], in->mpi) != 0 ||
        !tool_read_whole(word[1], 0, INT32_MAX, &number) ||
        !tool_read_whole(word[2], 0, INT64_C(1) << 40, &bytes) ||
        !tool_read_number(word[3], 0, 1e6, &seconds)) {
        snprintf(in->wrong, sizeof(in->wrong), "not a sample of %s in a launch", in->mpi);
        return false;
    }
    guide_cell *c = guide_results_cell(in->r, in->mpi, bytes, in->nodes, in->ppn);
    guide_series_add(guide_cell_series(c, in->alg), in->launch, 1e3 * seconds);
    return true;
}

int guide_raw_read(guide_results *r, const char *mpi, const char *alg, int nodes, int ppn, const char *dir,
                   char *why, size_t why_size)
{
    reading in = {.r = r, .mpi = mpi, .alg = alg, .nodes = nodes, .ppn = ppn};
    char *line = NULL, *path = path_of(mpi, alg, dir);
    size_t room = 0;
    int number = 0, error = 0;
    FILE *from = fopen(path, "r");
    if (!from && errno != ENOENT) {
        error = errno;
        snprintf(why, why_size, "cannot read '%s': %s", path, strerror(error));
    }
    while (from && !in.wrong[0] && getline(&line, &room, from) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        number++;
        if (strncmp(line, "#@", 2) == 0)
            take_key(&in, line);
        else if (*line && *line != '#' && strcmp(line, header) != 0)
            take_sample(&in, line);
    }
    if (in.wrong[0]) {
        snprintf(why, why_size, "'%s', line %d: %s", path, number, in.wrong);
        error = EINVAL;
    }
    if (from)
        fclose(from);
    free(line);
    free(path);
    return error;
}
