/*
 * bench_file.h — results into files and back. A file is either whole or not there: it is written beside its
 * place and renamed. Errors are errno values; a text goes to `why`.
 */
#ifndef BENCH_FILE_H
#define BENCH_FILE_H

#include <stddef.h>

#include "bench_table.h"

/* Can a file be put there / figures into that directory? Called before a run; leaves nothing behind. 0 or
 * errno. */
int bench_file_check(const char *path, char *why, size_t why_size);
int bench_dir_check(const char *path, char *why, size_t why_size);

/* Write the text, whole or not at all; to something that is no regular file (a device, a pipe) directly. */
int bench_file_write(const char *path, const char *text, size_t length, char *why, size_t why_size);

/* Append the rows of a file (by its ending: .csv or .json). 0, or EINVAL, ENOMEM, or what open said. */
int bench_results_read(bench_table *table, const char *path, char *why, size_t why_size);

#endif
