/*
 * report_lines.h — the lines of a report: report.c adds them up, report_write.c writes them.
 */
#ifndef PAT_REPORT_LINES_H
#define PAT_REPORT_LINES_H

#include "sites.h"

/* A place as it travels: sums over the ranks that have it. */
typedef struct pat_report_line {
    char name[160], call[32];
    int64_t ranks;
    pat_site_sums sums;
    int64_t last_rank, last_calls; /* who came last most often, as rank 0 has seen it; no ranks: -1 */
} pat_report_line;

/*
 * Where a report goes: `*file` is a file's whole name, to be freed, or NULL for the standard error. Returns 0, or what errno
 * says of why it cannot be written there.
 */
int pat_report_place(const char *report, char **file);

/* Write them there. `time_ns`: from MPI_Init to MPI_Finalize. An MPI error code with its text. */
int pat_report_put(const pat_report_line *lines, int num, int ranks, int64_t time_ns, const char *file);

#endif
