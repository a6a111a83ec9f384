/*
 * cg.c — conjugate gradients as programs are: plain MPI, nothing of this library. It solves Poisson's equation on a square, by finite differences on N x N
 * points inside, for many right-hand sides at once: an ensemble. Every rank has N / ranks whole rows of points.
 *
 * A step of conjugate gradients needs two scalar products of each system, over all ranks. In the pipelined form (P. Ghysels, W. Vanroose, "Hiding global
 * synchronization latency in the preconditioned Conjugate Gradient algorithm", Parallel Computing 40, 2014) both are summed up by one all-reduce, started with
 * MPI_Iallreduce, and the matrix is multiplied meanwhile. Whether the sums do move meanwhile is up to the MPI library. Most move data only while
 * the program is in one of their calls, and then it waits in MPI_Wait for what it had hoped to hide.
 *
 *     mpirun -n 8 ./cg --size 64 --systems 1024
 *     PAT_REORDER=1 pat-run mpirun -n 8 ./cg --size 64 --systems 1024
 *
 * Sums of floating-point numbers the MPI library runs unless PAT_REORDER says that they may be joined in another order; the drop-in moves them meanwhile, but on a single node. The rows of
 * neighbours are exchanged by MPI_Sendrecv, in which the MPI library moves the sums as well, so that little is left to gain where the network is what takes the time.
 *
 * The right-hand sides are made from solutions, so that the right result is known: the program exits with 1 where it is off by 1e-6 anywhere, and with 2 where
 * it was called wrongly.
 */
#include <getopt.h>
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_SIZE = 2, MOST_SIZE = 1024, MOST_SYSTEMS = 1 << 20, MOST_STEPS = 100000, STEPS_A_POINT = 20 };

static const double residual = 1e-9, tolerance = 1e-6;

typedef struct options {
    long size, systems, steps;
    bool blocking, help;
} options;

/* One rank's rows, with a row of each neighbour before and behind them. The values of all systems at a point lie together. */
typedef struct solver {
    int rank, ranks;
    long n, rows, first; /* points in a row, our rows, and the first of ours */
    size_t m, row;       /* systems, and the numbers in a row */
    bool blocking;
    double *x, *r, *w, *p, *s, *z, *q;
    double *sums, *parts;         /* (r, r) of each system, then (w, r) */
    double *enough;               /* (r, r) at which a system is solved */
    double *gamma, *alpha, *beta; /* of the last step; alpha 0: there was none */
    double waited;                /* seconds in MPI_Wait, or in MPI_Allreduce */
} solver;

static const char usage[] =
    "usage: cg [option...]\n"
    "Solve Poisson's equation for many right-hand sides with pipelined conjugate gradients; their sums are "
    "non-blocking.\n"
    "  --size N      points in a row and a column, 2 to 1024, a multiple of the number of ranks (default "
    "64)\n"
    "  --systems M   right-hand sides, 1 to 1048576 (default 256); twice as many numbers are summed up\n"
    "  --steps S     steps at most, 1 to 100000 (default: 20 for each point in a row)\n"
    "  --blocking    sum up by MPI_Allreduce: nothing overlaps\n"
    "  --help        this text\n";

/* Rank 0 speaks for all: every rank was given the same arguments. */
#define COMPLAIN(rank, ...) ((rank) == 0 ? (void)fprintf(stderr, "cg: " __VA_ARGS__) : (void)0)

static bool whole(int rank, const char *option, const char *text, long least, long most, long *value)
{
    char *end;
    *value = strtol(text, &end, 10);
    if (end != text && !*end && *value >= least && *value <= most)
        return true;
    COMPLAIN(rank, "%s '%s': accepted: a whole number from %ld to %ld\n", option, text, least, most);
    return false;
}

static bool parse(int argc, char **argv, int rank, options *o)
{
    enum { SIZE = 1, SYSTEMS, STEPS, BLOCKING, HELP };
    static const struct option known[] = {
        {"size", required_argument, NULL, SIZE},   {"systems", required_argument, NULL, SYSTEMS},
        {"steps", required_argument, NULL, STEPS}, {"blocking", no_argument, NULL, BLOCKING},
        {"help", no_argument, NULL, HELP},         {NULL, 0, NULL, 0}};
    *o = (options){.size = 64, .systems = 256};
    opterr = 0;
    bool good = true;
    while (good && !o->help) {
        const char *given = argv[optind];
        const int c = getopt_long(argc, argv, "+:", known, NULL);
        if (c == -1)
            break;
        if (c == SIZE) {
            good = whole(rank, "--size", optarg, LEAST_SIZE, MOST_SIZE, &o->size);
        } else if (c == SYSTEMS) {
            good = whole(rank, "--systems", optarg, 1, MOST_SYSTEMS, &o->systems);
        } else if (c == STEPS) {
            good = whole(rank, "--steps", optarg, 1, MOST_STEPS, &o->steps);
        } else if (c == BLOCKING) {
            o->blocking = true;
        } else if (c == HELP) {
            o->help = true;
        } else {
            if (c == ':')
                COMPLAIN(rank, "%s: a value is missing; see cg --help\n", given);
            else
                COMPLAIN(rank, "'%s': accepted: --size N, --systems M, --steps S, --blocking, --help\n",
                         given);
            good = false;
        }
    }
    if (good && !o->help && optind < argc) {
        COMPLAIN(rank, "'%s': accepted: options alone; see cg --help\n", argv[optind]);
        good = false;
    }
    return good;
}

static bool fits(const options *o, int rank, int ranks)
{
    if (o->size % ranks) {
        COMPLAIN(rank, "--size %ld: accepted with %d ranks: a multiple of %d up to %d\n", o->size, ranks,
                 ranks, MOST_SIZE);
        return false;
    }
    return true;
}

static double *numbers(const solver *s, size_t count)
{
    double *n = calloc(count, sizeof(*n));
    if (!n) {
        fprintf(stderr, "cg: rank %d has no memory for %zu numbers\n", s->rank, count);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return n;
}

static void make(solver *s, const options *o)
{
    double **const fields[] = {&s->x, &s->r, &s->w, &s->p, &s->s, &s->z, &s->q};
    s->n = o->size;
    s->rows = s->n / s->ranks;
    s->first = s->rank * s->rows;
    s->m = (size_t)o->systems;
    s->row = (size_t)s->n * s->m;
    s->blocking = o->blocking;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        *fields[i] = numbers(s, (size_t)(s->rows + 2) * s->row);
    s->sums = numbers(s, 2 * s->m);
    s->parts = numbers(s, 2 * s->m);
    s->enough = numbers(s, s->m);
    s->gamma = numbers(s, s->m);
    s->alpha = numbers(s, s->m);
    s->beta = numbers(s, s->m);
}

static void unmake(solver *s)
{
    double *const all[] = {s->x,    s->r,     s->w,      s->p,     s->s,     s->z,   s->q,
                           s->sums, s->parts, s->enough, s->gamma, s->alpha, s->beta};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        free(all[i]);
}

/* The solution of system k at a point, 0 at the border. */
static double exact(const solver *s, long row, long column, size_t k)
{
    const double h = 1.0 / (double)(s->n + 1), x = (double)(column + 1) * h, y = (double)(row + 1) * h;
    return (1 + (double)(k % 7)) * sin(acos(-1.0) * (double)(1 + k % 3) * x) * y * (1 - y) +
           (double)(k % 5) * x * x * (1 - x) * y * (1 - y);
}

static void exchange_borders(const solver *s, double *of)
{
    const int before = s->rank > 0 ? s->rank - 1 : MPI_PROC_NULL,
              behind = s->rank < s->ranks - 1 ? s->rank + 1 : MPI_PROC_NULL, count = (int)s->row;
    double *const last = of + (size_t)s->rows * s->row;
    MPI_Sendrecv(of + s->row, count, MPI_DOUBLE, before, 0, last + s->row, count, MPI_DOUBLE, behind, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, count, MPI_DOUBLE, behind, 1, of, count, MPI_DOUBLE, before, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* to = A of: four times each point less its four neighbours. */
static void multiply(const solver *s, double *of, double *to)
{
    exchange_borders(s, of);
    for (size_t row = 1; row <= (size_t)s->rows; row++)
        for (size_t column = 0; column < (size_t)s->n; column++) {
            const size_t at = row * s->row + column * s->m;
            const double left = column > 0 ? 1 : 0, right = column + 1 < (size_t)s->n ? 1 : 0;
            const double *const west = of + at - (column > 0 ? s->m : 0),
                                *const east = of + at + (right > 0 ? s->m : 0), *const here = of + at,
                                *const north = here - s->row, *const south = here + s->row;
            for (size_t k = 0; k < s->m; k++)
                to[at + k] = 4 * here[k] - left * west[k] - right * east[k] - north[k] - south[k];
        }
}

/* x is 0, so that the residual is the right-hand side. */
static void begin(solver *s)
{
    for (long row = 0; row < s->rows; row++)
        for (long column = 0; column < s->n; column++)
            for (size_t k = 0; k < s->m; k++)
                s->p[(size_t)(row + 1) * s->row + (size_t)column * s->m + k] =
                    exact(s, s->first + row, column, k);
    multiply(s, s->p, s->r);
    memset(s->p, 0, (size_t)(s->rows + 2) * s->row * sizeof(double));
    multiply(s, s->r, s->w);
}

static void add_up(const solver *s)
{
    memset(s->parts, 0, 2 * s->m * sizeof(double));
    for (size_t at = s->row; at < (size_t)(s->rows + 1) * s->row; at += s->m)
        for (size_t k = 0; k < s->m; k++) {
            s->parts[k] += s->r[at + k] * s->r[at + k];
            s->parts[s->m + k] += s->w[at + k] * s->r[at + k];
        }
}

/* The sums, and q = A w meanwhile. */
static void sum_and_multiply(solver *s)
{
    MPI_Request request = MPI_REQUEST_NULL;
    const int count = (int)(2 * s->m);
    add_up(s);
    double called = MPI_Wtime();
    if (s->blocking) {
        MPI_Allreduce(s->parts, s->sums, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        s->waited += MPI_Wtime() - called;
    } else {
        MPI_Iallreduce(s->parts, s->sums, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    }
    multiply(s, s->w, s->q);
    called = MPI_Wtime();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (!s->blocking)
        s->waited += MPI_Wtime() - called;
}

static bool is_solved(const solver *s, size_t k)
{
    return s->sums[k] <= s->enough[k];
}

/* Of a system that is solved nothing changes any more: what is left of its residual is rounding, and its products may be anything. */
static void find_factors(solver *s)
{
    for (size_t k = 0; k < s->m; k++) {
        const double gamma = s->sums[k], delta = s->sums[s->m + k];
        const bool goes_on = s->alpha[k] > 0; /* or it begins, or begins anew */
        s->beta[k] = goes_on ? gamma / s->gamma[k] : 0;
        const double below = goes_on ? delta - s->beta[k] * gamma / s->alpha[k] : delta;
        const bool rests =
            is_solved(s, k) || !(below > 1e-12 * fabs(delta)); /* what is left of it is rounding */
        s->beta[k] = rests ? 0 : s->beta[k];
        s->alpha[k] = rests ? 0 : gamma / below;
        s->gamma[k] = gamma;
    }
}

static void move(solver *s)
{
    for (size_t point = s->row; point < (size_t)(s->rows + 1) * s->row; point += s->m)
        for (size_t k = 0; k < s->m; k++) {
            const size_t at = point + k;
            const double a = s->alpha[k], b = s->beta[k];
            s->z[at] = s->q[at] + b * s->z[at];
            s->s[at] = s->w[at] + b * s->s[at];
            s->p[at] = s->r[at] + b * s->p[at];
            s->x[at] += a * s->p[at];
            s->r[at] -= a * s->s[at];
            s->w[at] -= a * s->z[at];
        }
}

/* Returns how many steps there were. All ranks stop in the same one, since nearly every MPI library gives all of them the same sums to the last bit. */
static long solve(solver *s, long most)
{
    for (long step = 0; step < most; step++) {
        bool done = true;
        sum_and_multiply(s);
        for (size_t k = 0; k < s->m; k++) {
            if (step == 0)
                s->enough[k] = residual * residual * s->sums[k];
            done = done && is_solved(s, k);
        }
        if (done)
            return step;
        find_factors(s);
        move(s);
    }
    return most;
}

static double largest_error(const solver *s)
{
    double largest = 0;
    for (long row = 0; row < s->rows; row++)
        for (long column = 0; column < s->n; column++)
            for (size_t k = 0; k < s->m; k++) {
                const double off = fabs(s->x[(size_t)(row + 1) * s->row + (size_t)column * s->m + k] -
                                        exact(s, s->first + row, column, k));
                if (!(off <= largest))
                    largest = isnan(off) ? INFINITY : off; /* no comparison finds what is not a number */
            }
    return largest;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    solver s = {0};
    MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s.ranks);
    options o;
    const bool good = parse(argc, argv, s.rank, &o) && (o.help || fits(&o, s.rank, s.ranks));
    if (!good || o.help) {
        if (good && s.rank == 0)
            fputs(usage, stdout);
        MPI_Finalize();
        return good ? 0 : 2;
    }
    make(&s, &o);
    begin(&s);

    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    const long most = o.steps ? o.steps : STEPS_A_POINT * o.size, steps = solve(&s, most);
    /* The solution is there when the last rank has its part, and as wrong as its worst part. */
    double mine[2] = {MPI_Wtime() - start, largest_error(&s)}, worst[2];
    MPI_Allreduce(mine, worst, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    const bool right = worst[1] < tolerance;
    if (s.rank == 0)
        printf("cg: %d ranks, N %ld, %ld systems, %ld steps: largest error %.1e, %.3f s to solution, rank 0 "
               "waited %.3f s for sums\n",
               s.ranks, s.n, o.systems, steps, worst[1], worst[0], s.waited);
    if (!right)
        COMPLAIN(s.rank,
                 "the result is wrong: after %ld steps of at most %ld the largest error is %.1e; accepted: "
                 "below %g\n",
                 steps, most, worst[1], tolerance);
    unmake(&s);
    MPI_Finalize();
    return right ? 0 : 1;
}
