/*
 * trace_csv.c — see trace_out.h.
 */
#include <string.h>

#include "trace_out.h"

/* A name with what would end a field put between quotes. */
static void put_text(FILE *to, const char *text)
{
    fputc('"', to);
    for (const char *c = text; *c; c++) {
        if (*c == '"')
            fputc('"', to);
        fputc((unsigned char)*c < ' ' ? '?' : *c, to);
    }
    fputc('"', to);
}

static void put_alg(FILE *to, const char *alg, int64_t early_bytes)
{
    fputc(',', to);
    if (strpbrk(alg, ",\"")) /* no name of ours */
        put_text(to, alg);
    else
        fputs(alg, to);
    fprintf(to, ",%lld\n", (long long)early_bytes);
}

/* How far a rank was, in per cent, stands where calls have their bytes. */
static void write_told(const pat_log_told *told, int r, const char *host, FILE *to)
{
    fprintf(to, "%d,", r);
    put_text(to, host);
    fprintf(to, ",,,\"%s\",,,,%g,%.3f,,,,,\n",
            told->percent <= 0     ? "PAT_ProcessingStart"
            : told->percent >= 100 ? "PAT_ProcessingEnd"
                                   : "PAT_Edge",
            told->percent, 1e-3 * (double)told->start_ns);
}

bool pat_trace_csv(const pat_log *log, const trace_sums *sums, FILE *to)
{
    (void)sums;
    fputs("rank,host,communicator,turn,call,place,line,root,bytes,start_us,time_us,wait_us,late_rank,run_by,"
          "early_bytes\n",
          to);
    for (int r = 0; r < log->num_ranks; r++) {
        const pat_log_rank *rank = &log->ranks[r];
        for (int64_t i = 0; i < rank->num_events; i++) {
            const pat_log_event *e = &rank->events[i];
            const pat_log_site *site = &log->sites[e->site];
            fprintf(to, "%d,", r);
            put_text(to, rank->host);
            fprintf(to, ",%d,%lld,", e->comm, (long long)e->turn);
            put_text(to, site->call);
            fputc(',', to);
            put_text(to, site->name);
            fputc(',', to);
            put_text(to, site->line);
            if (e->root >= 0)
                fprintf(to, ",%d", e->root);
            else
                fputc(',', to);
            fprintf(to, ",%lld,%.3f,%.3f,", (long long)e->bytes, 1e-3 * (double)e->start_ns,
                    1e-3 * (double)e->time_ns);
            if (e->wait_ns >= 0)
                fprintf(to, "%.3f", 1e-3 * (double)e->wait_ns);
            fputc(',', to);
            if (e->late >= 0)
                fprintf(to, "%d", e->late);
            if (e->alg >= 0)
                put_alg(to, log->algs[e->alg], e->early_bytes);
            else
                fputs(",,\n", to);
        }
        for (int64_t i = 0; i < rank->num_told; i++)
            write_told(&rank->told[i], r, rank->host, to);
    }
    return !ferror(to);
}
