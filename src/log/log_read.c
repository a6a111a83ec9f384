/*
 * log_read.c — see log_read.h: the files, one after the other. log_match.c holds their calls against each other.
 */
#include "log_read.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log_dir.h"
#include "log_match.h"
#include "log_reader.h"

/* A rank that was killed has not said how many there are. */
static int64_t count_records(pat_log_reader *r, const pat_log_file *f, const pat_log_header *h, int64_t whole)
{
    int64_t num = 0;
    if (h->num_records < 0 || h->num_records > whole) {
        pat_log_warn(r, f->name, "%lld records are there, of %lld", (long long)whole,
                     (long long)h->num_records);
        return whole;
    }
    if (h->num_records > 0 || h->end_ns)
        return h->num_records;
    while (num < whole && pat_log_kind(&f->records[num]) != PAT_LOG_END)
        num++;
    return num;
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
static bool take_header(pat_log_reader *r, const pat_log_file *f, const pat_log_header *h, int64_t bytes)
{
    pat_log *log = r->log;
    if (bytes < PAT_LOG_HEADER_BYTES || memcmp(h->magic, PAT_LOG_MAGIC, sizeof(h->magic)) != 0) {
        pat_log_warn(r, f->name, "is no file of calls; left out");
        return false;
    }
    if (h->byte_order != PAT_LOG_BYTE_ORDER || h->version < 1 || h->version > PAT_LOG_VERSION ||
        h->record_bytes != (int)sizeof(pat_log_record)) {
        pat_log_warn(r, f->name, "is of another version or another kind of machine; left out");
        return false;
    }
    if (h->run != r->run) {
        pat_log_warn(r, f->name, "is of another run; left out");
        return false;
    }
    if (h->rank != f->rank || h->ranks <= h->rank || h->ranks > PAT_LOG_MOST_RANKS ||
        (log->ranks && h->ranks != log->num_ranks)) {
        pat_log_warn(r, f->name, "says that it is of rank %d of %d; left out", h->rank, h->ranks);
        return false;
    }
    if (!log->ranks) {
        log->ranks = calloc((size_t)h->ranks, sizeof(*log->ranks));
        log->num_ranks = h->ranks;
        log->command = command_of(h);
        r->no_memory = !log->ranks || !log->command;
        pat_log_copy_text(log->mpi, sizeof(log->mpi), h->mpi, sizeof(h->mpi));
        pat_log_copy_text(log->pat, sizeof(log->pat), h->pat, sizeof(h->pat));
    }
    return !r->no_memory;
}

static void take_file(pat_log_reader *r, const char *name, int number, const void *bytes, int64_t num_bytes)
{
    const pat_log_header *h = bytes;
    pat_log_file f = {.name = name, .rank = number};
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
    pat_log_copy_text(rank->host, sizeof(rank->host), h->host, sizeof(h->host));
    pat_log_take_records(r, &f, rank);
    if (!rank->is_ended)
        pat_log_warn(r, name, "rank %d did not come to its end: what it had written by then is there",
                     number);
    if (rank->num_lost > 0)
        pat_log_warn(r, name, "%lld calls are missing, for want of room%s", (long long)rank->num_lost,
                     h->no_room ? " on the disk" : " (PAT_TRACE_MEM)");
    free(f.sites);
    free(f.comms);
}

static void read_file(pat_log_reader *r, const char *dir, const char *name, int number)
{
    char path[PATH_MAX];
    struct stat st;
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe */
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        pat_log_warn(r, name, "cannot be read: %s", fd < 0 ? strerror(errno) : "no regular file");
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

static void read_all(pat_log_reader *r, const char *dir, const int ranks[], int num)
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
    if (r->num_too_many > 0)
        fprintf(r->warnings,
                "there are too many communicators and persistent requests; the calls of %lld, added up over "
                "ranks, are left out\n",
                (long long)r->num_too_many);
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
    pat_log_reader r = {.log = calloc(1, sizeof(*r.log)), .warnings = open_memstream(&warnings, &bytes)};
    r.no_memory = !r.log || !r.warnings;
    if (!r.no_memory)
        read_all(&r, dir, ranks, num);
    pat_log_forget_known(&r);
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
        free(log->ranks[i].wait_of);
        free(log->ranks[i].awaited);
        free(log->ranks[i].messages);
        free(log->ranks[i].told);
    }
    for (int i = 0; i < log->num_sites; i++) {
        free(log->sites[i].name);
        free(log->sites[i].call);
        free(log->sites[i].line);
    }
    for (int i = 0; i < log->num_comms; i++)
        free(log->comms[i].rank);
    for (int i = 0; i < log->num_algs; i++)
        free(log->algs[i]);
    free(log->algs);
    free(log->link);
    free(log->ranks);
    free(log->sites);
    free(log->comms);
    free(log->command);
    free(log->warnings);
    free(log);
}
