/*
 * sequence.c — see sequence.h. A turn that has just come twice is taken to come again. Else the longest match decides, as in data compression
 * (prediction by partial matching), so that no period has to be found; but not in a program that mostly makes the same call again, whose
 * runs of no regular length would be taken for a pattern.
 */
#include "sequence.h"

#include <stdbool.h>
#include <string.h>

void pat_sequence_note(pat_sequence *s, int64_t kind)
{
    if (s->num == PAT_SEQUENCE)
        memmove(s->kinds, s->kinds + 1, (size_t)--s->num * sizeof(s->kinds[0]));
    s->kinds[s->num++] = kind;
}

/* How many calls up to the one at `end`, it included, were like the last ones. */
static int matched(const pat_sequence *s, int end)
{
    const int64_t *const last = &s->kinds[s->num - 1], *const then = &s->kinds[end];
    int n = 0;
    while (n <= end && then[-n] == last[-n])
        n++;
    return n;
}

/* Where the last turn ended before the one that ends now, if the two are alike; -1: there is none. Of several the best confirmed one. */
static int turn_before(const pat_sequence *s, const int *length)
{
    const int last = s->num - 1;
    int found = -1;
    for (int end = last - 1; end >= 0; end--)
        if (length[end] >= last - end && (found < 0 || length[end] > length[found]))
            found = end;
    return found;
}

/* Were most calls that are remembered the same as the one before? */
static bool mostly_again(const pat_sequence *s)
{
    int again = 0;
    for (int i = 1; i < s->num; i++)
        again += s->kinds[i] == s->kinds[i - 1];
    return 2 * again > s->num - 1;
}

/* What mostly came next after the longest matches; of two that came as often the last call's own, or else the newer one. */
static int64_t mostly_next(const pat_sequence *s, const int *length)
{
    const int last = s->num - 1;
    int longest = 1, most = 0;
    int64_t next = s->kinds[last];
    for (int end = 0; end < last; end++)
        longest = length[end] > longest ? length[end] : longest;
    for (int end = last - 1; end >= 0; end--) {
        const int64_t kind = s->kinds[end + 1];
        int votes = 0;
        for (int other = 0; other <= end && length[end] == longest; other++)
            votes += length[other] == longest && s->kinds[other + 1] == kind;
        if (votes > most || (votes == most && kind == s->kinds[last])) {
            most = votes;
            next = kind;
        }
    }
    return next;
}

int64_t pat_sequence_next(const pat_sequence *s)
{
    const int last = s->num - 1;
    int length[PAT_SEQUENCE];
    for (int end = 0; end < last; end++)
        length[end] = matched(s, end);
    const int turn = turn_before(s, length);
    if (turn >= 0)
        return s->kinds[turn + 1];
    return mostly_again(s) ? s->kinds[last] : mostly_next(s, length);
}
