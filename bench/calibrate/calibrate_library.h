/*
 * calibrate_library.h — times the MPI library's own algorithms, each forced, for rules by which it chooses among them.
 */
#ifndef CALIBRATE_LIBRARY_H
#define CALIBRATE_LIBRARY_H

#include "calibrate_one.h"

/* Can they be forced here? Collective; where the answer is no, rank 0 says why. The end of it: calibrate_library_close. */
bool calibrate_library_open(int rank);
void calibrate_library_close(void);

/*
 * Time all of one collective with so many of the ranks, and on rank 0 print the fastest, length by length. Collective over all ranks. False:
 * they are in the file already, or this collective has none.
 */
bool calibrate_library(calibrate_session *r, enum pat_op op, int ranks);

#endif
