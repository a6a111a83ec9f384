/*
 * mockup_profile.h — a profile says which mock-up, or which algorithm of PAT's (mockup_own.h), is to run a collective, by how many ranks and bytes. Its lines, after comments that
 * begin with '#': the name of the collective, the number of ranks, how many algorithms follow, each with its number and name, how many
 * ranges follow, each with its first byte, its last byte and the number of its algorithm:
 *
 *     MPI_Bcast
 *     8
 *     1
 *     1 bcast_as_scatter_allgather
 *     2
 *     65536 131072 1
 *     1048576 8388608 1
 *
 * Knows no MPI; which mock-ups there are, the caller knows.
 */
#ifndef PAT_MOCKUP_PROFILE_H
#define PAT_MOCKUP_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PAT_MOCKUP_NAME = 64, PAT_MOCKUP_ALGS = 64, PAT_MOCKUP_RANGES = 4096 };

typedef struct pat_mockup_range {
    int64_t begin, end; /* both within it */
    int alg;            /* in the list of names */
} pat_mockup_range;

typedef struct pat_mockup_profile {
    char collective[PAT_MOCKUP_NAME]; /* "MPI_Bcast" */
    int ranks;
    int num_algs, num_ranges;
    char algs[PAT_MOCKUP_ALGS][PAT_MOCKUP_NAME];
    pat_mockup_range *ranges; /* in the order of the file: the first that holds a length counts */
} pat_mockup_profile;

/* The names that there are beside those of PAT's algorithms. alg NULL: is there such a collective? */
typedef bool pat_mockup_knows(const char *collective, const char *alg);

/*
 * Read a profile from the text of a file, which need not end with '\0'. Returns true, and the caller frees the profile by
 * pat_mockup_profile_free; else `why` says "line N: ..." with the bad value and what is accepted.
 */
bool pat_mockup_profile_read(pat_mockup_profile *profile, const char *text, size_t length,
                             pat_mockup_knows *knows, char *why, size_t why_size);
void pat_mockup_profile_free(pat_mockup_profile *profile);

/* What is to run so many bytes, in the list of names; negative: the profile says nothing of them. */
int pat_mockup_profile_alg(const pat_mockup_profile *profile, int64_t bytes);

#endif
