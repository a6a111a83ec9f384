/*
 * report_ranks.c — the report's third table: what each rank has spent in collectives, of it waiting for others, in messages, and how long others have waited for it.
 */
#include <stdlib.h>

#include "dropin.h"
#include "report_lines.h"

static pat_report_rank add_up_own(const pat_sites *sites)
{
    pat_report_rank own = {0};
    for (int i = 0; i < sites->num; i++) {
        const pat_site_sums *sums = &sites->sites[i].sums;
        own.calls += sums->calls - sums->messages;
        own.time_ns += sums->time_ns - sums->message_ns;
        own.wait_ns += sums->late_ns;
        own.message_ns += sums->message_ns;
    }
    return own;
}

/* Into waited_ns[r] how long this rank has waited for rank r. */
static void add_up_late(const pat_sites *sites, int64_t waited_ns[], int ranks)
{
    for (int i = 0; i < sites->num; i++)
        for (int r = 0; r < sites->sites[i].num_late && r < ranks; r++)
            waited_ns[r] += sites->sites[i].late[r].ns;
}

int pat_report_gather_ranks(const pat_sites *sites, MPI_Comm comm, int ranks, pat_report_rank **by_rank)
{
    enum { WORDS = sizeof(pat_report_rank) / sizeof(int64_t) };
    const pat_report_rank own = add_up_own(sites);
    int rank;
    PMPI_Comm_rank(comm, &rank);
    int64_t *waited_ns = calloc(2 * (size_t)ranks, sizeof(*waited_ns));
    pat_report_rank *all = rank == 0 ? calloc((size_t)ranks, sizeof(*all)) : NULL;
    int good = waited_ns && (rank != 0 || all), least = 0;
    int rc = PMPI_Allreduce(&good, &least, 1, MPI_INT, MPI_MIN, comm);
    if (rc == MPI_SUCCESS && least)
        rc = PMPI_Gather(&own, WORDS, MPI_INT64_T, all, WORDS, MPI_INT64_T, 0, comm);
    if (rc == MPI_SUCCESS && least) {
        add_up_late(sites, waited_ns, ranks);
        rc = PMPI_Reduce(waited_ns, waited_ns + ranks, ranks, MPI_INT64_T, MPI_SUM, 0, comm);
    }
    for (int r = 0; r < ranks && rc == MPI_SUCCESS && least && all; r++)
        all[r].caused_ns = waited_ns[ranks + r];
    free(waited_ns);
    if (rc == MPI_SUCCESS && least)
        *by_rank = all;
    else
        free(all);
    return rc;
}

typedef struct row {
    int rank;
    int64_t caused_ns;
} row;

/* Those first for which others have waited longest. */
static int by_caused(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->caused_ns != y->caused_ns)
        return x->caused_ns < y->caused_ns ? 1 : -1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_rank(const void *a, const void *b)
{
    const row *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void write_rank(const pat_report *r, int rank, FILE *to)
{
    enum { HOST = 24 };
    const pat_report_rank *of = &r->by_rank[rank];
    const int64_t in_mpi_ns = of->time_ns + of->message_ns;
    char time[PAT_REPORT_NUMBER + 1], wait[PAT_REPORT_NUMBER + 1], caused[PAT_REPORT_NUMBER + 1],
        messages[PAT_REPORT_NUMBER + 1], rest[PAT_REPORT_NUMBER + 1];
    fprintf(
        to, "%6d  %-*.*s %10lld %11s %11s %11s %11s %11s\n", rank, HOST, HOST, pat_report_host_of(r, rank),
        (long long)of->calls, pat_report_digits(1e-3 * pat_report_ms(of->time_ns, 1), time),
        pat_report_digits(1e-3 * pat_report_ms(of->wait_ns, 1), wait),
        pat_report_digits(1e-3 * pat_report_ms(of->message_ns, 1), messages),
        pat_report_digits(1e-3 * pat_report_ms(r->time_ns > in_mpi_ns ? r->time_ns - in_mpi_ns : 0, 1), rest),
        pat_report_digits(1e-3 * pat_report_ms(of->caused_ns, 1), caused));
}

void pat_report_ranks_text(const pat_report *r, FILE *to)
{
    enum { MOST_ROWS = 64, SOME_ROWS = 32 };
    row *rows = r->by_rank ? malloc((size_t)r->ranks * sizeof(*rows)) : NULL;
    if (!rows)
        return;
    const int num = r->ranks <= MOST_ROWS ? r->ranks : SOME_ROWS;
    for (int i = 0; i < r->ranks; i++)
        rows[i] = (row){i, r->by_rank[i].caused_ns};
    if (num < r->ranks) {
        qsort(rows, (size_t)r->ranks, sizeof(*rows), by_caused);
        qsort(rows, (size_t)num, sizeof(*rows), by_rank);
    }
    fputs("#\n# Ranks, in s: in collectives, of that waiting for late ranks, in messages between two ranks, "
          "all else; and how long\n"
          "# the others together have waited for it.",
          to);
    if (num < r->ranks)
        fprintf(to, " Only the %d of %d that were waited for longest are here.", num, r->ranks);
    fprintf(to, "\n%6s  %-24s %10s %11s %11s %11s %11s %11s\n", "rank", "host", "calls", "collectives",
            "waiting", "messages", "all else", "waited for");
    for (int i = 0; i < num; i++)
        write_rank(r, rows[i].rank, to);
    free(rows);
}
