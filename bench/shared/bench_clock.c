/*
 * bench_clock.c — see bench_clock.h. Must never call two clocks one because their host names are alike: the
 * emulated cluster gives every node its own, and clones of a machine share theirs.
 */
#include "bench_clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ID_BYTES = 128 };

/* What CLOCK_MONOTONIC depends on: this boot of this kernel, and the time namespace. Empty when that cannot
 * be told. */
static void clock_id(char *id)
{
    char boot[64] = "", name[48] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    memset(id, 0, ID_BYTES);
    if (!file)
        return;
    if (!fgets(boot, sizeof(boot), file))
        boot[0] = '\0';
    fclose(file);
    if (boot[0] == '\0' || readlink("/proc/self/ns/time", name, sizeof(name) - 1) < 0)
        return; /* a kernel without time namespaces has boot ids all the same; measuring is never wrong */
    snprintf(id, ID_BYTES, "%s%s", boot, name);
}

int bench_clock_sync(pat_clock *clock, MPI_Comm comm, int rounds, int *same_machine)
{
    char mine[ID_BYTES], first[ID_BYTES];
    clock_id(mine);
    memcpy(first, mine, ID_BYTES);
    int rc = MPI_Bcast(first, ID_BYTES, MPI_CHAR, 0, comm);
    int same = mine[0] != '\0' && memcmp(mine, first, ID_BYTES) == 0;
    if (rc == MPI_SUCCESS)
        rc = MPI_Allreduce(&same, same_machine, 1, MPI_INT, MPI_MIN, comm);
    if (rc != MPI_SUCCESS)
        return rc;
    *clock = (pat_clock){0};
    return *same_machine ? MPI_SUCCESS : pat_clock_sync(clock, comm, rounds);
}
