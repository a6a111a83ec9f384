/*
 * log_read.c — see log_read.h: the files, one after the other. log_match.c holds their calls against each other.
 */
#include "log_read.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log_dir.h"
#include "log_format.h"
#include "log_match.h"

/* More than that no file of ours has; a number beyond is nonsense. */
enum {
    MOST_NUMBERS = 1 << 20,
    MOST_TEXT = 4096,
    MOST_MEMBERS = 1 << 26 /* of all communicators */
};

/* While files are read. */
typedef struct reader {
    pat_log *log;
    void *sites, *comms; /* trees (tsearch) of what is known so far */
    FILE *warnings;
    int64_t run, num_members;
    bool no_memory;
} reader;

/* In a tree: what is looked for, and its number. */
typedef struct known_site {
    char *name, *call;
    int number;
} known_site;

typedef struct known_comm {
    uint64_t id;
    int size, number;
} known_comm;

static void warn(reader *r, const char *file, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void warn(reader *r, const char *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(r->warnings, "%s: ", file);
    vfprintf(r->warnings, format, args);
    fputc('\n', r->warnings);
    va_end(args);
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

/* Room for one more of a list that grows by doubling. Returns false without memory. */
static bool make_room(void *list, int64_t num, size_t each)
{
    void **at = list;
    if (num & (num - 1)) /* not full */
        return true;
    void *more = realloc(*at, (size_t)(num ? 2 * num : 1) * each);
    if (more)
        *at = more;
    return more != NULL;
}

/* The number of a site among those of all ranks; negative without memory. */
static int site_of(reader *r, const char *name, const char *call)
{
    pat_log *log = r->log;
    known_site wanted = {(char *)name, (char *)call, 0};
    known_site **found = tfind(&wanted, &r->sites, by_name);
    if (found)
        return (*found)->number;
    known_site *site = malloc(sizeof(*site));
    char *own_name = strdup(name), *own_call = strdup(call), *line = strdup("");
    if (site && own_name && own_call && line && make_room(&log->sites, log->num_sites, sizeof(*log->sites))) {
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

static int comm_of(reader *r, const char *file, const pat_log_comm *c, int rank)
{
    pat_log *log = r->log;
    known_comm wanted = {.id = c->id};
    known_comm **found = tfind(&wanted, &r->comms, by_id), *comm = found ? *found : NULL;
    if (!comm && (r->num_members += c->size) > MOST_MEMBERS) {
        warn(r, file, "there are too many communicators; calls of one of %d ranks are left out", c->size);
        return -1;
    }
    if (!comm) {
        comm = malloc(sizeof(*comm));
        int *members = malloc((size_t)c->size * sizeof(*members));
        for (int i = 0; i < c->size && members; i++)
            members[i] = -1;
        if (comm && members)
            *comm = (known_comm){c->id, c->size, log->num_comms};
        if (!comm || !members || !make_room(&log->comms, log->num_comms, sizeof(*log->comms)) ||
            !tsearch(comm, &r->comms, by_id)) {
            free(comm);
            free(members);
            r->no_memory = true;
            return -1;
        }
        log->comms[log->num_comms++] = (pat_log_members){.id = c->id, .size = c->size, .rank = members};
    }
    if (comm->size != c->size || log->comms[comm->number].rank[c->rank] >= 0) {
        warn(r, file, "a communicator contradicts another rank's file; its calls are left out");
        return -1;
    }
    log->comms[comm->number].rank[c->rank] = rank;
    return comm->number;
}

/* ---- One file -------------------------------------------------------------------------------------------- */

typedef struct file {
    const char *name;
    int rank;
    const pat_log_record *records;
    int64_t num;
    int *sites, *comms; /* from its numbers to ours; -1: not defined */
    int num_sites, num_comms;
} file;

/* Note that number `from` is ours number `to`. */
static bool note_number(int **list, int *num, int from, int to)
{
    if (from >= *num) {
        int room = *num ? *num : 16;
        while (room <= from)
            room *= 2;
        int *more = realloc(*list, (size_t)room * sizeof(*more));
        if (!more)
            return false;
        for (int i = *num; i < room; i++)
            more[i] = -1;
        *list = more;
        *num = room;
    }
    (*list)[from] = to;
    return true;
}

/* The text in the records after number `at`, ended by a '\0' that is not in it. Returns false where it is not whole. */
static bool take_text(const file *f, int64_t at, int length, char text[MOST_TEXT + 1])
{
    if (length < 1 || length > MOST_TEXT)
        return false;
    for (int done = 0; done < length; done += PAT_LOG_TEXT_BYTES) {
        if (++at >= f->num || pat_log_kind(&f->records[at]) != PAT_LOG_TEXT)
            return false;
        const int some = length - done < PAT_LOG_TEXT_BYTES ? length - done : PAT_LOG_TEXT_BYTES;
        memcpy(text + done, f->records[at].text.text, (size_t)some);
    }
    text[length] = '\0';
    for (int i = 0; i < length; i++) /* it goes to terminals */
        text[i] = text[i] != '\0' && ((unsigned char)text[i] < ' ' || text[i] == 127) ? '?' : text[i];
    return true;
}

static bool is_number(int number)
{
    return number >= 0 && number < MOST_NUMBERS;
}

static void take_site(reader *r, file *f, int64_t at)
{
    const pat_log_define *d = &f->records[at].define;
    char text[MOST_TEXT + 1];
    if (!is_number(d->number) || !take_text(f, at, d->length, text)) {
        warn(r, f->name, "record %lld: a place that is not whole", (long long)at);
        return;
    }
    const size_t name_length = strlen(text);
    const char *call = name_length < (size_t)d->length ? text + name_length + 1 : "";
    const int number = site_of(r, text, call);
    if (number >= 0 && !note_number(&f->sites, &f->num_sites, d->number, number))
        r->no_memory = true;
}

static void take_line(reader *r, const file *f, int64_t at)
{
    const pat_log_define *d = &f->records[at].define;
    char text[MOST_TEXT + 1];
    if (d->number < 0 || d->number >= f->num_sites || f->sites[d->number] < 0 ||
        !take_text(f, at, d->length, text)) {
        warn(r, f->name, "record %lld: a line of a place that is not there", (long long)at);
        return;
    }
    pat_log_site *site = &r->log->sites[f->sites[d->number]];
    char *line = strdup(text);
    if (!line) {
        r->no_memory = true;
        return;
    }
    free(site->line);
    site->line = line;
}

static void take_comm(reader *r, file *f, int64_t at)
{
    const pat_log_comm *c = &f->records[at].comm;
    if (!is_number(c->number) || c->size < 2 || c->size > r->log->num_ranks || c->rank < 0 ||
        c->rank >= c->size) {
        warn(r, f->name, "record %lld: a communicator that cannot be", (long long)at);
        return;
    }
    const int number = comm_of(r, f->name, c, f->rank);
    if (number >= 0 && !note_number(&f->comms, &f->num_comms, c->number, number))
        r->no_memory = true;
}

static bool take_call(reader *r, const file *f, int64_t at, pat_log_rank *rank)
{
    const pat_log_call *c = &f->records[at].call;
    if (c->site < 0 || c->site >= f->num_sites || f->sites[c->site] < 0 || c->comm < 0 ||
        c->comm >= f->num_comms || f->comms[c->comm] < 0 || c->time_ns < 0 || c->bytes < 0 ||
        c->start_ns < 0 || c->start_ns > INT64_MAX / 4 || c->time_ns > INT64_MAX / 4 ||
        c->bytes > INT64_MAX / 4)
        return false;
    if (!make_room(&rank->events, rank->num_events, sizeof(*rank->events))) {
        r->no_memory = true;
        return true;
    }
    rank->events[rank->num_events++] = (pat_log_event){.start_ns = c->start_ns,
                                                       .time_ns = c->time_ns,
                                                       .bytes = c->bytes,
                                                       .site = f->sites[c->site],
                                                       .comm = f->comms[c->comm],
                                                       .root = c->root,
                                                       .has_failed = c->kind == PAT_LOG_FAILED,
                                                       .wait_ns = -1,
                                                       .after_ns = -1,
                                                       .apart_ns = -1,
                                                       .late = -1};
    return true;
}

/* Definitions first: one thread may have noted a call before another has said where it is. */
static void take_records(reader *r, file *f, pat_log_rank *rank)
{
    int64_t num_bad = 0;
    for (int64_t i = 0; i < f->num && !r->no_memory; i++)
        if (pat_log_kind(&f->records[i]) == PAT_LOG_SITE)
            take_site(r, f, i);
        else if (pat_log_kind(&f->records[i]) == PAT_LOG_COMM)
            take_comm(r, f, i);
    for (int64_t i = 0; i < f->num && !r->no_memory; i++)
        if (pat_log_kind(&f->records[i]) == PAT_LOG_LINE)
            take_line(r, f, i);
        else if (pat_log_is_call(&f->records[i]))
            num_bad += !take_call(r, f, i, rank);
        else if (pat_log_kind(&f->records[i]) < PAT_LOG_CALL || pat_log_kind(&f->records[i]) > PAT_LOG_FAILED)
            num_bad++;
    if (num_bad > 0)
        warn(r, f->name, "%lld records make no sense and are left out", (long long)num_bad);
}

/* A rank that was killed has not said how many there are. */
static int64_t count_records(reader *r, const file *f, const pat_log_header *h, int64_t whole)
{
    int64_t num = 0;
    if (h->num_records < 0 || h->num_records > whole) {
        warn(r, f->name, "%lld records are there, of %lld", (long long)whole, (long long)h->num_records);
        return whole;
    }
    if (h->num_records > 0 || h->end_ns)
        return h->num_records;
    while (num < whole && pat_log_kind(&f->records[num]) != PAT_LOG_END)
        num++;
    return num;
}

static void copy_text(char *to, size_t size, const char *from, size_t room)
{
    snprintf(to, size, "%.*s", (int)room, from);
    for (char *c = to; *c; c++)
        *c = (unsigned char)*c < ' ' ? '?' : *c;
}

static char *command_of(const pat_log_header *h)
{
    char *command = malloc(sizeof(h->command) + 1);
    if (!command)
        return NULL;
    size_t length = sizeof(h->command);
    memcpy(command, h->command, length);
    while (length > 0 && command[length - 1] == '\0')
        length--;
    for (size_t i = 0; i < length; i++)
        command[i] = command[i] == '\0' ? ' ' : (unsigned char)command[i] < ' ' ? '?' : command[i];
    command[length] = '\0';
    return command;
}

/* Is it a file of ours, of this program? The first file says how many ranks there are. */
static bool take_header(reader *r, const file *f, const pat_log_header *h, int64_t bytes)
{
    pat_log *log = r->log;
    if (bytes < PAT_LOG_HEADER_BYTES || memcmp(h->magic, PAT_LOG_MAGIC, sizeof(h->magic)) != 0) {
        warn(r, f->name, "is no file of calls; left out");
        return false;
    }
    if (h->byte_order != PAT_LOG_BYTE_ORDER || h->version != PAT_LOG_VERSION ||
        h->record_bytes != (int)sizeof(pat_log_record)) {
        warn(r, f->name, "is of another version or another kind of machine; left out");
        return false;
    }
    if (h->run != r->run) {
        warn(r, f->name, "is of another run; left out");
        return false;
    }
    if (h->rank != f->rank || h->ranks <= h->rank || h->ranks > PAT_LOG_MOST_RANKS ||
        (log->ranks && h->ranks != log->num_ranks)) {
        warn(r, f->name, "says that it is of rank %d of %d; left out", h->rank, h->ranks);
        return false;
    }
    if (!log->ranks) {
        log->ranks = calloc((size_t)h->ranks, sizeof(*log->ranks));
        log->num_ranks = h->ranks;
        log->command = command_of(h);
        r->no_memory = !log->ranks || !log->command;
        copy_text(log->mpi, sizeof(log->mpi), h->mpi, sizeof(h->mpi));
        copy_text(log->pat, sizeof(log->pat), h->pat, sizeof(h->pat));
    }
    return !r->no_memory;
}

static void take_file(reader *r, const char *name, int number, const void *bytes, int64_t num_bytes)
{
    const pat_log_header *h = bytes;
    file f = {.name = name, .rank = number};
    if (!take_header(r, &f, h, num_bytes))
        return;
    pat_log_rank *rank = &r->log->ranks[number];
    f.records = (const pat_log_record *)((const char *)bytes + PAT_LOG_HEADER_BYTES);
    f.num = count_records(r, &f, h, (num_bytes - PAT_LOG_HEADER_BYTES) / (int64_t)sizeof(pat_log_record));
    rank->is_there = true;
    rank->is_ended = h->end_ns != 0;
    rank->begin_ns = h->begin_ns;
    rank->end_ns = h->end_ns;
    rank->num_lost = h->num_lost > 0 ? h->num_lost : 0;
    rank->clock_error_ns = h->clock_error_ns;
    copy_text(rank->host, sizeof(rank->host), h->host, sizeof(h->host));
    take_records(r, &f, rank);
    if (!rank->is_ended)
        warn(r, name, "rank %d did not come to its end: what it had written by then is there", number);
    if (rank->num_lost > 0)
        warn(r, name, "%lld calls are missing, for want of room%s", (long long)rank->num_lost,
             h->no_room ? " on the disk" : " (PAT_TRACE_MEM)");
    free(f.sites);
    free(f.comms);
}

static void read_file(reader *r, const char *dir, const char *name, int number)
{
    char path[PATH_MAX];
    struct stat st;
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe */
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        warn(r, name, "cannot be read: %s", fd < 0 ? strerror(errno) : "no regular file");
        if (fd >= 0)
            close(fd);
        return;
    }
    char *bytes = malloc((size_t)st.st_size + sizeof(pat_log_header));
    int64_t num = 0;
    for (ssize_t some = 1; bytes && some > 0 && num<st.st_size; num += some> 0 ? some : 0)
        some = read(fd, bytes + num, (size_t)(st.st_size - num));
    close(fd);
    if (bytes)
        take_file(r, name, number, bytes, num);
    else
        r->no_memory = true;
    free(bytes);
}

static void read_all(reader *r, const char *dir, const int ranks[], int num)
{
    r->run = pat_log_find_run(dir, ranks, num);
    for (int i = 0; i < num && !r->no_memory; i++) {
        char name[40];
        snprintf(name, sizeof(name), "calls-%d.pat", ranks[i]);
        read_file(r, dir, name, ranks[i]);
    }
    int missing = 0, first = 0;
    for (int i = r->log->num_ranks - 1; i >= 0; i--)
        if (!r->log->ranks[i].is_there) {
            missing++;
            first = i;
        }
    if (missing > 0)
        fprintf(r->warnings,
                "the files of %d of %d ranks are not there or cannot be read, that of rank %d among them\n",
                missing, r->log->num_ranks, first);
    if (!r->no_memory && !pat_log_match(r->log, r->warnings))
        r->no_memory = true;
}

pat_log *pat_log_read(const char *dir, char *why, size_t why_size)
{
    int num;
    size_t bytes = 0;
    char *warnings = NULL;
    errno = 0;
    int *ranks = pat_log_find_files(dir, &num);
    if (num == 0) {
        snprintf(why, why_size, "%s: %s", dir,
                 errno ? strerror(errno) : "there is no file calls-<rank>.pat, which PAT_TRACE makes");
        free(ranks);
        return NULL;
    }
    reader r = {.log = calloc(1, sizeof(*r.log)), .warnings = open_memstream(&warnings, &bytes)};
    r.no_memory = !r.log || !r.warnings;
    if (!r.no_memory)
        read_all(&r, dir, ranks, num);
    tdestroy(r.sites, free);
    tdestroy(r.comms, free);
    free(ranks);
    if (r.warnings)
        fclose(r.warnings);
    if (r.log)
        r.log->warnings = warnings;
    if (r.no_memory || !r.log->ranks) {
        snprintf(why, why_size, "%s: %s", dir, r.no_memory ? "no memory" : warnings);
        pat_log_free(r.log);
        return NULL;
    }
    return r.log;
}

void pat_log_free(pat_log *log)
{
    if (!log)
        return;
    for (int i = 0; i < log->num_ranks && log->ranks; i++) {
        free(log->ranks[i].events);
        free(log->ranks[i].by_comm);
        free(log->ranks[i].first);
    }
    for (int i = 0; i < log->num_sites; i++) {
        free(log->sites[i].name);
        free(log->sites[i].call);
        free(log->sites[i].line);
    }
    for (int i = 0; i < log->num_comms; i++)
        free(log->comms[i].rank);
    free(log->ranks);
    free(log->sites);
    free(log->comms);
    free(log->command);
    free(log->warnings);
    free(log);
}
