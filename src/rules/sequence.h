/*
 * sequence.h — which call comes next, by the order of the last ones: programs repeat themselves. Must never call MPI, look at a clock or
 * ask for memory; the same calls give the same answer on every rank.
 */
#ifndef PAT_SEQUENCE_H
#define PAT_SEQUENCE_H

#include <stdint.h>

/* So many calls are remembered. */
enum { PAT_SEQUENCE = 32 };

typedef struct pat_sequence {
    int64_t kinds[PAT_SEQUENCE]; /* the newest comes last */
    int num;
} pat_sequence;

/* A call of this kind has been; kinds are any numbers, one for calls that are alike. */
void pat_sequence_note(pat_sequence *s, int64_t kind);

/*
 * The kind that the next call is taken to be: what mostly came next when the last calls were most like now; the last call's own where
 * it is new. At least one call has been noted. Takes less than a microsecond.
 */
int64_t pat_sequence_next(const pat_sequence *s);

#endif
