/*
 * formulas.h — what the tests of formulas and of the stage rule share.
 */
#ifndef TEST_FORMULAS_H
#define TEST_FORMULAS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stages.h"

enum { SEGMENT = 8192, KB = 1024, GAMMAS = 6 };

#define assert_near(expected, got, within)                                                                   \
    do {                                                                                                     \
        double e_ = (expected), g_ = (got);                                                                  \
        if (!(fabs(e_ - g_) <= (within)))                                                                    \
            fail_msg("expected %.6g, got %.6g", e_, g_);                                                     \
    } while (0)

static inline pat_job job_of(int P, int64_t bytes)
{
    return (pat_job){
        .num_ranks = P, .block_bytes = bytes, .segment_bytes = SEGMENT, .eager_bytes = 65536 - 64};
}

/* gamma(2) to gamma(7) of no machine. */
static const double some[GAMMAS] = {1, 1.1, 1.2, 1.3, 1.4, 1.5};

/* By formula, gamma being a table of GAMMAS numbers or NULL. */
static inline pat_form_cost cost_of(const char *name, const pat_job *job, const double *gamma)
{
    return pat_closed_form(pat_algorithm_find(name), job, (pat_gamma){gamma, gamma ? GAMMAS : 0});
}

/* By the stage rule. */
static inline pat_form_cost by_stages(const char *name, const pat_job *job, const pat_stage_link *link)
{
    pat_form_cost cost;
    assert_int_equal(pat_stages_bcast(&cost, pat_algorithm_find(name), job, link), 0);
    return cost;
}

#endif
