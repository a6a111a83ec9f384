/*
 * plain_host.c LIBRARY — a program in C that loads a library in Fortran for itself alone, as interpreters do: nobody else sees
 * its symbols, nor those of MPI's Fortran library behind it. Runs guest.f90 in it,
 * and talks to its neighbours itself.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, ranks, sides[2], all_round = 1, wrong = 0, all_wrong = 0;
    MPI_Comm ring;
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void *guest = library ? dlsym(library, "guest_") : NULL;
    if (!guest) {
        fprintf(stderr, "plain_host: %s\n", argc > 1 ? dlerror() : "which library?");
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    ((void (*)(int *))guest)(&wrong);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &all_round, 0, &ring);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, sides, 1, MPI_INT, ring);
    wrong += sides[0] != (rank + ranks - 1) % ranks || sides[1] != (rank + 1) % ranks;
    MPI_Comm_free(&ring);
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("plain_host: %d differences\n", all_wrong);
    MPI_Finalize();
    return wrong > 0;
}
