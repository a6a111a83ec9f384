/*
 * bench_csv.c — see bench_csv.h. The header is a promise to scripts: exactly these
 * columns.
 */
#include "bench_csv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collective.h"

/* Plain decimals with a point; "nan" where a figure does not exist (an interval of one iteration). */
static void put(FILE *to, double value, int decimals, const char *after)
{
    if (isnan(value))
        fprintf(to, "nan%s", after);
    else
        fprintf(to, "%.*f%s", decimals, value, after);
}

char *bench_csv_text(const bench_table *table, size_t *length)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, length);
    if (!to)
        return NULL;
    fprintf(to, "%s\n", BENCH_CSV_HEADER);
    for (int i = 0; i < table->num; i++) {
        const bench_row *r = &table->rows[i];
        fprintf(to, "%s,%d,%d,%lld,%lld,%.10g,%s,%d,", r->alg, r->procs, r->ppn, (long long)r->count,
                (long long)r->segment_bytes, r->max_delay_ms, r->pattern, r->iters);
        put(to, r->elapsed_ms, 4, ",");
        put(to, r->elapsed_ci_ms, 4, ",");
        put(to, r->past_last_ms, 4, ",");
        put(to, r->run_ms, 4, ",");
        put(to, r->absorption_ms, 4, ",");
        put(to, r->imbalance_factor, 4, ",");
        put(to, r->bound_ms, 4, ",");
        put(to, r->early_share, 4, ",");
        put(to, r->thread_cpu_ms, 4, ",");
        put(to, r->waiting_cpu_ms, 4, ",");
        fprintf(to, "%s\n", pat_collective_of(r->op)->name);
    }
    if (fclose(to) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static bool take_double(char **rest, double *value)
{
    char *item = strsep(rest, ","), *end = NULL;
    if (!item || *item == '\0')
        return false;
    *value = strtod(item, &end);
    return *end == '\0';
}

static bool take_whole(char **rest, int64_t low, int64_t *value)
{
    char *item = strsep(rest, ","), *end = NULL;
    if (!item || *item == '\0')
        return false;
    *value = strtoll(item, &end, 10);
    return *end == '\0' && *value >= low;
}

static bool take_text(char **rest, char *to, size_t size)
{
    char *item = strsep(rest, ",");
    if (!item || *item == '\0' || strlen(item) >= size)
        return false;
    memcpy(to, item, strlen(item) + 1);
    return true;
}

/* The last column, where there is one. */
static bool take_op(char **rest, enum pat_op *op)
{
    char name[32];
    if (!*rest)
        return true;
    return take_text(rest, name, sizeof(name)) && (*op = pat_collective_find(name)) != PAT_NUM_OPS;
}

static bool take_row(char *line, bool has_op, bench_row *r)
{
    char *rest = line;
    int64_t procs, ppn, iters;
    bool ok = take_text(&rest, r->alg, sizeof(r->alg)) && take_whole(&rest, 1, &procs) &&
              take_whole(&rest, 1, &ppn) && take_whole(&rest, 0, &r->count) &&
              take_whole(&rest, 0, &r->segment_bytes) && take_double(&rest, &r->max_delay_ms) &&
              take_text(&rest, r->pattern, sizeof(r->pattern)) && take_whole(&rest, 0, &iters) &&
              take_double(&rest, &r->elapsed_ms) && take_double(&rest, &r->elapsed_ci_ms) &&
              take_double(&rest, &r->past_last_ms) && take_double(&rest, &r->run_ms) &&
              take_double(&rest, &r->absorption_ms) && take_double(&rest, &r->imbalance_factor) &&
              take_double(&rest, &r->bound_ms) && take_double(&rest, &r->early_share) &&
              take_double(&rest, &r->thread_cpu_ms) && take_double(&rest, &r->waiting_cpu_ms) &&
              (rest != NULL) == has_op && take_op(&rest, &r->op) && rest == NULL;
    if (!ok)
        return false;
    r->procs = (int)procs;
    r->ppn = (int)ppn;
    r->iters = (int)iters;
    return true;
}

int bench_csv_parse(bench_table *table, const char *path, FILE *from, char *why, size_t why_size)
{
    char *line = NULL;
    size_t cap = 0;
    int number = 0, rc = 0;
    bool has_op = false;
    while (rc == 0 && getline(&line, &cap, from) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        number++;
        if (number == 1) {
            has_op = strcmp(line, BENCH_CSV_HEADER) == 0;
            if (!has_op && strcmp(line, BENCH_CSV_OLD_HEADER) != 0) {
                snprintf(why, why_size, "'%s', line 1: not the header of pat-bench's CSV", path);
                rc = EINVAL;
            }
        } else if (*line != '\0') {
            bench_row *row = bench_table_add(table);
            if (!row || !take_row(line, has_op, row)) {
                snprintf(why, why_size, "'%s', line %d: not a row of pat-bench's CSV", path, number);
                rc = row ? EINVAL : ENOMEM;
            }
        }
    }
    if (number == 0) {
        snprintf(why, why_size, "'%s' is empty", path);
        rc = EINVAL;
    }
    free(line);
    return rc;
}
