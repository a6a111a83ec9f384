/*
 * guide_need.h — memory, or the end of the program: half a result is worth nothing. For the parts that know no MPI; a rank that ends so ends its job.
 */
#ifndef GUIDE_NEED_H
#define GUIDE_NEED_H

#include <stdio.h>
#include <stdlib.h>

#include "tool_options.h"

static inline void *guide_need(void *memory)
{
    if (!memory) {
        fputs("pat-guidelines: no memory\n", stderr);
        exit(TOOL_FAILED);
    }
    return memory;
}

/* Zeroed, with room for one element at least. */
static inline void *guide_need_array(size_t num, size_t size)
{
    return guide_need(calloc(num > 0 ? num : 1, size));
}

#endif
