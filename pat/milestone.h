/*
 * milestone.h — this process's computation phase: when it began, how far it is, and when it will be over. Milestones are the calls
 * PAT_ProcessingStart, PAT_Edge and PAT_ProcessingEnd: Start, Edge and End here. It is told the time, in ns of the local clock, and
 * never reads a clock. It is not thread safe: its owner locks.
 */
#ifndef PAT_MILESTONE_H
#define PAT_MILESTONE_H

#include <stdbool.h>
#include <stdint.h>

enum { PAT_EDGES = 16 }; /* that are remembered of a phase */

enum pat_milestone_error {
    PAT_MILESTONE_OK,
    PAT_MILESTONE_NO_START, /* Edge or End without Start */
    PAT_MILESTONE_RANGE,    /* percent not strictly between 0 and 100, or not a number */
    PAT_MILESTONE_NOT_INCREASING,
};

typedef struct pat_milestone {
    bool running;       /* between Start and End */
    bool have_estimate; /* an Edge came in this phase */
    int64_t start_ns;
    double percent;      /* of the last Edge, 0 before the first */
    int64_t estimate_ns; /* expected arrival, from the last Edge: start + elapsed / fraction */
    bool called;         /* the call that the phase led to has come: later Edges announce nothing */
    int num_edges, num_before;
    double edges[PAT_EDGES], before[PAT_EDGES]; /* of this phase and of the one before, in percent */
} pat_milestone;

/*
 * The milestones. Whatever the application says, an estimate is never before now, and at most 2^62 ns: clock offsets can be
 * added to it. An error changes nothing.
 */
void pat_milestone_start(pat_milestone *m, int64_t now_ns); /* a second Start begins the phase anew */
enum pat_milestone_error pat_milestone_edge(pat_milestone *m, double percent, int64_t now_ns);
enum pat_milestone_error pat_milestone_end(pat_milestone *m, int64_t now_ns);

/* After an Edge: when the next one is expected, if the phase before was like this one. INT64_MAX: it had none so late. */
int64_t pat_milestone_next_ns(const pat_milestone *m);

#endif
