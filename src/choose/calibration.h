/*
 * calibration.h — what measuring a machine has found: what a message costs each algorithm, and how long the MPI
 * library's own collectives take. Kept in a file that people can read; predicts without looking at a plan. Must never call MPI.
 */
#ifndef PAT_CALIBRATION_H
#define PAT_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "algorithms.h"
#include "closed_form.h"
#include "placing.h"

enum { PAT_MAX_GAMMAS = 15, PAT_MAX_POINTS = 1024 }; /* gamma: see closed_form.h */

/*
 * A broadcast's segments have 8 KiB. That is below Open MPI's eager limit over TCP (64 KiB), but above its eager limit
 * inside a node of the cluster (4 KiB), where a segment waits for its receiver. There are 1024 segments at most, so
 * that plans stay small and the tags that every MPI library has are enough (pat_comm_slot_tags). PAT_FIRST_BYTES: how
 * much of a rank's block the root waits for in gather_sync before it asks the next rank; as in Open MPI for long
 * blocks.
 */
enum { PAT_SEGMENT_BYTES = 8192, PAT_MOST_SEGMENTS = 1024, PAT_FIRST_BYTES = 32768 };

/* The segments' length for a broadcast of so many bytes. */
static inline int64_t pat_segment_bytes(int64_t message)
{
    const int64_t least = (message + PAT_MOST_SEGMENTS - 1) / PAT_MOST_SEGMENTS;
    return least > PAT_SEGMENT_BYTES ? least : PAT_SEGMENT_BYTES;
}

/* What a calibration was made on. Where one of these differs its figures are of no use. */
typedef struct pat_machine {
    char cpu[128]; /* model of the processor, as hwloc tells it */
    char mpi[128]; /* the MPI library's own words on its version, the first line */
    int pus;       /* processing units of a node */
    int ranks_per_node;
} pat_machine;

/* Alpha and beta of one of the library's algorithms, fitted to what was measured. */
typedef struct pat_fit {
    bool known;
    double alpha_us, beta_ns; /* of a message, of a byte: Hockney's, for pat_closed_form */
    int rank; /* of the equations' matrix, 1 or 2. 1: the experiments do not tell alpha and beta apart */
    double condition, spread; /* of the matrix, its condition number; the median of the relative residuals */
} pat_fit;

/* One collective, timed: the MPI library's own, or, with all ranks of the calibration, one of the library's algorithms. */
typedef struct pat_point {
    int alg, ranks; /* alg: index in the table of algorithms */
    int64_t bytes;
    double us;
} pat_point;

typedef struct pat_calibration {
    pat_machine machine;
    int ranks;                    /* it was measured with */
    enum pat_numbering numbering; /* of these */
    double link_us, link_mbit; /* latency and rate between neighbours then, as pat_link_measure finds them */
    int num_gammas, num_points;
    double gammas[PAT_MAX_GAMMAS];
    double
        ratio; /* a segment over the network takes so many times as long as inside a node; 0: there were not both */
    pat_fit fits[PAT_MAX_ALGS];       /* by index in the table of algorithms */
    pat_point points[PAT_MAX_POINTS]; /* by algorithm, then by ranks, then by bytes */
} pat_calibration;

/*
 * Read a file. Returns 0, the error number of what the system refused, or EINVAL for what is not a calibration; then `why`
 * says what is wrong and *c is left as it was.
 */
int pat_calibration_read(pat_calibration *c, const char *path, char *why, size_t why_size);

/* The same for a file that is open already; `why` does not name it. */
int pat_calibration_read_open(pat_calibration *c, FILE *file, char *why, size_t why_size);

/* Write it, whole or not at all. own: as pat_file_write_own does, and not as pat_file_write. Returns 0 or an error number. */
int pat_calibration_write(const pat_calibration *c, const char *path, bool own);

/*
 * The two steps of pat_calibration_write, for a caller that adds something to the file: make the JSON, with the points
 * in their order (NULL: no memory); and write it. The second one frees `all`; where `all` is NULL it returns ENOMEM.
 */
struct json_t *pat_calibration_json(const pat_calibration *c);
int pat_calibration_write_json(struct json_t *all, const char *path, bool own);

/* Is it one of this machine? If not, `why` names what differs, and how. */
bool pat_calibration_is_of(const pat_calibration *c, const pat_machine *machine, char *why, size_t why_size);

/* How the ranks were placed that it was measured with. */
static inline pat_placing pat_calibration_placing(const pat_calibration *c)
{
    const int mates = c->machine.ranks_per_node;
    return (pat_placing){c->ranks, mates < c->ranks ? mates : c->ranks, c->numbering};
}

/* Are these ranks placed as those were (pat_placing_is_alike)? If not, `why` says what differs. */
bool pat_calibration_is_placed(const pat_calibration *c, const pat_placing *these, char *why,
                               size_t why_size);

/*
 * Is the network still of the kind it was measured on? Within a factor of 3: measurements on a busy machine differ. If not,
 * `why` says so.
 */
bool pat_calibration_is_of_link(const pat_calibration *c, double link_mbit, char *why, size_t why_size);

/*
 * Was it measured to its end? pat-calibrate measures the MPI library's own collectives last, and without their times
 * there is nothing to compare our algorithms with. Only the MPI library's broadcasts may lack times: all of them may be
 * lost in the noise of the gather that ends each measurement. If it was not, `why` names a collective that is missing.
 */
bool pat_calibration_is_whole(const pat_calibration *c, char *why, size_t why_size);

/* A digest of a machine. Two machines that differ in anything hardly ever have the same one. */
uint32_t pat_machine_digest(const pat_machine *machine);

/* A digest of many times by this calibration. It differs where the mathematical library gives other bits. */
uint32_t pat_calibration_digest(const pat_calibration *c);

/* Sort the points as pat_calibration says. */
void pat_calibration_sort(pat_calibration *c);

/*
 * Microseconds that an algorithm takes when all ranks call at once; bytes: of the message, or of one rank's block. NaN where
 * nothing is known. For the MPI library's own collectives between the points measured, in proportion (both axes
 * logarithmic); beyond them as between the last two. For ours by formula, corrected by what the formula was off at so many
 * bytes and ranks where they were measured: a line does not know of a limit above which messages are asked for, or of a link
 * that lets the first bytes through at once.
 */
double pat_calibration_us(const pat_calibration *c, const pat_algorithm *alg, int ranks, int64_t bytes);

/* Messages and bytes of an algorithm that has a formula, with the segments and the gammas that the other figures are by. */
pat_form_cost pat_calibration_cost(const pat_calibration *c, const pat_algorithm *alg, int ranks,
                                   int64_t bytes);

/* Up to which length of a block a collective was measured with all ranks; INT64_MAX: no single times are known. */
int64_t pat_calibration_longest(const pat_calibration *calibration, enum pat_op op);

/* Does it say anything of this collective? NULL says nothing. A file may be of one alone (pat-calibrate --op). */
bool pat_calibration_knows(const pat_calibration *c, enum pat_op op);

/*
 * The fastest of a collective's algorithms that need no estimates and of which it knows a time, the MPI library's own among them; NULL: it
 * knows none.
 */
const pat_algorithm *pat_calibration_best(const pat_calibration *c, enum pat_op op, int ranks, int64_t bytes);

#endif
