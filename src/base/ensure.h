/*
 * ensure.h — what must hold at a place in the code, asked where tests are built (-DPAT_INVARIANTS=ON) and nowhere else. Never for
 * what a program can do wrong: that is an error with a text.
 */
#ifndef PAT_ENSURE_H
#define PAT_ENSURE_H

#ifdef PAT_INVARIANTS
#undef NDEBUG
#include <assert.h>
#define PAT_ENSURE(what) assert(what)
#else
#define PAT_ENSURE(what) ((void)0)
#endif

#endif
