/*
 * guide_medians.h — medians that others have printed, as a file: collective,N,ppn,count,mockup,n,median_ms,barrier_ms, a line each, with `default` for the left side.
 */
#ifndef GUIDE_MEDIANS_H
#define GUIDE_MEDIANS_H

#include <stddef.h>

#include "guide_results.h"

#define GUIDE_MEDIANS_HEADER "collective,N,ppn,count,mockup,n,median_ms,barrier_ms"

/* Adds to r. Lines that begin with # say nothing. Returns 0, or EINVAL with a text in `why` that names the line, or what open said. */
int guide_medians_read(guide_results *r, const char *path, char *why, size_t why_size);

#endif
