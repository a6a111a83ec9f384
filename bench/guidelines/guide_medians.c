/*
 * guide_medians.c — see guide_medians.h. Must never take a line that it does not understand whole.
 */
#include "guide_medians.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "guide_need.h"
#include "tool_options.h"

enum { COLUMNS = 8 };

static bool take_name(char *to, const char *word)
{
    if (!guide_is_name(word))
        return false;
    strcpy(to, word);
    return true;
}

/* NULL, or what is wrong with the line. */
static const char *take_line(guide_results *r, char *line)
{
    char *word[COLUMNS], mpi[GUIDE_NAME], alg[GUIDE_NAME];
    int64_t nodes, ppn, bytes, num;
    double median_ms, barrier_ms;
    int words = 0;
    for (char *rest = line, *item; (item = strsep(&rest, ",")) != NULL; words++)
        if (words < COLUMNS)
            word[words] = item;
    if (words != COLUMNS)
        return "there are not 8 columns";
    if (!take_name(mpi, word[0]) || strncmp(mpi, "MPI_", 4) != 0)
        return "the first column is no collective, as MPI_Bcast";
    if (!tool_read_whole(word[1], 1, 1 << 24, &nodes) || !tool_read_whole(word[2], 1, 1 << 16, &ppn))
        return "N and ppn are not whole numbers from 1 on";
    if (nodes * ppn > INT32_MAX)
        return "N times ppn is more than 2147483647 ranks";
    if (!tool_read_whole(word[3], 0, INT64_C(1) << 40, &bytes))
        return "the count is no number of bytes";
    if (!take_name(alg, word[4]))
        return "there is no name of a mock-up";
    if (!tool_read_whole(word[5], 1, INT32_MAX, &num))
        return "n is no whole number from 1 on";
    if (!tool_read_number(word[6], 1e-9, 1e12, &median_ms) ||
        !tool_read_number(word[7], 0, 1e12, &barrier_ms))
        return "the median or the barrier's is no time in ms";
    guide_cell *c = guide_results_cell(r, mpi, bytes, (guide_grid){(int)nodes, (int)ppn, (int)(nodes * ppn)});
    guide_series *s = guide_cell_series(c, alg);
    if (s->num > 0)
        return "the same collective, grid, count and mock-up as in an earlier line";
    c->barrier_ms = barrier_ms;
    s->num = (int)num;
    s->mean_ms = s->median_ms = median_ms;
    return NULL;
}

int guide_medians_read(guide_results *r, const char *path, char *why, size_t why_size)
{
    char *line = NULL;
    size_t room = 0;
    int number = 0;
    bool has_header = false;
    const char *wrong = NULL;
    FILE *from = fopen(path, "r");
    if (!from) {
        const int error = errno;
        snprintf(why, why_size, "cannot read '%s': %s", path, strerror(error));
        return error;
    }
    while (!wrong && getline(&line, &room, from) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        number++;
        if (*line == '#' || *line == '\0')
            continue;
        if (has_header)
            wrong = take_line(r, line);
        else if (strcmp(line, GUIDE_MEDIANS_HEADER) != 0)
            wrong = "not the header " GUIDE_MEDIANS_HEADER;
        has_header = true;
    }
    if (!has_header)
        wrong =
            "there is nothing in it; accepted: a header " GUIDE_MEDIANS_HEADER " and a line for each median";
    free(line);
    fclose(from);
    for (int i = 0; i < r->num && !wrong; i++)
        if (r->cells[i].series[0].num == 0) {
            snprintf(why, why_size, "'%s': %s, %lld bytes on %d x %d ranks: there is no line of its %s", path,
                     r->cells[i].mpi, (long long)r->cells[i].bytes, r->cells[i].grid.nodes,
                     r->cells[i].grid.ppn, r->left);
            return EINVAL;
        }
    if (wrong)
        snprintf(why, why_size, "'%s', line %d: %s", path, number, wrong);
    return wrong ? EINVAL : 0;
}
