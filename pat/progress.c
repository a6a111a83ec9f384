/*
 * progress.c — see progress.h. The functions are part of no interface that Open MPI promises, so they are looked for by name, and what is not found is
 * done without.
 */
#include "progress.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

typedef int change(pat_progress_look *look);

/* ISO C knows no way from a pointer to a function. */
static change *find(const char *name)
{
    change *found;
    *(void **)&found = dlsym(RTLD_DEFAULT, name);
    return found;
}

bool pat_progress_join(pat_progress_look *look)
{
    change *enter = find("opal_progress_register");
    return enter && find("opal_progress_unregister") && enter(look) == 0;
}

void pat_progress_leave(pat_progress_look *look)
{
    change *leave = find("opal_progress_unregister");
    if (leave)
        leave(look);
}

bool pat_progress_now(void)
{
    static _Atomic(void *) kept;
    void *found = atomic_load_explicit(&kept, memory_order_relaxed);
    if (!found) {
        found = dlsym(RTLD_DEFAULT, "opal_progress");
        atomic_store_explicit(&kept, found ? found : &kept, memory_order_relaxed);
    }
    if (!found || found == &kept)
        return false;
    void (*progress)(void);
    *(void **)&progress = found;
    progress();
    return true;
}
