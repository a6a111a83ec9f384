/*
 * sites.c — see sites.h. A hash table that only grows: a program has as many places as it has lines, so few.
 */
#include "sites.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64 };

static struct {
    pthread_mutex_t lock;
    pat_site *sites; /* in the order of their first call */
    int num, room;
    int *slots; /* a site's number plus one; 0: free */
    int num_slots;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int slot_of(const void *address, const char *call)
{
    const uint64_t key = ((uint64_t)(uintptr_t)address ^ (uint64_t)(uintptr_t)call << 17);
    int slot = (int)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (table.num_slots - 1);
    for (; table.slots[slot]; slot = (slot + 1) & (table.num_slots - 1)) {
        const pat_site *s = &table.sites[table.slots[slot] - 1];
        if (s->address == address && s->call == call)
            break;
    }
    return slot;
}

static bool grow(void)
{
    const int num_slots = table.num_slots ? 2 * table.num_slots : FIRST_SLOTS;
    int *slots = calloc((size_t)num_slots, sizeof(*slots));
    pat_site *sites = realloc(table.sites, (size_t)num_slots / 2 * sizeof(*sites));
    if (sites)
        table.sites = sites;
    if (!slots || !sites) {
        free(slots);
        return false;
    }
    free(table.slots);
    table.slots = slots;
    table.num_slots = num_slots;
    table.room = num_slots / 2;
    for (int i = 0; i < table.num; i++)
        table.slots[slot_of(sites[i].address, sites[i].call)] = i + 1;
    return true;
}

static pat_site *find(const void *address, const char *call)
{
    if (table.num == table.room && !grow())
        return NULL;
    int *slot = &table.slots[slot_of(address, call)];
    if (!*slot) {
        table.sites[table.num] = (pat_site){.address = address, .call = call, .sums.least_bytes = INT64_MAX};
        *slot = ++table.num;
    }
    return &table.sites[*slot - 1];
}

static void add_late(pat_site *s, const pat_outcome *outcome, int64_t time_ns)
{
    s->sums.num_known++;
    s->sums.waited_ns += outcome->late.waited_ns;
    s->sums.native_ns += outcome->native_ns;
    s->sums.plan_ns += time_ns;
    if (outcome->late.rank >= s->num_last) {
        const int num = outcome->late.rank + 1;
        int64_t *more = realloc(s->last_calls, (size_t)num * sizeof(*more));
        if (!more)
            return;
        memset(more + s->num_last, 0, (size_t)(num - s->num_last) * sizeof(*more));
        s->last_calls = more;
        s->num_last = num;
    }
    s->last_calls[outcome->late.rank]++;
}

void pat_sites_add(const void *address, const char *call, int64_t bytes, int64_t time_ns,
                   const pat_outcome *outcome)
{
    pthread_mutex_lock(&table.lock);
    pat_site *s = find(address, call);
    if (s) {
        s->sums.calls++;
        s->sums.time_ns += time_ns;
        s->sums.bytes += bytes;
        s->sums.least_bytes = bytes < s->sums.least_bytes ? bytes : s->sums.least_bytes;
        s->sums.most_bytes = bytes > s->sums.most_bytes ? bytes : s->sums.most_bytes;
        if (outcome && outcome->alg)
            s->sums.alg_calls[outcome->alg - pat_algorithm_at(0)]++;
        if (outcome && outcome->alg && outcome->late.rank >= 0)
            add_late(s, outcome, time_ns);
    }
    pthread_mutex_unlock(&table.lock);
}

int pat_sites_count(void)
{
    return table.num;
}

const pat_site *pat_sites_at(int i)
{
    return &table.sites[i];
}

void pat_sites_clear(void)
{
    for (int i = 0; i < table.num; i++)
        free(table.sites[i].last_calls);
    free(table.sites);
    free(table.slots);
    table.sites = NULL;
    table.slots = NULL;
    table.num = table.room = table.num_slots = 0;
}

void pat_sites_name(const void *address, char *text, int size)
{
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_fname) {
        snprintf(text, (size_t)size, "%p", address);
        return;
    }
    const char *file = strrchr(info.dli_fname, '/');
    file = file ? file + 1 : info.dli_fname;
    const long long from_base = (const char *)address - (const char *)info.dli_fbase;
    if (info.dli_sname)
        snprintf(text, (size_t)size, "%s(%s+0x%llx)", file, info.dli_sname,
                 (long long)((const char *)address - (const char *)info.dli_saddr));
    else
        snprintf(text, (size_t)size, "%s+0x%llx", file, from_base);
}
