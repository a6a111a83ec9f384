/*
 * event_order.h — what has been kept of calls (events.h), communicator by communicator, and for each non-blocking one when the program waited for it.
 */
#ifndef PAT_EVENT_ORDER_H
#define PAT_EVENT_ORDER_H

#include "events.h"

/* How long a call that waits has waited for a late rank. */
typedef struct pat_event_waited {
    int64_t ns; /* negative: it is not known */
    int late;   /* which, among all ranks; negative: none */
} pat_event_waited;

typedef struct pat_event_order {
    int64_t *
        calls, /* the numbers of records: those of communicator c are calls[first[c]] to before calls[first[c + 1]] */
        *first,
        *waits; /* of each of these the (first) record of the call that waited for it; negative: there is none. NULL: nobody has waited for any */
    pat_event_waited
        *waited; /* in the place of the first of the calls that were waited for together; NULL like waits */
} pat_event_order;

/* Returns false without memory. To be freed in either case. */
bool pat_event_order_make(pat_event_order *order, const pat_events *events);
void pat_event_order_free(pat_event_order *order);

/* The program waited for call number k of `order`, and of that so long for that rank. */
void pat_event_order_waited(pat_event_order *order, const pat_events *events, int64_t k, int64_t ns,
                            int late);

/* The call before record number i; NULL: there is none. */
const pat_log_call *pat_event_order_before(const pat_events *events, int64_t i);

#endif
