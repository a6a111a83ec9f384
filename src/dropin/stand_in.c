/*
 * stand_in.c — see stand_in.h.
 */
#include "stand_in.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "by_profile.h"
#include "error.h"
#include "mockup_own.h"
#include "plain_type.h"
#include "reduction.h"
#include "runtime.h"
#include "stand_in_files.h"

/* A profile whose names are looked up. */
typedef struct stand_in_profile {
    const pat_mockup_profile *ranges;
    const char *path;
    const pat_face *face;               /* NULL: of MPI_Scan */
    pat_face standing;                  /* the same, but for who is next */
    const pat_mock *native;             /* the collective's own */
    pat_stood_in algs[PAT_MOCKUP_ALGS]; /* the native one: nothing is to stand in */
} stand_in_profile;

/* Those of one collective follow one another; the last one has no native. */
typedef struct pat_stand_ins {
    pat_stand_in_files files;
    stand_in_profile *profiles;
    int num;
    const stand_in_profile
        *first[PAT_NUM_OPS + 1]; /* of a collective, at last of MPI_Scan; NULL: there is none */
    pat_mock_scratch *scratch;
} pat_stand_ins;

static int run_or_pass(pat_any *next, const pat_args *args);

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

static pat_stood_in look_up_alg(const char *collective, const char *name)
{
    const pat_algorithm *own = pat_mockup_own(collective, name);
    const pat_mock *mock = own ? NULL : pat_mock_find(collective, name);
    return own || mock == pat_mock_find(collective, "default")
               ? (pat_stood_in){.own = own}
               : (pat_stood_in){.mock = mock, .number = number_of(mock)};
}

static void look_up_profile(stand_in_profile *p, const pat_stand_in_file *file)
{
    p->path = file->path;
    p->ranges = &file->profile;
    p->face = face_of(p->ranges->collective);
    if (p->face)
        p->standing = *p->face;
    p->standing.next = run_or_pass;
    p->standing.tells = true;
    p->native = pat_mock_find(p->ranges->collective, "default");
    for (int a = 0; a < p->ranges->num_algs; a++)
        p->algs[a] = look_up_alg(p->ranges->collective, p->ranges->algs[a]);
}

static int place_of(const pat_face *face)
{
    return face ? (int)face->op : PAT_NUM_OPS;
}

static int by_collective(const void *va, const void *vb)
{
    const stand_in_profile *a = va, *b = vb;
    return place_of(a->face) - place_of(b->face);
}

static void look_up(pat_stand_ins *s)
{
    for (s->num = 0; s->num < s->files.num; s->num++)
        look_up_profile(&s->profiles[s->num], &s->files.files[s->num]);
    qsort(s->profiles, (size_t)s->num, sizeof(*s->profiles), by_collective);
    for (int i = s->num - 1; i >= 0; i--)
        s->first[place_of(s->profiles[i].face)] = &s->profiles[i];
}

static bool has_own(const stand_in_profile *p)
{
    for (int a = 0; a < p->ranges->num_algs; a++)
        if (p->algs[a].own)
            return true;
    return false;
}

/* What profiles ask for that no call can get, for as much as is known before the first one. */
static void tell_idle(const pat_stand_ins *s)
{
    for (int i = 0; i < s->num; i++) {
        const pat_mockup_profile *p = s->profiles[i].ranges;
        const enum pat_why why = pat_by_profile_why_never(p->ranks);
        if (has_own(&s->profiles[i]) && why != PAT_WHY_ASKED)
            fprintf(
                stderr,
                "pat: %s: %d rank%s: PAT's own algorithms cannot run: %s; the MPI library runs these calls\n",
                s->profiles[i].path, p->ranks, p->ranks == 1 ? "" : "s",
                why == PAT_WHY_ONE_RANK ? "they need two" : "the MPI library has too few message tags");
    }
}

static void explain(const pat_stand_ins *s)
{
    for (int i = 0; i < s->num; i++) {
        const pat_mockup_profile *p = s->profiles[i].ranges;
        fprintf(stderr, "pat: PAT_MOCKUPS: %s: %s of %d rank%s, %d range%s\n", s->profiles[i].path,
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
    if (rank == 0)
        tell_idle(s);
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

static bool is_between_groups(MPI_Comm comm)
{
    int is_inter = 0;
    return PMPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || is_inter;
}

/* The bytes of an argument that MPI would not reject. Elsewhere than at the root nothing may be in place, and what is given beside it may be anything. */
static bool has_bytes(const pat_mock *native, const pat_mock_call *c, int rank)
{
    const bool gives_in_place = native->kind == PAT_MOCK_GATHER && c->send == MPI_IN_PLACE,
               gets_in_place = native->kind == PAT_MOCK_SCATTER && c->recv == MPI_IN_PLACE,
               by_send = gets_in_place || (native->kind == PAT_MOCK_GATHER && !gives_in_place);
    const MPI_Datatype type = by_send ? c->send_type : c->recv_type;
    return (rank == c->root || !(gives_in_place || gets_in_place)) && type && type != MPI_DATATYPE_NULL;
}

/* Is there one for calls of this face with so many ranks? */
static const stand_in_profile *profile_of(const pat_face *face, MPI_Comm comm)
{
    const stand_in_profile *p = pat_rt.stand_ins->first[place_of(face)];
    int size;
    if (!p || p->face != face || !comm || comm == MPI_COMM_NULL || PMPI_Comm_size(comm, &size) != MPI_SUCCESS)
        return NULL;
    for (const pat_mock *native = p->native; p->native == native; p++)
        if (p->ranges->ranks == size)
            return p;
    return NULL;
}

/*
 * What is to run such a call, of which more is known then; NULL: nothing. Only what is the same on all ranks of a program that is right decides. Calls that are in no
 * range are to cost least, so that comes first, but for this: of a call with a root between groups some arguments are of no significance, and must not be looked at.
 */
static const pat_stood_in *find(const stand_in_profile *p, pat_mock_call *call, pat_mock_known *known)
{
    if (is_between_groups(call->comm) || PMPI_Comm_rank(call->comm, &known->rank) != MPI_SUCCESS ||
        !has_bytes(p->native, call, known->rank))
        return NULL;
    const int64_t bytes = pat_mock_bytes(p->native, call);
    const int alg = pat_mockup_profile_alg(p->ranges, bytes);
    if (alg < 0 || !pat_stands_in(&p->algs[alg]) || !is_sound(p->native, call, known->rank, p->ranges->ranks))
        return NULL;
    known->size = p->ranges->ranks;
    known->bytes = bytes;
    call->known = known;
    return &p->algs[alg];
}

/* Might it change bits that the program is to have as the MPI library makes them? Of what MPI does not define nobody knows. */
static bool keeps_order(const pat_mock *native, const pat_mock_call *c)
{
    int64_t bytes;
    return native->kind == PAT_MOCK_VECTOR && !pat_rt.config.reorder &&
           !(pat_reduction_known(c->op, c->recv_type, &bytes) && pat_reduction_any_order(c->recv_type));
}

static enum pat_mock_why why_not(enum pat_why why)
{
    return why == PAT_WHY_ASKED    ? PAT_MOCK_RAN
           : why == PAT_WHY_CANNOT ? PAT_MOCK_PLAN
           : why == PAT_WHY_ORDER  ? PAT_MOCK_BITS
           : why == PAT_WHY_FIRST  ? PAT_MOCK_FIRST
                                   : PAT_MOCK_STATE;
}

/* Returns an error code of MPI; came->why: has it run? */
static int run_mock(pat_stood_in *came, const pat_mock_call *call)
{
    if (keeps_order(came->mock, call)) {
        came->why = PAT_MOCK_BITS;
        return MPI_SUCCESS;
    }
    pat_error_begin();
    return pat_error_end(pat_mock_run(came->mock, call, pat_rt.stand_ins->scratch, &came->why));
}

/* The same by an algorithm of PAT's. */
static int run_own(const pat_face *face, const pat_args *args, pat_stood_in *came)
{
    enum pat_why why;
    const int rc = pat_by_profile_run(face, args, came->own, &why);
    came->why = why_not(why);
    return rc;
}

static int run_or_pass(pat_any *next, const pat_args *args)
{
    pat_stand_in *s = (pat_stand_in *)(uintptr_t)args; /* which these are the first part of */
    s->came = *s->chosen;
    int rc = s->came.own ? run_own(s->called, args, &s->came) : run_mock(&s->came, &s->call);
    if (s->came.why == PAT_MOCK_RAN)
        return rc;
    rc = s->called->next(next, args);
    if (rc != MPI_SUCCESS)
        pat_error_clear(); /* it is MPI's */
    return rc;
}

bool pat_stand_in_find(const pat_face *face, const pat_args *args, pat_stand_in *s)
{
    const stand_in_profile *p = profile_of(face, args->comm);
    s->came = (pat_stood_in){.mock = NULL};
    if (!p)
        return false;
    s->call = call_of(args);
    s->chosen = find(p, &s->call, &s->known);
    if (!s->chosen)
        return false;
    s->args = *args;
    s->called = face;
    s->face = &p->standing;
    return true;
}

bool pat_stand_ins_have_scan(void)
{
    return pat_rt.stand_ins && pat_rt.stand_ins->first[place_of(NULL)];
}

bool pat_stand_in_scan(const pat_mock_call *call, pat_stood_in *came, int *rc)
{
    pat_mock_call whole = *call;
    pat_mock_known known;
    const stand_in_profile *p = pat_rt.stand_ins ? profile_of(NULL, call->comm) : NULL;
    const pat_stood_in *chosen = p ? find(p, &whole, &known) : NULL;
    *came = chosen ? *chosen : (pat_stood_in){.mock = NULL};
    if (!chosen)
        return false;
    *rc = run_mock(came, &whole);
    return came->why == PAT_MOCK_RAN;
}
