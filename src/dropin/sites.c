/*
 * sites.c — see sites.h.
 *
 * The hash table is our own, because every call of the program asks it: uthash, with the address and the name as its key, took 14 ns
 * for what takes 3 ns here (24 places, the least of 20 runs each), would need a piece of memory for every place, and ends the process
 * where there is no memory. Both need the lock.
 */
#include "sites.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64 };

static int slot_of(const pat_sites *all, const void *address, const char *call)
{
    const uint64_t key = ((uint64_t)(uintptr_t)address ^ (uint64_t)(uintptr_t)call << 17);
    int slot = (int)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (all->num_slots - 1);
    for (; all->slots[slot]; slot = (slot + 1) & (all->num_slots - 1)) {
        const pat_site *s = &all->sites[all->slots[slot] - 1];
        if (s->address == address && s->call == call)
            break;
    }
    return slot;
}

static bool grow(pat_sites *all)
{
    const int num_slots = all->num_slots ? 2 * all->num_slots : FIRST_SLOTS;
    int *slots = calloc((size_t)num_slots, sizeof(*slots));
    pat_site *sites = realloc(all->sites, (size_t)num_slots / 2 * sizeof(*sites));
    if (sites)
        all->sites = sites;
    if (!slots || !sites) {
        free(slots);
        return false;
    }
    free(all->slots);
    all->slots = slots;
    all->num_slots = num_slots;
    all->room = num_slots / 2;
    for (int i = 0; i < all->num; i++)
        all->slots[slot_of(all, sites[i].address, sites[i].call)] = i + 1;
    return true;
}

static pat_site *find(pat_sites *all, const void *address, const char *call)
{
    if (all->num == all->room && !grow(all))
        return NULL;
    int *slot = &all->slots[slot_of(all, address, call)];
    if (!*slot) {
        all->sites[all->num] = (pat_site){.address = address, .call = call, .sums.least_bytes = INT64_MAX};
        *slot = ++all->num;
    }
    return &all->sites[*slot - 1];
}

static void add_known(pat_site *s, const pat_outcome *outcome, int64_t time_ns)
{
    s->sums.num_known++;
    s->sums.waited_ns += outcome->late.waited_ns;
    s->sums.native_ns += outcome->native_ns;
    s->sums.plan_ns += time_ns - outcome->before_ns;
}

void pat_sites_add_wait(pat_site *s, int64_t wait_ns, int late)
{
    s->sums.num_met++;
    s->sums.late_ns += wait_ns;
    if (late < 0)
        return;
    if (late >= s->num_late) {
        pat_site_late *more = realloc(s->late, ((size_t)late + 1) * sizeof(*more));
        if (!more)
            return;
        memset(more + s->num_late, 0, (size_t)(late + 1 - s->num_late) * sizeof(*more));
        s->late = more;
        s->num_late = late + 1;
    }
    s->late[late].calls++;
    s->late[late].ns += wait_ns;
}

void pat_sites_add_arrivals(pat_site *s, bool is_long, const pat_coming *coming)
{
    pat_coming call = *coming;
    call.has_before = s->has_before;
    call.before_ns = s->before_ns;
    pat_imbalance_add(&s->arrivals[is_long], &call);
    s->has_before = true;
    s->before_ns = call.own_ns;
}

/* An algorithm of PAT's that has run is in the outcome. */
static void add_stood_in(pat_site_sums *sums, const pat_stood_in *came)
{
    if (came->why != PAT_MOCK_RAN)
        sums->refused_calls[came->why]++;
    else if (came->mock && came->number < PAT_SITE_MOCKS)
        sums->mock_calls[came->number]++;
}

int pat_sites_add(pat_sites *all, const pat_site_call *call, const pat_outcome *outcome,
                  const pat_stood_in *came, bool *is_first)
{
    pthread_mutex_lock(&all->lock);
    pat_site *s = find(all, call->address, call->call);
    if (s) {
        pat_site_sums *sums = &s->sums;
        sums->calls++;
        sums->time_ns += call->time_ns;
        sums->messages += call->messages;
        sums->message_ns += call->message_ns;
        sums->bytes += call->bytes;
        sums->least_bytes = call->bytes < sums->least_bytes ? call->bytes : sums->least_bytes;
        sums->most_bytes = call->bytes > sums->most_bytes ? call->bytes : sums->most_bytes;
        if (came && pat_stands_in(came))
            add_stood_in(sums, came);
        if (outcome)
            s->sums.why_calls[outcome->why]++;
        if (outcome && outcome->alg)
            s->sums.alg_calls[outcome->alg - pat_algorithm_at(0)]++;
        if (outcome && outcome->alg && outcome->late.rank >= 0)
            add_known(s, outcome, call->time_ns);
    }
    const int number = s ? (int)(s - all->sites) : -1;
    *is_first = s && s->sums.calls == 1;
    pthread_mutex_unlock(&all->lock);
    return number;
}

pat_hiding *pat_sites_hiding(pat_sites *all, const void *address, const char *call)
{
    pthread_mutex_lock(&all->lock);
    pat_site *s = find(all, address, call);
    if (s && !s->hiding)
        s->hiding = calloc(1, sizeof(*s->hiding));
    pat_hiding *hiding = s ? s->hiding : NULL;
    pthread_mutex_unlock(&all->lock);
    return hiding;
}

pat_site_sums pat_sites_sums(const pat_site *site)
{
    pat_site_sums sums = site->sums;
    if (site->hiding) {
        sums.num_ended = atomic_load(&site->hiding->calls);
        sums.under_way_ns = atomic_load(&site->hiding->under_way_ns);
        sums.in_mpi_ns = atomic_load(&site->hiding->in_mpi_ns);
    }
    return sums;
}

void pat_sites_clear(pat_sites *all)
{
    for (int i = 0; i < all->num; i++) {
        free(all->sites[i].late);
        free(all->sites[i].hiding);
    }
    free(all->sites);
    free(all->slots);
}

void pat_sites_shorten(const char *name, int64_t offset, int width, char *text)
{
    char tail[40];
    int keep = (int)strlen(name);
    if (keep <= width) {
        memcpy(text, name, (size_t)keep + 1);
        return;
    }
    if (strstr(name, " < ")) { /* a stack, which begins with what matters most */
        snprintf(text, (size_t)width + 1, "%.*s...", width - 3, name);
        return;
    }
    if (!strchr(name, '+')) { /* a line of a source, whose number is at its end */
        snprintf(text, (size_t)width + 1, "...%s", name + keep - (width - 3));
        return;
    }
    keep = snprintf(tail, sizeof(tail), "...)+0x%llx", (long long)offset);
    keep = keep < width ? width - keep : 0;
    const bool in_function = memchr(name, '(', (size_t)keep) != NULL;
    snprintf(text, (size_t)width + 1, "%.*s...%s%s", keep, name, in_function ? ")" : "", strchr(tail, '+'));
}

int64_t pat_sites_name(const void *address, char *text, int size)
{
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_fname) {
        snprintf(text, (size_t)size, "%p", address);
        return (int64_t)(intptr_t)address;
    }
    char *whole = NULL;
    const char *file = strrchr(info.dli_fname, '/');
    file = file ? file + 1 : info.dli_fname;
    const int64_t offset = (const char *)address - (const char *)info.dli_fbase;
    const long long in_function = (const char *)address - (const char *)info.dli_saddr;
    if ((info.dli_sname ? asprintf(&whole, "%s(%s+0x%llx)", file, info.dli_sname, in_function)
                        : asprintf(&whole, "%s+0x%llx", file, (long long)offset)) < 0)
        whole = NULL;
    pat_sites_shorten(whole ? whole : "", offset, size - 1, text);
    free(whole);
    return offset;
}
