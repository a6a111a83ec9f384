/*
 * guide_beyond.h — two guidelines that need no mock-up: A(n) <= A(n + k), more bytes do not take less time, and A(n) <= k A(n / k), a call takes no longer than k
 * calls of a k-th of its bytes. Out of the left side's own samples.
 */
#ifndef GUIDE_BEYOND_H
#define GUIDE_BEYOND_H

#include "guide_results.h"

/*
 * Makes *to, judged: each size of r is a cell, its left side the left side's samples there, and its right sides the samples of the next larger size, as
 * at_2048_bytes, and those of every size that divides it, times as many, as 2_calls_of_512_bytes.
 */
void guide_beyond(const guide_results *r, guide_results *to);

#endif
