/*
 * one_way.c — see one_way.h.
 */
#include "one_way.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"

enum { TAG = 5, LEAST_ROUNDS = 3, MOST_ROUNDS = 50 };

static const int64_t SIZES[PAT_ONE_WAY_SIZES] = {4,     256,   1024,   4096,   16384,
                                                 32768, 65536, 131072, 262144, 1048576};

/* For the rounds of one size. */
static const int64_t ENOUGH_NS = 10000000;

double pat_one_way_ns(const pat_one_way *t, double bytes)
{
    int i = 1;
    if (t->num == 0)
        return 0;
    if (t->num == 1 || bytes <= (double)t->bytes[0])
        return (double)t->ns[0];
    while (i < t->num - 1 && bytes > (double)t->bytes[i])
        i++;
    const double slope = (double)(t->ns[i] - t->ns[i - 1]) / (double)(t->bytes[i] - t->bytes[i - 1]);
    return (double)t->ns[i - 1] + slope * (bytes - (double)t->bytes[i - 1]);
}

/* The first rank that is not on rank 0's node; else rank 1. */
static int find_partner(MPI_Comm comm, int rank, int size, int *partner)
{
    char own[MPI_MAX_PROCESSOR_NAME] = "", first[MPI_MAX_PROCESSOR_NAME];
    int length, rc = PMPI_Get_processor_name(own, &length);
    memcpy(first, own, sizeof(first));
    if (rc == MPI_SUCCESS)
        rc = PMPI_Bcast(first, sizeof(first), MPI_BYTE, 0, comm);
    const int elsewhere = strcmp(own, first) != 0 ? rank : size;
    if (rc == MPI_SUCCESS)
        rc = PMPI_Allreduce(&elsewhere, partner, 1, MPI_INT, MPI_MIN, comm);
    if (*partner == size)
        *partner = 1;
    return rc;
}

static int answer(char *buffer, int bytes, MPI_Comm comm)
{
    int rc = MPI_SUCCESS;
    for (char more = 1; more && rc == MPI_SUCCESS;) { /* the first byte: another round follows */
        rc = PMPI_Recv(buffer, bytes, MPI_BYTE, 0, TAG, comm, MPI_STATUS_IGNORE);
        more = buffer[0];
        if (rc == MPI_SUCCESS)
            rc = PMPI_Send(buffer, bytes, MPI_BYTE, 0, TAG, comm);
    }
    return rc;
}

static int ask(char *buffer, int bytes, int peer, MPI_Comm comm, int64_t *least_ns)
{
    int rc = MPI_SUCCESS;
    const int64_t begin_ns = pat_clock_local_ns();
    *least_ns = INT64_MAX;
    for (int i = 0, last = 0; !last && rc == MPI_SUCCESS; i++) {
        const int64_t start_ns = pat_clock_local_ns();
        last = i == MOST_ROUNDS || (i >= LEAST_ROUNDS && start_ns - begin_ns > ENOUGH_NS);
        buffer[0] = !last;
        rc = PMPI_Send(buffer, bytes, MPI_BYTE, peer, TAG, comm);
        if (rc == MPI_SUCCESS)
            rc = PMPI_Recv(buffer, bytes, MPI_BYTE, peer, TAG, comm, MPI_STATUS_IGNORE);
        const int64_t took_ns = (pat_clock_local_ns() - start_ns) / 2;
        if (i > 0 && took_ns < *least_ns) /* the first may have to open the connection */
            *least_ns = took_ns;
    }
    return rc;
}

int pat_one_way_measure(pat_one_way *t, MPI_Comm comm, int64_t most_bytes)
{
    int rank, size, partner = 1, num = 1;
    *t = (pat_one_way){0};
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    if (size < 2)
        return MPI_SUCCESS;
    int rc = find_partner(comm, rank, size, &partner);
    while (num < PAT_ONE_WAY_SIZES && SIZES[num - 1] < most_bytes)
        num++;
    char *buffer = calloc((size_t)SIZES[num - 1], 1);
    int none = !buffer, any_none = 1;
    if (rc == MPI_SUCCESS)
        rc = PMPI_Allreduce(&none, &any_none, 1, MPI_INT, MPI_MAX, comm);
    for (int i = 0; i < num && !any_none && rc == MPI_SUCCESS; i++) {
        t->bytes[i] = SIZES[i];
        if (rank == 0)
            rc = ask(buffer, (int)SIZES[i], partner, comm, &t->ns[i]);
        else if (rank == partner)
            rc = answer(buffer, (int)SIZES[i], comm);
    }
    free(buffer);
    t->num = any_none ? 0 : num;
    if (rc == MPI_SUCCESS && t->num > 0)
        rc = PMPI_Bcast(t->ns, num, MPI_INT64_T, 0, comm);
    return rc;
}
