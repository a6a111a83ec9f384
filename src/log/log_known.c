/*
 * log_known.c — see log_reader.h: what the files of all ranks have in common, found by name.
 */
#include <search.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "log_reader.h"

enum { MOST_MEMBERS = 1 << 26 }; /* of all communicators */

/* In a tree: what is looked for, and its number. */
typedef struct known_site {
    char *name, *call;
    int number;
} known_site;

typedef struct known_comm {
    uint64_t id;
    int size, number;
} known_comm;

void pat_log_warn(pat_log_reader *r, const char *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(r->warnings, "%s: ", file);
    vfprintf(r->warnings, format, args);
    fputc('\n', r->warnings);
    va_end(args);
}

void pat_log_copy_text(char *to, size_t size, const char *from, size_t room)
{
    snprintf(to, size, "%.*s", (int)room, from);
    for (char *c = to; *c; c++)
        *c = (unsigned char)*c < ' ' ? '?' : *c;
}

bool pat_log_room(void *list, int64_t num, size_t each)
{
    void **at = list;
    if (num & (num - 1)) /* not full */
        return true;
    void *more = realloc(*at, (size_t)(num ? 2 * num : 1) * each);
    if (more)
        *at = more;
    return more != NULL;
}

static int by_name(const void *a, const void *b)
{
    const known_site *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->call, y->call);
}

static int by_id(const void *a, const void *b)
{
    const known_comm *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

int pat_log_site_of(pat_log_reader *r, const char *name, const char *call)
{
    pat_log *log = r->log;
    known_site wanted = {(char *)name, (char *)call, 0};
    known_site **found = tfind(&wanted, &r->sites, by_name);
    if (found)
        return (*found)->number;
    known_site *site = malloc(sizeof(*site));
    char *own_name = strdup(name), *own_call = strdup(call), *line = strdup("");
    if (site && own_name && own_call && line &&
        pat_log_room(&log->sites, log->num_sites, sizeof(*log->sites))) {
        *site = (known_site){own_name, own_call, log->num_sites};
        if (tsearch(site, &r->sites, by_name)) {
            log->sites[log->num_sites] = (pat_log_site){own_name, own_call, line};
            return log->num_sites++;
        }
    }
    free(site);
    free(own_name);
    free(own_call);
    free(line);
    r->no_memory = true;
    return -1;
}

int pat_log_comm_of(pat_log_reader *r, const char *file, const pat_log_comm *c, int rank)
{
    pat_log *log = r->log;
    known_comm wanted = {.id = c->id};
    known_comm **found = tfind(&wanted, &r->comms, by_id), *comm = found ? *found : NULL;
    if (!comm && (r->num_members += c->size) > MOST_MEMBERS) {
        r->num_too_many++; /* which is said once: there may be as many persistent requests as calls */
        return -1;
    }
    if (!comm) {
        comm = malloc(sizeof(*comm));
        int *members = malloc((size_t)c->size * sizeof(*members));
        for (int i = 0; i < c->size && members; i++)
            members[i] = -1;
        if (comm && members)
            *comm = (known_comm){c->id, c->size, log->num_comms};
        if (!comm || !members || !pat_log_room(&log->comms, log->num_comms, sizeof(*log->comms)) ||
            !tsearch(comm, &r->comms, by_id)) {
            free(comm);
            free(members);
            r->no_memory = true;
            return -1;
        }
        log->comms[log->num_comms++] = (pat_log_members){.id = c->id, .size = c->size, .rank = members};
    }
    if (comm->size != c->size || log->comms[comm->number].rank[c->rank] >= 0) {
        pat_log_warn(r, file, "a communicator contradicts another rank's file; its calls are left out");
        return -1;
    }
    log->comms[comm->number].rank[c->rank] = rank;
    return comm->number;
}

int pat_log_alg_of(pat_log_reader *r, const char *name)
{
    enum { MOST_ALGS = 256 };
    pat_log *log = r->log;
    for (int i = 0; i < log->num_algs; i++)
        if (strcmp(log->algs[i], name) == 0)
            return i;
    if (log->num_algs == MOST_ALGS)
        return -1;
    char *own = strdup(name);
    if (!own || !pat_log_room(&log->algs, log->num_algs, sizeof(*log->algs))) {
        free(own);
        r->no_memory = true;
        return -1;
    }
    log->algs[log->num_algs] = own;
    return log->num_algs++;
}

void pat_log_forget_known(pat_log_reader *r)
{
    tdestroy(r->sites, free);
    tdestroy(r->comms, free);
}
