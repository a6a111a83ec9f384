/*
 * algorithms.h — the table that names every algorithm. To add one: write one file with a build function and a formula, and
 * add one line to its collective's list in list.h. Algorithms know the plan and nothing else: no MPI, no clock, no
 * thread.
 */
#ifndef PAT_ALGORITHMS_H
#define PAT_ALGORITHMS_H

#include "list.h"
#include "plan.h"

/*
 * The collectives; src/check/collective.h says what each one is. Where there is a root, build functions count ranks
 * from it, so that it is rank 0; a finished plan may name the ranks otherwise (pat_plan_reorder).
 */
#define PAT_OP(NAME, ...) PAT_OP_##NAME,
enum pat_op { PAT_COLLECTIVES(PAT_OP) PAT_NUM_OPS };
#undef PAT_OP

/*
 * What a collective takes by formula when all ranks call at once: the messages that follow one another, and their bytes. They
 * are counted apart by how many messages their sender posts at once, each to another rank, since such a message takes longer
 * than one alone. In whole numbers, because algorithms know no others.
 */
enum { PAT_MAX_AT_ONCE = 32 };

typedef struct pat_formula {
    /* [k]: of those posted k at once; [0] is empty */
    int64_t messages[PAT_MAX_AT_ONCE + 1], bytes[PAT_MAX_AT_ONCE + 1];
    int64_t pieces[PAT_MAX_AT_ONCE + 1]; /* so many of these messages only follow another one on its way */
    const char *runs_as; /* for this job its plan is that of another algorithm; NULL: its own */
} pat_formula;

typedef struct pat_algorithm {
    const char *name;
    const char *summary;
    enum pat_op op;
    bool arrival_aware;   /* it is PREDICTED or AHEAD in list.h */
    bool uses_arrivals;   /* its plan depends on when each rank is expected */
    bool uses_last_calls; /* where ranks give no estimates, when they came to the last calls serves */
    bool any_order;       /* ranks may stand in another order than by number: see pat_job.order */
    bool chooses;         /* not an algorithm itself: takes one of the others, call by call */
    bool reduces;         /* its plans reduce, and it reads pat_job.element_bytes */
    bool
        places; /* its plans heed pat_job.order and node_of themselves, and count ranks by number all the same */
    bool neighbours; /* of a reduction: see NEIGHBOURS in list.h */
    bool direct;     /* blocks may have lengths that only two ranks know: see DIRECT in list.h */
    bool repeats;    /* it sends a block to each rank of a node */
    /* Build rank `rank`'s part of the common plan. NULL: it is the MPI library's own, or it chooses another one. */
    void (*build)(pat_plan *plan, const pat_job *job, int rank);
    /*
     * Fill in a formula that is all zeros: for at least two ranks and one byte. Of the job it takes the ranks and the bytes.
     * NULL: there is none, so the algorithm is not calibrated and cannot be chosen by calibration.
     */
    void (*formula)(pat_formula *formula, const pat_job *job);
} pat_algorithm;

enum { PAT_MAX_ALGS = 64 }; /* the table is not longer */

int pat_algorithm_count(void);
const pat_algorithm *pat_algorithm_at(int index);
const pat_algorithm *pat_algorithm_find(const char *name); /* NULL when there is none of that name */
const pat_algorithm *pat_algorithm_native(enum pat_op op); /* the MPI library's own */

/* The algorithm whose plan it has for this job: itself, or where it falls back on another one, that. At least two ranks and one byte. */
const pat_algorithm *pat_algorithm_runs_as(const pat_algorithm *alg, const pat_job *job);

/* Do its plans move data early, if need be by estimates? */
bool pat_algorithm_is_early(const pat_algorithm *alg);

/*
 * Do its plans move data early where no rank gives estimates, so that the next round can be made before anybody has said a word? They go
 * by no arrivals, or the last calls' serve.
 */
bool pat_algorithm_is_ahead(const pat_algorithm *alg);

/* The first such algorithm of a collective, which contends with the MPI library's own; NULL: there is none. */
const pat_algorithm *pat_algorithm_contender(enum pat_op op);

/* "native, ring, ..." of all algorithms of one collective, for texts; a static string per collective. */
const char *pat_algorithm_names(enum pat_op op);

/* Build a whole plan, from pat_plan_init to pat_plan_finish. Returns 0, ENOMEM or EINVAL; the plan is empty after an error. */
int pat_algorithm_plan(const pat_algorithm *alg, const pat_job *job, int rank, pat_plan *plan);

/* Build a plan without data, which is done on a rank only when every rank has called. Returns as above. (meet.c) */
int pat_meet_plan(int num_ranks, int rank, pat_plan *plan);

#endif
