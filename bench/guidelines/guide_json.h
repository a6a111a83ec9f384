/*
 * guide_json.h — a campaign as JSON and back: medians, means, verdicts and what did not run; the samples are in the raw data.
 */
#ifndef GUIDE_JSON_H
#define GUIDE_JSON_H

#include <stddef.h>

#include "guide_results.h"

/* The text of a file, for the caller to free. */
char *guide_json_text(const guide_results *r, size_t *length);

/* Makes *r, verdicts and all, out of a file. 0, or EINVAL with a text in `why`, or what open said; then there is nothing to free. */
int guide_json_read(guide_results *r, const char *path, char *why, size_t why_size);

#endif
