/*
 * guide_raw_read.c — see guide_raw.h: reading. Must never join samples of different machines or ways of measuring.
 */
#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "guide_need.h"
#include "guide_raw.h"
#include "tool_options.h"

/* What a file says of itself; of a campaign whose files are read one after the other, what the first one has said. */
typedef struct about {
    char collective[GUIDE_NAME], algorithm[GUIDE_NAME], mpi_library[128], nodes[16], ppn[16], ranks[16],
        left[GUIDE_NAME], arrival[GUIDE_NAME], runtime_type[GUIDE_NAME], sync[32], root[16], order[16],
        threads[16];
} about;

static const struct {
    const char *key;
    size_t offset, size;
} keys[] = {
/* What a file does not say could be anything: all of them must be there. */
#define KEY(name)                                                                                            \
    {                                                                                                        \
        "#@" #name "=", offsetof(about, name), sizeof(((about *)0)->name)                                    \
    }
    KEY(collective), KEY(algorithm),    KEY(mpi_library), KEY(nodes), KEY(ppn),   KEY(ranks),   KEY(left),
    KEY(arrival),    KEY(runtime_type), KEY(sync),        KEY(root),  KEY(order), KEY(threads),
#undef KEY
};

typedef struct reading {
    guide_results *r;
    about is; /* as it must be; where it is "" the file says it */
    bool has[sizeof(keys) / sizeof(keys[0])];
    int launch;
    char wrong[512];
} reading;

static bool take_launch(reading *in, const char *text)
{
    int64_t launch;
    if (tool_read_whole(text, in->launch + 1, GUIDE_LAUNCHES, &launch)) {
        in->launch = (int)launch;
        return true;
    }
    snprintf(in->wrong, sizeof(in->wrong), "launches do not follow one another");
    return false;
}

static bool take_cell(reading *in, int64_t bytes, guide_series **s)
{
    int64_t nodes, ppn, ranks;
    guide_grid grid = {0, 0, 0};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (!in->has[i]) {
            snprintf(in->wrong, sizeof(in->wrong), "there is no %s above it", keys[i].key);
            return false;
        }
    if (tool_read_whole(in->is.nodes, 1, 1 << 24, &nodes) && tool_read_whole(in->is.ppn, 1, 1 << 16, &ppn) &&
        tool_read_whole(in->is.ranks, 1, 1 << 24, &ranks))
        grid = (guide_grid){(int)nodes, (int)ppn, (int)ranks};
    if (!guide_is_name(in->is.collective) || !guide_is_name(in->is.algorithm) || !guide_is_grid(grid)) {
        snprintf(in->wrong, sizeof(in->wrong),
                 "what stands above it is no collective, algorithm and grid of ranks");
        return false;
    }
    *s = guide_cell_series(guide_results_cell(in->r, in->is.collective, bytes, grid), in->is.algorithm);
    return true;
}

/* "4096 bytes: the scratch for data is too small" */
static bool take_reason(reading *in, const char *text)
{
    const char *colon = strchr(text, ':');
    int64_t bytes;
    char number[32];
    guide_series *s;
    snprintf(number, sizeof(number), "%.*s", (int)strcspn(text, " "), text);
    if (!colon || !tool_read_whole(number, 0, INT64_C(1) << 40, &bytes)) {
        snprintf(in->wrong, sizeof(in->wrong), "not what has not run, and why");
        return false;
    }
    if (!take_cell(in, bytes, &s))
        return false;
    snprintf(s->reason, sizeof(s->reason), "%s", colon + 1 + strspn(colon + 1, " "));
    return true;
}

static bool take_key(reading *in, const char *line)
{
    static const char launch[] = "#@launch=", not_run[] = "#@not_run=";
    if (strncmp(line, launch, strlen(launch)) == 0)
        return take_launch(in, line + strlen(launch));
    if (strncmp(line, not_run, strlen(not_run)) == 0)
        return take_reason(in, line + strlen(not_run));
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const size_t length = strlen(keys[i].key);
        char *is = (char *)&in->is + keys[i].offset;
        if (strncmp(line, keys[i].key, length) != 0)
            continue;
        in->has[i] = true;
        if (!*is)
            snprintf(is, keys[i].size, "%s", line + length);
        if (strcmp(is, line + length) == 0)
            return true;
        snprintf(in->wrong, sizeof(in->wrong), "it was measured with %.120s, this is %s%.120s", line + 2,
                 keys[i].key + 2, is);
        return false;
    }
    return true;
}

static bool take_sample(reading *in, char *line)
{
    char *word[4], *rest = line;
    int64_t number, bytes;
    double seconds;
    guide_series *s;
    int words = 0;
    for (char *item; words < 4 && (item = strsep(&rest, " \t")) != NULL;)
        if (*item)
            word[words++] = item;
    if (words != 4 || rest || in->launch == 0 || strcmp(word[0], in->is.collective) != 0 ||
        !tool_read_whole(word[1], 0, INT32_MAX, &number) ||
        !tool_read_whole(word[2], 0, INT64_C(1) << 40, &bytes) ||
        !tool_read_number(word[3], 1e-10, 1e6, &seconds)) {
        snprintf(in->wrong, sizeof(in->wrong), "not a sample of %s in a launch", in->is.collective);
        return false;
    }
    if (!take_cell(in, bytes, &s))
        return false;
    guide_series_add(s, in->launch, 1e3 * seconds);
    return true;
}

/* Nothing where there is no file. */
static int read_file(reading *in, const char *path, char *why, size_t why_size)
{
    char *line = NULL;
    size_t room = 0;
    int number = 0, error = 0;
    FILE *from = fopen(path, "r");
    if (!from && errno != ENOENT) {
        error = errno;
        snprintf(why, why_size, "cannot read '%s': %s", path, strerror(error));
    }
    while (from && !in->wrong[0] && getline(&line, &room, from) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        number++;
        if (strncmp(line, "#@", 2) == 0)
            take_key(in, line);
        else if (*line && *line != '#' && strcmp(line, GUIDE_RAW_HEADER) != 0)
            take_sample(in, line);
    }
    if (in->wrong[0]) {
        snprintf(why, why_size, "'%s', line %d: %s", path, number, in->wrong);
        error = EINVAL;
    }
    if (from)
        fclose(from);
    free(line);
    return error;
}

static void take_about(about *a, const guide_results *r)
{
    snprintf(a->mpi_library, sizeof(a->mpi_library), "%s", r->library);
    snprintf(a->left, sizeof(a->left), "%s", r->left);
    snprintf(a->arrival, sizeof(a->arrival), "%s", r->arrival);
    snprintf(a->runtime_type, sizeof(a->runtime_type), "%s", r->score);
}

int guide_raw_read(guide_results *r, const char *mpi, const char *alg, guide_grid grid, const guide_way *way,
                   const char *dir, char *why, size_t why_size)
{
    reading in = {.r = r};
    char *path = guide_raw_path(mpi, alg, dir);
    take_about(&in.is, r);
    snprintf(in.is.collective, sizeof(in.is.collective), "%s", mpi);
    snprintf(in.is.algorithm, sizeof(in.is.algorithm), "%s", alg);
    snprintf(in.is.nodes, sizeof(in.is.nodes), "%d", grid.nodes);
    snprintf(in.is.ppn, sizeof(in.is.ppn), "%d", grid.ppn);
    snprintf(in.is.ranks, sizeof(in.is.ranks), "%d", grid.ranks);
    snprintf(in.is.sync, sizeof(in.is.sync), "%s", way->sync);
    snprintf(in.is.root, sizeof(in.is.root), "%d", way->root);
    snprintf(in.is.order, sizeof(in.is.order), "%s", way->order);
    snprintf(in.is.threads, sizeof(in.is.threads), "%s", way->threads);
    const int error = read_file(&in, path, why, why_size);
    free(path);
    return error;
}

/* ---- All of a campaign ----------------------------------------------------------------------------------------- */

static const char barrier_file[] = "data_MPI_Barrier_default.dat";

static int is_raw_or_barrier(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return strncmp(entry->d_name, "data_MPI_", 9) == 0 && length > 4 &&
           strcmp(entry->d_name + length - 4, ".dat") == 0;
}

static int is_raw(const struct dirent *entry)
{
    return is_raw_or_barrier(entry) && strcmp(entry->d_name, barrier_file) != 0;
}

/* A file under another name is a copy: what it holds would count twice. */
static int check_name(const about *is, const char *dir, const char *path, char *why, size_t why_size)
{
    char *named = guide_raw_path(is->collective, is->algorithm, dir);
    const bool same = strcmp(path, named) == 0;
    if (!same && !(*is->collective && *is->algorithm))
        snprintf(why, why_size, "'%s': there is no #@collective= and #@algorithm= in it", path);
    else if (!same)
        snprintf(why, why_size,
                 "'%s': it holds data of %s by %s; accepted in this directory: under the name '%s'", path,
                 is->collective, is->algorithm, named);
    free(named);
    return same ? 0 : EINVAL;
}

static int read_in(reading *in, const char *dir, const char *name, char *why, size_t why_size)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", dir, name) < 0)
        path = NULL;
    int error = read_file(in, guide_need(path), why, why_size);
    if (!error && access(path, F_OK) == 0)
        error = check_name(&in->is, dir, path, why, why_size);
    free(path);
    return error;
}

/* What the campaign is, by one of its files: but for what each collective has for itself. */
static int read_about(about *is, const char *dir, const char *name, char *why, size_t why_size)
{
    guide_results unused;
    guide_results_make(&unused, "unknown");
    reading in = {.r = &unused};
    int error = read_in(&in, dir, name, why, why_size);
    guide_results_free(&unused);
    *is = in.is;
    is->collective[0] = is->algorithm[0] = is->sync[0] = is->root[0] = '\0';
    if (!error && !guide_is_name(is->left)) {
        snprintf(why, why_size, "'%s/%s': there is no #@left= in it", dir, name);
        error = EINVAL;
    }
    return error;
}

static int read_barrier(guide_results *r, const about *is, const char *dir, char *why, size_t why_size)
{
    guide_results barrier;
    guide_results_make(&barrier, "default");
    reading in = {.r = &barrier, .is = *is};
    /* What these are of: of the left side of the others, of their arrivals. */
    in.is.left[0] = in.is.arrival[0] = in.is.runtime_type[0] = '\0';
    const int error = read_in(&in, dir, barrier_file, why, why_size);
    guide_results_settle(&barrier);
    for (int i = 0; i < r->num && barrier.num > 0; i++)
        r->cells[i].barrier_ms = barrier.cells[0].series[0].median_ms;
    guide_results_free(&barrier);
    return error;
}

int guide_raw_read_all(guide_results *r, const char *dir, char *why, size_t why_size)
{
    struct dirent **files = NULL;
    about is, before = {.collective = ""};
    const int num = scandir(dir, &files, is_raw, alphasort);
    int error = num < 0 ? errno : num == 0 ? ENOENT : 0;
    if (error)
        snprintf(why, why_size, "there is no raw data in '%s': %s", dir, strerror(error));
    error = error ? error : read_about(&is, dir, files[0]->d_name, why, why_size);
    if (!error) {
        memcpy(r->left, is.left, sizeof(r->left));
        memcpy(r->library, is.mpi_library, sizeof(r->library));
        memcpy(r->arrival, is.arrival, sizeof(r->arrival));
        memcpy(r->score, is.runtime_type, sizeof(r->score));
    }
    for (int i = 0; i < num && !error; i++) {
        reading in = {.r = r, .is = is};
        error = read_in(&in, dir, files[i]->d_name, why, why_size);
        if (!error && strcmp(in.is.collective, before.collective) == 0 &&
            (strcmp(in.is.sync, before.sync) != 0 || strcmp(in.is.root, before.root) != 0)) {
            snprintf(
                why, why_size,
                "'%s/%s': it was measured with sync=%s, root=%s, the other data of %s with sync=%s, root=%s",
                dir, files[i]->d_name, in.is.sync, in.is.root, in.is.collective, before.sync, before.root);
            error = EINVAL;
        }
        before = in.is;
    }
    error = error ? error : read_barrier(r, &is, dir, why, why_size);
    for (int i = 0; i < num; i++)
        free(files[i]);
    free(files);
    return error;
}

bool guide_raw_is_there(const char *dir)
{
    struct dirent **files = NULL;
    const int num = scandir(dir, &files, is_raw_or_barrier, alphasort);
    for (int i = 0; i < num; i++)
        free(files[i]);
    free(files);
    return num > 0;
}

int guide_raw_remove(const char *dir, char *why, size_t why_size)
{
    struct dirent **files = NULL;
    const int num = scandir(dir, &files, is_raw_or_barrier, alphasort);
    int error = 0;
    for (int i = 0; i < num; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s/%s", dir, files[i]->d_name) < 0)
            path = NULL;
        if (unlink(guide_need(path)) != 0 && !error) {
            error = errno;
            snprintf(why, why_size, "cannot remove '%s': %s", path, strerror(error));
        }
        free(path);
        free(files[i]);
    }
    free(files);
    return error;
}
