/*
 * bench_burn.h — a computation that keeps a processor busy: so much arithmetic, which takes longer where somebody else has the processor.
 */
#ifndef BENCH_BURN_H
#define BENCH_BURN_H

#include <stdint.h>

void bench_burn(int64_t steps);

#endif
