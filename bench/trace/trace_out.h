/*
 * trace_out.h — what pat-report makes of the calls of a program and their sums. All return false where not all could be written, or there is no memory.
 */
#ifndef TRACE_OUT_H
#define TRACE_OUT_H

#include <stdbool.h>
#include <stdio.h>

#include "log.h"
#include "trace_sums.h"

/* In words first: how much of the time is waiting for late ranks; then a table of places, and one of ranks. At most 120 columns. */
bool pat_trace_text(const pat_log *log, const trace_sums *sums, FILE *to);

/* A line for each call of each rank, in the order of ranks and of their calls. */
bool pat_trace_csv(const pat_log *log, const trace_sums *sums, FILE *to);

/* The format of Chrome's trace viewer: a track for each rank, a bar for each call, and in it one for the time in which it waits for a late rank. */
bool pat_trace_chrome(const pat_log *log, const trace_sums *sums, FILE *to);

/* The sums, and the efficiencies of POP, as JSON. */
bool pat_trace_json(const pat_log *log, const trace_sums *sums, FILE *to);

/* A page for a browser, which needs nothing beside it. Only where pat_trace_has_html. */
bool pat_trace_has_html(void);
bool pat_trace_html(const pat_log *log, const trace_sums *sums, FILE *to);

#endif
