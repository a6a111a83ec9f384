/*
 * count.c — what is kept of a call that is over, while a report or a trace is wanted: sums of its place, and when it was made.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "dropin.h"

static const char BETWEEN[] = " < ";

/* What calls main, or a thread's function. */
static bool is_system(const char *name)
{
    return strncmp(name, "libc.so", 7) == 0;
}

/* A name that is too long ends with a number of its own, so that two that begin alike are two. */
static void end_by_number(char *text, int size, void *const addresses[], int num)
{
    enum { ROOM = 14 };
    uint64_t hash = UINT64_C(14695981039346656037);
    for (int i = 0; i < num; i++) {
        char name[160];
        pat_sites_name(addresses[i], name, sizeof(name));
        for (const char *c = name; *c; c++)
            hash = (hash ^ (uint64_t)(unsigned char)*c) * UINT64_C(1099511628211);
    }
    snprintf(text + size - ROOM, ROOM, "... #%08x", (unsigned)(hash >> 32));
}

int64_t pat_dropin_name(pat_dropin *d, const void *address, char *text, int size)
{
    const char *in_python = pat_python_name(&d->python, address);
    void *const *addresses;
    const int num = in_python ? 0 : pat_stacks_addresses(&d->stacks, address, &addresses);
    if (in_python)
        snprintf(text, (size_t)size, "%s", in_python);
    if (num == 0)
        return in_python ? 0 : pat_sites_name(address, text, size);
    int length = 0, used = 0;
    for (; used < num && length < size; used++) {
        char name[160];
        pat_sites_name(addresses[used], name, sizeof(name));
        if (used > 0 && is_system(name))
            break;
        length += snprintf(text + length, (size_t)(size - length), "%s%s", used ? BETWEEN : "", name);
    }
    if (length >= size)
        end_by_number(text, size, addresses, num);
    return 0;
}

static void line_of(pat_sources *sources, const void *address, char *text, int size)
{
    char name[160];
    const int64_t offset = pat_sites_name(address, name, sizeof(name));
    pat_sources_line(sources, name, offset, text, size);
}

void pat_dropin_line(pat_dropin *d, pat_sources *sources, const void *address, char *text, int size)
{
    void *const *addresses;
    const int num = pat_stacks_addresses(&d->stacks, address, &addresses);
    int length = 0;
    text[0] = '\0';
    if (pat_python_name(&d->python, address))
        return;
    if (num == 0)
        line_of(sources, address, text, size);
    for (int i = 0; i < num && length < size - 1; i++) {
        char line[80], name[80];
        pat_sites_name(addresses[i], name, sizeof(name));
        if (i > 0 && is_system(name))
            break;
        line_of(sources, addresses[i], line, sizeof(line));
        if (!line[0] && i == 0) /* the rest of the stack says nothing without it */
            return;
        length +=
            snprintf(text + length, (size_t)(size - length), "%s%s", i ? BETWEEN : "", line[0] ? line : "?");
    }
}

/* A call whose arguments MPI rejects never began: other ranks know nothing of it. */
static bool has_begun(int rc)
{
    static const int arguments[] = {MPI_ERR_COMM, MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_BUFFER,
                                    MPI_ERR_ROOT, MPI_ERR_OP,    MPI_ERR_ARG,  MPI_ERR_REQUEST};
    int error_class;
    if (rc == MPI_SUCCESS)
        return true;
    bool good = PMPI_Error_class(rc, &error_class) == MPI_SUCCESS;
    for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]) && good; i++)
        good = error_class != arguments[i];
    return good;
}

/* The report; NULL where nothing is counted now: MPI_Pcontrol has switched it off, or MPI_Finalize was called meanwhile, which is wrong, but nothing to end a program for. */
static pat_dropin *counting(int64_t now_ns)
{
    pat_dropin *d = pat_rt.dropin;
    if (d && d->state.on)
        pat_state_leave(&d->state, now_ns);
    if (!d || !atomic_load_explicit(&d->off, memory_order_relaxed))
        return d;
    atomic_fetch_add_explicit(&d->num_off, 1, memory_order_relaxed);
    return NULL;
}

/* Into the sums of its place, whose number is returned; negative without memory. */
static int add_to_place(pat_dropin *d, const pat_counted *told, pat_site_call call,
                        const pat_outcome *outcome)
{
    bool is_first;
    /* Python may be busy in another thread: nobody waits for it before the call. */
    const void *place = told->is_placed ? told->site : pat_dropin_place(told->site);
    call.address = place;
    call.call = told->call;
    const int site = pat_sites_add(&d->sites, &call, outcome, &told->came, &is_first);
    if (site >= 0 && is_first && d->traced) {
        char name[160];
        const int64_t offset = pat_dropin_name(d, place, name, sizeof(name));
        pat_events_name(&d->events, site, name, told->call, offset);
    }
    return site;
}

static int64_t on_common_clock(int64_t local_ns)
{
    return local_ns + pat_timekeeper_offset_ns(&pat_rt.time, local_ns);
}

static const pat_log_plan *plan_of(const pat_outcome *outcome, pat_log_plan *plan)
{
    if (!outcome || !outcome->alg)
        return NULL;
    *plan = (pat_log_plan){.early_bytes = outcome->early_bytes};
    snprintf(plan->alg, sizeof(plan->alg), "%s", outcome->alg->name);
    return plan;
}

void pat_dropin_count(const pat_counted *told, int rc, int64_t bytes, const pat_outcome *outcome)
{
    const int64_t now_ns = pat_clock_local_ns(), time_ns = now_ns - told->start_ns;
    pat_dropin *d = counting(now_ns);
    if (!d)
        return;
    const int site = add_to_place(d, told, (pat_site_call){.bytes = bytes, .time_ns = time_ns}, outcome);
    if (site < 0 || !has_begun(rc))
        return;
    pat_log_plan plan;
    const pat_event_turn turn =
        pat_events_add(&d->events, told->comm,
                       &(pat_log_call){.start_ns = on_common_clock(told->start_ns),
                                       .time_ns = time_ns,
                                       .bytes = bytes,
                                       .site = site,
                                       .root = told->root,
                                       .kind = rc == MPI_SUCCESS ? PAT_LOG_CALL : PAT_LOG_FAILED},
                       plan_of(outcome, &plan));
    /* One that is not kept is waited for too, and no message. */
    if (told->request && rc == MPI_SUCCESS && *told->request != MPI_REQUEST_NULL)
        pat_begun_add(&d->begun, *told->request, turn);
}

/* A persistent request has been started, or was to be: what is known of it, and its share of the time. */
static void count_start(pat_dropin *d, const pat_counted *told, int rc, int64_t time_ns, MPI_Request request,
                        const pat_kept *kept)
{
    const pat_outcome how = {.alg = kept->alg, .why = kept->why, .late = {.rank = -1}};
    pat_counted of = *told;
    of.call = kept->call;
    const int site = add_to_place(d, &of, (pat_site_call){.bytes = kept->bytes, .time_ns = time_ns},
                                  kept->may_run ? &how : NULL);
    if (site < 0 || !has_begun(rc))
        return;
    const pat_log_call call = {.start_ns = on_common_clock(told->start_ns),
                               .time_ns = time_ns,
                               .bytes = kept->bytes,
                               .site = site,
                               .root = kept->root,
                               .kind = rc == MPI_SUCCESS ? PAT_LOG_CALL : PAT_LOG_FAILED};
    const pat_event_turn turn = pat_events_add_start(&d->events, kept->events, &call);
    if (rc == MPI_SUCCESS)
        pat_begun_start(&d->begun, request, turn);
}

static void count_message(pat_dropin *d, const pat_counted *told, int64_t time_ns, int64_t bytes)
{
    add_to_place(d, told,
                 (pat_site_call){.bytes = bytes, .time_ns = time_ns, .message_ns = time_ns, .messages = 1},
                 NULL);
}

void pat_dropin_count_starts(const pat_counted *told, int rc, int num, const MPI_Request requests[])
{
    const int64_t now_ns = pat_clock_local_ns(), time_ns = now_ns - told->start_ns;
    pat_dropin *d = counting(now_ns);
    pat_kept kept;
    int num_kept = 0;
    for (int i = 0; i < num && d && requests; i++)
        num_kept += pat_begun_is_kept(&d->begun, requests[i], &kept);
    if (d && num_kept == 0)
        count_message(d, told, time_ns, 0);
    /* One after the other; messages that are started with them take no time of their own. Where MPI_Startall fails it does not say at which: all have failed then. */
    pat_counted share = *told;
    if (num_kept > 0 && !share.is_placed) {
        share.site = pat_dropin_place(share.site);
        share.is_placed = true;
    }
    for (int i = 0; i < num && num_kept > 0; i++)
        if (pat_begun_is_kept(&d->begun, requests[i], &kept)) {
            count_start(d, &share, rc, time_ns / num_kept, requests[i], &kept);
            share.start_ns += time_ns / num_kept;
        }
}

void pat_dropin_count_message(const pat_counted *told, int64_t bytes)
{
    const int64_t now_ns = pat_clock_local_ns(), time_ns = now_ns - told->start_ns;
    pat_dropin *d = counting(now_ns);
    if (d)
        count_message(d, told, time_ns, bytes);
}

/* A call that waits has returned: is this request's collective over? A request that is persistent is still there, and where the call has failed nobody looks for it in statuses, which the program may have ignored. */
static bool is_over(const pat_awaited *awaited, const MPI_Request requests[], int rc, const pat_done *done)
{
    if (!awaited->stays)
        return requests[awaited->at] == MPI_REQUEST_NULL;
    bool is = rc == MPI_SUCCESS && done->all;
    for (int i = 0; rc == MPI_SUCCESS && i < done->num && !is; i++)
        is = done->at[i] - done->first == awaited->at;
    return is;
}

void pat_dropin_count_await(const pat_counted *told, pat_waiting *waiting, const MPI_Request requests[],
                            int rc, pat_done done)
{
    const int64_t now_ns = pat_clock_local_ns(), time_ns = now_ns - told->start_ns;
    int num_over = 0;
    pat_dropin *d = pat_rt.dropin;
    for (int i = 0; i < waiting->num && d; i++)
        if (is_over(&waiting->found[i], requests, rc, &done)) {
            pat_begun_remove(&d->begun, &waiting->found[i]);
            if (waiting->found[i].turn.comm >= 0)
                waiting->found[num_over++] = waiting->found[i];
        }
    if ((d = counting(now_ns)) != NULL) {
        /* Whoever waits for a collective and for messages waits for the collective. */
        const int site = add_to_place(d, told,
                                      (pat_site_call){.time_ns = time_ns,
                                                      .message_ns = waiting->num ? 0 : time_ns,
                                                      .messages = waiting->num == 0},
                                      NULL);
        if (site >= 0 && num_over > 0)
            pat_events_add_wait(&d->events,
                                &(pat_log_wait){.start_ns = on_common_clock(told->start_ns),
                                                .time_ns = time_ns,
                                                .site = site},
                                waiting->found, num_over);
    }
}

void pat_dropin_milestone(int64_t now_ns, double percent)
{
    pat_dropin *d = pat_rt.dropin;
    if (d && d->traced && !atomic_load_explicit(&d->off, memory_order_relaxed))
        pat_events_add_milestone(&d->events, on_common_clock(now_ns), percent);
}

/* Places that are about messages have no events. */
void pat_dropin_trace_sums(pat_dropin *d)
{
    for (int i = 0; i < d->sites.num; i++) {
        const pat_site_sums *sums = &d->sites.sites[i].sums;
        if (sums->messages > 0)
            pat_events_add_sum(&d->events, &(pat_log_sum){.calls = sums->messages,
                                                          .time_ns = sums->message_ns,
                                                          .bytes = sums->bytes,
                                                          .site = i});
    }
}
