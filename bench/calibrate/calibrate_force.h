/*
 * calibrate_force.h — the MPI library's own algorithms, one by one: communicators on which it runs the one that is asked for. By the
 * control variables of Open MPI's coll/tuned, through MPI_T; needs nothing of the library.
 */
#ifndef CALIBRATE_FORCE_H
#define CALIBRATE_FORCE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum { FORCE_MOST = 16 }; /* algorithms of one collective */

/* One of the MPI library's algorithms, as its control variables and its files of rules name it. */
typedef struct force_algorithm {
    char name[32];
    int id;            /* 0: the MPI library chooses */
    int fan;           /* of a chain: how many chains; else 0 */
    int segment_bytes; /* 0: none, or what the MPI library takes; see force_is_cut */
} force_algorithm;

/* Before MPI_Init: Open MPI obeys only where it was told to then. What a user has set stays. */
void force_prepare(void);

/* Between MPI_Init and MPI_Finalize, and before the next functions. False: no algorithm can be forced; `why` says why not. */
bool force_open(char *why, size_t why_size);
void force_close(void);

/*
 * The algorithms of "bcast", "gather" or "allgather", without segments, those left out that do not work with every number of ranks. Returns
 * how many there are; 0: the MPI library does not tell.
 */
int force_list(const char *collective, force_algorithm *algs);

/* Does the length of segments matter to it? Of a gather it is what the root waits for before it asks the next rank. */
bool force_is_cut(const char *collective, const force_algorithm *alg);

/*
 * A duplicate of comm on which the MPI library runs this algorithm; comm and all other communicators are as they were. Collective over
 * comm. Returns what MPI returns.
 */
int force_dup(MPI_Comm comm, const char *collective, const force_algorithm *alg, MPI_Comm *dup);

#endif
