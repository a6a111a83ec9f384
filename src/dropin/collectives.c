/*
 * collectives.c — the collectives that the library may run itself, with large counts too where the MPI library has such calls. Must
 * change nothing that a program can see but the time they take: what is not run here goes on unchanged, with its errors.
 */
#include "calls.h"
#include "dropin.h"
#include "stand_in.h"
#include "starts.h"

static const pat_outcome nothing_known = {.late = {.rank = -1}};

static bool is_told(void)
{
    return pat_dropin_reports && !pat_dropin_inside;
}

/* What a tool behind makes of a call is not one more: see pat_dropin_inside. */
static pat_counted begin(const void *site, bool is_placed, const char *call, const pat_face *face,
                         const pat_args *args)
{
    pat_dropin_inside = true;
    pat_counted told = {.site = site,
                        .is_placed = is_placed,
                        .call = call,
                        .comm = args->comm,
                        .root = pat_collective_of(face->op)->rooted ? args->root : -1};
    pat_dropin_begin(&told);
    return told;
}

static void end(const pat_counted *told, int rc, const pat_face *face, const pat_args *args,
                const pat_outcome *outcome)
{
    pat_dropin_count(told, rc, rc == MPI_SUCCESS ? face->bytes(args) : 0, outcome);
    pat_dropin_inside = false;
}

/* Not inlined: a short call that is not told must not pay for these frames. */
static __attribute__((noinline)) int call_and_tell(const pat_face *face, const pat_args *args, pat_any *next,
                                                   const void *site, const pat_stood_in *came)
{
    pat_outcome outcome = nothing_known;
    pat_counted told = begin(site, false, face->mpi, face, args);
    const int rc = pat_calls_run(face, args, next, site, &outcome);
    if (came)
        told.came = *came;
    if (told.came.own && told.came.why == PAT_MOCK_RAN) {
        outcome.alg = told.came.own;
        outcome.why = PAT_WHY_ASKED;
    }
    end(&told, rc, face, args, &outcome);
    return rc;
}

static __attribute__((noinline)) int start_and_tell(const pat_face *face, const pat_args *args, pat_any *next,
                                                    const void *site, MPI_Request *request)
{
    pat_outcome outcome = nothing_known;
    pat_counted told =
        begin(pat_dropin_place(site), true, face->starts, face, args); /* placed for what follows */
    told.request = request;
    outcome.hiding = pat_dropin_hiding(told.site, face->starts);
    const int rc = pat_starts_run(face, args, next, request, true, &outcome);
    end(&told, rc, face, args, &outcome);
    return rc;
}

/* There are profiles: what they name may stand in where the next one is to run the call. */
static __attribute__((noinline)) int call_or_stand_in(const pat_face *face, const pat_args *args,
                                                      pat_any *next, const void *site)
{
    pat_stand_in s;
    if (pat_stand_in_find(face, args, &s)) {
        face = s.face;
        args = &s.args;
    }
    return is_told() ? call_and_tell(face, args, next, site, &s.came)
                     : pat_calls_run(face, args, next, site, NULL);
}

int pat_dropin_call(const pat_face *face, const pat_args *args, pat_any *next, const void *returns_to)
{
    const void *site = pat_dropin_site(returns_to);
    if (__builtin_expect(pat_rt.stand_ins != NULL, 0))
        return call_or_stand_in(face, args, next, site);
    return is_told() ? call_and_tell(face, args, next, site, NULL)
                     : pat_calls_run(face, args, next, site, NULL);
}

int pat_dropin_start(const pat_face *face, const pat_args *args, pat_any *next, const void *returns_to,
                     MPI_Request *request)
{
    const void *site = pat_dropin_site(returns_to);
    return is_told() ? start_and_tell(face, args, next, site, request)
                     : pat_starts_run(face, args, next, request, true, NULL);
}

#define CALL(lower, parameters, arguments)                                                                   \
    static int take_##lower(pat_any *next, const void *site, LIST parameters)                                \
    {                                                                                                        \
        pat_args args;                                                                                       \
        pat_args_clear(&args);                                                                               \
        LIST arguments;                                                                                      \
        return pat_dropin_call(&pat_face_##lower, &args, next, site);                                        \
    }
#define BEGIN(lower, parameters, arguments)                                                                  \
    static int take_i##lower(pat_any *next, const void *site, LIST parameters, MPI_Request *request)         \
    {                                                                                                        \
        pat_args args;                                                                                       \
        pat_args_clear(&args);                                                                               \
        LIST arguments;                                                                                      \
        return pat_dropin_start(&pat_face_##lower, &args, next, site, request);                              \
    }
#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes) CALL(lower, parameters, arguments)
#define START(lower, upper, parameters, arguments, bytes)                BEGIN(lower, parameters, arguments)
#define ARGUMENT(x)                                                      args.x = x
#include "faces_c.h"
#include "faces.h"

#if PAT_MPI_HAS_LARGE
#define LARGE
#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)                                     \
    CALL(lower##_c, parameters, arguments)
#define START(lower, upper, parameters, arguments, bytes) BEGIN(lower##_c, parameters, arguments)
#define ARGUMENT(x)                                       args.x = x
#include "faces_c.h"
#include "faces.h"
#endif

void pat_dropin_take(void)
{
#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)                                     \
    pat_dropin_set(PAT_WAY_C, PAT_CALL_##name, (pat_any *)take_##lower);
#define START(lower, upper, parameters, arguments, bytes)                                                    \
    pat_dropin_set(PAT_WAY_C, PAT_CALL_I##lower, (pat_any *)take_i##lower);
#include "faces.h"
#if PAT_MPI_HAS_LARGE
#define LARGE
#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)                                     \
    pat_dropin_set(PAT_WAY_LARGE, PAT_CALL_##name, (pat_any *)take_##lower##_c);
#define START(lower, upper, parameters, arguments, bytes)                                                    \
    pat_dropin_set(PAT_WAY_LARGE, PAT_CALL_I##lower, (pat_any *)take_i##lower##_c);
#include "faces.h"
#endif
}
