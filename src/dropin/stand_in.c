/*
 * stand_in.c — see stand_in.h.
 */
#include "stand_in.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain_type.h"
#include "reduction.h"
#include "runtime.h"
#include "stand_in_files.h"

/* A profile whose names are looked up. */
typedef struct stand_in_profile {
    const pat_mockup_profile *ranges;
    const pat_face *face;   /* NULL: of MPI_Scan */
    const pat_mock *native; /* the collective's own */
    const pat_mock *mocks[PAT_MOCKUP_ALGS];
    int numbers[PAT_MOCKUP_ALGS]; /* theirs in the list of all */
} stand_in_profile;

typedef struct pat_stand_ins {
    pat_stand_in_files files;
    stand_in_profile *profiles;
    int num;
    pat_mock_scratch *scratch;
} pat_stand_ins;

/* ---- Start and end ---------------------------------------------------------------------------------------- */

static void tell(const char *what, const char *why)
{
    fprintf(stderr, "pat: %s: %s; the program runs without it\n", what, why);
}

static bool knows(const char *collective, const char *alg)
{
    return pat_mock_find(collective, alg ? alg : "default") != NULL;
}

static const pat_face *face_of(const char *collective)
{
    static const pat_face *const faces[] = {
        &pat_face_allgather, &pat_face_allreduce, &pat_face_alltoall, &pat_face_bcast,
        &pat_face_gather,    &pat_face_reduce,    &pat_face_scatter,  &pat_face_reduce_scatter_block};
    for (size_t i = 0; i < sizeof(faces) / sizeof(faces[0]); i++)
        if (strcmp(faces[i]->mpi, collective) == 0)
            return faces[i];
    return NULL;
}

static int number_of(const pat_mock *mock)
{
    int i = 0;
    while (pat_mock_at(i) != mock)
        i++;
    return i;
}

static void look_up(pat_stand_ins *s)
{
    for (s->num = 0; s->num < s->files.num; s->num++) {
        stand_in_profile *p = &s->profiles[s->num];
        p->ranges = &s->files.files[s->num].profile;
        p->face = face_of(p->ranges->collective);
        p->native = pat_mock_find(p->ranges->collective, "default");
        for (int a = 0; a < p->ranges->num_algs; a++) {
            p->mocks[a] = pat_mock_find(p->ranges->collective, p->ranges->algs[a]);
            p->numbers[a] = number_of(p->mocks[a]);
        }
    }
}

static void explain(const pat_stand_ins *s)
{
    for (int i = 0; i < s->num; i++) {
        const pat_mockup_profile *p = s->profiles[i].ranges;
        fprintf(stderr, "pat: PAT_MOCKUPS: %s: %s of %d rank%s, %d range%s\n", s->files.files[i].path,
                p->collective, p->ranks, p->ranks == 1 ? "" : "s", p->num_ranges,
                p->num_ranges == 1 ? "" : "s");
    }
}

static void forget(pat_stand_ins *s)
{
    pat_mock_scratch_free(s->scratch);
    pat_stand_in_files_free(&s->files);
    free(s->profiles);
    free(s);
}

/* Of all ranks the least; on an error the other ranks' is not known. */
static int least_of(int mine)
{
    int least = 0;
    return PMPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, pat_rt.world) == MPI_SUCCESS ? least : INT_MIN;
}

/* Collective. Returns whether all ranks have what they need. */
static bool fill(pat_stand_ins *s)
{
    if (least_of(s != NULL) <= 0)
        return false;
    const bool has_files =
        pat_stand_in_files_read(&s->files, pat_rt.config.mockups, knows, tell, pat_rt.world) == MPI_SUCCESS;
    s->profiles = calloc((size_t)s->files.num + 1, sizeof(*s->profiles));
    s->scratch = pat_mock_scratch_make(PAT_MOCK_DATA_BYTES, PAT_MOCK_INT_BYTES, pat_rt.config.ranks_per_node);
    return least_of(has_files && s->profiles && s->scratch) > 0;
}

void pat_stand_ins_begin(void)
{
    int rank;
    if (!pat_rt.config.mockups[0])
        return;
    PMPI_Comm_rank(pat_rt.world, &rank);
    pat_stand_ins *s = calloc(1, sizeof(*s));
    if (!fill(s)) {
        if (rank == 0)
            tell("PAT_MOCKUPS", "no memory on some rank");
        if (s)
            forget(s);
        return;
    }
    look_up(s);
    if (rank == 0 && pat_rt.config.explain)
        explain(s);
    if (s->num > 0)
        pat_rt.stand_ins = s;
    else
        forget(s);
}

void pat_stand_ins_end(void)
{
    pat_stand_ins *s = pat_rt.stand_ins;
    pat_rt.stand_ins = NULL;
    if (s)
        forget(s);
}

/* ---- Calls ------------------------------------------------------------------------------------------------ */

static pat_mock_call call_of(const pat_args *a)
{
    return (pat_mock_call){.send = a->sendbuf,
                           .send_count = (int)a->sendcount,
                           .send_type = a->sendtype,
                           .recv = a->recvbuf,
                           .recv_count = (int)a->recvcount,
                           .recv_type = a->recvtype,
                           .op = a->op,
                           .root = a->root,
                           .comm = a->comm};
}

/* What MPI would reject it gets. */
static bool is_buffer(const void *buffer, int count, MPI_Datatype type)
{
    return count >= 0 && type && type != MPI_DATATYPE_NULL && buffer != MPI_IN_PLACE &&
           (buffer || count == 0 || !pat_type_is_plain(type)); /* MPI_BOTTOM may be null */
}

static bool is_sound(const pat_mock *native, const pat_mock_call *c, int rank, int size)
{
    const bool sends = is_buffer(c->send, c->send_count, c->send_type) || c->send == MPI_IN_PLACE;
    const bool is_root = rank == c->root;
    if (native->is_rooted && (c->root < 0 || c->root >= size))
        return false;
    switch (native->kind) {
    case PAT_MOCK_BLOCKS:
        return sends && is_buffer(c->recv, c->recv_count, c->recv_type);
    case PAT_MOCK_GATHER:
        return sends && (is_root ? is_buffer(c->recv, c->recv_count, c->recv_type) : c->send != MPI_IN_PLACE);
    case PAT_MOCK_SCATTER:
        return is_root ? sends && c->send != MPI_IN_PLACE &&
                             (c->recv == MPI_IN_PLACE || is_buffer(c->recv, c->recv_count, c->recv_type))
                       : is_buffer(c->recv, c->recv_count, c->recv_type);
    case PAT_MOCK_BUFFER:
        return is_buffer(c->recv, c->recv_count, c->recv_type);
    case PAT_MOCK_VECTOR:
        break;
    }
    const bool in_place = c->send == MPI_IN_PLACE, receives = !native->is_rooted || is_root;
    return c->op && c->op != MPI_OP_NULL && (!in_place || receives) &&
           (in_place || is_buffer(c->send, c->recv_count, c->recv_type)) &&
           (!receives || is_buffer(c->recv, c->recv_count, c->recv_type));
}

/* What is to run such a call; mock NULL: the MPI library's own. Only what is the same on all ranks of a program that is right decides. */
static pat_stood_in find(const pat_face *face, const pat_mock_call *call)
{
    const pat_stood_in nothing = {.mock = NULL};
    const pat_stand_ins *s = pat_rt.stand_ins;
    const stand_in_profile *p = NULL;
    int is_inter = 0, rank, size;
    for (int i = 0; i < s->num && !p; i++)
        p = s->profiles[i].face == face ? &s->profiles[i] : NULL;
    if (!p || !call->comm || call->comm == MPI_COMM_NULL ||
        PMPI_Comm_test_inter(call->comm, &is_inter) != MPI_SUCCESS || is_inter)
        return nothing;
    PMPI_Comm_rank(call->comm, &rank);
    PMPI_Comm_size(call->comm, &size);
    for (; p < s->profiles + s->num; p++)
        if (p->face == face && p->ranges->ranks == size)
            break;
    if (p == s->profiles + s->num || !is_sound(p->native, call, rank, size))
        return nothing;
    const int alg = pat_mockup_profile_alg(p->ranges, pat_mock_bytes(p->native, call));
    return alg < 0 || p->mocks[alg] == p->native
               ? nothing
               : (pat_stood_in){.mock = p->mocks[alg], .number = p->numbers[alg]};
}

/* Might a mock-up change bits that the program is to have as the MPI library makes them? Of what MPI does not define nobody knows. */
static bool keeps_order(const pat_mock *mock, const pat_mock_call *c)
{
    int64_t bytes;
    return mock->kind == PAT_MOCK_VECTOR && !pat_rt.config.reorder &&
           !(pat_reduction_known(c->op, c->recv_type, &bytes) && pat_reduction_any_order(c->recv_type));
}

/* Returns an error code of MPI; came->why: has it run? */
static int run(pat_stood_in *came, const pat_mock_call *call)
{
    if (!keeps_order(came->mock, call))
        return pat_mock_run(came->mock, call, pat_rt.stand_ins->scratch, &came->why);
    came->why = PAT_MOCK_BITS;
    return MPI_SUCCESS;
}

static int run_or_pass(pat_any *next, const pat_args *args)
{
    pat_stand_in *s = (pat_stand_in *)(uintptr_t)args; /* which these are the first part of */
    const pat_mock_call call = call_of(args);
    s->came = s->chosen;
    const int rc = run(&s->came, &call);
    return s->came.why == PAT_MOCK_RAN ? rc : s->own->next(next, args);
}

bool pat_stand_in_find(const pat_face *face, const pat_args *args, pat_stand_in *s)
{
    const pat_mock_call call = call_of(args);
    s->came = (pat_stood_in){.mock = NULL};
    s->chosen = find(face, &call);
    if (!s->chosen.mock)
        return false;
    s->args = *args;
    s->own = face;
    s->face = *face;
    s->face.next = run_or_pass;
    return true;
}

bool pat_stand_ins_have_scan(void)
{
    const pat_stand_ins *s = pat_rt.stand_ins;
    bool any = false;
    for (int i = 0; s && i < s->num; i++)
        any = any || !s->profiles[i].face;
    return any;
}

bool pat_stand_in_scan(const pat_mock_call *call, pat_stood_in *came, int *rc)
{
    *came = pat_rt.stand_ins ? find(NULL, call) : (pat_stood_in){.mock = NULL};
    if (!came->mock)
        return false;
    *rc = run(came, call);
    return came->why == PAT_MOCK_RAN;
}
