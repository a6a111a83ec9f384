/*
 * imbalance.h — how far apart the ranks come to calls of collectives: the figures of A. Faraj, P. Patarasu and X. Yuan, A study of process arrival patterns for MPI
 * collective operations (2008). With a_i the time at which rank i comes and T the time of one message of the call's size:
 * the average imbalance time is the mean of |a_i - mean of a|, the worst one max a_i - min a_i; divided by T they are the average and the worst imbalance
 * factor, AIF and WIF. A call is balanced where WIF < 1.
 */
#ifndef PAT_IMBALANCE_H
#define PAT_IMBALANCE_H

#include <stdint.h>

/* By WIF: below 1, 2, 8, 32, and above. */
enum { PAT_IMBALANCE_CLASSES = 5 };

/* How the ranks have come to one call; the same on all of them but for what is this rank's own. */
typedef struct pat_coming {
    double average_ns, worst_ns; /* imbalance times */
    double message_ns;           /* T; 0: not known, and there are no factors */
    double after_ns; /* since the last rank left the collective before: the longest of all ranks */
    double own_ns,
        before_ns; /* when this rank came, after the mean of all (below 0: before); the same of the last call here */
    int has_before; /* there was one */
} pat_coming;

/* Sums over calls. All members of a communicator add each call, so that means over ranks and calls are means over calls. */
typedef struct pat_imbalance {
    int64_t calls;
    int64_t classes[PAT_IMBALANCE_CLASSES];
    int64_t after,
        after_balanced; /* calls that follow the collective before within T, and how many of them are balanced */
    double average_ns, worst_ns, aif, wif;
    double alike,
        square; /* of deviations of this rank: of two calls in a row multiplied; squared. Their ratio is near 1 where patterns stay. */
} pat_imbalance;

void pat_imbalance_add(pat_imbalance *to, const pat_coming *call);
void pat_imbalance_join(pat_imbalance *to, const pat_imbalance *more);

/* How alike the patterns of calls in a row are, from -1 to 1: the correlation of ranks' deviations from the mean; 0 where all come together. */
double pat_imbalance_alike(const pat_imbalance *i);

#endif
