/*
 * bench_doubt.c — see bench_doubt.h. Must never name fewer cells than are doubtful.
 */
#include "bench_doubt.h"

#include <stdlib.h>

void bench_warn_if_doubtful(const bench_table *table, FILE *to)
{
    bench_cell *cells;
    const int num = bench_is_doubtful(table) ? bench_table_cells(table, &cells) : 0;
    int doubtful = 0;
    if (num <= 0)
        return;
    for (int i = 0; i < num; i++)
        doubtful += cells[i].doubtful;
    fprintf(
        to,
        "# The emulated cluster failed its own check in %d of %d cells: some link did not carry its rate. "
        "Doubt these:\n#",
        doubtful, num);
    for (int i = 0, told = 0; i < num; i++)
        if (cells[i].doubtful)
            fprintf(to, "%s %d ranks, %.6g KiB, %s %.6g ms", told++ ? ";" : "", cells[i].procs,
                    (double)cells[i].segment_bytes / 1024, cells[i].pattern, cells[i].max_delay_ms);
    fputc('\n', to);
    free(cells);
}
