/*
 * info_calibration.c — see info_calibration.h.
 */
#include "info_calibration.h"

#include "machine.h"
#include "pat.h"

static void note(json_t *told, const char *text)
{
    json_object_set_new(told, "note", json_string(text));
}

/* As pat_store_listener wants it; to: the list of files. */
static void not_taken(void *to, const char *path, const char *why)
{
    json_array_append_new(to, json_pack("{s:s, s:b, s:s}", "file", path, "taken", 0, "why", why));
}

/* Is there something in the store? Told on rank 0, which alone looks. */
static int look_in_store(json_t *told)
{
    char path[PAT_STORE_PATH], why[256];
    if (!pat_store_find(pat_config_env, path, sizeof(path))) {
        note(told,
             "neither XDG_CACHE_HOME nor HOME is an absolute path, so there is no directory to look in");
        return 0;
    }
    json_object_set_new(told, "directory", json_string(path));
    const enum pat_store_state state = pat_store_look(path, why, sizeof(why));
    if (state != PAT_STORE_HOLDS)
        note(told, state == PAT_STORE_EMPTY ? "there is no calibration in it" : why);
    return state == PAT_STORE_HOLDS;
}

/* As PAT_Init and the first call on a communicator do it. */
static void take_stored(MPI_Comm comm, bool tells, const pat_store_wish *wish, json_t *told,
                        info_taken *taken)
{
    json_t *files = json_array();
    const pat_store_listener listener = {not_taken, files};
    const pat_store_listener *const told_to = tells ? &listener : NULL;
    pat_stored *found = NULL;
    int num;
    taken->error = pat_machine_stored(comm, told_to, &taken->stored, &num);
    if (taken->error == MPI_SUCCESS)
        taken->error = pat_machine_take(comm, taken->stored, num, wish, told_to, &found);
    if (found) {
        taken->calibration = &found->calibration;
        json_array_insert_new(files, 0, json_pack("{s:s, s:b}", "file", found->path, "taken", 1));
        json_object_set_new(told, "file", json_string(found->path));
    }
    json_object_set_new(told, "files", files);
}

static void take_given(MPI_Comm comm, const pat_config *config, json_t *told, info_taken *taken)
{
    taken->error = pat_machine_calibration(comm, config, &taken->given);
    taken->calibration = taken->given;
    if (taken->given)
        json_object_set_new(told, "file", json_string(config->calibration));
    else
        note(told, PAT_Error_string(taken->error));
}

json_t *info_calibration(MPI_Comm comm, const pat_config *config, const pat_store_wish *wish,
                         info_taken *taken)
{
    json_t *told = json_pack("{s:n}", "file");
    int rank, holds = 0;
    MPI_Comm_rank(comm, &rank);
    if (config->calibration_sought && rank == 0)
        holds = look_in_store(told);
    MPI_Bcast(&holds, 1, MPI_INT, 0, comm);
    if (!config->calibration_sought && !config->calibration[0])
        note(told, "PAT_CALIBRATION=none: none is looked for");
    else if (wish->link_mbit > 0 && config->calibration[0])
        take_given(comm, config, told, taken);
    else if (wish->link_mbit > 0 && holds)
        take_stored(comm, rank == 0, wish, told, taken);
    else if (holds || config->calibration[0])
        note(told, "none is looked at, because auto does not choose here");
    return told;
}
