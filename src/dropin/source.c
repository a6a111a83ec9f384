/*
 * source.c — see source.h.
 */
#include "source.h"

#include <stdlib.h>

#if !PAT_HAS_LIBDW

pat_sources *pat_sources_open(void)
{
    return NULL;
}

void pat_sources_line(pat_sources *sources, const char *name, int64_t offset, char *text, int size)
{
    (void)sources;
    (void)name;
    (void)offset;
    if (size > 0)
        text[0] = '\0';
}

void pat_sources_close(pat_sources *sources)
{
    (void)sources;
}

#else

#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What is used of it. */
#define FUNCTIONS(X)                                                                                         \
    X(dwfl_begin)                                                                                            \
    X(dwfl_end)                                                                                              \
    X(dwfl_linux_proc_report)                                                                                \
    X(dwfl_report_end)                                                                                       \
    X(dwfl_linux_proc_find_elf)                                                                              \
    X(dwfl_build_id_find_debuginfo)                                                                          \
    X(dwfl_getmodules)                                                                                       \
    X(dwfl_getsrc)                                                                                           \
    X(dwfl_lineinfo)

struct pat_sources {
    void *library;
    Dwfl *dwfl;
    Dwfl_Callbacks callbacks;
#define MEMBER(name) __typeof__(&name) name;
    FUNCTIONS(MEMBER)
};

static bool find_functions(pat_sources *s)
{
    bool all = true;
#define FIND(name)   all = (s->name = (__typeof__(&name))dlsym(s->library, #name)) != NULL && all;
    FUNCTIONS(FIND)
    return all;
}

pat_sources *pat_sources_open(void)
{
    pat_sources *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->library = dlopen("libdw.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (s->library && find_functions(s)) {
        /* Of separate debugging information only what lies on this machine: nothing is fetched from elsewhere. */
        s->callbacks = (Dwfl_Callbacks){.find_elf = s->dwfl_linux_proc_find_elf,
                                        .find_debuginfo = s->dwfl_build_id_find_debuginfo};
        s->dwfl = s->dwfl_begin(&s->callbacks);
        if (s->dwfl && s->dwfl_linux_proc_report(s->dwfl, getpid()) == 0 &&
            s->dwfl_report_end(s->dwfl, NULL, NULL) == 0)
            return s;
    }
    pat_sources_close(s);
    return NULL;
}

/* A file that is loaded, by its name without folders. */
typedef struct loaded {
    const char *name;
    size_t length;
    Dwarf_Addr begin; /* where it has been put; 0: it is not loaded */
} loaded;

static const char *without_folders(const char *path)
{
    const char *last = strrchr(path, '/');
    return last ? last + 1 : path;
}

static int is_file(Dwfl_Module *module, void **data, const char *path, Dwarf_Addr begin, void *sought)
{
    loaded *l = sought;
    const char *file = without_folders(path);
    (void)module;
    (void)data;
    if (strlen(file) != l->length || strncmp(file, l->name, l->length) != 0)
        return DWARF_CB_OK;
    l->begin = begin;
    return DWARF_CB_ABORT;
}

void pat_sources_line(pat_sources *s, const char *name, int64_t offset, char *text, int size)
{
    int line = 0;
    loaded file = {.name = name, .length = strcspn(name, "(+")};
    text[0] = '\0';
    if (!s)
        return;
    s->dwfl_getmodules(s->dwfl, is_file, &file, 0);
    if (file.begin == 0)
        return;
    /* The call is before the place to which it returns. */
    Dwfl_Line *at = s->dwfl_getsrc(s->dwfl, file.begin + (Dwarf_Addr)offset - 1);
    const char *source = at ? s->dwfl_lineinfo(at, NULL, &line, NULL, NULL, NULL) : NULL;
    if (!source || line <= 0)
        return;
    snprintf(text, (size_t)size, "%s:%d", without_folders(source), line);
}

void pat_sources_close(pat_sources *s)
{
    if (!s)
        return;
    if (s->dwfl)
        s->dwfl_end(s->dwfl);
    if (s->library)
        dlclose(s->library);
    free(s);
}

#endif
