/*
 * trace_html.h — what the page of pat-report --html is made of.
 */
#ifndef TRACE_HTML_H
#define TRACE_HTML_H

#include <jansson.h>

#include "log.h"
#include "trace_sums.h"

/* The summary that --json writes; NULL without memory. */
json_t *pat_trace_summary(const pat_log *log, const trace_sums *sums);

/*
 * What pictures are drawn from, and no more of it than a browser can hold: long rows of numbers are base64 of little-endian arrays. NULL without
 * memory.
 */
json_t *trace_maps(const pat_log *log,
                   const trace_sums *sums); /* of each place: who comes how late, call by call */
json_t *trace_timeline(const pat_log *log, const trace_sums *sums); /* what each rank does when */
json_t *trace_whom(const pat_log *log);                             /* who waits for whom */

/* Numbers, each of so many bytes, as such a text. NULL without memory. */
json_t *trace_base64(const void *numbers, size_t count, size_t bytes);

#endif
