/*
 * sequence.h — which call comes next, by the order of the last ones: programs repeat themselves. Must never call MPI, read a clock or
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
 * The kind that the next call is taken to be. At least one call has been noted. Takes at most some 1500 comparisons of two numbers.
 *
 * A pattern of up to 16 calls is known from its third turn on: where the last turn was like the one before it, the next
 * call is taken to be the one that came at this point of that turn. Else it is taken to be of the kind that mostly came
 * after the calls that were most like the last ones; but of the last call's own kind where most calls were of the same
 * kind as the one before, or where the last kind is new. So a row of calls of one kind is never guessed worse than by
 * "the last call again" where such rows are regular, however long they are, and little worse where their lengths are
 * random: of four kinds 3 % more guesses are wrong. After a call that is not of the pattern, a pattern that has such
 * rows is known again two turns later.
 */
int64_t pat_sequence_next(const pat_sequence *s);

#endif
