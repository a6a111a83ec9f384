/*
 * printed_table.c — see printed_table.h.
 */
#include "printed_table.h"

#include <stdio.h>
#include <string.h>

#include "collective.h"
#include "model_printed.h"

bool printed_table_knows(const char *machine, char *names, size_t size)
{
    const char *last = "";
    *names = '\0';
    for (int i = 0; printed_at(i); i++) {
        const char *const name = printed_at(i)->machine;
        if (strcmp(name, machine) == 0)
            return true;
        if (strcmp(name, last) != 0)
            snprintf(names + strlen(names), size - strlen(names), "%s%s", *last ? ", " : "", name);
        last = name;
    }
    return false;
}

/* "binary" of "bcast_binary". */
static const char *short_name(const printed_set *set, int alg)
{
    return set->algs[alg] + strlen(pat_collective_of(set->op)->name) + 1;
}

static void print_choice(const printed_set *set, int alg, int loss)
{
    printf(" %8s %4d %%", short_name(set, alg), loss);
}

static void print_row(const printed_set *set, const printed_row *row, int chosen)
{
    printf("%6d", row->kib);
    for (int a = 0; a < set->num_algs; a++)
        printf(" %9.3f", 1e3 * printed_seconds(set, a, row->kib * INT64_C(1024), false));
    printf("  %-8s | %8s", short_name(set, chosen), short_name(set, row->fastest));
    print_choice(set, row->model, row->model_loss);
    print_choice(set, row->library, row->library_loss);
    putchar('\n');
}

static void print_set(const printed_set *set)
{
    int same = 0, literally = 0, fastest = 0, named = 0;
    printf("\n# %s, %d ranks, %s (tables %s)\n%6s", pat_collective_of(set->op)->name, set->ranks,
           set->link.ranks_per_node > 1 ? "one on each core, by the stage rule"
                                        : "one on each processor, by formula",
           set->tables, "KiB");
    for (int a = 0; a < set->num_algs; a++)
        printf(" %9s", short_name(set, a));
    printf("  %-8s | %8s %15s %15s\n", "chosen", "fastest", "chosen there", "Open MPI 3.1");
    for (int i = 0; i < set->num_rows; i++) {
        const printed_row *const row = &set->rows[i];
        const int64_t bytes = row->kib * INT64_C(1024);
        const int chosen = printed_choice(set, bytes, false);
        print_row(set, row, chosen);
        same += chosen == row->model;
        literally += printed_choice(set, bytes, true) == row->model;
        fastest += chosen == row->fastest;
        named += row->model == row->fastest;
    }
    printf(
        "# chosen as printed: %d of %d (by the formulas as printed %d); the fastest: %d, by the print %d\n",
        same, set->num_rows, literally, fastest, named);
}

void printed_table(const char *machine)
{
    printf("# Nuriyev 2021, %s: times in ms, predicted from the printed parameters; right of the bar what is "
           "printed, and what each "
           "loses\n",
           machine);
    for (int i = 0; printed_at(i); i++)
        if (strcmp(printed_at(i)->machine, machine) == 0)
            print_set(printed_at(i));
}
