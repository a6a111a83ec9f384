/*
 * bench_output.h — results into files and back. A file is either whole or not there: it is written beside its
 * place and renamed. Errors are errno values; a text goes to `why`.
 */
#ifndef BENCH_OUTPUT_H
#define BENCH_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

#include "bench_table.h"

#define BENCH_CSV_HEADER                                                                                     \
    "alg,procs,ppn,count,segment_bytes,max_delay_ms,pattern,iters,elapsed_ms,elapsed_ci_ms,past_last_ms,"    \
    "run_ms,absorption_ms,imbalance_factor,bound_ms,early_share,thread_cpu_ms,waiting_cpu_ms"

/* key=value pairs that describe a run: printed as #@key=value, kept in the JSON. */
typedef struct bench_settings {
    char **keys, **values;
    int num, cap;
} bench_settings;

int bench_settings_add(bench_settings *s, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void bench_settings_print(const bench_settings *s, FILE *to);
void bench_settings_free(bench_settings *s);

/* Can a file be put there / figures into that directory? Called before a run; leaves nothing behind. 0 or
 * errno. */
int bench_file_check(const char *path, char *why, size_t why_size);
int bench_dir_check(const char *path, char *why, size_t why_size);

/* Write the text, whole or not at all; to something that is no regular file (a device, a pipe) directly. */
int bench_file_write(const char *path, const char *text, size_t length, char *why, size_t why_size);

/* The text of the file, in memory for the caller to free; NULL without memory. */
char *bench_csv_text(const bench_table *table, size_t *length);
char *bench_json_text(const bench_table *table, const bench_settings *settings, bool complete,
                      size_t *length);

/* Append the rows of a file (by its ending: .csv or .json). 0, or EINVAL, ENOMEM, or what open said. */
int bench_results_read(bench_table *table, const char *path, char *why, size_t why_size);

/* For bench_results_read. */
int bench_csv_parse(bench_table *table, const char *path, FILE *from, char *why, size_t why_size);
int bench_json_parse(bench_table *table, const char *path, FILE *from, char *why, size_t why_size);

#endif
