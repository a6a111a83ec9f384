/*
 * meet.c — a plan that moves no data: it is through on a rank only when every rank has called. Not in the table, since it
 * is no operation that a program calls; src/run/credits.h runs it.
 *
 * Rank 0 is shown; in hop h each rank tells three others what it has heard of in the hops before:
 *
 *     hop 0     0 -> 1, 2, 3         then each rank knows of 4 ranks,
 *     hop 1     0 -> 4, 8, 12        then of 16, and so on until of all.
 *
 * Dissemination with two instead of three others less per hop would need fewer messages, log2(P) instead of at most
 * 3 log4(P), but twice the hops; and each hop waits until ranks that may be computing have passed something on. Up to four
 * ranks nothing has to be passed on at all.
 */
#include "parts.h"

enum { REACH = 4 }; /* from hop to hop a rank knows of so many times more ranks */

int pat_meet_plan(int num_ranks, int rank, pat_plan *plan)
{
    pat_plan_init(plan, num_ranks, rank, 0);
    pat_plan_next_step(plan);
    pat_plan_in_step(plan, pat_plan_arrive(plan));
    for (int64_t known = 1; known < num_ranks; known *= REACH) {
        pat_plan_next_step(plan);
        for (int64_t far = known; far < num_ranks && far < REACH * known; far += known) {
            const int to = (int)((rank + far) % num_ranks),
                      from = (int)((rank - far + num_ranks) % num_ranks);
            pat_plan_in_step(plan, pat_plan_signal(plan, to));
            pat_plan_in_step(plan, pat_plan_await(plan, from));
        }
    }
    int error = pat_plan_finish(plan);
    if (error)
        pat_plan_free(plan);
    return error;
}
