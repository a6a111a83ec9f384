/*
 * bench_table.h — results: one row per cell and algorithm, and what can be said of a cell (size, delay,
 * pattern, ranks) as a whole. Reports, plots and files all work on this and nothing else, whether a run or a
 * file filled it.
 */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "algorithms.h"

typedef struct bench_row {
    char alg[32];
    enum pat_op op;
    int procs, ppn;
    int64_t count; /* items of the result: of an all-gather floats, of an all-reduce doubles */
    int64_t segment_bytes;
    double max_delay_ms;
    char pattern[32];
    int iters; /* valid iterations, which all means are over */
    double elapsed_ms, elapsed_ci_ms;
    double past_last_ms, run_ms, absorption_ms;
    double imbalance_factor;
    double bound_ms;
    double early_share;
    double thread_cpu_ms, waiting_cpu_ms;
    /* Not in the CSV; NaN or 0 when the row comes from one. */
    double tau_ms, ideal_ring_ms;
    double bound_past_last_ms;                   /* the bound's time past the last arrival */
    double predicted_ms, predicted_past_last_ms; /* elapsed and past last as the predictor has them */
    double slip_ms;   /* how much later than planned a rank arrived, mean over ranks */
    double announced; /* the share of calls that ranks had announced by PAT_Edge */
    double estimate_off_ms,
        estimate_off_95_ms;  /* how wrong ranks were then, on average: median, and 95 % of iterations */
    bool doubtful;           /* the emulated cluster failed its own check */
    int repeats;             /* iterations done again because a rank began late */
    int num_iters;           /* iterations asked for: entries of the next two arrays */
    double *iter_elapsed_ms; /* NaN where invalid; NULL from a CSV */
    const pat_algorithm **
        iter_ran; /* who ran it on rank 0, NULL where that is not known; without the array it is known nowhere */
} bench_row;

typedef struct bench_table {
    bench_row *rows;
    int num, cap;
    char lab_check[16]; /* what the emulated cluster's check said before a run: "pass", "fail" or nothing */
} bench_table;

enum { BENCH_TABLE_ALGS = 24 }; /* in one table */

/* Append an empty row (NaN where unknown), doubtful as the check says; NULL without memory. Valid until the next call. */
bench_row *bench_table_add(bench_table *table);
void bench_table_free(bench_table *table);

bool bench_is_doubtful(const bench_table *table); /* some row is */

bool bench_is_aware(const char *alg); /* an arrival-aware algorithm; unknown names count as regular */

/* One cell. Row numbers are -1 when there is no such row. */
typedef struct bench_cell {
    enum pat_op op;
    int procs, ppn;
    int64_t count, segment_bytes;
    double max_delay_ms;
    const char *pattern;
    bool doubtful; /* some row of it is */
    int first;     /* any row of the cell */
    int num_algs;
    int best; /* smallest mean elapsed */
    int best_regular, best_aware;
    double factor; /* imbalance factor, bound, ideal ring, tau: mean over the cell's rows */
    double bound_ms, ideal_ring_ms, tau_ms;
    double speedup;             /* best regular over best aware; NaN without both */
    bool paired;                /* the next three come from the iterations, not from the two intervals */
    bool beyond_doubt;          /* the better of the two is better beyond the 95 % confidence interval */
    bool apart;                 /* the two confidence intervals of the means do not even touch */
    double diff_ms, diff_ci_ms; /* best regular - best aware, paired; NaN from a CSV */
} bench_cell;

/* All cells, ordered by collective, pattern, procs, ppn, count, delay, in an array for the caller to free. Number or -1.
 */
int bench_table_cells(const bench_table *table, bench_cell **cells);
const bench_row *bench_cell_row(const bench_table *table, const bench_cell *cell,
                                const char *alg); /* or NULL */

/*
 * Of a cell's algorithms but `but` the one that takes least on average over every second iteration, from `first` on: to be timed in the others, since who seems
 * the best of several by the iterations that it is timed in had luck as well. NULL: none has its iterations.
 */
const bench_row *bench_cell_best_half(const bench_table *table, const bench_cell *cell, const char *but,
                                      int first);

/* Largest planned delay over tau, to the nearest power of two; 0: no delay; NaN: the cell does not know its tau. */
double bench_cell_planned_factor(const bench_cell *cell);

/* The delays that occur in these cells, ascending. Returns their number. */
int bench_cells_delays(const bench_cell *cells, int num, double *delays, int max);

/* The algorithms that occur, in the table of algorithms' order, unknown ones last. Returns their number. */
int bench_table_algs(const bench_table *table, const char **algs, int max);

/* What the target is stated over: cells with 2 <= factor <= 4 procs. */
typedef struct bench_summary {
    int cells;       /* in that range, with both kinds of algorithm */
    int aware_wins;  /* an arrival-aware algorithm has the smallest mean */
    int aware_sure;  /* ... beyond doubt */
    int aware_apart; /* ... and the intervals of the two means do not touch */
    double geomean;  /* of the speed-up; NaN without cells */
    double best;
} bench_summary;

bench_summary bench_summarize(const bench_cell *cells, int num);

#endif
