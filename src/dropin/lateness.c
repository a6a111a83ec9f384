/*
 * lateness.c — see lateness.h. The communicators that all members know (common_comms.h) are gone through in the same order everywhere, with reductions over their members, some calls
 * at a time, and short communicators of the same members together: so it takes time as the logarithm of the number of ranks, and no rank needs memory for another's calls.
 */
#include "lateness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common_comms.h"
#include "event_order.h"
#include "savings.h"
#include "waits.h"

enum { AT_ONCE = 4096 }; /* calls */

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

/* Some calls of a communicator that are at hand. */
typedef struct part {
    const pat_event_comm *comm;
    int64_t first, at,
        calls; /* where in the order the communicator's begin; of these the first at hand; how many there are */
    int some; /* are at hand */
} part;

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
    part *parts; /* what is at hand: num_parts of them, with num_at_hand calls in all */
    int num_parts, num_at_hand;
    int64_t num_fit;     /* calls of this rank that fit together with those of others */
    int64_t num_unknown; /* and of them those that one had left before the last one came */
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

/* How many fit together of so many calls, from number `base` of those at hand on. */
static int num_fitting(const search *s, int base, int some)
{
    int num = 0;
    while (num < some && s->found[base + num].least_sign == s->found[base + num].most_sign)
        num++;
    return num;
}

static const pat_log_call *call_of(const search *s, const part *p, int i)
{
    return &pat_events_at(s->events, s->order.calls[p->first + p->at + i])->call;
}

/* Of those that fit together, some that all ranks have made. */
static int look_at_some(search *s, const part *p, int base, int fit)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < fit && rc == MPI_SUCCESS && s->members == s->all; i++) {
        const pat_log_call *event = call_of(s, p, i);
        const enum pat_op op = s->facts[event->site].op;
        if (op == PAT_NUM_OPS || s->found[base + i].sum_bytes <= 0) /* which all ranks know */
            continue;
        s->sites->sites[event->site].whole_ns += event->time_ns;
        if (pat_savings_wants(&s->savings, op, p->comm->id, p->at + i, p->calls))
            rc = pat_savings_add(
                &s->savings, s->all, op,
                &(pat_savings_sample){.site = event->site, .root = event->root, .bytes = event->bytes},
                event->start_ns, event->time_ns);
    }
    return rc;
}

/* What this rank learns of those that fit together. */
static void note(search *s, const part *p, int base, int fit)
{
    for (int i = 0; i < fit; i++) {
        const pat_log_call *event = call_of(s, p, i);
        if (event->kind == PAT_LOG_FAILED)
            continue;
        s->num_unknown += !note_wait(s, p->comm, event, p->first + p->at + i, base + i);
        if (s->facts[event->site].blocks)
            note_arrivals(s, p->comm, event->site, base + i);
    }
}

/* This rank's times at hand, and what the members together make of them. */
static int meet(search *s)
{
    int n = 0;
    for (int k = 0; k < s->num_parts; k++)
        for (int i = 0; i < s->parts[k].some; i++)
            s->own[n++] = own_meeting(s, s->parts[k].comm, s->parts[k].first + s->parts[k].at + i);
    int rc = PMPI_Allreduce(s->own, s->found, n, s->type, s->op, s->members);
    n = 0;
    for (int k = 0; k < s->num_parts && rc == MPI_SUCCESS; k++)
        for (int i = 0; i < s->parts[k].some; i++, n++)
            s->deviations[n] = (int64_t)fabs((double)s->own[n].first_ns - mean_of(s, s->parts[k].comm, n));
    if (rc == MPI_SUCCESS)
        rc = PMPI_Allreduce(s->deviations, s->deviations + AT_ONCE, n, MPI_INT64_T, MPI_SUM, s->members);
    return rc;
}

/* All that is at hand, of the communicators of the same members; then nothing is. *fits: whether the last part of it does wholly, on all members alike. */
static int go_through(search *s, bool *fits)
{
    int base = 0, rc = s->num_parts ? meet(s) : MPI_SUCCESS;
    for (int k = 0; k < s->num_parts && rc == MPI_SUCCESS; k++) {
        const part *p = &s->parts[k];
        const int fit = num_fitting(s, base, p->some);
        note(s, p, base, fit);
        rc = look_at_some(s, p, base, fit);
        s->num_fit += fit;
        *fits = fit == p->some;
        base += p->some;
    }
    s->num_parts = s->num_at_hand = 0;
    return rc;
}

/* A communicator's calls come to what is at hand, which is gone through where there is no room for all. Those that follow one that does not fit are left. */
static int take(search *s, const pat_common_comm *common)
{
    bool fits = true;
    int rc = MPI_SUCCESS, some;
    for (int64_t at = 0; at < common->calls; at += some) {
        if (at > 0 || s->num_at_hand + common->calls > AT_ONCE)
            rc = go_through(s, &fits);
        if (rc != MPI_SUCCESS || (at > 0 && !fits))
            break;
        some = common->calls - at < AT_ONCE ? (int)(common->calls - at) : AT_ONCE;
        s->parts[s->num_parts++] = (part){.comm = common->comm,
                                          .first = s->order.first[common->comm->number],
                                          .at = at,
                                          .calls = common->calls,
                                          .some = some};
        s->num_at_hand += some;
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

static int find(search *s, const pat_common_comm common[], int num)
{
    const pat_event_group *group = NULL;
    bool fits;
    int rc = MPI_SUCCESS;
    for (int i = 0; i < num && rc == MPI_SUCCESS; i++) {
        if (common[i].comm->group != group) {
            rc = go_through(s, &fits);
            let_go(s);
            group = common[i].comm->group;
            /* MPI may have no more communicators, which its ranks agree on: then no member gets this one, and the others must not wait. */
            if (rc == MPI_SUCCESS && gather_members(s, group) != MPI_SUCCESS)
                s->members = MPI_COMM_NULL;
        }
        if (rc == MPI_SUCCESS && s->members != MPI_COMM_NULL)
            rc = take(s, &common[i]);
    }
    if (rc == MPI_SUCCESS)
        rc = go_through(s, &fits);
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
                      pat_lateness_left *left)
{
    pat_common_comm *common = NULL;
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
                .parts = malloc(AT_ONCE * sizeof(*s.parts)),
                .deviations = malloc(2 * AT_ONCE * sizeof(*s.deviations))};
    const bool good =
        pat_event_order_make(&s.order, e) && facts_of_sites && s.own && s.found && s.parts && s.deviations;
    int num = 0, none = !good, any_none;
    bool told = false;
    *left = (pat_lateness_left){0};
    int rc = PMPI_Allreduce(&none, &any_none, 1, MPI_INT, MPI_MAX, all);
    if (rc == MPI_SUCCESS && !any_none)
        rc = pat_common_comms_find(e, all, &common, &num, &left->too_many, &told);
    if (rc == MPI_SUCCESS && told)
        rc = prepare(&s, one_way);
    if (rc == MPI_SUCCESS && told)
        rc = pat_savings_begin(&s.savings, all, nodes);
    if (rc == MPI_SUCCESS && told)
        rc = find(&s, common, num);
    pat_savings_find(&s.savings, sites, one_way);
    pat_savings_end(&s.savings);
    left->calls = e->num_lost - s.num_fit + s.num_unknown;
    for (int i = 0; i < e->num_comms; i++)
        left->calls += e->comms[i]->num_calls;
    if (s.type != MPI_DATATYPE_NULL)
        PMPI_Type_free(&s.type);
    if (s.op != MPI_OP_NULL)
        PMPI_Op_free(&s.op);
    free(s.own);
    free(s.found);
    free(s.parts);
    free(s.deviations);
    free(common);
    free(facts_of_sites);
    pat_event_order_free(&s.order);
    return rc;
}
