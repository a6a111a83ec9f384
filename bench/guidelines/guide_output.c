/*
 * guide_output.c — see guide_output.h.
 */
#include "guide_output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench_file.h"
#include "guide_json.h"
#include "guide_need.h"
#include "guide_totals.h"

/* All but the last part of the path. */
static int make_above(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const int rc = mkdir(path, 0777);
        *slash = '/';
        if (rc != 0 && errno != EEXIST)
            return errno;
    }
    return 0;
}

int guide_dir_make(const char *dir, char *why, size_t why_size)
{
    char *copy = guide_need(strdup(dir));
    int error = *dir ? make_above(copy) : ENOENT;
    struct stat st;
    if (!error && mkdir(copy, 0777) != 0 && errno != EEXIST)
        error = errno;
    if (!error && (stat(copy, &st) != 0 || !S_ISDIR(st.st_mode)))
        error = ENOTDIR;
    if (!error && access(copy, W_OK | X_OK) != 0)
        error = errno;
    free(copy);
    if (error)
        snprintf(why, why_size, "'%s' is no directory that can be written to: %s", dir, strerror(error));
    return error;
}

/* Of one collective, or of all. */
static void print(const guide_results *r, const guide_shape *shape, const char *mpi, bool as_csv, FILE *to)
{
    guide_sheet sheet;
    guide_compare(&sheet, shape->comparer, r, mpi, shape->more);
    guide_sheet_print(&sheet, as_csv, to);
    guide_sheet_free(&sheet);
    if (!as_csv)
        guide_compare_notes(r, mpi, to);
}

/* Into a file, by what `make` writes. */
typedef struct file {
    const guide_results *r;
    const guide_shape *shape;
    const char *mpi;
    bool as_csv, totals;
} file;

static int write_file(const file *f, const char *dir, const char *name, char *why, size_t why_size)
{
    char *text = NULL, *path = NULL;
    size_t length;
    FILE *to = guide_need(open_memstream(&text, &length));
    if (f->totals)
        guide_totals_print(f->r, to);
    else
        print(f->r, f->shape, f->mpi, f->as_csv, to);
    fclose(to);
    if (asprintf(&path, "%s/%s%s", dir, name, f->as_csv ? ".csv" : ".txt") < 0)
        path = NULL;
    const int error = bench_file_write(guide_need(path), guide_need(text), length, why, why_size);
    free(path);
    free(text);
    return error;
}

static int write_json(const guide_results *r, const char *dir, char *why, size_t why_size)
{
    char *path = NULL;
    size_t length;
    char *text = guide_json_text(r, &length);
    if (asprintf(&path, "%s/guidelines.json", dir) < 0)
        path = NULL;
    const int error = bench_file_write(guide_need(path), text, length, why, why_size);
    free(path);
    free(text);
    return error;
}

int guide_output_write(const guide_results *r, const guide_shape *shape, const char *dir, char *why,
                       size_t why_size)
{
    file f = {.r = r, .shape = shape};
    int error = guide_dir_make(dir, why, why_size);
    for (int i = 0; i < r->num && !error; i++) {
        f.mpi = guide_results_new(r, i);
        for (int csv = 0; csv <= shape->csv && f.mpi && !error; csv++) {
            f.as_csv = csv;
            error = write_file(&f, dir, f.mpi, why, why_size);
        }
    }
    f.mpi = NULL;
    for (int csv = 0; csv <= shape->csv && shape->merge && !error; csv++) {
        f.as_csv = csv;
        error = write_file(&f, dir, "MPI_Results", why, why_size);
    }
    f.as_csv = false;
    f.totals = true;
    error = error ? error : write_file(&f, dir, "MPI_Totals", why, why_size);
    return error ? error : write_json(r, dir, why, why_size);
}

void guide_output_print(const guide_results *r, const guide_shape *shape, FILE *to)
{
    for (int i = 0; i < r->num; i++) {
        const char *mpi = guide_results_new(r, i);
        if (!mpi)
            continue;
        fprintf(to, "%s\n", mpi);
        print(r, shape, mpi, false, to);
        fputc('\n', to);
    }
    guide_totals_print(r, to);
}
