/*
 * trace_sums.h — what the calls of a program come to: sums by place, by rank, and over all, which the text, the JSON and the page have in
 * common. Nonsense in a file must not overflow them, so times are floating point.
 */
#ifndef TRACE_SUMS_H
#define TRACE_SUMS_H

#include <stdbool.h>

#include "log.h"

typedef struct trace_place {
    int site;
    bool moves;           /* its calls move data */
    bool begins;          /* its calls do not block: nobody waits in them */
    int64_t calls, known; /* of all ranks; known: of which it is known how long they waited */
    int64_t most_calls;   /* of one rank */
    double bytes, time_ns, wait_ns,
        unknown_ns;  /* unknown: of calls of which it is not known how long they waited */
    double moves_ns; /* what the others took besides waiting, where they move data at all */
    double
        early_ns; /* of that at most about so much could have gone on before the last rank came: see trace_sums.c */
    double *for_rank_ns; /* how long others have waited for each rank, and in how many calls */
    int64_t *for_rank_calls;
    int64_t late_calls; /* those in which anybody was waited for */
    int worst;          /* the rank that was waited for longest; negative: nobody was */
    int64_t *by_alg;    /* calls that plans ran, by each algorithm of the log */
    double early_bytes; /* of these: what was there before ranks called */
    double messages;    /* calls about messages between two ranks; these are in none of the above */
    double message_ns, message_bytes;
    struct trace_models
        *models; /* what other algorithms would have taken (trace_models.h); NULL: it is not known */
} trace_place;

typedef struct trace_rank {
    int64_t calls;
    double time_ns, wait_ns, unknown_ns, message_ns;
    double caused_ns; /* others have waited for it */
} trace_rank;

/*
 * The efficiencies of the POP project (https://pop-coe.eu), of what a trace knows: all time out of collectives and calls about messages counts as computation. Ranks are busy, wait for late ones,
 * or move data. parallel is load_balance * serialisation * transfer: the mean of what ranks are busy, over the run; the mean over the most; the most over the run on a network
 * that takes no time; and that run over the real one.
 * They are not known where files are missing or cut off, or where calls overlap; and serialisation and transfer are not where more than a twentieth of the time in MPI is of messages, or of calls that could not be held against others'.
 */
typedef struct trace_pop {
    bool known, is_split; /* is_split: the last two are known too */
    double parallel, load_balance, communication, serialisation, transfer;
} trace_pop;

typedef struct trace_sums {
    trace_place *places; /* the one with most waiting first; those without a call last */
    int num_places;
    trace_rank *ranks;
    int there;     /* ranks that have left a file */
    double run_ns; /* how long the program has run, as far as its ranks tell */
    double wait_ns, time_ns, unknown_ns, moves_ns, early_ns;
    int64_t calls;
    double messages, message_ns;
    trace_pop pop;
} trace_sums;

/* Returns false without memory. To be freed in either case. */
bool trace_sums_make(trace_sums *sums, const pat_log *log);
void trace_sums_free(trace_sums *sums);

/* In sums over so many parts, the mean of one in milliseconds. */
static inline double trace_ms(double ns, int64_t parts)
{
    return parts > 0 ? 1e-6 * ns / (double)parts : 0;
}

#endif
