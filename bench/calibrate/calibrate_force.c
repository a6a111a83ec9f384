/*
 * calibrate_force.c — see calibrate_force.h. Open MPI reads the variables when it makes a communicator: they are written, the communicator is
 * duplicated, and they are written back. It takes every value and obeys none where dynamic rules were off in MPI_Init.
 */
#include "calibrate_force.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char dynamic_rules[] = "coll_tuned_use_dynamic_rules";

void force_prepare(void)
{
    setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0);
}

/* Read or write a variable that is a number. */
static int number(const char *name, bool write, int *value)
{
    MPI_T_cvar_handle handle;
    int index, count, rc = MPI_T_cvar_get_index(name, &index);
    long long room[8] = {0}; /* a flag may be shorter than an int */
    if (rc != MPI_SUCCESS)
        return rc;
    rc = MPI_T_cvar_handle_alloc(index, NULL, &handle, &count);
    if (rc != MPI_SUCCESS)
        return rc;
    if (count != 1)
        rc = MPI_ERR_OTHER;
    else if (write)
        rc = MPI_T_cvar_write(handle, value);
    else
        rc = MPI_T_cvar_read(handle, room);
    if (rc == MPI_SUCCESS && !write)
        memcpy(value, room, sizeof(*value));
    MPI_T_cvar_handle_free(&handle);
    return rc;
}

bool force_open(char *why, size_t why_size)
{
    int level, on = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &level) != MPI_SUCCESS) {
        snprintf(why, why_size, "the MPI library has no tools interface (MPI_T)");
        return false;
    }
    if (number(dynamic_rules, false, &on) != MPI_SUCCESS)
        snprintf(why, why_size,
                 "the MPI library has no control variable %s, as Open MPI has: its own algorithms cannot be "
                 "forced",
                 dynamic_rules);
    else if (!on)
        snprintf(why, why_size, "%s is off; accepted: OMPI_MCA_%s=1 in every rank's environment",
                 dynamic_rules, dynamic_rules);
    else
        return true;
    MPI_T_finalize();
    return false;
}

void force_close(void)
{
    MPI_T_finalize();
}

static void name_of(char *name, size_t size, const char *collective, const char *end)
{
    snprintf(name, size, "coll_tuned_%s_algorithm%s", collective, end);
}

/* The names and numbers that a variable may have; false: the MPI library does not tell. */
static bool values_of(const char *variable, MPI_T_enum *values, int *num)
{
    char text[256];
    int index, verbosity, binding, scope, length = sizeof(text), described = 0;
    MPI_Datatype type;
    if (MPI_T_cvar_get_index(variable, &index) != MPI_SUCCESS ||
        MPI_T_cvar_get_info(index, text, &length, &verbosity, &type, values, NULL, &described, &binding,
                            &scope) != MPI_SUCCESS ||
        *values == MPI_T_ENUM_NULL)
        return false;
    length = sizeof(text);
    return MPI_T_enum_get_info(*values, num, text, &length) == MPI_SUCCESS;
}

int force_list(const char *collective, force_algorithm *algs)
{
    char variable[64];
    MPI_T_enum values;
    int of_all, num = 0;
    name_of(variable, sizeof(variable), collective, "");
    if (!values_of(variable, &values, &of_all))
        return 0;
    for (int i = 0; i < of_all && num < FORCE_MOST; i++) {
        force_algorithm *const alg = &algs[num];
        int length = sizeof(alg->name);
        *alg = (force_algorithm){.id = -1};
        if (MPI_T_enum_get_item(values, i, &alg->id, alg->name, &length) != MPI_SUCCESS ||
            !strncmp(alg->name, "two_proc", 8)) /* for two ranks alone */
            continue;
        name_of(variable, sizeof(variable), collective, "_chain_fanout");
        if (!strcmp(alg->name, "chain") && number(variable, false, &alg->fan) != MPI_SUCCESS)
            continue;
        num++;
    }
    return num;
}

bool force_is_cut(const char *collective, const force_algorithm *alg)
{
    static const char *const cut[] = {"bcast chain",       "bcast pipeline", "bcast split_binary_tree",
                                      "bcast binary_tree", "bcast binomial", "bcast knomial",
                                      "gather linear_sync"};
    char name[64];
    snprintf(name, sizeof(name), "%s %s", collective, alg->name);
    for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++)
        if (!strcmp(cut[i], name))
            return true;
    return false;
}

int force_dup(MPI_Comm comm, const char *collective, const force_algorithm *alg, MPI_Comm *dup)
{
    enum { NUM = 3 };
    static const char *const ends[NUM] = {"", "_segmentsize", "_chain_fanout"};
    const int wanted[NUM] = {alg->id, alg->segment_bytes, alg->fan};
    const int num = alg->fan > 0 ? NUM : NUM - 1;
    char names[NUM][64];
    int before[NUM], written = 0, rc = MPI_SUCCESS;
    while (written < num && rc == MPI_SUCCESS) {
        int value = wanted[written];
        name_of(names[written], sizeof(names[written]), collective, ends[written]);
        rc = number(names[written], false, &before[written]);
        if (rc == MPI_SUCCESS)
            rc = number(names[written], true, &value);
        written += rc == MPI_SUCCESS;
    }
    if (rc == MPI_SUCCESS)
        rc = MPI_Comm_dup(comm, dup);
    while (written > 0) {
        const int undone = number(names[written - 1], true, &before[written - 1]);
        rc = rc == MPI_SUCCESS ? undone : rc;
        written--;
    }
    return rc;
}
