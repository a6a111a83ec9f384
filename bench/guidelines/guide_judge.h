/*
 * guide_judge.h — the verdict on every guideline of a campaign.
 *
 * Violated: the test's statistic, of the turns that both sides have taken, is below the negative critical value. Starred: the gain, left median - right median, is less than a barrier's median, so that
 * no program may see it. Certain: violated and not starred, in each of at least three launches by itself too, and after Holm's correction for all
 * tests of the campaign. Where medians alone are known a smaller one is a violation.
 */
#ifndef GUIDE_JUDGE_H
#define GUIDE_JUDGE_H

#include "guide_results.h"

enum { GUIDE_CERTAIN_LAUNCHES = 3 };

/* By r->test. Settles means and medians before. */
void guide_judge(guide_results *r);

#endif
