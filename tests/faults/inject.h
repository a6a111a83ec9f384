/*
 * inject.h — put before every file of the library in a build of its own: each place at which it asks for memory, or for something of MPI
 * that can fail, can be told to fail, by its file, its line, and which time it is come to (inject.c). Queries of a valid handle cannot
 * fail and are left alone.
 */
#ifndef INJECT_H
#define INJECT_H

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Shall this one fail? Thread-safe. */
bool inject(const char *file, int line, const char *name);

/* The program has been told of an error: now no rank hears of another (lost.c). False: the others are not told of it. */
bool inject_lost(void);

/* All ranks call it, after one barrier and before another: from now on they hear of each other again. */
void inject_found(void);

#define FAULTY(name, failed, ...) (inject(__FILE__, __LINE__, #name) ? (failed) : name(__VA_ARGS__))

#define malloc(...)  FAULTY(malloc, NULL, __VA_ARGS__)
#define calloc(...)  FAULTY(calloc, NULL, __VA_ARGS__)
#define realloc(...) FAULTY(realloc, NULL, __VA_ARGS__)
#define mmap(...)    FAULTY(mmap, MAP_FAILED, __VA_ARGS__)

#define PMPI_Allgather(...)            FAULTY(PMPI_Allgather, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Allgatherv(...)           FAULTY(PMPI_Allgatherv, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Allreduce(...)            FAULTY(PMPI_Allreduce, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Alltoall(...)             FAULTY(PMPI_Alltoall, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Alltoallv(...)            FAULTY(PMPI_Alltoallv, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Barrier(...)              FAULTY(PMPI_Barrier, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Bcast(...)                FAULTY(PMPI_Bcast, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Cancel(...)               FAULTY(PMPI_Cancel, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Comm_create_keyval(...)   FAULTY(PMPI_Comm_create_keyval, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Comm_free(...)            FAULTY(PMPI_Comm_free, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Comm_set_attr(...)        FAULTY(PMPI_Comm_set_attr, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Comm_split(...)           FAULTY(PMPI_Comm_split, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Comm_split_type(...)      FAULTY(PMPI_Comm_split_type, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Exscan(...)               FAULTY(PMPI_Exscan, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Gather(...)               FAULTY(PMPI_Gather, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Gatherv(...)              FAULTY(PMPI_Gatherv, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Iallgather(...)           FAULTY(PMPI_Iallgather, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Iallreduce(...)           FAULTY(PMPI_Iallreduce, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Iprobe(...)               FAULTY(PMPI_Iprobe, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Irecv(...)                FAULTY(PMPI_Irecv, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Isend(...)                FAULTY(PMPI_Isend, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Pack(...)                 FAULTY(PMPI_Pack, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Recv(...)                 FAULTY(PMPI_Recv, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Recv_init(...)            FAULTY(PMPI_Recv_init, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Reduce(...)               FAULTY(PMPI_Reduce, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Reduce_local(...)         FAULTY(PMPI_Reduce_local, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Reduce_scatter(...)       FAULTY(PMPI_Reduce_scatter, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Reduce_scatter_block(...) FAULTY(PMPI_Reduce_scatter_block, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Scan(...)                 FAULTY(PMPI_Scan, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Scatter(...)              FAULTY(PMPI_Scatter, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Scatterv(...)             FAULTY(PMPI_Scatterv, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Send(...)                 FAULTY(PMPI_Send, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Sendrecv(...)             FAULTY(PMPI_Sendrecv, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Test(...)                 FAULTY(PMPI_Test, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Testall(...)              FAULTY(PMPI_Testall, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Testsome(...)             FAULTY(PMPI_Testsome, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Type_commit(...)          FAULTY(PMPI_Type_commit, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Type_contiguous(...)      FAULTY(PMPI_Type_contiguous, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Type_create_hindexed(...) FAULTY(PMPI_Type_create_hindexed, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Unpack(...)               FAULTY(PMPI_Unpack, MPI_ERR_INTERN, __VA_ARGS__)
#define PMPI_Wait(...)                 FAULTY(PMPI_Wait, MPI_ERR_INTERN, __VA_ARGS__)

#endif
