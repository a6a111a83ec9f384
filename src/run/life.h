/*
 * life.h — the library starts and ends.
 */
#ifndef PAT_LIFE_H
#define PAT_LIFE_H

/* All functions are collective over MPI_COMM_WORLD and return MPI error codes. */

int pat_life_begin(void); /* the work of PAT_Init */
int pat_life_end(void);   /* the work of PAT_Finalize */

#endif
