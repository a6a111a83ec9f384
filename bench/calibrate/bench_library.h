/*
 * bench_library.h — how long the MPI library's own algorithms take, each forced: what rules for the MPI library are made of. Kept in the
 * calibration's file; the library reads none of it.
 */
#ifndef BENCH_LIBRARY_H
#define BENCH_LIBRARY_H

#include "bench_known.h"
#include "calibration.h"

enum { BENCH_MOST_LIBRARY = 4096 };

/* One of the MPI library's algorithms, as its variables and rules name it. Two are the same where all of this is. */
typedef struct bench_variant {
    enum pat_op op;
    char name[32];
    int id;            /* 0: the MPI library chooses */
    int fan;           /* of a chain: how many chains; else 0 */
    int segment_bytes; /* 0: none, or what the MPI library takes */
} bench_variant;

bool bench_variant_same(const bench_variant *a, const bench_variant *b);

typedef struct bench_library_time {
    bench_variant variant;
    int ranks;
    int64_t bytes; /* of a message, or of one rank's block */
    double us; /* the median; of a broadcast to the end of a gather of no bytes, the same for all of them */
    bench_known known;
} bench_library_time;

typedef struct bench_library {
    int num;
    bench_library_time of[BENCH_MOST_LIBRARY];
} bench_library;

/* Add one. Beyond BENCH_MOST_LIBRARY it is left out. */
void bench_library_add(bench_library *l, const bench_library_time *t);

bool bench_library_has(const bench_library *l, enum pat_op op, int ranks);

/* The most ranks that anything was measured with; 0: nothing was. */
int bench_library_ranks(const bench_library *l);

/*
 * Microseconds that a variant takes, between what was measured as pat_calibration_us has it; shorter and longer messages than were
 * measured take what the shortest and the longest do. NaN: it was not measured.
 */
double bench_library_us(const bench_library *l, const bench_variant *variant, int ranks, int64_t bytes);

/*
 * The fastest variant; where none is a twentieth faster than what the MPI library chooses by itself, or nothing is known, that choice: the
 * least of some twenty noisy times is easily too small.
 */
bench_variant bench_library_best(const bench_library *l, enum pat_op op, int ranks, int64_t bytes);

/* As a list in a file. NULL: no memory; false: it is wrong, see bench_known_get. No list is an empty one. */
json_t *bench_library_json(const bench_library *l);
bool bench_library_read(bench_library *l, json_t *list, json_error_t *error);

#endif
