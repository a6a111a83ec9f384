/*
 * mpi_tell.c — what ranks tell each other reaches every one of them, by rank, in groups of 1, 2, 3 ... ranks; also where one is far behind,
 * so that the words of a later telling come while it still waits for those of an earlier one, and where two tellings are under way at once.
 *
 * ranks: 2 5 8
 */
#include <stdio.h>
#include <unistd.h>

#include "tell.h"

enum { TURNS = 200, MOST = 8, TWO = 2 };

/* Of more bytes than a word, and no power of two. */
typedef struct words {
    int rank, turn, which;
} words;

typedef struct telling {
    pat_tell tell;
    words all[MOST];
    bool done;
} telling;

static int failures;

static void check(bool right, const char *what, int size, int turn)
{
    if (right)
        return;
    fprintf(stderr, "%d ranks, turn %d: %s\n", size, turn, what);
    failures++;
}

static bool all_right(const telling *t, int turn, int which)
{
    bool right = true;
    for (int r = 0; r < t->tell.who.num_ranks; r++)
        right = right && t->all[r].rank == r && t->all[r].turn == turn && t->all[r].which == which;
    return right;
}

static void tell_in(MPI_Comm comm)
{
    telling of[TWO];
    pat_tellers who = {.comm = comm};
    MPI_Comm_rank(comm, &who.rank);
    MPI_Comm_size(comm, &who.num_ranks);
    for (who.tag = 0; who.tag < TWO; who.tag++)
        check(pat_tell_init(&of[who.tag].tell, &who, sizeof(words)) == 0, "memory", who.num_ranks, 0);
    for (int turn = 0; turn < TURNS; turn++) {
        if (turn % 10 == who.rank)
            usleep(500);
        for (int i = 0; i < TWO; i++) {
            const int which = (i + who.rank) % TWO; /* in any order */
            const words mine = {who.rank, turn, which};
            of[which].done = false;
            check(pat_tell_begin(&of[which].tell, &mine) == MPI_SUCCESS, "begin", who.num_ranks, turn);
        }
        while (!of[0].done || !of[1].done)
            for (int i = 0; i < TWO; i++) {
                bool moved = false;
                if (!of[i].done)
                    check(pat_tell_test(&of[i].tell, of[i].all, &moved, &of[i].done) == MPI_SUCCESS, "test",
                          who.num_ranks, turn);
            }
        for (int i = 0; i < TWO; i++)
            check(all_right(&of[i], turn, i), "wrong words", who.num_ranks, turn);
    }
    for (int i = 0; i < TWO; i++)
        pat_tell_free(&of[i].tell);
}

int main(int argc, char **argv)
{
    int rank, size, result = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int ranks = 1; ranks <= size; ranks++) {
        MPI_Comm some;
        MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, -rank, &some);
        if (some == MPI_COMM_NULL)
            continue;
        tell_in(some);
        MPI_Comm_free(&some);
    }
    MPI_Allreduce(&failures, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return result != 0;
}
