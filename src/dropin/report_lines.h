/*
 * report_lines.h — what is in a report: report.c adds it up, report_write.c puts it where it is to go, as text (report_text.c) or
 * as JSON (report_json.c).
 */
#ifndef PAT_REPORT_LINES_H
#define PAT_REPORT_LINES_H

#include <jansson.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "one_way.h"
#include "pat.h"
#include "replay.h"
#include "sites.h"

#define PAT_TEXT(number)    #number
#define PAT_DOTTED(a, b, c) PAT_TEXT(a) "." PAT_TEXT(b) "." PAT_TEXT(c)
#define PAT_VERSION_TEXT    PAT_DOTTED(PAT_VERSION_MAJOR, PAT_VERSION_MINOR, PAT_VERSION_PATCH)

enum { PAT_REPORT_SCHEMA = 2 }; /* of the JSON: counted up when a key changes its meaning or goes */

/* A rank for which others have waited; no calls: none. */
typedef struct pat_report_late {
    int64_t rank, calls, ns;
} pat_report_late;

enum { PAT_REPORT_LATE = 16 }; /* so many of them a rank tells of a place */

/* A line of the report, which is about one call site: sums over the ranks that call from it. */
typedef struct pat_report_line {
    char name[160], call[32];
    char source[160]; /* "jacobi.c:41", or "jacobi.c:41 < main.c:7"; "": not known */
    int64_t offset;   /* of the call site in the program or library that the name begins with */
    int64_t ranks;    /* how many call from it */
    int rank;         /* whose it is, before lines are added up */
    pat_site_sums sums;
    pat_imbalance arrivals[2]; /* as of pat_site */
    int best;                  /* as of pat_site, a number in the table of algorithms; negative: not known */
    double best_ns, took_ns, whole_part;   /* whole_part: of the time, calls of all ranks */
    int64_t late_calls;                    /* in which any rank has waited */
    pat_report_late late[PAT_REPORT_LATE]; /* for whom, longest first */
} pat_report_line;

/* The time that the library has taken beside the calls; sums over ranks. */
typedef struct pat_report_costs {
    int64_t start_ns, state_ns, end_ns; /* of the program's time */
    int64_t thread_ns;                  /* processor time of the background thread */
} pat_report_costs;

/* Of the clocks' offsets to rank 0's, at the end; the most of all ranks. */
typedef struct pat_report_clocks {
    int64_t error_ns, drift_ppb;
    int64_t measured; /* how many times again after the start */
} pat_report_clocks;

/* Where a rank runs. */
typedef struct pat_report_host {
    char name[64];
} pat_report_host;

/* What a rank has spent its time with. */
typedef struct pat_report_rank {
    int64_t calls, time_ns, wait_ns; /* of collectives */
    int64_t message_ns;
    int64_t caused_ns; /* how long all others have waited for it */
} pat_report_rank;

typedef struct pat_report {
    pat_report_line *lines;
    int num;
    pat_report_host *hosts;   /* of each rank */
    pat_report_rank *by_rank; /* NULL: not known */
    int64_t unmet_calls;      /* of all ranks, that could not be held against those of others */
    int64_t too_many_calls;   /* of these, since there were too many communicators and persistent requests */
    int64_t lost_calls;       /* of all ranks, that were not kept for want of memory */
    int64_t off_calls;        /* of all ranks, before which MPI_Pcontrol had switched counting off */
    int ranks, nodes;
    int64_t
        time_ns; /* of rank 0, from the end of the MPI library's own MPI_Init to the beginning of its MPI_Finalize */
    pat_one_way one_way; /* what messages take */
    pat_report_costs costs;
    pat_report_clocks clocks;
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING], host[256], date[32]; /* of rank 0; when it is written, in UTC */
    char *command; /* rank 0's command line, each word ended by '\0' */
    size_t command_bytes;
    const char *calibrations;  /* the files by which rank 0's calls were chosen, each ended by '\0' */
    size_t calibrations_bytes; /* 0: none */
} pat_report;

/* Collective over comm, of so many ranks: on rank 0 what each has spent its time with, to be freed; NULL there without memory. Returns an MPI error code. */
int pat_report_gather_ranks(const pat_sites *sites, MPI_Comm comm, int ranks, pat_report_rank **by_rank);

/*
 * Where a report goes: `*file` is a file's whole name, to be freed, or NULL for the standard error. Returns 0, or what errno
 * says of why it cannot be written there.
 */
int pat_report_place(const char *report, char **file);

/* Write it there, after filling in what only rank 0 knows: mpi, host, date, command. Returns an MPI error code, with its text. */
int pat_report_put(pat_report *report, const char *file);

void pat_report_text(const pat_report *report, FILE *to);
/* The text's first lines, which say how much of the time is waiting for late ranks, where, and for whom. */
void pat_report_late_text(const pat_report *report, FILE *to);
/* A table of how far apart the ranks came. */
void pat_report_arrivals_text(const pat_report *report, FILE *to);
/* A table of ranks. */
void pat_report_ranks_text(const pat_report *report, FILE *to);
json_t *pat_report_json(const pat_report *report); /* NULL without memory */

/* ---- Figures that both show ----------------------------------------------------------------------------- */

/* Where a rank runs. */
static inline const char *pat_report_host_of(const pat_report *r, int64_t rank)
{
    return r->hosts && rank < r->ranks ? r->hosts[rank].name : "?";
}

/* How many calls ran by plan. */
static inline int64_t pat_report_by_plan(const pat_report_line *l)
{
    int64_t calls = 0;
    for (int a = 0; a < PAT_MAX_ALGS; a++)
        calls += l->sums.alg_calls[a];
    return calls;
}

/* And how many by mock-ups in the MPI library's place. */
static inline int64_t pat_report_by_mock_up(const pat_report_line *l)
{
    int64_t calls = 0;
    for (int i = 0; i < PAT_SITE_MOCKS; i++)
        calls += l->sums.mock_calls[i];
    return calls;
}

/*
 * Time saved by those calls of a line of which it is known when the ranks came: what the MPI library's own all-gather is taken to need
 * from the last arrival on, less what the call took from there. Below 0: lost.
 */
static inline int64_t pat_report_saved_ns(const pat_report_line *l)
{
    return l->sums.native_ns - (l->sums.plan_ns - l->sums.waited_ns);
}

/* Time in which non-blocking calls of a line that plans ran were under way while the program did something else than wait in MPI. */
static inline int64_t pat_report_hidden_ns(const pat_report_line *l)
{
    return l->sums.under_way_ns - l->sums.in_mpi_ns;
}

/* Over the whole program: time saved by calls, and that less what the library has taken beside them. */
typedef struct pat_report_sum {
    int64_t by_calls_ns, saved_ns, known_calls; /* sums over ranks */
    int64_t under_way_ns, hidden_ns;            /* of non-blocking calls, sums over ranks */
    int64_t messages, message_ns;               /* messages between two ranks, sums over ranks */
    int64_t late_ns, met_calls;                 /* waiting for late ranks, sums over ranks */
} pat_report_sum;

static inline pat_report_sum pat_report_add_up(const pat_report *r)
{
    pat_report_sum sum = {0};
    for (int i = 0; i < r->num; i++) {
        sum.by_calls_ns += pat_report_saved_ns(&r->lines[i]);
        sum.known_calls += r->lines[i].sums.num_known;
        sum.under_way_ns += r->lines[i].sums.under_way_ns;
        sum.hidden_ns += pat_report_hidden_ns(&r->lines[i]);
        sum.late_ns += r->lines[i].sums.late_ns;
        sum.messages += r->lines[i].sums.messages;
        sum.message_ns += r->lines[i].sums.message_ns;
        sum.met_calls += r->lines[i].sums.num_met;
    }
    sum.saved_ns = sum.by_calls_ns - r->costs.start_ns - r->costs.state_ns - r->costs.end_ns;
    return sum;
}

enum { PAT_REPORT_WIDTH = 120, PAT_REPORT_NUMBER = 16 };

/* Three digits, at most six of them after the point. Returns text. */
const char *pat_report_digits(double value, char text[PAT_REPORT_NUMBER + 1]);

/* A place in at most `width` characters: its line in the source where that is known, else its name. */
void pat_report_where(const pat_report_line *line, int width, char *text);

/* What the model says that calls of a line would clearly have taken less, by the best algorithm; mean over ranks. 0: nothing, or it is not known. */
static inline double pat_report_spared_ns(const pat_report_line *l)
{
    const double part = l->best >= 0 ? l->whole_part * pat_replay_spared(l->took_ns, l->best_ns) : 0;
    return l->ranks > 0 ? part * (double)l->sums.time_ns / (double)l->ranks : 0;
}

/* Milliseconds of ns / parts; 0 where there are no parts. */
static inline double pat_report_ms(int64_t ns, int64_t parts)
{
    return parts > 0 ? 1e-6 * (double)ns / (double)parts : 0;
}

#endif
