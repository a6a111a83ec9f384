/*
 * guide_results.h — what a campaign has measured: cells, a collective at one size on one grid of ranks, with the series of run times of the left side and of
 * every right side. Knows nothing of how they were measured.
 */
#ifndef GUIDE_RESULTS_H
#define GUIDE_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

enum { GUIDE_NAME = 64, GUIDE_REASON = 160, GUIDE_LAUNCHES = 32 };

/* What was measured on: cells are told apart by it. */
typedef struct guide_grid {
    int nodes, ppn,
        ranks; /* ppn: most on a node; ranks: all, fewer than nodes * ppn where nodes have not as many each */
} guide_grid;

/* Of a right side against the left side of its cell. */
typedef struct guide_verdict {
    bool is_judged; /* both sides have run; else the rest is 0 */
    bool violation;
    bool starred;                        /* the gain is less than a barrier */
    bool certain;                        /* guide_judge.h says when */
    double statistic, critical;          /* NaN: medians alone were given, and there is no test */
    double p, p_all;                     /* of this test, and corrected for all of the campaign */
    double delta, slowdown;              /* Cliff's delta; the left side's median over the right side's */
    int launches, launches_in_violation; /* by themselves */
} guide_verdict;

typedef struct guide_series {
    char alg[GUIDE_NAME];
    char reason[GUIDE_REASON]; /* why it did not run; "": it ran */
    double *ms; /* of all launches, one after the other; NULL with num > 0: the median alone is known */
    int num, room;
    int num_launches, launch[GUIDE_LAUNCHES],
        end[GUIDE_LAUNCHES]; /* number end[i] is no longer of launch[i] */
    double mean_ms, median_ms;
    guide_verdict verdict;
} guide_series;

typedef struct guide_cell {
    char mpi[GUIDE_NAME]; /* "MPI_Bcast" */
    int64_t bytes;
    guide_grid grid;
    double barrier_ms;
    int missed;           /* starts, in the last launch, that a rank has heard of too late or slept past */
    guide_series *series; /* the first one is the left side */
    int num;
} guide_cell;

typedef struct guide_results {
    guide_cell *cells;
    int num;
    const struct guide_test *test;
    char library[128];        /* the MPI library that was measured; "": it is not known */
    char left[GUIDE_NAME];    /* "default" unless asked otherwise */
    char arrival[GUIDE_NAME]; /* "none", a pattern and its factor, or a recorded place (guide_arrival_name) */
    char score[GUIDE_NAME];   /* what a sample is: "local", "global", "elapsed" or "past-last" */
    bool complete;            /* the campaign was not cut short */
} guide_results;

/* May it be a name, of a collective or an algorithm? Letters, digits and _ alone: names become those of files and of columns. */
bool guide_is_name(const char *text);

/* Can so many ranks be on so many nodes, and so many on the fullest? */
bool guide_is_grid(guide_grid g);
bool guide_same_grid(guide_grid a, guide_grid b);
/* "36x2"; "2x2(3)": 3 ranks on two nodes, two on the fullest. */
enum { GUIDE_GRID_TEXT = 48 };
const char *guide_grid_text(char to[GUIDE_GRID_TEXT], guide_grid g);

/* Zeroed, with the left side's name. */
void guide_results_make(guide_results *r, const char *left);
void guide_results_free(guide_results *r);

/* Found, or added at the end; pointers are good until something is added. */
guide_cell *guide_results_cell(guide_results *r, const char *mpi, int64_t bytes, guide_grid grid);
guide_series *guide_cell_series(guide_cell *c, const char *alg);
const guide_series *guide_cell_find(const guide_cell *c, const char *alg); /* NULL: there is none */

/* Launches come one after the other. */
void guide_series_add(guide_series *s, int launch, double ms);
/* Puts means and medians in, from the samples where there are any. */
void guide_results_settle(guide_results *r);

static inline bool guide_series_ran(const guide_series *s)
{
    return s->num > 0 && s->reason[0] == '\0';
}

/*
 * The violated guideline of a cell whose right side has the lowest median; NULL: there is none. Where this one is starred, so is every other.
 */
const guide_series *guide_cell_worst(const guide_cell *c);
/* Is there a right side that was held against the left one? */
bool guide_cell_is_judged(const guide_cell *c);

/* The name of a collective that comes first in cell i, so that each is met once; NULL: an earlier cell has it. */
const char *guide_results_new(const guide_results *r, int i);

#endif
