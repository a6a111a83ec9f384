/*
 * sites.h — what has been counted for every call site of a collective, which is an address in the program. Local to the process; any
 * thread may add.
 */
#ifndef PAT_SITES_H
#define PAT_SITES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "calls.h"
#include "imbalance.h"
#include "stand_in.h"

enum { PAT_SITE_MOCKS = 64 }; /* more mock-ups than there are */

/* What is added up over calls, and by a report over ranks. */
typedef struct pat_site_sums {
    int64_t calls, time_ns, bytes, least_bytes, most_bytes; /* bytes: of a rank's buffer, summed over calls */
    int64_t alg_calls[PAT_MAX_ALGS];                        /* run by plans */
    int64_t why_calls[PAT_NUM_WHYS];                        /* why by a plan, or why not */
    int64_t
        mock_calls[PAT_SITE_MOCKS]; /* by number in their list: run by mock-ups in the MPI library's place */
    int64_t refused_calls[PAT_NUM_MOCK_WHYS]; /* why what was to stand in did not */
    int64_t num_known; /* calls of which it is known when the ranks came; the three below are theirs */
    int64_t waited_ns; /* from this rank's arrival to the last one's */
    int64_t native_ns; /* what the MPI library's own would take from the last arrival on */
    int64_t plan_ns;   /* the whole calls, without what came before their rounds (pat_outcome) */
    int64_t num_ended, under_way_ns, in_mpi_ns; /* see pat_hiding */
    int64_t messages,
        message_ns; /* those of the calls, and of their time, that were about messages between two ranks, or waited for them */
    int64_t
        num_met; /* calls that were held against those of the other ranks (lateness.h); the two below are theirs */
    int64_t late_ns; /* of the time of these: waiting for late ranks */
} pat_site_sums;

/* Of a rank for which others have waited. */
typedef struct pat_site_late {
    int64_t calls, ns; /* how often this rank has waited for it, and how long in all */
} pat_site_late;

/* Where a study of arrivals tells short messages from others. */
enum { PAT_SITE_SMALL_BYTES = 1000 };

/* One function of MPI at one call site. */
typedef struct pat_site {
    const void *address;       /* to which the call returns */
    const char *call;          /* "MPI_Allgather"; a string that stays */
    pat_site_sums sums;        /* but for what is added up in `hiding` */
    pat_hiding *hiding;        /* of non-blocking calls; NULL: there is none yet */
    pat_imbalance arrivals[2]; /* of short calls, and of those of more than PAT_SITE_SMALL_BYTES */
    double before_ns;          /* how much later than the mean of all this rank came to the last call */
    bool has_before;
    pat_site_late *late; /* for each rank, numbered among all ranks */
    int num_late;
    /* What the model says (savings.h). */
    const pat_algorithm *best; /* by which calls would have taken least; NULL: not known */
    double best_ns,
        took_ns; /* how long, the mean over ranks and some calls; and what these have taken, or by the model would have by what ran most of them */
    int64_t whole_ns; /* of its time: calls of all ranks, of which some were looked at for that */
} pat_site;

/* All of them: a hash table that only grows, since a program has few call sites. */
typedef struct pat_sites {
    pthread_mutex_t lock;
    pat_site *sites; /* in the order of their first call */
    int num, room;
    int *slots; /* a site's number plus one; 0: free */
    int num_slots;
} pat_sites;

/* A call to be added: where, and what to its sums. */
typedef struct pat_site_call {
    const void *address;
    const char *call;
    int64_t bytes, time_ns, messages, message_ns;
} pat_site_call;

/* outcome NULL: passed on, nothing known of it. came NULL: nothing was to stand in. Returns the number of its site, negative without memory. *is_first: it is the first there. */
int pat_sites_add(pat_sites *sites, const pat_site_call *call, const pat_outcome *outcome,
                  const pat_stood_in *came, bool *is_first);

/* Of a call that has been added: how long it waited there, and for which rank among all ranks (negative: for nobody). No other thread may add. */
void pat_sites_add_wait(pat_site *site, int64_t wait_ns, int late);

/* The same: how the ranks came to it. `has_before` and `before_ns` are filled in here. */
void pat_sites_add_arrivals(pat_site *site, bool is_long, const pat_coming *coming);

/* Where non-blocking calls add, once they are over, how much of them was hidden. It stays until the sites are cleared. NULL without memory. */
pat_hiding *pat_sites_hiding(pat_sites *sites, const void *address, const char *call);

/* All that has been added up of a site. */
pat_site_sums pat_sites_sums(const pat_site *site);

/* Free what they hold. No thread may add any more. */
void pat_sites_clear(pat_sites *sites);

/*
 * The name of a call site, by which a person can find it: "program(function+0x1f)", or "program+0x11f3" where no symbol is known. It
 * is the same in all processes, whatever address the program is loaded at, and addr2line takes it. The text has at most
 * `size` bytes with its '\0': a longer one is shortened. Returns the offset from the beginning of the file.
 */
int64_t pat_sites_name(const void *address, char *text, int size);

/*
 * A name in at most `width` characters. From a longer one the middle is taken out, and the offset from the beginning of the
 * file put at its end, which tells two call sites in functions of similar names apart: "program(func...)+0x11f3".
 */
void pat_sites_shorten(const char *name, int64_t offset, int width, char *text);

#endif
