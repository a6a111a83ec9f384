/*
 * shapes.c — see shapes.h.
 */
#include "shapes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange.h"

void pat_shapes_begin(pat_shapes *s)
{
    *s = (pat_shapes){.guess.bytes = PAT_NO_CALL};
}

/* The shape that is kept of such calls; NULL: none. */
static pat_shape *find(pat_shapes *s, pat_blocks blocks, int num_ranks)
{
    for (int i = 0; i < PAT_SHAPES; i++)
        if (s->kept[i].kind && pat_blocks_same(s->kept[i].blocks, blocks, num_ranks))
            return &s->kept[i];
    return NULL;
}

static pat_shape *oldest(pat_shapes *s)
{
    pat_shape *oldest = &s->kept[0];
    for (int i = 1; i < PAT_SHAPES; i++)
        oldest = s->kept[i].used < oldest->used ? &s->kept[i] : oldest;
    return oldest;
}

/* The caller's array is long gone when the next call is guessed. */
static int keep(pat_shape *shape, pat_blocks blocks, int num_ranks)
{
    const size_t size = ((size_t)num_ranks + 1) * sizeof(*blocks.starts);
    if (blocks.starts && !shape->starts && !(shape->starts = malloc(size)))
        return ENOMEM;
    shape->blocks = blocks;
    if (blocks.starts)
        shape->blocks.starts = memcpy(shape->starts, blocks.starts, size);
    return 0;
}

int pat_shapes_note(pat_shapes *s, pat_blocks blocks, int num_ranks)
{
    pat_shape *now = find(s, blocks, num_ranks);
    if (!now) {
        now = oldest(s);
        if (keep(now, blocks, num_ranks) != 0)
            return ENOMEM;
        now->kind = ++s->num_kinds;
    }
    now->used = ++s->num_calls;
    pat_sequence_note(&s->sequence, now->kind);
    s->guess = now->blocks;
    const int64_t next = pat_sequence_next(&s->sequence);
    for (int i = 0; i < PAT_SHAPES; i++)
        if (s->kept[i].kind == next)
            s->guess = s->kept[i].blocks;
    return 0;
}

void pat_shapes_free(pat_shapes *s)
{
    for (int i = 0; i < PAT_SHAPES; i++)
        free(s->kept[i].starts);
}
