/*
 * guide_input.h — what is to be measured: a file with a line for each collective, MPI_Bcast --msizes-list=1,1024 --nrep=5000 ..., by the option names of the
 * method's own tool or by ours.
 */
#ifndef GUIDE_INPUT_H
#define GUIDE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guide_results.h"

enum { GUIDE_SIZES = 64 };

typedef struct guide_line {
    char mpi[GUIDE_NAME];
    int64_t bytes[GUIDE_SIZES]; /* of a rank's part where every rank has its own, else of the whole vector */
    int num_bytes;
    int samples;       /* of a series, at most */
    double time_ms;    /* for a series, at most: with all that is about its samples */
    bool round_time;   /* ranks begin at a time that was agreed on; else after a barrier */
    int barrier_after; /* so many late starts of a size, all its series together, and it goes on with barriers; 0: from the first sample on; -1: never */
    bool
        global; /* a sample: from the first start to the last end, else the longest of the ranks' own times */
    int root;
} guide_line;

typedef struct guide_input {
    guide_line *lines;
    int num;
} guide_input;

/* "--msizes-list (--bytes), ..." for the help. */
extern const char guide_input_options[];

/* 0; EINVAL with a text in `why` that names the line and what is accepted; or what open said. Then there is nothing to free. */
int guide_input_read(guide_input *input, const char *path, char *why, size_t why_size);
void guide_input_free(guide_input *input);

#endif
