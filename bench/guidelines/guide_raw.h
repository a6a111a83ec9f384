/*
 * guide_raw.h — the samples of a campaign as files that others' scripts read too: data_<collective>_<algorithm>.dat, with lines #@key=value and, below a header,
 * test nrep count runtime_sec for each sample. What was measured in a later launch comes below.
 */
#ifndef GUIDE_RAW_H
#define GUIDE_RAW_H

#include <stddef.h>

#include "guide_results.h"

#define GUIDE_RAW_HEADER "test nrep count runtime_sec"

/* How a collective was measured, beside what guide_results says of all: launches that differ in it are not added up. */
typedef struct guide_way {
    char sync[32];    /* "barrier"; "roundtime", or "roundtime:20": with barriers after 20 late starts */
    int root;         /* of rooted collectives */
    char order[16];   /* "random", "series" */
    char threads[16]; /* the level that MPI was started with: "single", ..., "multiple" */
} guide_way;

/* For the caller to free. */
char *guide_raw_path(const char *mpi, const char *alg, const char *dir);

/* Write all series of a collective, whole. 0, or an errno value with a text in `why`. */
int guide_raw_write(const guide_results *r, const char *mpi, const guide_way *way, const char *dir, char *why,
                    size_t why_size);

/*
 * Add to r what earlier launches have left of this algorithm: nothing where there is no file. EINVAL, with a text in `why`, where it is of another grid of ranks,
 * of another MPI library than r, or measured in another way (r->arrival, r->score, way), or does not say so, or no such file at all; or what open said.
 */
int guide_raw_read(guide_results *r, const char *mpi, const char *alg, guide_grid grid, const guide_way *way,
                   const char *dir, char *why, size_t why_size);

/*
 * All that a campaign has left in a directory, into r, which takes its left side and whatever else is said of the campaign from there; with the barrier's median. The files must
 * agree with each other. 0, or EINVAL or what open said with a text in `why`.
 */
int guide_raw_read_all(guide_results *r, const char *dir, char *why, size_t why_size);

/* Has an earlier campaign left samples in this directory? */
bool guide_raw_is_there(const char *dir);

/* Take them away. 0, or an errno value with a text in `why`. */
int guide_raw_remove(const char *dir, char *why, size_t why_size);

#endif
