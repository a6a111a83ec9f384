/*
 * transpose.c — a pseudo-spectral solver as programs are: plain MPI, nothing of this library. It solves the heat equation
 * u_t = u_xx + u_yy on a periodic square, on a grid of N x N complex numbers of which every rank has N / ranks whole rows.
 *
 * A time step transforms the rows, then the columns (FFTW), lets every mode decay as the equation says, and transforms back.
 * A rank has whole columns only after the grid was transposed, for which all ranks send to all. So that the data can move
 * while the program computes, the rows go in blocks: as soon as a block is transformed its transpose is started with
 * MPI_Ialltoall, and the next block is transformed meanwhile. The way back is the same, with the columns' blocks.
 * Whether they do move meanwhile is up to the MPI library. Most move data only while the program is in one of their calls,
 * and then the program waits in MPI_Waitall for what it had hoped to hide.
 *
 *     mpirun -n 8 ./transpose --size 1024 --steps 10 --blocks 4
 *     pat-run mpirun -n 8 ./transpose --size 1024 --steps 10 --blocks 4
 *
 * The field starts as a sum of a few modes, each of which decays as exp(-k^2 t). So the right result is known: the program
 * exits with 1 where it is off by 1e-9 anywhere, and with 2 where it was called wrongly. FFTW's plans are not measured but
 * estimated, so that every run computes the same to the last bit.
 */
#include <complex.h>
#include <fftw3.h>
#include <getopt.h>
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEAST_SIZE = 8, MOST_SIZE = 32768, MOST_STEPS = 1000000 }; /* the least has all the modes below */
enum { TILE = 8 };

static const double end_time = 0.1, tolerance = 1e-9;

/* What the field is made of: amplitude * exp(i (kx x + ky y)). */
static const struct {
    int kx, ky;
    double amplitude;
} modes[] = {{0, 0, 0.5}, {1, 0, 1.0}, {0, -2, 0.75}, {-3, 1, 1.25}, {2, 3, -0.5}};
enum { MODES = sizeof(modes) / sizeof(modes[0]) };

typedef struct options {
    long size, steps, blocks;
    bool help;
} options;

/* One rank's part of the grid. Where it is transposed, rows are columns. */
typedef struct slab {
    int rank, ranks;
    long n, rows, first; /* the grid's rows, ours, and the first of ours */
    long blocks, block;  /* how many blocks, and the rows of each */
    double complex *field, *out, *in;
    double *decay; /* of wave number k in a time step, and what makes up for FFTW's factor N */
    MPI_Request *requests;
    fftw_plan forward, back; /* of one block, in place */
    double waited;           /* seconds in MPI_Waitall */
} slab;

static const char usage[] =
    "usage: transpose [option...]\n"
    "Solve the heat equation on a grid of complex numbers with Fourier transforms; its transposes are "
    "non-blocking.\n"
    "  --size N     rows and columns of the grid, 8 to 32768, a multiple of the number of ranks (default "
    "512)\n"
    "  --steps S    time steps, 1 to 1000000 (default 10)\n"
    "  --blocks B   in how many blocks the rows of a rank are transposed, a divisor of their number;\n"
    "               with 1 nothing overlaps (default: 4, or the largest divisor below it)\n"
    "  --help       this text\n";

/* Rank 0 speaks for all: every rank was given the same arguments. */
#define COMPLAIN(rank, ...) ((rank) == 0 ? (void)fprintf(stderr, "transpose: " __VA_ARGS__) : (void)0)

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
    enum { SIZE = 1, STEPS, BLOCKS, HELP };
    static const struct option known[] = {{"size", required_argument, NULL, SIZE},
                                          {"steps", required_argument, NULL, STEPS},
                                          {"blocks", required_argument, NULL, BLOCKS},
                                          {"help", no_argument, NULL, HELP},
                                          {NULL, 0, NULL, 0}};
    *o = (options){.size = 512, .steps = 10};
    opterr = 0;
    bool good = true;
    while (good && !o->help) {
        const char *given = argv[optind];
        const int c = getopt_long(argc, argv, "+:", known, NULL);
        if (c == -1)
            break;
        switch (c) {
        case SIZE:
            good = whole(rank, "--size", optarg, LEAST_SIZE, MOST_SIZE, &o->size);
            break;
        case STEPS:
            good = whole(rank, "--steps", optarg, 1, MOST_STEPS, &o->steps);
            break;
        case BLOCKS:
            good = whole(rank, "--blocks", optarg, 1, MOST_SIZE, &o->blocks);
            break;
        case HELP:
            o->help = true;
            break;
        case ':':
            COMPLAIN(rank, "%s: a value is missing; see transpose --help\n", given);
            good = false;
            break;
        default:
            COMPLAIN(rank, "'%s': accepted: --size N, --steps S, --blocks B, --help\n", given);
            good = false;
        }
    }
    if (good && !o->help && optind < argc) {
        COMPLAIN(rank, "'%s': accepted: options alone; see transpose --help\n", argv[optind]);
        good = false;
    }
    return good;
}

/* Do these options fit so many ranks? Fills in the number of blocks where none was given. */
static bool fits(options *o, int rank, int ranks)
{
    if (o->size % ranks) {
        COMPLAIN(rank, "--size %ld: accepted with %d ranks: a multiple of %d\n", o->size, ranks, ranks);
        return false;
    }
    const long rows = o->size / ranks;
    if (!o->blocks)
        for (o->blocks = 4; rows % o->blocks;)
            o->blocks--;
    if (rows % o->blocks) {
        COMPLAIN(rank, "--blocks %ld: accepted: a divisor of the %ld rows that each rank has\n", o->blocks,
                 rows);
        return false;
    }
    return true;
}

static void *need(const slab *s, void *memory)
{
    if (!memory) {
        fprintf(stderr, "transpose: rank %d has no memory for %ld of %ld rows\n", s->rank, s->rows, s->n);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static void make(slab *s, const options *o)
{
    s->n = o->size;
    s->rows = s->n / s->ranks;
    s->first = s->rank * s->rows;
    s->blocks = o->blocks;
    s->block = s->rows / s->blocks;
    const size_t numbers = (size_t)s->rows * (size_t)s->n;
    s->field = need(s, fftw_alloc_complex(numbers));
    s->out = need(s, fftw_alloc_complex(numbers));
    s->in = need(s, fftw_alloc_complex(numbers));
    s->decay = need(s, malloc((size_t)s->n * sizeof(*s->decay)));
    s->requests = need(s, malloc((size_t)s->blocks * sizeof(MPI_Request)));

    const double dt = end_time / (double)o->steps;
    for (long i = 0; i < s->n; i++) {
        const double k = (double)(i <= s->n / 2 ? i : i - s->n);
        s->decay[i] = exp(-k * k * dt) / (double)s->n;
    }

    /* The blocks share a plan, and only the first one lies where FFTW would have it. */
    const int n = (int)s->n;
    s->forward = need(s, fftw_plan_many_dft(1, &n, (int)s->block, s->field, NULL, 1, n, s->field, NULL, 1, n,
                                            FFTW_FORWARD, FFTW_ESTIMATE | FFTW_UNALIGNED));
    s->back = need(s, fftw_plan_many_dft(1, &n, (int)s->block, s->field, NULL, 1, n, s->field, NULL, 1, n,
                                         FFTW_BACKWARD, FFTW_ESTIMATE | FFTW_UNALIGNED));
}

static void unmake(slab *s)
{
    fftw_destroy_plan(s->forward);
    fftw_destroy_plan(s->back);
    fftw_free(s->field);
    fftw_free(s->out);
    fftw_free(s->in);
    free(s->decay);
    free(s->requests);
}

static double complex *block_of(const slab *s, double complex *numbers, long b)
{
    return numbers + b * s->block * s->n;
}

static void transform(const slab *s, fftw_plan plan, long b)
{
    fftw_execute_dft(plan, block_of(s, s->field, b), block_of(s, s->field, b));
}

/* Block b, laid out for the ranks: each gets the columns that are its rows on the other side, one after the other. */
static void start_transpose(slab *s, long b)
{
    const double complex *from = block_of(s, s->field, b);
    double complex *to = block_of(s, s->out, b);
    const long part = s->block * s->rows;
    /* A few rows at once, so that what is read and written stays in the cache. */
    for (long some = 0; some < s->block; some += TILE)
        for (long column = 0; column < s->n; column++)
            for (long i = some; i < s->block && i < some + TILE; i++)
                to[column * s->block + i] = from[i * s->n + column];
    MPI_Ialltoall(to, (int)part, MPI_C_DOUBLE_COMPLEX, block_of(s, s->in, b), (int)part, MPI_C_DOUBLE_COMPLEX,
                  MPI_COMM_WORLD, &s->requests[b]);
}

static void finish_transposes(slab *s)
{
    const double called = MPI_Wtime();
    MPI_Waitall((int)s->blocks, s->requests, MPI_STATUSES_IGNORE);
    s->waited += MPI_Wtime() - called;
    for (long b = 0; b < s->blocks; b++) {
        const double complex *from = block_of(s, s->in, b);
        for (long rank = 0; rank < s->ranks; rank++)
            for (long row = 0; row < s->rows; row++)
                for (long i = 0; i < s->block; i++)
                    s->field[row * s->n + rank * s->rows + b * s->block + i] = *from++;
    }
}

/* Block b of the columns, which hold modes now. */
static void let_decay(const slab *s, long b)
{
    double complex *mode = block_of(s, s->field, b);
    const double *of_column = s->decay + s->first + b * s->block;
    for (long column = 0; column < s->block; column++)
        for (long row = 0; row < s->n; row++)
            *mode++ *= of_column[column] * s->decay[row];
}

static void step(slab *s)
{
    for (long b = 0; b < s->blocks; b++) {
        transform(s, s->forward, b);
        start_transpose(s, b);
    }
    finish_transposes(s);
    for (long b = 0; b < s->blocks; b++) {
        transform(s, s->forward, b);
        let_decay(s, b);
        transform(s, s->back, b);
        start_transpose(s, b);
    }
    finish_transposes(s);
    for (long b = 0; b < s->blocks; b++)
        transform(s, s->back, b);
}

/* The field as it is at a time: written to the slab, or held against what is there. Returns the largest error. */
static double exact(slab *s, double time, bool write)
{
    const double angle = 2 * acos(-1.0) / (double)s->n;
    double largest = 0;
    for (long row = 0; row < s->rows; row++) {
        for (long column = 0; column < s->n; column++) {
            double complex u = 0;
            for (int m = 0; m < MODES; m++) {
                const int kx = modes[m].kx, ky = modes[m].ky;
                const double phase = angle * (double)(kx * column + ky * (s->first + row));
                u += modes[m].amplitude * exp(-(kx * kx + ky * ky) * time) * (cos(phase) + I * sin(phase));
            }
            double complex *here = &s->field[row * s->n + column];
            if (write)
                *here = u;
            const double off = cabs(*here - u);
            if (!(off <= largest))
                largest = isnan(off) ? INFINITY : off; /* no comparison finds what is not a number */
        }
    }
    return largest;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    slab s = {0};
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
    exact(&s, 0, true);

    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (long i = 0; i < o.steps; i++)
        step(&s);
    /* The solution is there when the last rank has its part, and as wrong as its worst part. */
    double mine[2] = {MPI_Wtime() - start, exact(&s, end_time, false)}, worst[2];
    MPI_Allreduce(mine, worst, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    const bool right = worst[1] < tolerance;
    if (s.rank == 0)
        printf("transpose: %d ranks, N %ld, %ld steps, %ld blocks: largest error %.3e, %.3f s to solution, "
               "rank 0 waited %.3f s "
               "in MPI_Waitall\n",
               s.ranks, s.n, o.steps, s.blocks, worst[1], worst[0], s.waited);
    if (!right)
        COMPLAIN(s.rank, "the result is wrong: the largest error must be below %g\n", tolerance);
    unmake(&s);
    MPI_Finalize();
    return right ? 0 : 1;
}
