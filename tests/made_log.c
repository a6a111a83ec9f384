/*
 * made_log.c — made_log DIR RANKS CALLS [more|ROOT]: the files that PAT_TRACE would leave in DIR of a program with as many calls of MPI_Allgather in line 10 of app.c,
 * MPI_Bcast in line 12 and MPI_Barrier in line 14, on nodes with two ranks each. Every number is known: call i begins 10 i ms after the start, and each rank comes
 * as many milliseconds later as arrival_ns() says. The root of MPI_Bcast is rank 0 or ROOT; there ranks are counted from it on. With `more` each turn goes on with an
 * MPI_Iallreduce in line 16, to which rank 2 comes late, and which is waited for in line 17 a millisecond later; with a message by MPI_Sendrecv; each rank has a node, and it is known what messages take; the all-gathers were run by relay; and ranks have told how far they are. What pat-report makes of them is held
 * against what was worked out by hand.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log_format.h"

enum { PLACES = 3, BEGUN = 3, WAIT = 4, MESSAGES = 5, MORE = 6 };

static const char *const calls[MORE] = {"MPI_Allgather",  "MPI_Bcast", "MPI_Barrier",
                                        "MPI_Iallreduce", "MPI_Wait",  "MPI_Sendrecv"};
static const int lines[MORE] = {10, 12, 14, 16, 17, 18};
static const int64_t MS = 1000000;

/* Of place p in turn i: ranks come in the order of their numbers, 10 us apart, but for one, which is 4 ms late, in the second place every second time. */
static int64_t arrival_ns(int p, int i, int rank, int ranks)
{
    const int late = p == 0 ? ranks - 1 : p == 1 ? 0 : p == BEGUN ? 2 : i % ranks;
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
    length = snprintf(text, sizeof(text), "app.c:%d", lines[p]) + 1;
    r = (pat_log_record){.define = {.number = p, .length = length}};
    put(to, &r, PAT_LOG_LINE);
    return num + 1 + put_text(to, text, length);
}

/* The last one that it needs has come, and half a millisecond goes by. */
static int64_t put_call(FILE *to, int p, int i, int rank, int ranks, int parts, int root)
{
    const int64_t begin_ns = 10 * MS * (parts * i + p), own_ns = arrival_ns(p, i, rank, ranks);
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
                                 .root = p == 1 ? root : -1}};
    put(to, &r, PAT_LOG_CALL);
    return 1;
}

/* Beginning takes 0.1 ms. */
static int64_t put_more(FILE *to, int i, int rank, int ranks)
{
    const int64_t begin_ns = 10 * MS * ((PLACES + 1) * i + BEGUN), own_ns = arrival_ns(BEGUN, i, rank, ranks),
                  last_ns = arrival_ns(BEGUN, i, 2, ranks);
    pat_log_record r = {
        .call = {.start_ns = begin_ns + own_ns, .time_ns = MS / 10, .bytes = 8, .site = BEGUN, .root = -1}};
    put(to, &r, PAT_LOG_CALL);
    r = (pat_log_record){.wait = {.start_ns = begin_ns + own_ns + MS,
                                  .time_ns = MS / 2 + (last_ns > own_ns + MS ? last_ns - own_ns - MS : 0),
                                  .turn = (PLACES + 1) * i + BEGUN,
                                  .site = WAIT}};
    put(to, &r, PAT_LOG_WAIT);
    r = (pat_log_record){.milestone = {.start_ns = begin_ns + own_ns + 6 * MS, .thousandths = 25000}};
    put(to, &r, PAT_LOG_MILESTONE);
    return 3;
}

static int64_t put_plan(FILE *to)
{
    pat_log_record r = {.plan = {.early_bytes = 1000, .alg = "relay"}};
    put(to, &r, PAT_LOG_PLAN);
    return 1;
}

/* A message takes 10 us, and 1 us more for each 1000 bytes. */
static int64_t put_link(FILE *to)
{
    static const int64_t bytes[] = {0, 1000, 100000};
    for (int i = 0; i < 3; i++) {
        pat_log_record r = {.one_way = {.bytes = bytes[i], .ns = 10000 + bytes[i]}};
        put(to, &r, PAT_LOG_ONE_WAY);
    }
    return 3;
}

/* One for each turn, of 0.2 ms. */
static int64_t put_messages(FILE *to, int turns)
{
    pat_log_record r = {
        .sum = {.calls = turns, .time_ns = turns * MS / 5, .bytes = 100 * turns, .site = MESSAGES}};
    put(to, &r, PAT_LOG_SUM);
    return 1;
}

static bool make(const char *dir, int rank, int ranks, int turns, bool more, int root)
{
    static pat_log_header h;
    static const char zeros[PAT_LOG_HEADER_BYTES - sizeof(h)];
    const int parts = more ? PLACES + 1 : PLACES;
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
                         .end_ns = 10 * MS * parts * turns,
                         .clock_error_ns = 1000 * rank,
                         .run = 1,
                         .mpi = "an MPI library",
                         .pat = "0"};
    memcpy(h.magic, PAT_LOG_MAGIC, sizeof(h.magic));
    memcpy(h.command, "./app\0a <!--<script></script> b", 31);
    snprintf(h.host, sizeof(h.host), "node%d", more ? rank : rank / 2);
    fwrite(&h, sizeof(h), 1, to);
    fwrite(zeros, sizeof(zeros), 1, to);
    pat_log_record comm = {.comm = {.id = 7, .group = 8, .size = ranks, .rank = rank}};
    put(to, &comm, PAT_LOG_COMM);
    h.num_records = 1;
    for (int p = 0; p < (more ? MORE : PLACES); p++)
        h.num_records += put_place(to, p, rank);
    for (int i = 0; i < turns; i++) {
        for (int p = 0; p < PLACES; p++) {
            h.num_records +=
                put_call(to, p, i, p == 1 ? (rank - root + ranks) % ranks : rank, ranks, parts, root);
            h.num_records += more && p == 0 ? put_plan(to) : 0;
        }
        h.num_records += more ? put_more(to, i, rank, ranks) : 0;
    }
    h.num_records += more ? put_messages(to, turns) + put_link(to) : 0;
    rewind(to);
    fwrite(&h, sizeof(h), 1, to);
    return fclose(to) == 0;
}

int main(int argc, char **argv)
{
    const int ranks = argc > 2 ? atoi(argv[2]) : 0, turns = argc > 3 ? atoi(argv[3]) : 0;
    const bool more = argc > 4 && strcmp(argv[4], "more") == 0;
    const int root = argc > 4 && !more ? atoi(argv[4]) : 0;
    if (ranks < 2 || turns < 1 || root < 0 || root >= ranks)
        return 2;
    for (int r = 0; r < ranks; r++)
        if (!make(argv[1], r, ranks, turns, more, root))
            return 1;
    return 0;
}
