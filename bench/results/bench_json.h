/*
 * bench_json.h — results as JSON and back.
 */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "bench_settings.h"
#include "bench_table.h"

/* The text of a file, in memory for the caller to free; NULL without memory. complete: the run is over. */
char *bench_json_text(const bench_table *table, const bench_settings *settings, bool complete,
                      size_t *length);

/* Append the rows of a file that is open; path is for texts. 0, or EINVAL or ENOMEM with a text in `why`. */
int bench_json_parse(bench_table *table, const char *path, FILE *from, char *why, size_t why_size);

#endif
