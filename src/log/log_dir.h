/*
 * log_dir.h — which files of calls a directory has, and of which run.
 */
#ifndef PAT_LOG_DIR_H
#define PAT_LOG_DIR_H

#include <stdint.h>

/* The ranks whose files calls-<rank>.pat are there, in order, to be freed. *num 0: there are none, and errno says why the directory cannot be read, or is as it was. */
int *pat_log_find_files(const char *dir, int *num);

/* Of the runs that have left files, the one that has left most; of several the last. 0: no file has a header that is whole. */
int64_t pat_log_find_run(const char *dir, const int ranks[], int num);

#endif
