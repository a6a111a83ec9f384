/*
 * collectives.c — the collectives that the library may run itself. Must change nothing that a program can see but the time
 * they take: what is not run here goes on unchanged, with its errors.
 */
#include "calls.h"
#include "dropin.h"

static const pat_outcome nothing_known = {.late = {.rank = -1}};

/* What a tool behind makes of a call is not one more: see pat_dropin_inside. */
static int64_t begin(void)
{
    pat_dropin_inside = true;
    return pat_clock_local_ns();
}

static void add_call(const void *site, const char *call, int64_t bytes, int64_t start_ns,
                     const pat_outcome *outcome)
{
    pat_dropin_count(site, call, bytes, pat_clock_local_ns() - start_ns, outcome);
    pat_dropin_inside = false;
}

int pat_dropin_allgather(pat_gate_any *next, const void *returns_to, const void *sendbuf, int sendcount,
                         MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                         MPI_Comm comm)
{
    const void *site = pat_dropin_site(returns_to);
    pat_outcome outcome = nothing_known;
    const bool told = pat_dropin_reports && !pat_dropin_inside;
    const int64_t start = told ? begin() : 0;
    const int rc = pat_allgather((__typeof__(&PMPI_Allgather))next, site, told ? &outcome : NULL, sendbuf,
                                 sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    if (told)
        add_call(site, "MPI_Allgather", pat_dropin_bytes(recvcount, recvtype), start, &outcome);
    return rc;
}

/* What this rank gives. */
static int64_t own_bytes(const void *sendbuf, int sendcount, MPI_Datatype sendtype, const int recvcounts[],
                         MPI_Datatype recvtype, MPI_Comm comm)
{
    int rank;
    if (sendbuf != MPI_IN_PLACE)
        return pat_dropin_bytes(sendcount, sendtype);
    return recvcounts && PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS
               ? pat_dropin_bytes(recvcounts[rank], recvtype)
               : 0;
}

int pat_dropin_allgatherv(pat_gate_any *next, const void *returns_to, const void *sendbuf, int sendcount,
                          MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[],
                          MPI_Datatype recvtype, MPI_Comm comm)
{
    const void *site = pat_dropin_site(returns_to);
    pat_outcome outcome = nothing_known;
    const bool told = pat_dropin_reports && !pat_dropin_inside;
    const int64_t start = told ? begin() : 0;
    const int rc = pat_allgatherv((__typeof__(&PMPI_Allgatherv))next, site, told ? &outcome : NULL, sendbuf,
                                  sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
    if (told)
        add_call(site, "MPI_Allgatherv",
                 rc == MPI_SUCCESS ? own_bytes(sendbuf, sendcount, sendtype, recvcounts, recvtype, comm) : 0,
                 start, &outcome);
    return rc;
}

int pat_dropin_allreduce(pat_gate_any *next, const void *returns_to, const void *sendbuf, void *recvbuf,
                         int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    const void *site = pat_dropin_site(returns_to);
    pat_outcome outcome = nothing_known;
    const bool told = pat_dropin_reports && !pat_dropin_inside;
    const int64_t start = told ? begin() : 0;
    const int rc = pat_allreduce((__typeof__(&PMPI_Allreduce))next, site, told ? &outcome : NULL, sendbuf,
                                 recvbuf, count, datatype, op, comm);
    if (told)
        add_call(site, "MPI_Allreduce", pat_dropin_bytes(count, datatype), start, &outcome);
    return rc;
}

int pat_dropin_bcast(pat_gate_any *next, const void *returns_to, void *buffer, int count,
                     MPI_Datatype datatype, int root, MPI_Comm comm)
{
    const void *site = pat_dropin_site(returns_to);
    pat_outcome outcome = nothing_known;
    const bool told = pat_dropin_reports && !pat_dropin_inside;
    const int64_t start = told ? begin() : 0;
    const int rc =
        pat_bcast((__typeof__(&PMPI_Bcast))next, told ? &outcome : NULL, buffer, count, datatype, root, comm);
    if (told)
        add_call(site, "MPI_Bcast", pat_dropin_bytes(count, datatype), start, &outcome);
    return rc;
}

int pat_dropin_gather(pat_gate_any *next, const void *returns_to, const void *sendbuf, int sendcount,
                      MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                      MPI_Comm comm)
{
    const void *site = pat_dropin_site(returns_to);
    pat_outcome outcome = nothing_known;
    const bool told = pat_dropin_reports && !pat_dropin_inside;
    const int64_t start = told ? begin() : 0;
    const int rc = pat_gather((__typeof__(&PMPI_Gather))next, told ? &outcome : NULL, sendbuf, sendcount,
                              sendtype, recvbuf, recvcount, recvtype, root, comm);
    if (told)
        add_call(site, "MPI_Gather",
                 sendbuf == MPI_IN_PLACE ? pat_dropin_bytes(recvcount, recvtype)
                                         : pat_dropin_bytes(sendcount, sendtype),
                 start, &outcome);
    return rc;
}

void pat_dropin_take(void)
{
    pat_dropin_set(PAT_WAY_C, PAT_CALL_Allgather, (pat_gate_any *)pat_dropin_allgather);
    pat_dropin_set(PAT_WAY_C, PAT_CALL_Allgatherv, (pat_gate_any *)pat_dropin_allgatherv);
    pat_dropin_set(PAT_WAY_C, PAT_CALL_Allreduce, (pat_gate_any *)pat_dropin_allreduce);
    pat_dropin_set(PAT_WAY_C, PAT_CALL_Bcast, (pat_gate_any *)pat_dropin_bcast);
    pat_dropin_set(PAT_WAY_C, PAT_CALL_Gather, (pat_gate_any *)pat_dropin_gather);
}
