/*
 * lateness.c — see lateness.h. First all ranks tell each other which communicators they know and how many calls they have kept of each. Those
 * that all members know are gone through in the same order everywhere, each with a reduction over its members, some calls at a time: so it
 * takes time as the logarithm of the number of ranks, and no rank needs memory for another's calls.
 */
#include "lateness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "event_order.h"
#include "savings.h"
#include "waits.h"

/* MOST_ENTRIES: communicators of all ranks, which each rank gets to know; MOST_COMMS: of a rank. */
enum { AT_ONCE = 4096, MOST_ENTRIES = 1 << 20, MOST_COMMS = 4096 };

/* ---- Which communicators ------------------------------------------------------------------------------- */

typedef struct entry {
    uint64_t group, id;
    int64_t calls;
    int64_t comm; /* its number on the rank that tells */
} entry;

static int by_id(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* This rank's communicators of two members and more. Returns how many. */
static int list_own(const pat_events *e, MPI_Comm all, entry own[])
{
    int num = 0, size;
    PMPI_Comm_size(all, &size);
    const int most = MOST_ENTRIES / size < MOST_COMMS ? MOST_ENTRIES / size : MOST_COMMS;
    for (int i = 0; i < e->num_comms && num < most; i++) {
        const pat_event_comm *c = e->comms[i];
        if (c->num_calls > 0)
            own[num++] = (entry){c->group->id, c->id, c->num_calls, i};
    }
    return num;
}

/* All ranks' entries, sorted, to be freed. *all_good: false on all ranks where one has no memory. */
static int tell(const entry own[], int num, MPI_Comm all, entry **entries, int *num_entries, bool *all_good)
{
    enum { WORDS = sizeof(entry) / sizeof(int64_t) };
    int size, total = 0, good, least;
    PMPI_Comm_size(all, &size);
    int *counts = calloc(2 * (size_t)size, sizeof(*counts)), *at = counts ? counts + size : NULL;
    const int words = num * WORDS;
    *entries = NULL;
    good = counts != NULL;
    int rc = PMPI_Allreduce(&good, &least, 1, MPI_INT, MPI_MIN, all);
    if (rc == MPI_SUCCESS && least) {
        rc = PMPI_Allgather(&words, 1, MPI_INT, counts, 1, MPI_INT, all);
        for (int r = 0; r < size; r++) {
            at[r] = total;
            total += counts[r];
        }
        *entries = malloc((size_t)total * sizeof(int64_t) + 1);
        good = *entries != NULL;
        if (rc == MPI_SUCCESS)
            rc = PMPI_Allreduce(&good, &least, 1, MPI_INT, MPI_MIN, all);
    }
    if (rc == MPI_SUCCESS && least)
        rc = PMPI_Allgatherv(own, words, MPI_INT64_T, *entries, counts, at, MPI_INT64_T, all);
    *num_entries = total / WORDS;
    *all_good = least;
    if (rc == MPI_SUCCESS && least)
        qsort(*entries, (size_t)*num_entries, sizeof(**entries), by_id);
    free(counts);
    return rc;
}

/* How many calls all members have kept; 0: some do not know it. */
static int64_t calls_of_all(const entry *entries, int num, const entry *own, int members)
{
    int low = 0, high = num, told = 0;
    int64_t calls = INT64_MAX;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (by_id(&entries[middle], own) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < num && by_id(&entries[low], own) == 0; low++, told++)
        calls = entries[low].calls < calls ? entries[low].calls : calls;
    return told == members ? calls : 0;
}

/* ---- When their members came --------------------------------------------------------------------------- */

/* What is found out of a call. Times are relative to one that all ranks have agreed on. */
typedef struct meeting {
    int64_t first_ns, last_ns, root_ns, first_end_ns;
    int64_t last;                  /* who came last */
    int64_t least_sign, most_sign; /* of what the call is: equal where all have made the same one */
    int64_t sum_ns, sum_bytes;
    int64_t after_ns; /* since the collective before, the longest of all ranks */
} meeting;

enum { MEETING_WORDS = sizeof(meeting) / sizeof(int64_t) };

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void join(void *in, void *inout, int *num, MPI_Datatype *type)
{
    const meeting *more = in;
    meeting *to = inout;
    (void)type;
    for (int i = 0; i < *num; i++) {
        const meeting *m = &more[i], old = to[i];
        const bool later = m->last_ns > old.last_ns || (m->last_ns == old.last_ns && m->last < old.last);
        to[i] = (meeting){.first_ns = lesser(m->first_ns, old.first_ns),
                          .last_ns = later ? m->last_ns : old.last_ns,
                          .root_ns = greater(m->root_ns, old.root_ns),
                          .first_end_ns = lesser(m->first_end_ns, old.first_end_ns),
                          .last = later ? m->last : old.last,
                          .least_sign = lesser(m->least_sign, old.least_sign),
                          .most_sign = greater(m->most_sign, old.most_sign),
                          .sum_ns = m->sum_ns + old.sum_ns,
                          .sum_bytes = m->sum_bytes + old.sum_bytes,
                          .after_ns = greater(m->after_ns, old.after_ns)};
    }
}

/* What the name of a site's function says, found out once. */
typedef struct facts {
    enum pat_waits waits; /* in it, or, if it does not block, in the call that waits for it */
    bool blocks;          /* so that who has come stays */
    bool moves_nothing;   /* bytes of 0 are its length, and not unknown */
    int64_t sign;
    enum pat_op op; /* as pat_replay_op has it */
} facts;

static facts facts_of(const char *call)
{
    uint64_t sign = UINT64_C(14695981039346656037);
    for (const char *c = call; *c; c++)
        sign = (sign ^ (uint64_t)*c) * UINT64_C(1099511628211);
    const bool blocks = !pat_waits_begins(call);
    return (facts){.waits = blocks ? pat_waits_of(call) : pat_waits_of_end(call),
                   .blocks = blocks,
                   .moves_nothing = pat_waits_moves_nothing(call),
                   .sign = (int64_t)(sign >> 1),
                   .op = pat_replay_op(call)};
}

/* To be freed; NULL without memory. */
static facts *facts_of_all(const pat_sites *sites)
{
    facts *all = malloc(((size_t)sites->num + 1) * sizeof(*all));
    for (int i = 0; i < sites->num && all; i++)
        all[i] = facts_of(sites->sites[i].call);
    return all;
}

/* What all ranks need at it. */
typedef struct search {
    const pat_events *events;
    pat_event_order order;
    pat_sites *sites;
    const facts *facts; /* of each site */
    const pat_one_way *one_way;
    MPI_Comm all, members; /* members: of the group in turn */
    MPI_Datatype type;
    MPI_Op op;
    int64_t begin_ns; /* from which times count */
    meeting *own, *found;
    int64_t num_unknown; /* calls of this rank that one had left before the last one came */
    pat_savings savings;
    int64_t *deviations; /* from the mean: this rank's, and then the sums of all */
} search;

/* The call that waited for number k in the order; NULL: there is none. */
static const pat_log_wait *end_of(const search *s, int64_t k)
{
    return s->order.waits && s->order.waits[k] >= 0 ? &pat_events_at(s->events, s->order.waits[k])->wait
                                                    : NULL;
}

/*
 * Number i of those at hand, which is number k in the order. One that does not block has waited in the call that waited for it. Returns whether it is known, or not to be known.
 */
static bool note_wait(search *s, const pat_event_comm *c, const pat_log_call *event, int64_t k, int i)
{
    int late;
    const meeting *found = &s->found[i];
    const facts *of = &s->facts[event->site];
    const pat_log_wait *end = end_of(s, k);
    if (!of->blocks && !end)
        return true;
    const pat_came came = {.own_ns = of->blocks ? s->own[i].first_ns : end->start_ns - s->begin_ns,
                           .last_ns = found->last_ns,
                           .root_ns = found->root_ns,
                           .first_end_ns = found->first_end_ns,
                           .last = (int)found->last,
                           .root = event->root,
                           .own = c->rank};
    const int64_t wait_ns = pat_waits_ns(of->waits, &came, of->blocks ? event->time_ns : end->time_ns, &late);
    const int late_of_all = late < 0 ? -1 : c->group->world[late];
    if (wait_ns >= 0 && of->blocks)
        pat_sites_add_wait(&s->sites->sites[event->site], wait_ns, late_of_all);
    else if (wait_ns >= 0)
        pat_event_order_waited(&s->order, s->events, k, wait_ns, late_of_all);
    return wait_ns >= 0 || of->waits == PAT_WAITS_NOT_KNOWN ||
           (of->waits != PAT_WAITS_FOR_ALL && event->root < 0);
}

static double mean_of(const search *s, const pat_event_comm *c, int i)
{
    return (double)s->found[i].sum_ns / c->group->size;
}

static void note_arrivals(const search *s, const pat_event_comm *c, int site, int i)
{
    const double size = c->group->size, bytes = (double)s->found[i].sum_bytes / size;
    const bool is_sized = bytes > 0 || s->facts[site].moves_nothing; /* else it is not known, as with lists */
    const pat_coming coming = {.average_ns = (double)s->deviations[AT_ONCE + i] / size,
                               .worst_ns = (double)(s->found[i].last_ns - s->found[i].first_ns),
                               .message_ns = is_sized ? pat_one_way_ns(s->one_way, bytes) : 0,
                               .after_ns = (double)s->found[i].after_ns,
                               .own_ns = (double)s->own[i].first_ns - mean_of(s, c, i)};
    pat_sites_add_arrivals(&s->sites->sites[site], bytes > PAT_SITE_SMALL_BYTES, &coming);
}

/* When the first one left is not known of a call that does not block before somebody has waited for it. */
static int64_t end_ns(const search *s, const pat_log_call *event, int64_t k)
{
    const pat_log_wait *end = end_of(s, k);
    if (s->facts[event->site].blocks)
        return event->start_ns + event->time_ns - s->begin_ns;
    return end ? end->start_ns + end->time_ns - s->begin_ns : INT64_MAX;
}

/* Of number k in the order, with what this rank knows. */
static meeting own_meeting(const search *s, const pat_event_comm *c, int64_t k)
{
    const int64_t i = s->order.calls[k];
    const pat_log_call *event = &pat_events_at(s->events, i)->call,
                       *before = pat_event_order_before(s->events, i);
    const int64_t start_ns = event->start_ns - s->begin_ns,
                  sign = s->facts[event->site].sign ^ (uint32_t)event->root;
    return (meeting){.first_ns = start_ns,
                     .last_ns = start_ns,
                     .root_ns = event->root == c->rank ? start_ns : INT64_MIN / 2,
                     .first_end_ns = end_ns(s, event, k),
                     .last = c->rank,
                     .least_sign = sign,
                     .most_sign = sign,
                     .sum_ns = start_ns,
                     .sum_bytes = event->bytes,
                     .after_ns = before ? event->start_ns - before->start_ns - before->time_ns : INT64_MAX};
}

/* How many of them fit together. */
static int num_fitting(const search *s, int some)
{
    int num = 0;
    while (num < some && s->found[num].least_sign == s->found[num].most_sign)
        num++;
    return num;
}

/* Of those that fit together, some that all ranks have made. first: where in the order the communicator's begin, of which there are `calls`; at: of these the first at hand. */
static int look_at_some(search *s, const pat_event_comm *c, int64_t first, int64_t at, int fit, int64_t calls)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < fit && rc == MPI_SUCCESS && s->members == s->all; i++) {
        const pat_log_call *event = &pat_events_at(s->events, s->order.calls[first + at + i])->call;
        const enum pat_op op = s->facts[event->site].op;
        if (op == PAT_NUM_OPS || s->found[i].sum_bytes <= 0) /* which all ranks know */
            continue;
        s->sites->sites[event->site].whole_ns += event->time_ns;
        if (pat_savings_wants(&s->savings, op, c->id, at + i, calls))
            rc = pat_savings_add(
                &s->savings, s->all, op,
                &(pat_savings_sample){.site = event->site, .root = event->root, .bytes = event->bytes},
                event->start_ns, event->time_ns);
    }
    return rc;
}

/* Some calls of a communicator, from number `first` in the order on. *fit: so many fit together. */
static int go_through_some(search *s, const pat_event_comm *c, int64_t first, int some, int *fit)
{
    for (int i = 0; i < some; i++)
        s->own[i] = own_meeting(s, c, first + i);
    int rc = PMPI_Allreduce(s->own, s->found, some, s->type, s->op, s->members);
    *fit = rc == MPI_SUCCESS ? num_fitting(s, some) : 0;
    for (int i = 0; i < some && rc == MPI_SUCCESS; i++)
        s->deviations[i] = (int64_t)fabs((double)s->own[i].first_ns - mean_of(s, c, i));
    if (rc == MPI_SUCCESS)
        rc = PMPI_Allreduce(s->deviations, s->deviations + AT_ONCE, some, MPI_INT64_T, MPI_SUM, s->members);
    for (int i = 0; i < *fit && rc == MPI_SUCCESS; i++) {
        const pat_log_call *event = &pat_events_at(s->events, s->order.calls[first + i])->call;
        if (event->kind == PAT_LOG_FAILED)
            continue;
        s->num_unknown += !note_wait(s, c, event, first + i, i);
        if (s->facts[event->site].blocks)
            note_arrivals(s, c, event->site, i);
    }
    return rc;
}

/* The calls of a communicator, some at a time, from number `first` in the order on. Stops on all members where they do not fit together. */
static int go_through(search *s, const pat_event_comm *c, int64_t first, int64_t num, int64_t *num_fit)
{
    int rc = MPI_SUCCESS;
    for (int64_t at = 0; at < num && rc == MPI_SUCCESS; at += AT_ONCE) {
        const int some = num - at < AT_ONCE ? (int)(num - at) : AT_ONCE;
        int fit;
        rc = go_through_some(s, c, first + at, some, &fit);
        if (rc == MPI_SUCCESS)
            rc = look_at_some(s, c, first, at, fit, num);
        *num_fit += fit;
        if (fit < some)
            break;
    }
    return rc;
}

/* Those that waited for others: each once, however many it waited for. */
static void add_waited(const search *s)
{
    for (int64_t k = 0; k < s->events->num && s->order.waited; k++)
        if (s->order.waited[k].ns >= 0) {
            const pat_log_wait *w = &pat_events_at(s->events, s->order.waits[k])->wait;
            pat_sites_add_wait(&s->sites->sites[w->site], s->order.waited[k].ns, s->order.waited[k].late);
        }
}

/* A communicator of the group's members. */
static int gather_members(search *s, const pat_event_group *g)
{
    MPI_Group all, theirs;
    int size, rc = PMPI_Comm_size(s->all, &size);
    bool whole = g->size == size;
    for (int r = 0; r < g->size && whole; r++)
        whole = g->world[r] == r;
    if (whole) {
        s->members = s->all;
        return rc;
    }
    rc = PMPI_Comm_group(s->all, &all);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = PMPI_Group_incl(all, g->size, g->world, &theirs);
    if (rc == MPI_SUCCESS) {
        rc = PMPI_Comm_create_group(s->all, theirs, 0, &s->members);
        PMPI_Group_free(&theirs);
    }
    PMPI_Group_free(&all);
    return rc;
}

static void let_go(search *s)
{
    if (s->members != MPI_COMM_NULL && s->members != s->all)
        PMPI_Comm_free(&s->members);
    s->members = MPI_COMM_NULL;
}

static int find(search *s, entry own[], int num_own, const entry entries[], int num, int64_t *num_fit)
{
    const pat_event_group *group = NULL;
    int rc = MPI_SUCCESS;
    qsort(own, (size_t)num_own, sizeof(*own), by_id);
    for (int i = 0; i < num_own && rc == MPI_SUCCESS; i++) {
        const pat_event_comm *c = s->events->comms[own[i].comm];
        const int64_t calls = calls_of_all(entries, num, &own[i], c->group->size);
        if (calls == 0)
            continue;
        if (c->group != group) {
            let_go(s);
            group = c->group;
            /* MPI may have no more communicators, which its ranks agree on: then no member gets this one, and the others must not wait. */
            if (gather_members(s, group) != MPI_SUCCESS)
                s->members = MPI_COMM_NULL;
        }
        if (s->members != MPI_COMM_NULL)
            rc = go_through(s, c, s->order.first[own[i].comm], calls, num_fit);
    }
    let_go(s);
    add_waited(s);
    return rc;
}

static int make_type(search *s)
{
    int rc = PMPI_Type_contiguous(MEETING_WORDS, MPI_INT64_T, &s->type);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Type_commit(&s->type);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Op_create(join, 1, &s->op);
    return rc;
}

/* Since when times count, and T. */
static int prepare(search *s, pat_one_way *one_way)
{
    int64_t own[2] = {0, 0}, most[2];
    for (int64_t i = 0; i < s->events->num; i++) {
        const pat_log_record *r = pat_events_at(s->events, i);
        if (!pat_log_is_call(r))
            continue;
        own[0] = greater(own[0], r->call.bytes);
        own[1] = greater(own[1], r->call.start_ns);
    }
    int rc = PMPI_Allreduce(own, most, 2, MPI_INT64_T, MPI_MAX, s->all);
    s->begin_ns = most[1];
    if (rc == MPI_SUCCESS && most[1] > 0) /* somebody has called at all */
        rc = pat_one_way_measure(one_way, s->all, most[0]);
    return rc == MPI_SUCCESS ? make_type(s) : rc;
}

int pat_lateness_find(const pat_events *e, pat_sites *sites, MPI_Comm all, int nodes, pat_one_way *one_way,
                      int64_t *num_left)
{
    int64_t num_fit = 0;
    entry *entries = NULL, *own = malloc((MOST_COMMS + 1) * sizeof(*own));
    facts *facts_of_sites = facts_of_all(sites);
    search s = {.events = e,
                .sites = sites,
                .facts = facts_of_sites,
                .one_way = one_way,
                .all = all,
                .members = MPI_COMM_NULL,
                .type = MPI_DATATYPE_NULL,
                .op = MPI_OP_NULL,
                .own = malloc(AT_ONCE * sizeof(*s.own)),
                .found = malloc(AT_ONCE * sizeof(*s.found)),
                .deviations = malloc(2 * AT_ONCE * sizeof(*s.deviations))};
    const bool good =
        pat_event_order_make(&s.order, e) && own && facts_of_sites && s.own && s.found && s.deviations;
    int num = 0, num_own = good ? list_own(e, all, own) : 0, none = !good, any_none;
    bool told = false;
    int rc = PMPI_Allreduce(&none, &any_none, 1, MPI_INT, MPI_MAX, all);
    if (rc == MPI_SUCCESS && !any_none)
        rc = tell(own, num_own, all, &entries, &num, &told);
    if (rc == MPI_SUCCESS && told)
        rc = prepare(&s, one_way);
    if (rc == MPI_SUCCESS && told)
        rc = pat_savings_begin(&s.savings, all, nodes);
    if (rc == MPI_SUCCESS && told)
        rc = find(&s, own, num_own, entries, num, &num_fit);
    pat_savings_find(&s.savings, sites, one_way);
    pat_savings_end(&s.savings);
    *num_left = e->num_lost - num_fit + s.num_unknown;
    for (int i = 0; i < e->num_comms; i++)
        *num_left += e->comms[i]->num_calls;
    if (s.type != MPI_DATATYPE_NULL)
        PMPI_Type_free(&s.type);
    if (s.op != MPI_OP_NULL)
        PMPI_Op_free(&s.op);
    free(s.own);
    free(s.found);
    free(s.deviations);
    free(own);
    free(facts_of_sites);
    free(entries);
    pat_event_order_free(&s.order);
    return rc;
}
