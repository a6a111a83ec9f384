/*
 * drift.h — what samples of a clock's offset say of that clock: a line through them, how wrong the line can be at most, and when the next
 * sample is wanted. Must never call MPI, read a clock or keep anything but what it is given.
 *
 * A sample is an interval: the offset at some moment is right to within the sample's error, which is half a round trip at most (F. Cristian,
 * Probabilistic clock synchronization, 1989). The slopes of all lines that go through every interval are themselves an interval, since any
 * two samples bound the slope (K. Marzullo and S. Owicki, Maintaining the time in a distributed system, 1983; S. Moon, P. Skelly and
 * D. Towsley, Estimation and removal of clock skew from network delay measurements, 1999). So there is a bound where least squares would
 * give a guess, and a disturbed sample, which has a wide interval, does no harm. Within the bounds the line is the one of least squares, since the
 * middles of intervals are wrong by chance. Lines for clocks are after T. Jones and G. Koenig, Clock
 * synchronization in high-end computing environments (2013).
 */
#ifndef PAT_DRIFT_H
#define PAT_DRIFT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* At local time t the offset is offset_ns + rate * (t - ref_ns), right to within error_ns + rate_error * |t - ref_ns|. */
typedef struct pat_line {
    int64_t ref_ns, offset_ns, error_ns;
    double rate, rate_error;
} pat_line;

static inline int64_t pat_line_offset_ns(const pat_line *line, int64_t local_ns)
{
    return line->offset_ns + (int64_t)(line->rate * (double)(local_ns - line->ref_ns));
}

static inline int64_t pat_line_error_ns(const pat_line *line, int64_t local_ns)
{
    return line->error_ns + (int64_t)ceil(line->rate_error * fabs((double)(local_ns - line->ref_ns)));
}

/* The local time at which the common clock shows common_ns. */
static inline int64_t pat_line_local_ns(const pat_line *line, int64_t common_ns)
{
    const int64_t local_ns = common_ns - line->offset_ns; /* if the rate were 0 */
    return local_ns - (int64_t)(line->rate / (1 + line->rate) * (double)(local_ns - line->ref_ns));
}

typedef struct pat_drift_sample {
    int64_t local_ns, offset_ns, error_ns;
} pat_drift_sample;

enum { PAT_DRIFT_KEPT = 8 };

/* Begin with all zeros. */
typedef struct pat_drift {
    pat_drift_sample kept[PAT_DRIFT_KEPT]; /* the oldest first */
    int num;
} pat_drift;

/*
 * Take in a sample, later than those before, and say what line they give. Returns whether it agrees with all that are kept: else the clock's
 * rate has changed, they are forgotten, and the bound is wide until some more have come.
 */
bool pat_drift_add(pat_drift *drift, const pat_drift_sample *sample, pat_line *line);

/*
 * How long to wait for the next sample, after so many, at least 1, that agree with each other. It doubles with every second one, so that a
 * line goes on for about half the time that its samples span, for which its rate is known well enough.
 */
int64_t pat_drift_interval_ns(int64_t num_agreed);

/*
 * When to look again for another rank's message, where nothing has come since since_ns. Soon, then less and less often; where the other rank
 * has not come for a second, at the multiples of 16 s of the common clock, which both read: all times here are of that.
 */
int64_t pat_drift_look_ns(int64_t now_ns, int64_t since_ns);

#endif
