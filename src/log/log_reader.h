/*
 * log_reader.h — what the parts of the reader share: what is known so far of all ranks (log_known.c), and the records of one file (log_records.c), which log_read.c goes through one
 * after the other.
 */
#ifndef PAT_LOG_READER_H
#define PAT_LOG_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "log.h"
#include "log_format.h"

/* While files are read. */
typedef struct pat_log_reader {
    pat_log *log;
    void *sites, *comms; /* trees (tsearch) of what is known so far */
    FILE *warnings;
    int64_t run, num_members;
    int64_t num_too_many; /* communicators, once on each rank, that are left out since there are too many */
    bool no_memory;
} pat_log_reader;

/* A line of warnings, about a file. */
void pat_log_warn(pat_log_reader *reader, const char *file, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Room for one more of a list that grows by doubling: `list` is the address of a pointer. Returns false without memory. */
bool pat_log_room(void *list, int64_t num, size_t each);

/* At most room bytes of a text that need not end, without what a terminal would obey. */
void pat_log_copy_text(char *to, size_t size, const char *from, size_t room);

/* The number of a site among those of all ranks; negative without memory. */
int pat_log_site_of(pat_log_reader *reader, const char *name, const char *call);

/* That of a communicator, of which this rank is a member; negative where its calls are to be left out, or without memory. */
int pat_log_comm_of(pat_log_reader *reader, const char *file, const pat_log_comm *comm, int rank);

/* That of an algorithm, of which there are few; negative: there are too many, or no memory. */
int pat_log_alg_of(pat_log_reader *reader, const char *name);

/* Free what is only needed while reading. */
void pat_log_forget_known(pat_log_reader *reader);

/* A file that is being read. */
typedef struct pat_log_file {
    const char *name;
    int rank;
    const pat_log_record *records;
    int64_t num;
    int *sites, *comms; /* from its numbers to ours; -1: not defined */
    int num_sites, num_comms;
} pat_log_file;

/* Take all its records, and say how many make no sense. */
void pat_log_take_records(pat_log_reader *reader, pat_log_file *file, pat_log_rank *rank);

#endif
