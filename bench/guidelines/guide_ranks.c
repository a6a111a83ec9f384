/*
 * guide_ranks.c — see guide_ranks.h.
 */
#include "guide_ranks.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "guide_need.h"

enum { MOST_RANKS = 1 << 24, OPEN = 0 };

/* "6", "6-16", "6-16:2"; it is taken to pieces. */
static bool read_range(struct guide_range *range, char *text)
{
    int64_t first, last, step = 1;
    char *rest = text;
    const char *from = strsep(&rest, "-"), *to = strsep(&rest, ":");
    if (!tool_read_whole(from, 2, MOST_RANKS, &first))
        return false;
    last = first;
    if ((to && !tool_read_whole(to, first, MOST_RANKS, &last)) ||
        (rest && !tool_read_whole(rest, 1, MOST_RANKS, &step)))
        return false;
    *range = (struct guide_range){(int)first, (int)(first + (last - first) / step * step), (int)step};
    return true;
}

bool guide_ranks_read(guide_ranks *r, const char *text)
{
    char *copy = guide_need(strdup(text)), *rest = copy;
    bool ok = true;
    *r = (guide_ranks){.num = 0};
    for (char *item; ok && (item = strsep(&rest, ",")) != NULL;) {
        struct guide_range range = {2, OPEN, 1};
        ok = r->num < GUIDE_RANGES && (strcmp(item, "all") == 0 || read_range(&range, item));
        if (ok)
            r->ranges[r->num++] = range;
    }
    free(copy);
    return ok;
}

int *guide_ranks_all(const guide_ranks *r, int most, int *num)
{
    int *all = guide_need_array((size_t)most, sizeof(*all));
    *num = 0;
    for (int ranks = 2; ranks <= most; ranks++) {
        bool is_in = false;
        for (int i = 0; i < r->num; i++) {
            const struct guide_range *x = &r->ranges[i];
            is_in = is_in || (ranks >= x->first && (x->last == OPEN || ranks <= x->last) &&
                              (ranks - x->first) % x->step == 0);
        }
        if (is_in)
            all[(*num)++] = ranks;
    }
    return all;
}

int guide_ranks_largest(const guide_ranks *r)
{
    int largest = 0;
    for (int i = 0; i < r->num; i++)
        largest = r->ranges[i].last > largest ? r->ranges[i].last : largest;
    return largest;
}
