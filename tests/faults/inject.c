/*
 * inject.c — see inject.h. INJECT=FILE:LINE:TIME makes what stands there fail the TIME-th time, on rank INJECT_RANK; INJECT=list prints in
 * the end what was come to, as FILE:LINE:TIMES NAME.
 */
#include "inject.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SITES = 400 };

typedef struct site {
    const char *file, *name;
    int line, times;
} site;

static struct {
    pthread_mutex_t lock;
    bool ready, list;
    char file[64];
    int line, time;
    site sites[MOST_SITES];
    int num_sites;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *without_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void print_list(void)
{
    for (int i = 0; i < all.num_sites; i++)
        printf("site %s:%d:%d %s\n", without_directory(all.sites[i].file), all.sites[i].line,
               all.sites[i].times, all.sites[i].name);
    fflush(stdout);
}

/* Before MPI is up a rank is known by what its launcher says. */
static bool is_meant(void)
{
    const char *wanted = getenv("INJECT_RANK"), *mine = getenv("OMPI_COMM_WORLD_RANK");
    if (!mine)
        mine = getenv("PMI_RANK");
    return wanted && mine && atoi(wanted) == atoi(mine);
}

static void set_up(void)
{
    const char *what = getenv("INJECT");
    all.ready = true;
    all.list = what && strcmp(what, "list") == 0;
    if (all.list)
        atexit(print_list);
    else if (!what || !is_meant() || sscanf(what, "%63[^:]:%d:%d", all.file, &all.line, &all.time) != 3)
        all.line = -1;
}

static site *site_of(const char *file, int line, const char *name)
{
    for (int i = 0; i < all.num_sites; i++)
        if (all.sites[i].line == line && strcmp(all.sites[i].file, file) == 0 &&
            strcmp(all.sites[i].name, name) == 0)
            return &all.sites[i];
    if (all.num_sites == MOST_SITES)
        abort();
    all.sites[all.num_sites] = (site){.file = file, .line = line, .name = name};
    return &all.sites[all.num_sites++];
}

bool inject(const char *file, int line, const char *name)
{
    pthread_mutex_lock(&all.lock);
    if (!all.ready)
        set_up();
    bool fails = false;
    if (all.list || (all.line == line && strcmp(all.file, without_directory(file)) == 0)) {
        site *s = site_of(file, line, name);
        s->times++;
        fails = !all.list && s->times == all.time;
    }
    if (fails)
        fprintf(stderr, "injected: %s at %s:%d, time %d\n", name, all.file, line, all.time);
    pthread_mutex_unlock(&all.lock);
    return fails;
}
