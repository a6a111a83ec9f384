/*
 * dropin.h — what the files of the drop-in share that are linked into the library. The drop-in runs the library under a program that
 * does not know of it. It gets the program's calls from the preloaded file (gate.h), and passes every call that is not run here on to
 * whoever defines the function next: another tool, or the MPI library.
 */
#ifndef PAT_DROPIN_H
#define PAT_DROPIN_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "events.h"
#include "face.h"
#include "gate.h"
#include "begun.h"
#include "python.h"
#include "runtime.h"
#include "sites.h"
#include "source.h"
#include "stacks.h"
#include "stand_in.h"
#include "state.h"

/*
 * Does the MPI library's Fortran interface call the MPI_ functions of C, at least where there are buffers? MPICH's and its relatives' do,
 * and there a call in Fortran is taken over as the call in C that it becomes. Open MPI's calls PMPI_, so there it is taken over
 * under its Fortran name.
 */
#ifdef OPEN_MPI
enum { PAT_FORTRAN_CALLS_MPI = 0 };
#else
enum { PAT_FORTRAN_CALLS_MPI = 1 };
#endif

/* The preloaded file; NULL: there is none. */
extern pat_gate *pat_dropin_gate;

/* The next definition of MPI_<name> behind the preloaded file. */
#define PAT_NEXT(name)                                                                                       \
    ({                                                                                                       \
        static _Atomic(pat_gate_any *) kept;                                                                 \
        pat_gate_any *found = atomic_load_explicit(&kept, memory_order_relaxed);                             \
        if (!found)                                                                                          \
            atomic_store_explicit(&kept, found = pat_dropin_gate->next("MPI_" #name), memory_order_relaxed); \
        (__typeof__(&PMPI_##name))found;                                                                     \
    })

/* What the drop-in keeps for a report (pat_rt.dropin), between MPI_Init and MPI_Finalize. */
typedef struct pat_dropin {
    pat_sites sites;
    pat_events events;
    pat_begun begun;
    pat_python python;
    pat_stacks stacks;
    pat_state state;
    atomic_bool off;             /* MPI_Pcontrol has switched counting off */
    atomic_int_fast64_t num_off; /* calls that were not counted for it */
    bool traced;                 /* what is kept of calls is in a file */
    int trace_error;             /* of errno, why it is not; 0: none, or none was asked for */
    int64_t begin_ns;            /* when MPI had started: the program's time counts from here */
    int64_t start_ns;            /* how long starting the library took */
    int64_t thread_ns; /* processor time of the background thread, once nothing is counted any more */
    int64_t finish_ns,
        finish_common_ns; /* when MPI_Finalize was called, by the local clock and that of all ranks */
    int64_t clock_error_ns, clock_drift_ppb, clock_measured; /* as in pat_report_clocks, of this rank */
    MPI_Comm comm; /* the report's own communicator of all ranks, for when the library has ended */
    int nodes;
    char *calibrations; /* the files by which calls were chosen here, each ended by '\0'; NULL: none */
    size_t calibrations_bytes;
    char *
        file; /* on rank 0: where the report goes, whatever directory the program goes to; NULL: standard error */
} pat_dropin;

/* Is a report wanted? Every call asks, which costs one load. */
#define pat_dropin_reports (pat_rt.dropin != NULL)
/* This thread is in a call that is timed: calls of MPI that another tool makes meanwhile are not counted. */
extern _Thread_local bool pat_dropin_inside;
/* The call site of a call in Fortran that the MPI library is about to turn into a call in C (PAT_FORTRAN_CALLS_MPI); NULL: there is none. */
extern _Thread_local const void *pat_dropin_fortran_site;

/* The call site of a call that in C returns to `site`. To be asked once for each call, since it forgets the one in Fortran. */
static inline const void *pat_dropin_site(const void *site)
{
    if (PAT_FORTRAN_CALLS_MPI && pat_dropin_fortran_site) {
        site = pat_dropin_fortran_site;
        pat_dropin_fortran_site = NULL;
    }
    return site;
}

/* The place of a call in C or Python that a report is to count. */
static inline const void *pat_dropin_place(const void *site)
{
    pat_dropin *dropin = pat_rt.dropin;
    if (!dropin)
        return site;
    const void *in_python = pat_python_site(&dropin->python, site, dropin->stacks.depth);
    return in_python != site ? in_python : pat_stacks_site(&dropin->stacks, site);
}

/* The name of a place, in C or Python, without its line in the source; returns its offset in the file. */
int64_t pat_dropin_name(pat_dropin *dropin, const void *place, char *text, int size);

/* Its line in the source, or lines, innermost first; "" where none is known. */
void pat_dropin_line(pat_dropin *dropin, pat_sources *sources, const void *place, char *text, int size);

/* A call that a report is to count. */
typedef struct pat_counted {
    const void *site;
    bool is_placed; /* `site` is what pat_dropin_place makes of it */
    const char *call;
    MPI_Comm comm;
    int root;                   /* negative: it has none, or it is not known */
    int64_t start_ns;           /* by the local clock */
    const MPI_Request *request; /* of a non-blocking call; NULL: it blocks */
    pat_stood_in came;
} pat_counted;

/* A call that a report is to count begins; told->start_ns is filled in. To be asked last before it: what takes time here is not the call's. */
static inline void pat_dropin_begin(pat_counted *told)
{
    pat_dropin *dropin = pat_rt.dropin;
    const bool tells = dropin && dropin->state.on;
    if (tells && !told->is_placed) {
        told->site = pat_dropin_place(told->site);
        told->is_placed = true;
    }
    told->start_ns = pat_clock_local_ns();
    if (tells)
        pat_state_enter(&dropin->state, told->call, told->site, told->start_ns);
}

/* The same in Fortran: where that calls C, the call is only begun there, but when it came is known if it goes past C. */
static inline void pat_dropin_begin_here(pat_counted *told)
{
    if (PAT_FORTRAN_CALLS_MPI)
        told->start_ns = pat_clock_local_ns();
    else
        pat_dropin_begin(told);
}

/* Count a call that is over. outcome NULL: passed on. */
void pat_dropin_count(const pat_counted *told, int rc, int64_t bytes, const pat_outcome *outcome);

/* Count a message of so many bytes, or a call about messages, that is over. */
void pat_dropin_count_message(const pat_counted *told, int64_t bytes);

/*
 * A persistent request of a collective has been made, which is told->call on told->comm with told->root; told->request is the request. starts: how its starts are run; NULL: it is none that the
 * library may run.
 */
void pat_dropin_keep(const pat_counted *told, int rc, int64_t bytes, const pat_outcome *starts);

/* Make a persistent request that the library runs, if it would run such a call (pat_starts_keep); from then on MPI_Start and so on come here. */
bool pat_dropin_make_kept(const pat_face *face, const pat_args *args, MPI_Request *request,
                          pat_outcome *starts, int *rc);

/* MPI has made a persistent request, and pat_dropin_make_kept has said that its starts are to be moved on: *request becomes one for which that is so, if it can be. */
void pat_dropin_move_kept(const pat_face *face, MPI_Comm comm, MPI_Request *request);

/* MPI has started these requests: so are now the plans that stand behind some of them. told: the call that has, where it is counted. Returns an MPI error code. */
int pat_dropin_start_kept(pat_counted *told, int num, const MPI_Request requests[]);

/* A call in Fortran is about to start requests, and nobody has come by in C yet, who would start plans himself. */
extern _Thread_local bool pat_dropin_starts_in_fortran;

/* Count a call that has started these requests, by the collectives that are persistent among them; where there is none, as one about messages. */
void pat_dropin_count_starts(const pat_counted *told, int rc, int num, const MPI_Request requests[]);

/* A request is about to be freed. */
void pat_dropin_let_go(MPI_Request request);

enum { PAT_WAITING_ROOM = 8 };

/* What a call that waits for requests finds out before, since they are gone afterwards. */
typedef struct pat_waiting {
    int num; /* of the requests, those that stand for collectives */
    pat_awaited *found, room[PAT_WAITING_ROOM];
} pat_waiting;

/* Which of its requests it has found to be over: all, or `num` of them, which `at` numbers from `first`. */
typedef struct pat_done {
    bool all;
    int num, first;
    const int *at;
} pat_done;

/* It is about to wait for these; it is over, of which `requests` is the same list; and nothing is wanted of it any more. */
void pat_dropin_await(pat_waiting *waiting, int num, const MPI_Request requests[]);
void pat_dropin_count_await(const pat_counted *told, pat_waiting *waiting, const MPI_Request requests[],
                            int rc, pat_done done);
void pat_dropin_end_await(pat_waiting *waiting);

/* The program has told how far it is, by the local clock. */
void pat_dropin_milestone(int64_t now_ns, double percent);
/* Into the trace what places come to whose calls are no events. To be called when nothing is counted any more. */
void pat_dropin_trace_sums(pat_dropin *dropin);

/* Where a non-blocking call adds how much of it was hidden; NULL: nowhere. */
static inline pat_hiding *pat_dropin_hiding(const void *site, const char *call)
{
    pat_dropin *dropin = pat_rt.dropin;
    return dropin ? pat_sites_hiding(&dropin->sites, site, call) : NULL;
}

/* MPI_Init and so on, called from whichever language. They return what MPI's own return. */
int pat_dropin_init(int *argc, char ***argv);
int pat_dropin_init_thread(int *argc, char ***argv, int required, int *provided);
int pat_dropin_finalize(void);
/* Run a call that the library may run itself, and count it; next: the next definition; returns_to: where the program's call returns to. */
int pat_dropin_call(const pat_face *face, const pat_args *args, pat_any *next, const void *returns_to);
/* The same for its non-blocking form. */
int pat_dropin_start(const pat_face *face, const pat_args *args, pat_any *next, const void *returns_to,
                     MPI_Request *request);

/*
 * Tell the preloaded file which calls go here: MPI_Init and MPI_Finalize in Fortran; those that the library may run, from
 * MPI_Init on; and all others while a report is wanted, which are passed on from here and timed.
 */
void pat_dropin_enter_fortran(void);
void pat_dropin_take(void);
void pat_dropin_take_fortran(void);
void pat_dropin_watch(bool on);
void pat_dropin_watch_fortran(bool on);
void pat_dropin_watch_messages(bool on);
void pat_dropin_watch_messages_fortran(bool on);
void pat_dropin_watch_persistent(bool on);
void pat_dropin_watch_persistent_fortran(bool on);
void pat_dropin_watch_control(bool on);
/* Those of persistent.c; and, once there is a request that it has made, what starts and frees requests. */
void pat_dropin_take_persistent(void);
void pat_dropin_take_persistent_fortran(void);
void pat_dropin_take_starts(bool on);
void pat_dropin_take_starts_fortran(bool on);
/* MPI_Scan goes here, since a profile of mock-ups may have something to say of it; after pat_dropin_watch. */
void pat_dropin_take_scan(bool on);

/* From now on this call, spelled this way, goes to `ours`. */
static inline void pat_dropin_set(enum pat_gate_way way, enum pat_gate_call call, pat_gate_any *ours)
{
    atomic_store_explicit(&pat_dropin_gate->ours[way][call], ours, memory_order_release);
}

/* What C calls the buffer that Fortran gives: MPI_IN_PLACE and MPI_BOTTOM are addresses of variables in Fortran. */
void *pat_fortran_buffer(void *given);

/* The error code of a call in Fortran, which a program may leave out. */
static inline void pat_fortran_answer(MPI_Fint *ierror, int rc)
{
    if (ierror)
        *ierror = rc;
}

#endif
