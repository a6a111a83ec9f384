/*
 * guide_side.h — a side of a guideline: which code makes a call. The MPI library's own call and mock-ups of it, what a program gets that calls MPI by name, and
 * PAT's own collectives.
 */
#ifndef GUIDE_SIDE_H
#define GUIDE_SIDE_H

#include <mpi.h>

#include "algorithms.h"
#include "guide_list.h"
#include "mockups.h"

typedef void guide_caller(const pat_mock_call *call);

typedef struct guide_side {
    char name[GUIDE_NAME];
    enum guide_kind { GUIDE_DIRECT, GUIDE_MOCK, GUIDE_PAT } kind;
    const pat_mock *native;   /* whichever kind it is: the MPI library's own call of the same collective */
    const pat_mock *mock;     /* of GUIDE_MOCK */
    const pat_algorithm *alg; /* of GUIDE_PAT */
    guide_caller *call;       /* of GUIDE_DIRECT: the MPI library's own, by its name or by that of PMPI */
} guide_side;

/* The native calls and mock-ups, collective after collective; own: PAT's algorithms too, as pat_ALG; by_name: "mpi" too, so that it is all that a list may name. */
void guide_known(guide_list *list, bool own, bool by_name);

/* "default", a mock-up, "mpi", "pat" or "pat_ALG" of a collective. False, with what is accepted in `why`, where there is none. */
bool guide_side_find(guide_side *s, const char *mpi, const char *name, char *why, size_t why_size);

/* "MPI_Allgather, ..." of those that have mock-ups; static. */
const char *guide_side_collectives(void);

/* Before each call, on all ranks, and no part of it. */
void guide_side_set(const guide_side *s);

/*
 * Make the call. NULL, or why it did not run, the same on all ranks. An error of MPI's ends the job. guide_side_ready comes before the first call of a side, on all
 * ranks.
 */
const char *guide_side_ready(const guide_side *s, const pat_mock_call *call, pat_mock_scratch *scratch);
const char *guide_side_run(const guide_side *s, const pat_mock_call *call, pat_mock_scratch *scratch);

#endif
