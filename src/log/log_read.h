/*
 * log_read.h — reads what PAT_TRACE has left (log_format.h): the calls of all ranks of a program, held against each other. A file may be short, of a rank that was killed,
 * or nonsense: what can be read is, and what is wrong is said. Must never call MPI.
 */
#ifndef PAT_LOG_READ_H
#define PAT_LOG_READ_H

#include <stddef.h>

#include "log.h"

/*
 * Read all files calls-*.pat of a directory. NULL, with why in `why`: there is none that can be read, or no memory. To be freed with pat_log_free.
 */
pat_log *pat_log_read(const char *dir, char *why, size_t why_size);

void pat_log_free(pat_log *log);

#endif
