/*
 * stand_in.h — mock-ups, and algorithms of PAT's, that stand in for the MPI library's own collectives, where a profile of PAT_MOCKUPS says so. Only calls that
 * would have gone to the MPI library get there, and all ranks decide alike: by the file that rank 0 has read, by the number of ranks, and by
 * bytes, which are the same on all of them.
 */
#ifndef PAT_STAND_IN_H
#define PAT_STAND_IN_H

#include <mpi.h>
#include <stdbool.h>

#include "face.h"
#include "mockups.h"

/* All ranks call it, when the library has started. What is wrong with a profile rank 0 says, and the program runs without that one. */
void pat_stand_ins_begin(void);
/* Before the library ends. */
void pat_stand_ins_end(void);
/* Has a profile anything to say of MPI_Scan? */
bool pat_stand_ins_have_scan(void);

/* Who was to stand in, and what has come of it; both NULL: nothing was to, or nobody came by. */
typedef struct pat_stood_in {
    const pat_mock *mock;
    int number;               /* the mock-up's in the list of all */
    const pat_algorithm *own; /* instead of one */
    enum pat_mock_why why;
} pat_stood_in;

static inline bool pat_stands_in(const pat_stood_in *s)
{
    return s->mock || s->own;
}

/* A call with one of these for it: to be run with this face and these arguments in place of its own. */
typedef struct pat_stand_in {
    pat_args args;
    const pat_face *face, *called; /* to be run with, and that of the call */
    pat_mock_call call;
    pat_mock_known known;
    const pat_stood_in *chosen;
    pat_stood_in came;
} pat_stand_in;

/* Is there one? The arguments may be wrong: then there is none. */
bool pat_stand_in_find(const pat_face *face, const pat_args *args, pat_stand_in *stand_in);

/* The same for a scan, which the library never runs itself. Returns whether the mock-up has run, with its error code in *rc. */
bool pat_stand_in_scan(const pat_mock_call *call, pat_stood_in *came, int *rc);

#endif
