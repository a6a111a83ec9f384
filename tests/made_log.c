/*
 * made_log.c — made_log DIR RANKS CALLS: the files that PAT_TRACE would leave in DIR of a program with as many calls of MPI_Allgather in line 10 of app.c,
 * MPI_Bcast in line 12 and MPI_Barrier in line 14, on nodes with two ranks each. Every number is known: call i begins 10 i ms after the start, and each rank comes
 * as many milliseconds later as arrival_ms() says. What pat-report makes of them is held against what was worked out by hand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log_format.h"

enum { PLACES = 3 };

static const char *const calls[PLACES] = {"MPI_Allgather", "MPI_Bcast", "MPI_Barrier"};
static const int64_t MS = 1000000;

/* Of place p in turn i: ranks come in the order of their numbers, 10 us apart, but for one, which is 4 ms late, in the second place every second time. */
static int64_t arrival_ns(int p, int i, int rank, int ranks)
{
    const int late = p == 0 ? ranks - 1 : p == 1 ? 0 : i % ranks;
    const bool is_late = rank == late && (p != 1 || i % 2 == 0);
    return rank * MS / 100 + (is_late ? 4 * MS : 0);
}

static void put(FILE *to, pat_log_record *r, int32_t kind)
{
    r->text.kind = kind;
    fwrite(r, sizeof(*r), 1, to);
}

static int64_t put_text(FILE *to, const char *text, int length)
{
    int64_t num = 0;
    for (int at = 0; at < length; at += PAT_LOG_TEXT_BYTES, num++) {
        pat_log_record r = {.text = {.text = ""}};
        memcpy(r.text.text, text + at,
               (size_t)(length - at < PAT_LOG_TEXT_BYTES ? length - at : PAT_LOG_TEXT_BYTES));
        put(to, &r, PAT_LOG_TEXT);
    }
    return num;
}

static int64_t put_place(FILE *to, int p, int rank)
{
    char text[100];
    int length = snprintf(text, sizeof(text), "app+0x%d%c%s", 100 + p, '\0', calls[p]) + 1;
    pat_log_record r = {.define = {.offset = 100 + p, .number = p, .length = length}};
    put(to, &r, PAT_LOG_SITE);
    int64_t num = 1 + put_text(to, text, length);
    if (rank > 0)
        return num;
    length = snprintf(text, sizeof(text), "app.c:%d", 10 + 2 * p) + 1;
    r = (pat_log_record){.define = {.number = p, .length = length}};
    put(to, &r, PAT_LOG_LINE);
    return num + 1 + put_text(to, text, length);
}

/* The last one that it needs has come, and half a millisecond goes by. */
static int64_t put_call(FILE *to, int p, int i, int rank, int ranks)
{
    const int64_t begin_ns = 10 * MS * (PLACES * i + p), own_ns = arrival_ns(p, i, rank, ranks);
    int64_t needed_ns = own_ns;
    for (int r = 0; r < ranks; r++)
        if ((p != 1 || r == 0) && arrival_ns(p, i, r, ranks) > needed_ns)
            needed_ns = arrival_ns(p, i, r, ranks);
    pat_log_record r = {.call = {.start_ns = begin_ns + own_ns,
                                 .time_ns = needed_ns - own_ns + MS / 2,
                                 .bytes = p == 0   ? 4096
                                          : p == 1 ? 64
                                                   : 0,
                                 .site = p,
                                 .root = p == 1 ? 0 : -1}};
    put(to, &r, PAT_LOG_CALL);
    return 1;
}

static bool make(const char *dir, int rank, int ranks, int turns)
{
    static pat_log_header h;
    static const char zeros[PAT_LOG_HEADER_BYTES - sizeof(h)];
    char path[1000];
    snprintf(path, sizeof(path), "%s/calls-%d.pat", dir, rank);
    FILE *to = fopen(path, "w");
    if (!to)
        return false;
    h = (pat_log_header){.byte_order = PAT_LOG_BYTE_ORDER,
                         .version = PAT_LOG_VERSION,
                         .record_bytes = sizeof(pat_log_record),
                         .rank = rank,
                         .ranks = ranks,
                         .end_ns = 10 * MS * PLACES * turns,
                         .clock_error_ns = 1000 * rank,
                         .run = 1,
                         .mpi = "an MPI library",
                         .pat = "0"};
    memcpy(h.magic, PAT_LOG_MAGIC, sizeof(h.magic));
    memcpy(h.command, "./app\0a <!--<script></script> b", 31);
    snprintf(h.host, sizeof(h.host), "node%d", rank / 2);
    fwrite(&h, sizeof(h), 1, to);
    fwrite(zeros, sizeof(zeros), 1, to);
    pat_log_record comm = {.comm = {.id = 7, .group = 8, .size = ranks, .rank = rank}};
    put(to, &comm, PAT_LOG_COMM);
    h.num_records = 1;
    for (int p = 0; p < PLACES; p++)
        h.num_records += put_place(to, p, rank);
    for (int i = 0; i < turns; i++)
        for (int p = 0; p < PLACES; p++)
            h.num_records += put_call(to, p, i, rank, ranks);
    rewind(to);
    fwrite(&h, sizeof(h), 1, to);
    return fclose(to) == 0;
}

int main(int argc, char **argv)
{
    const int ranks = argc > 2 ? atoi(argv[2]) : 0, turns = argc > 3 ? atoi(argv[3]) : 0;
    if (ranks < 2 || turns < 1)
        return 2;
    for (int r = 0; r < ranks; r++)
        if (!make(argv[1], r, ranks, turns))
            return 1;
    return 0;
}
