/*
 * waits.h — for whom does a rank wait in a call of a collective that blocks?
 */
#ifndef PAT_WAITS_H
#define PAT_WAITS_H

#include <stdbool.h>
#include <stdint.h>

enum pat_waits {
    PAT_WAITS_NOT_KNOWN, /* nobody, or for some that are not known here: a scan, a neighbour, a call that does not block */
    PAT_WAITS_FOR_ALL,  /* its result needs what each rank gives */
    PAT_WAITS_FOR_ROOT, /* all for the root, which waits for nobody */
    PAT_WAITS_AT_ROOT   /* the root for all, the others for nobody */
};

/* By the name of the MPI function. */
enum pat_waits pat_waits_of(const char *call);

/* Does a function of MPI not block, so that it only begins what another call waits for? The name of one that makes a persistent request, "MPI_Allgather_init", stands for its starts. */
bool pat_waits_begins(const char *call);

/* The same of one that does not block, "MPI_Iallgather" or "MPI_Allgather_init": for whom whoever waits for it to be over. */
enum pat_waits pat_waits_of_end(const char *call);

/* When the ranks of a call came, as one of them needs to know it. */
typedef struct pat_came {
    int64_t own_ns, last_ns, root_ns;
    int64_t first_end_ns; /* when the first one left */
    int last, root;       /* who came last; negative root: there is none, or it is not known */
    int own;              /* which rank this is */
} pat_came;

/*
 * How long a rank has waited in a call that took time_ns: from when it came to when the last one came that it waits for. *late: for which; negative: for nobody.
 * Negative: not known, as where all should have waited for all and one had left before the last one came: there was nothing to move, or these are calls on different
 * communicators.
 */
int64_t pat_waits_ns(enum pat_waits waits, const pat_came *came, int64_t time_ns, int *late);

/* Does that function of MPI move no data, so that 0 bytes are its length, and nothing can be moved early? */
bool pat_waits_moves_nothing(const char *call);

#endif
