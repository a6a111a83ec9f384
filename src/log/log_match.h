/*
 * log_match.h — holds the calls of all ranks in a log against each other: who waited for whom, and how long.
 */
#ifndef PAT_LOG_MATCH_H
#define PAT_LOG_MATCH_H

#include <stdio.h>

#include "log.h"

/* Fills in what pat_log_event and pat_log_members say of it, and makes times count from the first one. Returns false without memory. */
bool pat_log_match(pat_log *log, FILE *warnings);

#endif
