/*
 * bench_call.c — see bench_call.h.
 */
#include "bench_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_must.h"
#include "collective.h"
#include "pat.h"

#define FORM(OP, name, ...) {#name, PAT_OP_##OP, false, false},
static const bench_form forms[] = {PAT_COLLECTIVES(FORM){"alltoallv", PAT_OP_ALLTOALL, true, false},
                                   {"gatherv", PAT_OP_GATHER, true, false},
                                   {"scatterv", PAT_OP_SCATTER, true, false},
                                   {"barrier", PAT_OP_ALLGATHER, false, true}};
enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

#define NAME(OP, name, ...) #name ", "
const char bench_form_names[] = PAT_COLLECTIVES(NAME) "alltoallv, gatherv, scatterv, barrier";

const bench_form *bench_form_number(int i)
{
    return i >= 0 && i < FORMS ? &forms[i] : NULL;
}

const bench_form *bench_form_find(const char *name)
{
    for (int i = 0; i < FORMS; i++)
        if (!strcmp(name, forms[i].name))
            return &forms[i];
    return NULL;
}

void bench_buffers_make(bench_buffers *b, int bytes)
{
    *b = (bench_buffers){.items = bytes > 4 ? bytes / (int)sizeof(uint32_t) : 1, .comm = MPI_COMM_WORLD};
    MPI_Comm_rank(MPI_COMM_WORLD, &b->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b->ranks);
    const size_t words = (size_t)b->items * (size_t)b->ranks;
    b->out = bench_must_alloc(words, sizeof(*b->out));
    b->in = bench_must_alloc(words, sizeof(*b->in));
    b->counts = bench_must_alloc((size_t)b->ranks, sizeof(*b->counts));
    b->places = bench_must_alloc((size_t)b->ranks, sizeof(*b->places));
    for (int r = 0; r < b->ranks; r++) {
        b->counts[r] = b->items;
        b->places[r] = r * b->items;
    }
}

void bench_buffers_free(bench_buffers *b)
{
    free(b->out);
    free(b->in);
    free(b->counts);
    free(b->places);
}

static uint32_t as_float(uint32_t number)
{
    const float value = (float)number;
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static uint32_t number(const bench_buffers *b, int rank, int k)
{
    const uint32_t any = (b->calls * 2654435761u) ^ ((uint32_t)rank * 40503u + (uint32_t)k * 2246822519u);
    return b->floats ? any >> 20 : any;
}

/* What rank `rank` gives as its k-th word. */
static uint32_t word(const bench_buffers *b, int rank, int k)
{
    const uint32_t given = number(b, rank, k);
    return b->floats ? as_float(given) : given;
}

void bench_call_fill(bench_buffers *b, const bench_form *f)
{
    const enum pat_op op = f->op;
    const int blocks = pat_collective_of(op)->personal ? b->ranks : 1;
    b->calls++;
    for (int k = 0; k < blocks * b->items; k++)
        b->out[k] = word(b, b->rank, k);
    memset(b->in, 0, (size_t)b->ranks * (size_t)b->items * sizeof(*b->in));
    if (op == PAT_OP_BCAST && b->rank == 0)
        memcpy(b->in, b->out, (size_t)b->items * sizeof(*b->in));
}

/* The k-th word of the result's r-th block. */
static uint32_t wanted(const bench_buffers *b, enum pat_op op, int r, int k)
{
    const pat_collective *row = pat_collective_of(op);
    const int at = row->personal ? b->rank * b->items + k : k;
    uint32_t sum = 0;
    if (!row->reduces)
        return word(b, row->all_give ? r : 0, at);
    for (int i = 0; i < b->ranks; i++)
        sum += number(b, i, at);
    return b->floats ? as_float(sum) : sum;
}

void bench_call_check(const bench_buffers *b, const bench_form *f)
{
    const enum pat_op op = f->op;
    if (f->is_barrier)
        return;
    const pat_collective *row = pat_collective_of(op);
    const int blocks = row->all_get || b->rank == 0 ? pat_collective_blocks(row, b->ranks) : 0;
    for (int r = 0; r < blocks; r++)
        for (int k = 0; k < b->items; k++)
            if (b->in[(size_t)r * (size_t)b->items + (size_t)k] != wanted(b, op, r, k)) {
                fprintf(stderr, "%s: rank %d has a wrong result\n", row->mpi, b->rank);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
}

static MPI_Datatype type_of(const bench_buffers *b)
{
    return b->floats ? MPI_FLOAT : MPI_UINT32_T;
}

#define PICK(name) (b->as_program ? by_pat ? MPI_##name : PMPI_##name : by_pat ? PAT_##name : MPI_##name)

MPI_Request bench_call_start(const bench_buffers *b, const bench_form *f, bool by_pat)
{
    MPI_Request request = MPI_REQUEST_NULL;
    const MPI_Datatype type = type_of(b);
    const MPI_Comm comm = b->comm;
    switch (f->op) {
    case PAT_OP_ALLGATHER:
        if (f->is_barrier)
            MUST(PICK(Ibarrier)(comm, &request));
        else
            MUST(PICK(Iallgather)(b->out, b->items, type, b->in, b->items, type, comm, &request));
        break;
    case PAT_OP_BCAST:
        MUST(PICK(Ibcast)(b->in, b->items, type, 0, comm, &request));
        break;
    case PAT_OP_GATHER:
        if (f->lists)
            MUST(
                PICK(Igatherv)(b->out, b->items, type, b->in, b->counts, b->places, type, 0, comm, &request));
        else
            MUST(PICK(Igather)(b->out, b->items, type, b->in, b->items, type, 0, comm, &request));
        break;
    case PAT_OP_ALLREDUCE:
        MUST(PICK(Iallreduce)(b->out, b->in, b->items, type, MPI_SUM, comm, &request));
        break;
    case PAT_OP_SCATTER:
        if (f->lists)
            MUST(PICK(Iscatterv)(b->out, b->counts, b->places, type, b->in, b->items, type, 0, comm,
                                 &request));
        else
            MUST(PICK(Iscatter)(b->out, b->items, type, b->in, b->items, type, 0, comm, &request));
        break;
    case PAT_OP_REDUCE:
        MUST(PICK(Ireduce)(b->out, b->in, b->items, type, MPI_SUM, 0, comm, &request));
        break;
    case PAT_OP_REDUCE_SCATTER:
        MUST(PICK(Ireduce_scatter_block)(b->out, b->in, b->items, type, MPI_SUM, comm, &request));
        break;
    default:
        if (f->lists)
            MUST(PICK(Ialltoallv)(b->out, b->counts, b->places, type, b->in, b->counts, b->places, type, comm,
                                  &request));
        else
            MUST(PICK(Ialltoall)(b->out, b->items, type, b->in, b->items, type, comm, &request));
    }
    return request;
}

void bench_call_run(const bench_buffers *b, const bench_form *f, bool by_pat)
{
    const MPI_Datatype type = type_of(b);
    const MPI_Comm comm = b->comm;
    switch (f->op) {
    case PAT_OP_ALLGATHER:
        if (f->is_barrier)
            MUST(MPI_Barrier(comm)); /* the library has no blocking one */
        else
            MUST(PICK(Allgather)(b->out, b->items, type, b->in, b->items, type, comm));
        break;
    case PAT_OP_BCAST:
        MUST(PICK(Bcast)(b->in, b->items, type, 0, comm));
        break;
    case PAT_OP_GATHER:
        if (f->lists)
            MUST(PICK(Gatherv)(b->out, b->items, type, b->in, b->counts, b->places, type, 0, comm));
        else
            MUST(PICK(Gather)(b->out, b->items, type, b->in, b->items, type, 0, comm));
        break;
    case PAT_OP_ALLREDUCE:
        MUST(PICK(Allreduce)(b->out, b->in, b->items, type, MPI_SUM, comm));
        break;
    case PAT_OP_SCATTER:
        if (f->lists)
            MUST(PICK(Scatterv)(b->out, b->counts, b->places, type, b->in, b->items, type, 0, comm));
        else
            MUST(PICK(Scatter)(b->out, b->items, type, b->in, b->items, type, 0, comm));
        break;
    case PAT_OP_REDUCE:
        MUST(PICK(Reduce)(b->out, b->in, b->items, type, MPI_SUM, 0, comm));
        break;
    case PAT_OP_REDUCE_SCATTER:
        MUST(PICK(Reduce_scatter_block)(b->out, b->in, b->items, type, MPI_SUM, comm));
        break;
    default:
        if (f->lists)
            MUST(
                PICK(Alltoallv)(b->out, b->counts, b->places, type, b->in, b->counts, b->places, type, comm));
        else
            MUST(PICK(Alltoall)(b->out, b->items, type, b->in, b->items, type, comm));
    }
}
