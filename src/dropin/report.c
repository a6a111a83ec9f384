/*
 * report.c — see report.h: adding up over ranks. Places are told apart by their names, which are the same on all ranks that run
 * the same program.
 */
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dropin.h"
#include "error.h"
#include "report_lines.h"
#include "runtime.h"

int pat_report_begin(void)
{
    pat_dropin *d = malloc(sizeof(*d));
    int rank, error = d ? 0 : ENOMEM, worst = 0;
    PMPI_Comm_rank(pat_rt.world, &rank);
    if (d) {
        *d = (pat_dropin){.sites.lock = PTHREAD_MUTEX_INITIALIZER, .begin_ns = pat_clock_local_ns()};
        if (rank == 0)
            error = pat_report_place(pat_rt.config.report, &d->file);
    }
    if (PMPI_Allreduce(&error, &worst, 1, MPI_INT, MPI_MAX, pat_rt.world) != MPI_SUCCESS)
        worst = EIO;
    if (!worst) {
        pat_rt.dropin = d;
        return 0;
    }
    if (d)
        free(d->file);
    free(d);
    return worst;
}

static void fill(pat_report_line *l, const pat_site *s)
{
    *l = (pat_report_line){.ranks = 1, .last_rank = -1};
    pat_sites_name(s->address, l->name, sizeof(l->name));
    snprintf(l->call, sizeof(l->call), "%s", s->call);
    l->sums = s->sums;
    for (int r = 0; r < s->num_last; r++)
        if (s->last_calls[r] > l->last_calls) {
            l->last_calls = s->last_calls[r];
            l->last_rank = r;
        }
}

static void add(pat_report_line *to, const pat_report_line *l)
{
    pat_site_sums *sum = &to->sums;
    const pat_site_sums *more = &l->sums;
    to->ranks += l->ranks;
    sum->calls += more->calls;
    sum->time_ns += more->time_ns;
    sum->bytes += more->bytes;
    sum->least_bytes = more->least_bytes < sum->least_bytes ? more->least_bytes : sum->least_bytes;
    sum->most_bytes = more->most_bytes > sum->most_bytes ? more->most_bytes : sum->most_bytes;
    for (int a = 0; a < PAT_MAX_ALGS; a++)
        sum->alg_calls[a] += more->alg_calls[a];
    for (int why = 0; why < PAT_NUM_WHYS; why++)
        sum->why_calls[why] += more->why_calls[why];
    sum->num_known += more->num_known;
    sum->waited_ns += more->waited_ns;
    sum->native_ns += more->native_ns;
    sum->plan_ns += more->plan_ns;
}

static int by_name(const void *a, const void *b)
{
    const pat_report_line *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->call, y->call);
}

/* Most time first. */
static int by_time(const void *a, const void *b)
{
    const pat_report_line *x = a, *y = b;
    return (x->sums.time_ns < y->sums.time_ns) - (x->sums.time_ns > y->sums.time_ns);
}

/* qsort is not stable: lines of the same place are added up, wherever rank 0's own is among them. */
static int merge(pat_report_line *lines, int num)
{
    int kept = 0;
    qsort(lines, (size_t)num, sizeof(*lines), by_name);
    for (int i = 0; i < num; i++) {
        if (kept == 0 || by_name(&lines[kept - 1], &lines[i]) != 0) {
            lines[kept++] = lines[i];
            continue;
        }
        if (lines[kept - 1].last_rank < 0) {
            lines[kept - 1].last_rank = lines[i].last_rank;
            lines[kept - 1].last_calls = lines[i].last_calls;
        }
        add(&lines[kept - 1], &lines[i]);
    }
    qsort(lines, (size_t)kept, sizeof(*lines), by_time);
    return kept;
}

/* On rank 0 all ranks' lines, in one block of memory to be freed; NULL and an error code when there is none. */
static int collect(const pat_sites *sites, pat_report_line **all, int *num_all)
{
    int rank, size, rc, mine = sites->num, total = 0;
    PMPI_Comm_rank(pat_rt.world, &rank);
    PMPI_Comm_size(pat_rt.world, &size);
    pat_report_line *lines = calloc((size_t)mine + 1, sizeof(*lines));
    int *num = calloc(2 * (size_t)size, sizeof(*num)), *at = num + size;
    int ok = lines && num, all_ok = 0;
    for (int i = 0; i < mine && lines; i++) {
        fill(&lines[i], &sites->sites[i]);
        if (rank != 0) { /* rank 0's word */
            lines[i].last_rank = -1;
            lines[i].last_calls = 0;
        }
    }
    *all = NULL;
    rc = PMPI_Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, pat_rt.world);
    const int bytes = mine * (int)sizeof(pat_report_line);
    if (rc == MPI_SUCCESS && all_ok)
        rc = PMPI_Gather(&bytes, 1, MPI_INT, num, 1, MPI_INT, 0, pat_rt.world);
    for (int r = 0; r < size && rank == 0 && num; r++) {
        at[r] = total;
        total += num[r];
    }
    *all = calloc(1, (size_t)total + 1);
    ok = all_ok && *all != NULL;
    if (rc == MPI_SUCCESS)
        rc = PMPI_Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, pat_rt.world);
    if (rc == MPI_SUCCESS && all_ok)
        rc = PMPI_Gatherv(lines, bytes, MPI_BYTE, *all, num, at, MPI_BYTE, 0, pat_rt.world);
    else if (rc == MPI_SUCCESS)
        rc = pat_error(MPI_ERR_NO_MEM, "no memory to collect the report");
    *num_all = total / (int)sizeof(pat_report_line);
    free(lines);
    free(num);
    return rc;
}

int pat_report_write(void)
{
    pat_dropin *d = pat_rt.dropin;
    pat_report_line *lines;
    int num, rank, ranks;
    pat_rt.dropin = NULL;
    PMPI_Comm_rank(pat_rt.world, &rank);
    PMPI_Comm_size(pat_rt.world, &ranks);
    int rc = collect(&d->sites, &lines, &num);
    if (rc == MPI_SUCCESS && rank == 0)
        rc = pat_report_put(lines, merge(lines, num), ranks, pat_clock_local_ns() - d->begin_ns, d->file);
    free(lines);
    pat_sites_clear(&d->sites);
    free(d->file);
    free(d);
    return rc;
}
