/*
 * sequence.c — see sequence.h. The longest match decides, as in data compression (prediction by partial matching), so that no period has to be
 * found; where there are several, most of them do, so that a call that comes once in a while is not expected after every run of others.
 */
#include "sequence.h"

#include <string.h>

/* So many calls are compared; a program whose last calls were the same for longer may go on differently. */
enum { MOST_MATCHED = 8 };

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
    while (n < MOST_MATCHED && n <= end && then[-n] == last[-n])
        n++;
    return n;
}

int64_t pat_sequence_next(const pat_sequence *s)
{
    const int last = s->num - 1;
    int length[PAT_SEQUENCE], longest = 0, most = 0;
    int64_t next = s->kinds[last];
    for (int end = 0; end < last; end++) {
        length[end] = matched(s, end);
        longest = length[end] > longest ? length[end] : longest;
    }
    for (int end = last - 1; end >= 0 && longest > 0; end--) {
        int votes = 0;
        for (int other = 0; other <= end && length[end] == longest; other++)
            votes += length[other] == longest && s->kinds[other + 1] == s->kinds[end + 1];
        if (votes > most) {
            most = votes;
            next = s->kinds[end + 1];
        }
    }
    return next;
}
