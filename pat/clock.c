/*
 * clock.c — see clock.h.
 */
#include "clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

int64_t pat_clock_local_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* The kernel that has been booted has one monotonic clock, which a time namespace moves. Names of hosts say nothing of it: clones of a machine share theirs. */
uint64_t pat_clock_id(void)
{
    char boot[64] = "";
    struct stat ns = {0};
    uint64_t id = UINT64_C(14695981039346656037); /* FNV-1a */
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
    const bool known = f && fgets(boot, sizeof(boot), f);
    if (f)
        fclose(f);
    if (!known)
        return 0;
    if (stat("/proc/self/ns/time", &ns) == 0) /* else this kernel has no such namespaces */
        id ^= (uint64_t)ns.st_ino;
    for (const char *c = boot; *c; c++)
        id = (id ^ (uint64_t)*c) * UINT64_C(1099511628211);
    return id;
}
