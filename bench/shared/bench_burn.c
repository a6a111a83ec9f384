/*
 * bench_burn.c — see bench_burn.h.
 */
#include "bench_burn.h"

static double volatile result_of_steps;

void bench_burn(int64_t steps)
{
    double x = result_of_steps + 0.5; /* not known to the compiler, or there would be nothing left to do */
    for (int64_t i = 0; i < steps; i++)
        x = x * 0.999999 + 1e-7;
    result_of_steps = x;
}
