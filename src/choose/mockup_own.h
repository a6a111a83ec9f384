/*
 * mockup_own.h — which algorithms of PAT's a profile may name beside mock-ups, as pat_ALG: those that run in the call alone. What others do depends on
 * when ranks come, or is done before they call, so that they are for whole programs and not for calls of some lengths.
 */
#ifndef PAT_MOCKUP_OWN_H
#define PAT_MOCKUP_OWN_H

#include <stddef.h>

#include "algorithms.h"

/* The collective of PAT's that stands for this one of MPI's, by its name there, MPI_Reduce_scatter_block among them; PAT_NUM_OPS: there is none. */
enum pat_op pat_mockup_op(const char *mpi);

/* "pat_bcast_binary" of "MPI_Bcast"; NULL: it is none that a profile may name. */
const pat_algorithm *pat_mockup_own(const char *mpi, const char *name);

/* Their names in a sentence, each behind a comma: ", pat_bcast_linear, pat_bcast_chain"; "" where there are none. Returns `text`. */
const char *pat_mockup_own_names(const char *mpi, char *text, size_t size);

#endif
