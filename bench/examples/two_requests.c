/*
 * two_requests.c — example: a program that reads the last result while it computes the next one.
 *
 * From PAT_Open to PAT_Wait the receive buffer is the library's: blocks of ranks that are ahead land in it
 * while this rank still computes. A program that needs the last result meanwhile therefore alternates two
 * requests with two buffers: one is read, the other one fills.
 *
 * It solves the linear equations A x = b by Jacobi's method. A has 2n on the diagonal and 1 elsewhere, b is
 * chosen so that x[i] = i + 1. Every rank computes its own rows from the whole x of the round before.
 *
 *   mpirun -n 4 two_requests [ROUNDS]
 *
 * Exits with 0 when the answer is right to six digits.
 */
#include <pat.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 240 }; /* equations, shared out evenly: the number of ranks must divide it */

static void must(int code)
{
    if (code == MPI_SUCCESS)
        return;
    fprintf(stderr, "two_requests: %s\n", PAT_Error_string(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Rows [from, to) of this rank: mine = (b - the rest of the row times x) / diagonal. */
static void jacobi_rows(double *mine, const double *x, int first_row, int from, int to)
{
    const double sum_of_solution = N * (N + 1.0) / 2.0;
    for (int i = from; i < to; i++) {
        const int row = first_row + i;
        const double diagonal = 2.0 * N;
        const double b = sum_of_solution + (diagonal - 1.0) * (row + 1.0);
        double rest = 0.0;
        for (int column = 0; column < N; column++)
            rest += column == row ? 0.0 : x[column];
        mine[i] = (b - rest) / diagonal;
    }
}

int main(int argc, char **argv)
{
    /* Early data needs a library thread that may call MPI beside ours. */
    int provided, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int rounds = argc > 1 ? atoi(argv[1]) : 60;
    if (N % size != 0 || rounds < 1) {
        fprintf(stderr, "two_requests: %d ranks, %d rounds: the ranks must divide %d, rounds be at least 1\n",
                size, rounds, N);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const int rows = N / size;
    const int first = rank * rows;

    must(PAT_Init());
    must(PAT_UseAlg("bdr"));

    double mine[N]; /* our rows of the next x */
    double x[2][N] = {{0.0}, {0.0}};
    PAT_Request request[2];
    for (int i = 0; i < 2; i++)
        must(PAT_Allgather_init(mine, rows, MPI_DOUBLE, x[i], rows, MPI_DOUBLE, MPI_COMM_WORLD, &request[i]));

    for (int round = 0; round < rounds; round++) {
        const double *last = x[round % 2];
        PAT_Request next = request[(round + 1) % 2];

        must(PAT_Open(next)); /* x of the next round may fill from here on; `last` is ours to read */
        must(PAT_ProcessingStart());
        jacobi_rows(mine, last, first, 0, rows / 2);
        must(PAT_Edge(50.0));
        jacobi_rows(mine, last, first, rows / 2, rows);
        must(PAT_ProcessingEnd());
        must(PAT_Start(next)); /* our rows are ready */
        must(PAT_Wait(next));
    }

    const double *result = x[rounds % 2];
    double error = 0.0;
    for (int i = 0; i < N; i++)
        error = fmax(error, fabs(result[i] - (i + 1.0)));
    printf("rank %d: %d equations, %d rounds, largest error %.6e\n", rank, N, rounds, error);

    for (int i = 0; i < 2; i++)
        must(PAT_Request_free(&request[i]));
    must(PAT_Finalize());
    MPI_Finalize();
    return error < 1e-6 ? 0 : 1;
}
