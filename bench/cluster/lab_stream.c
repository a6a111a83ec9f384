/* lab-stream: does every link of the emulated cluster carry its nominal rate, all links busy at once?
 *
 * One rank per node. Each streams chunks of at most 16 KiB to its right neighbour and takes the left
 * neighbour's; the receiver times the steady part. Exit 0: every node within the tolerance of nominal. 1:
 * not. 2: bad option. It must never be made kinder (longer messages, fewer links, a best-of): what it passes
 * is what later figures stand on, and a machine that is too slow for the rate has to fail here and not in a
 * diagram. */
#include <errno.h>
#include <getopt.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_finalize.h"

/* The token bucket counts an Ethernet frame as Linux hands it over: 14 bytes of Ethernet header and the IP
 * packet, without preamble, checksum and gap. A full frame at MTU 1500 is 14 + 20 (IP) + 32 (TCP with
 * timestamps) + 1448 bytes of payload, so of the line rate 1448/1514 = 95.64 % can be payload. Not deducted,
 * so taken out of the tolerance: the acknowledgements of the stream in the other direction (66 bytes for two
 * frames or more: at most 2.2 %) and the MPI library's own header (some 30 bytes per chunk: 0.2 %). */
#define FRAME_BYTES   1514.0
#define PAYLOAD_BYTES 1448.0

enum { MAX_CHUNK = 16 * 1024, MAX_WINDOW = 128, TAG_DATA = 1, TAG_CREDIT = 2 };

struct options {
    double line_rate; /* bits per second */
    double seconds;
    double tolerance; /* per cent */
    long chunk;
    bool json;
};

/* A count of chunks, not a time, ends each part: it is the same on every rank, so nobody needs to be told to
 * stop. */
struct plan {
    long warm, steady, total;
    int window, credit; /* chunks under way at most, chunks per credit message */
};

static void usage(FILE *to)
{
    fprintf(to, "usage: lab-stream --rate BITS_PER_SECOND [--seconds S] [--chunk BYTES] [--tolerance "
                "PERCENT] [--json]\n"
                "  --rate       line rate of every link, 1000000 to 10000000000\n"
                "  --seconds    length of the steady part, 0.1 to 60 (default 1.5)\n"
                "  --chunk      bytes per message, 1024 to 16384 (default 16384)\n"
                "  --tolerance  accepted deviation from nominal in per cent, 0.1 to 50 (default 5)\n"
                "  --json       report as one JSON object\n");
}

static bool number(const char *option, const char *text, double low, double high, double *value, bool loud)
{
    char *end = NULL;
    errno = 0;
    double v = strtod(text, &end);
    if (errno != 0 || end == text || *end != '\0' || !(v >= low && v <= high)) {
        if (loud)
            fprintf(stderr, "lab-stream: --%s '%s': not a number from %.10g to %.10g\n", option, text, low,
                    high);
        return false;
    }
    *value = v;
    return true;
}

/* Every rank reads the same arguments and comes to the same verdict; only one (`loud`) says why. */
static bool parse(int argc, char **argv, struct options *o, bool loud, bool *help)
{
    static const struct option table[] = {{"rate", required_argument, NULL, 'r'},
                                          {"seconds", required_argument, NULL, 's'},
                                          {"chunk", required_argument, NULL, 'c'},
                                          {"tolerance", required_argument, NULL, 't'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    *o = (struct options){.seconds = 1.5, .tolerance = 5.0, .chunk = MAX_CHUNK};
    bool ok = true;
    double chunk = MAX_CHUNK;
    opterr = loud;
    for (int c; ok && (c = getopt_long(argc, argv, "h", table, NULL)) != -1;) {
        switch (c) {
        case 'r':
            ok = number("rate", optarg, 1e6, 1e10, &o->line_rate, loud);
            break;
        case 's':
            ok = number("seconds", optarg, 0.1, 60, &o->seconds, loud);
            break;
        case 'c':
            ok = number("chunk", optarg, 1024, MAX_CHUNK, &chunk, loud);
            break;
        case 't':
            ok = number("tolerance", optarg, 0.1, 50, &o->tolerance, loud);
            break;
        case 'j':
            o->json = true;
            break;
        case 'h':
            *help = true;
            return true;
        default:
            ok = false;
        }
    }
    if (ok && optind < argc) {
        if (loud)
            fprintf(stderr, "lab-stream: unexpected argument '%s'\n", argv[optind]);
        ok = false;
    }
    if (ok && o->line_rate == 0) {
        if (loud)
            fprintf(stderr, "lab-stream: --rate is missing (bits per second, 1000000 to 10000000000)\n");
        ok = false;
    }
    o->chunk = (long)chunk;
    return ok;
}

/* Warm-up: TCP's window has to open and the buckets, full after idling, have to empty. Cool-down: a node that
 * is done early would leave its slower neighbours a less busy machine, so everybody streams on while the last
 * one is timed. 50 ms worth of chunks under way outlast a rank's wait for a core. */
static struct plan plan_chunks(double seconds, double per_second)
{
    struct plan p;
    double credit = per_second * 0.05 / 4;
    p.credit = credit < 2 ? 2 : credit > MAX_WINDOW / 4 ? MAX_WINDOW / 4 : (int)credit;
    p.window = 4 * p.credit;
    p.warm = (long)(0.3 * seconds * per_second) + p.window;
    p.steady = (long)(seconds * per_second) + p.window;
    p.total = p.warm + p.steady + p.steady / 5 + p.window;
    p.total += p.credit - p.total % p.credit;
    return p;
}

/* Small messages are copied and reported as sent at once, so without credits a sender would put all it has
 * into the library's memory. A credit for several chunks costs next to nothing. Returns the payload received,
 * bits/s. */
static double stream(MPI_Comm comm, long chunk, const struct plan *p)
{
    enum { RECV = 0, SEND = MAX_WINDOW, CREDIT_IN = 2 * MAX_WINDOW, CREDIT_OUT, REQUESTS };
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    char *buffer = calloc(2 * MAX_WINDOW, (size_t)chunk);
    if (buffer == NULL)
        MPI_Abort(comm, 1);

    MPI_Request request[REQUESTS];
    int done[REQUESTS], count;
    long posted = 0, received = 0, sent = 0, allowed = p->window;
    double begin = 0, end = 0;
    for (int i = 0; i < REQUESTS; i++)
        request[i] = MPI_REQUEST_NULL;
    for (int i = 0; i < p->window && posted < p->total; i++, posted++)
        MPI_Irecv(buffer + i * chunk, (int)chunk, MPI_BYTE, left, TAG_DATA, comm, &request[RECV + i]);
    MPI_Irecv(NULL, 0, MPI_BYTE, right, TAG_CREDIT, comm, &request[CREDIT_IN]);
    MPI_Barrier(comm);

    while (received < p->total || sent < p->total || allowed < p->total + p->window) {
        for (int i = SEND; i < SEND + p->window && sent < p->total && sent < allowed; i++) {
            if (request[i] != MPI_REQUEST_NULL)
                continue;
            MPI_Isend(buffer + i * chunk, (int)chunk, MPI_BYTE, right, TAG_DATA, comm, &request[i]);
            sent++;
        }
        MPI_Waitsome(REQUESTS, request, &count, done, MPI_STATUSES_IGNORE);
        for (int d = 0; d < count; d++) {
            int i = done[d];
            if (i < SEND) {
                received++;
                if (received == p->warm)
                    begin = MPI_Wtime();
                if (received == p->warm + p->steady)
                    end = MPI_Wtime();
                if (posted < p->total) {
                    MPI_Irecv(buffer + i * chunk, (int)chunk, MPI_BYTE, left, TAG_DATA, comm, &request[i]);
                    posted++;
                }
                if (received % p->credit == 0) {
                    MPI_Wait(&request[CREDIT_OUT], MPI_STATUS_IGNORE);
                    MPI_Isend(NULL, 0, MPI_BYTE, left, TAG_CREDIT, comm, &request[CREDIT_OUT]);
                }
            } else if (i == CREDIT_IN) {
                allowed += p->credit;
                if (allowed < p->total + p->window)
                    MPI_Irecv(NULL, 0, MPI_BYTE, right, TAG_CREDIT, comm, &request[CREDIT_IN]);
            }
        }
    }
    MPI_Waitall(REQUESTS, request, MPI_STATUSES_IGNORE);
    free(buffer);
    return (double)p->steady * (double)chunk * 8 / (end - begin);
}

/* A rate that is out of reach by far would take minutes to refute: the first, short round finds that out, and
 * the round that counts is then sized by what came through. */
static double measure(MPI_Comm comm, const struct options *o, double nominal)
{
    double per_second = nominal / 8 / (double)o->chunk;
    struct plan p = plan_chunks(0.05, per_second);
    double rough = stream(comm, o->chunk, &p), slowest;
    MPI_Allreduce(&rough, &slowest, 1, MPI_DOUBLE, MPI_MIN, comm);
    if (slowest < nominal / 2)
        per_second *= slowest / nominal;
    p = plan_chunks(o->seconds, per_second);
    return stream(comm, o->chunk, &p);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool report(double *rate, int n, const struct options *o, double nominal)
{
    qsort(rate, (size_t)n, sizeof *rate, ascending);
    double median = (rate[(n - 1) / 2] + rate[n / 2]) / 2;
    double low = 100 * (rate[0] / nominal - 1), high = 100 * (rate[n - 1] / nominal - 1);
    double worst = -low > high ? low : high;
    bool pass = -worst <= o->tolerance && worst <= o->tolerance;
    if (o->json)
        printf("{\"nodes\": %d, \"line_bps\": %.0f, \"nominal_bps\": %.0f, \"min_bps\": %.0f, "
               "\"median_bps\": %.0f, "
               "\"max_bps\": %.0f, \"worst_percent\": %.2f, \"tolerance_percent\": %g, \"pass\": %s}\n",
               n, o->line_rate, nominal, rate[0], median, rate[n - 1], worst, o->tolerance,
               pass ? "true" : "false");
    else
        printf("lab check: %s: %d nodes, line %.6g Mbit/s, payload per node min/median/max %.2f/%.2f/%.2f of "
               "%.2f "
               "Mbit/s nominal, worst %+.1f %% (limit %g %%)\n",
               pass ? "pass" : "FAIL", n, o->line_rate / 1e6, rate[0] / 1e6, median / 1e6, rate[n - 1] / 1e6,
               nominal / 1e6, worst, o->tolerance);
    fflush(stdout);
    return pass;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    struct options o;
    bool help = false;
    int status = 2;
    if (!parse(argc, argv, &o, rank == 0, &help)) {
        if (rank == 0)
            usage(stderr);
    } else if (help) {
        if (rank == 0)
            usage(stdout);
        status = 0;
    } else if (size < 2) {
        fprintf(stderr, "lab-stream: a ring needs 2 ranks or more, this is 1\n");
    } else {
        double nominal = o.line_rate * PAYLOAD_BYTES / FRAME_BYTES;
        double mine = measure(MPI_COMM_WORLD, &o, nominal);
        double *rate = calloc((size_t)size, sizeof *rate);
        if (rate == NULL)
            MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Gather(&mine, 1, MPI_DOUBLE, rate, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (rank == 0)
            status = report(rate, size, &o, nominal) ? 0 : 1;
        MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
        free(rate);
    }
    fflush(stdout);
    bench_finalize(status);
    return status;
}
