/*
 * gate.c — see gate.h: what lies behind the preloaded file. Must never call the program's MPI library, nor load a second one:
 * of a library that is not ours nothing is known but its name.
 */
#include "gate.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pat_gate_any *next_of_home(const char *symbol);
pat_gate pat_gate_here = {.next = next_of_home};

/* Who started MPI. */
static const void *home;

static bool is_here(void *address)
{
    Dl_info here, there;
    return dladdr(&home, &here) && dladdr(address, &there) && here.dli_fbase == there.dli_fbase;
}

/* What the library around `site` sees of it: one that was loaded for somebody alone has its MPI library for itself. */
static void *seen_from(const void *site, const char *symbol)
{
    Dl_info info;
    if (!site || !dladdr(site, &info) || !info.dli_fname)
        return NULL;
    void *library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    void *found = library ? dlsym(library, symbol) : NULL; /* never closed: what is found has to stay */
    return found && !is_here(found) ? found : NULL;
}

static void *find(const char *symbol, const void *site)
{
    void *found = dlsym(RTLD_NEXT, symbol);
    if (!found)
        found = seen_from(site, symbol);
    if (!found)
        found = seen_from(home, symbol);
    return found;
}

static pat_gate_any *find_or_end(const char *symbol, const void *site)
{
    void *found = find(symbol, site);
    if (!found) { /* without us, the dynamic linker would have ended the program in the same way */
        fprintf(stderr, "pat: undefined symbol: %s\n", symbol);
        abort();
    }
    return (pat_gate_any *)found;
}

pat_gate_any *pat_gate_next_of(pat_gate_name *called, const void *site)
{
    pat_gate_any *next = find_or_end(called->symbol, site);
    atomic_store_explicit(&called->next, next, memory_order_relaxed);
    return next;
}

static pat_gate_any *next_of_home(const char *symbol)
{
    return find_or_end(symbol, NULL);
}

/* ---- Which MPI library --------------------------------------------------------------------------------- */

/* The name by which programs ask for the library at this address; its file's name if it has none. */
static const char *name_of_library(void *address)
{
    Dl_info info;
    struct link_map *map = NULL;
    const char *strings = NULL;
    ElfW(Xword) name = 0;
    if (!dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return "unknown";
    for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SONAME)
            name = d->d_un.d_val;
        else if (d->d_tag == DT_STRTAB) /* the dynamic linker may have made an address of it already */
            strings = (const char *)(d->d_un.d_ptr < map->l_addr ? map->l_addr : 0) + d->d_un.d_ptr;
    }
    const char *file = strrchr(info.dli_fname, '/');
    return name && strings ? strings + name : file ? file + 1 : info.dli_fname;
}

/* One name was used by libraries of both families. */
static bool is_of_our_family(const void *site)
{
    return (find("ompi_mpi_comm_world", site) != NULL) == PAT_MPI_IS_OPEN;
}

/* Ranks are known to launchers only: MPI has not started. Who is not told a rank is taken for the first. */
static bool is_first_rank(void)
{
    static const char *const ranks[] = {"PMIX_RANK",  "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                        "MPI_RANKID", "MV2_COMM_WORLD_RANK",  "SLURM_PROCID",
                                        "ALPS_APP_PE"};
    for (unsigned i = 0; i < sizeof(ranks) / sizeof(*ranks); i++)
        if (getenv(ranks[i]))
            return strcmp(getenv(ranks[i]), "0") == 0;
    return true;
}

static void step_aside(const char *what, const char *why)
{
    if (is_first_rank())
        fprintf(stderr, "pat: %s: %s; the program runs without arrival-aware collectives\n", what, why);
}

/* The library lies beside this file, and may be the program's already. */
static void load(void)
{
    Dl_info info;
    char file[PATH_MAX];
    void *library = dlopen(PAT_LIBRARY, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    const char *end = dladdr(&home, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
    snprintf(file, sizeof(file), "%.*s%s", end ? (int)(end + 1 - info.dli_fname) : 0,
             end ? info.dli_fname : "", PAT_LIBRARY);
    if (!library)
        library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        step_aside(file, dlerror());
        return;
    }
    pat_gate_enter *enter = (pat_gate_enter *)dlsym(library, "pat_gate_enter_library");
    if (!enter || enter(&pat_gate_here, PAT_GATE_VERSION, sizeof(pat_gate_here)) != 0)
        step_aside(file, "it does not belong to libpat-mpi.so " PAT_GATE_VERSION);
}

void pat_gate_open(const void *site)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!home) {
        home = site;
        void *start = find("PMPI_Init", site);
        const char *name = start ? name_of_library(start) : "none";
        char why[400];
        snprintf(why, sizeof(why), "the program's MPI library is not %s, for which %s was built",
                 PAT_MPI_LIBRARY, "libpat-mpi.so");
        if (strcmp(name, PAT_MPI_LIBRARY) != 0 || !is_of_our_family(site))
            step_aside(name, why);
        else
            load();
    }
    pthread_mutex_unlock(&lock);
}
