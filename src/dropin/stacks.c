/*
 * stacks.c — see stacks.h.
 */
#include "stacks.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

enum { OURS = 24 }; /* what may lie between the program's call and here */

typedef struct pat_stack {
    int num;
    void *addresses[PAT_STACK_MOST];
} stack;

static int by_addresses(const void *a, const void *b)
{
    const stack *x = a, *y = b;
    if (x->num != y->num)
        return x->num < y->num ? -1 : 1;
    return memcmp(x->addresses, y->addresses, (size_t)x->num * sizeof(x->addresses[0]));
}

static int by_place(const void *a, const void *b)
{
    return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

static void keep(void *place)
{
    (void)place; /* it is freed once */
}

void pat_stacks_begin(pat_stacks *s, int depth)
{
    *s = (pat_stacks){.lock = PTHREAD_MUTEX_INITIALIZER, .depth = depth, .look = backtrace};
    if (depth <= 1)
        return;
    void *library =
        dlopen("libunwind.so.8", RTLD_LAZY | RTLD_LOCAL); /* never closed: it keeps what it has learnt */
    void *look = library ? dlsym(library, "unw_backtrace") : NULL;
    if (look)
        memcpy(&s->look, &look, sizeof(look)); /* ISO C knows no way from a pointer to a function */
}

/* The stack from `site` on. */
static bool find(const pat_stacks *s, const void *site, stack *found)
{
    void *all[OURS + PAT_STACK_MOST];
    const int num = s->look(all, OURS + s->depth);
    int at = 0;
    while (at < num && all[at] != site)
        at++;
    found->num = num - at < s->depth ? num - at : s->depth;
    if (found->num <= 1)
        return false;
    memcpy(found->addresses, all + at, (size_t)found->num * sizeof(all[0]));
    return true;
}

const void *pat_stacks_site(pat_stacks *s, const void *site)
{
    stack here;
    if (s->depth <= 1 || !find(s, site, &here))
        return site;
    pthread_mutex_lock(&s->lock);
    stack **known = tfind(&here, &s->known, by_addresses), *at = known ? *known : NULL;
    if (!known && (at = malloc(sizeof(*at))) != NULL) {
        *at = here;
        if (!tsearch(at, &s->known, by_addresses)) {
            free(at);
            at = NULL;
        } else if (!tsearch(at, &s->places, by_place)) {
            tdelete(at, &s->known, by_addresses);
            free(at);
            at = NULL;
        }
    }
    pthread_mutex_unlock(&s->lock);
    return at ? at : site;
}

int pat_stacks_addresses(pat_stacks *s, const void *site, void *const **addresses)
{
    pthread_mutex_lock(&s->lock);
    void *const *known = tfind(site, &s->places, by_place);
    const stack *at = known ? *known : NULL;
    pthread_mutex_unlock(&s->lock);
    *addresses = at ? at->addresses : NULL;
    return at ? at->num : 0;
}

void pat_stacks_end(pat_stacks *s)
{
    tdestroy(s->places, keep);
    tdestroy(s->known, free);
}
