/*
 * guide_agree.h — every rank reads the campaign's files for itself, before MPI is started, since the level of threads depends on them: do all have read the same?
 */
#ifndef GUIDE_AGREE_H
#define GUIDE_AGREE_H

#include <stdbool.h>
#include <stddef.h>

#include "guide_input.h"
#include "guide_list.h"

/*
 * Collective over MPI_COMM_WORLD; status: what has come of the reading on this rank, 0 or an exit status, then with a text in `why`. Returns 0 on all ranks or an exit
 * status on all; then *speaks says that this is the one rank that is to print `why`.
 */
int guide_agree(int status, const guide_input *input, const guide_list *list, char *why, size_t why_size,
                bool *speaks);

#endif
