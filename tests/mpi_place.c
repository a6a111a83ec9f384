/*
 * mpi_place.c — ranks of one machine place their threads together, and agree when one of them asks for what
 * cannot be. ranks: 2 4
 */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pat.h"
#include "place.h"

static int rank, size, failures;

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: rank %d: not true: %s\n", __FILE__, __LINE__, rank, #condition);         \
            failures++;                                                                                      \
        }                                                                                                    \
    } while (0)

typedef struct probe {
    pat_place place;
    enum pat_place_kind done;
    cpu_set_t where;
} probe;

static void *probe_thread(void *arg)
{
    probe *p = arg;
    p->done = pat_place_apply(&p->place);
    sched_getaffinity(0, sizeof(p->where), &p->where);
    return NULL;
}

/* What becomes of a thread of this process that is placed so. */
static probe apply(const pat_place *place)
{
    probe p = {.place = *place};
    pthread_t thread;
    cpu_set_t before, after;
    sched_getaffinity(0, sizeof(before), &before);
    CHECK(pthread_create(&thread, NULL, probe_thread, &p) == 0);
    pthread_join(thread, NULL);
    sched_getaffinity(0, sizeof(after), &after);
    CHECK(CPU_EQUAL(&before, &after)); /* the application's thread stays where it was */
    return p;
}

/* As a launcher does it: with all threads that the process has, those of the MPI library included. */
static void bind_process(const cpu_set_t *set)
{
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks != NULL);
    for (struct dirent *entry; tasks && (entry = readdir(tasks));)
        if (entry->d_name[0] != '.')
            sched_setaffinity((pid_t)atoi(entry->d_name), sizeof(*set), set);
    if (tasks)
        closedir(tasks);
    cpu_set_t now;
    CHECK(sched_getaffinity(0, sizeof(now), &now) == 0 && CPU_EQUAL(&now, set));
}

/* Every rank is bound to the same PU: the others are free, one for each rank as long as they last. */
static void test_auto(const cpu_set_t *all, int first, int num_pus)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    bind_process(&one);
    pat_place place;
    CHECK(pat_place_find(MPI_COMM_WORLD, "auto", &place) == MPI_SUCCESS);
    int pus[16];
    MPI_Allgather(&place.pu_os_index, 1, MPI_INT, pus, 1, MPI_INT, MPI_COMM_WORLD);
    int placed = 0;
    for (int i = 0; i < size; i++) {
        CHECK(pus[i] != first);
        placed += pus[i] >= 0;
        for (int j = 0; j < i; j++)
            CHECK(pus[i] < 0 || pus[i] != pus[j]);
    }
    CHECK(placed == (size < num_pus - 1 ? size : num_pus - 1));

    probe p = apply(&place);
    CHECK(p.done == place.kind);
    if (place.kind == PAT_PLACE_PU)
        CHECK(CPU_COUNT(&p.where) == 1 && CPU_ISSET(place.pu_os_index, &p.where));
    else
        CHECK(CPU_EQUAL(&p.where, all)); /* not stuck on its maker's PU */

    bind_process(all);
    CHECK(pat_place_find(MPI_COMM_WORLD, "auto", &place) == MPI_SUCCESS);
    CHECK(place.kind == PAT_PLACE_FLOAT);
}

static void test_told(const cpu_set_t *all, int first, int last)
{
    pat_place place;
    char text[16];
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    bind_process(&one);

    /* The last rank is told where to go; what it was told is not free for others. */
    snprintf(text, sizeof(text), "%d", last);
    CHECK(pat_place_find(MPI_COMM_WORLD, rank == size - 1 ? text : "auto", &place) == MPI_SUCCESS);
    if (rank == size - 1)
        CHECK(place.kind == PAT_PLACE_PU && place.pu_os_index == last);
    else
        CHECK(place.pu_os_index != last && place.pu_os_index != first);

    /* A rank that was told does not use up a free PU that another one could have. */
    snprintf(text, sizeof(text), "%d", first);
    CHECK(pat_place_find(MPI_COMM_WORLD, rank == 0 ? text : "auto", &place) == MPI_SUCCESS);
    if (rank == 1)
        CHECK(place.kind == PAT_PLACE_PU && place.pu_os_index != first);

    CHECK(pat_place_find(MPI_COMM_WORLD, "off", &place) == MPI_SUCCESS);
    CHECK(place.kind == PAT_PLACE_OFF);
    probe p = apply(&place);
    CHECK(p.done == PAT_PLACE_OFF && CPU_EQUAL(&p.where, &one));

    /* A PU that went away meanwhile: the thread floats. */
    place = (pat_place){PAT_PLACE_PU, 8000};
    p = apply(&place);
    CHECK(p.done == PAT_PLACE_FLOAT && CPU_EQUAL(&p.where, all));
    bind_process(all);
}

static void test_bad(int first)
{
    static const char *const wrong[] = {"8191", "99999999999999999999", "-1", "1x", "", "sideways"};
    pat_place place;
    char good[16];
    snprintf(good, sizeof(good), "%d", first);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        for (int culprit = 0; culprit < size; culprit++) {
            const char *others = i % 2 ? good : "auto";
            CHECK(pat_place_find(MPI_COMM_WORLD, rank == culprit ? wrong[i] : others, &place) == MPI_ERR_ARG);
            const char *text = PAT_Error_string(MPI_ERR_ARG);
            char named[64];
            snprintf(named, sizeof(named), "PAT_THREAD_PIN=\"%s\"", wrong[i]);
            CHECK((strstr(text, named) != NULL) == (rank == culprit));
            CHECK(strstr(text, rank == culprit ? "accepted on this node: auto, off, or" : "another rank") !=
                  NULL);
        }
    CHECK(pat_place_find(MPI_COMM_WORLD, good, &place) == MPI_SUCCESS);
    CHECK(place.kind == PAT_PLACE_PU && place.pu_os_index == first);
}

int main(int argc, char **argv)
{
    cpu_set_t all;
    int first = -1, last = -1, result = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    pat_place_apply(&(pat_place){PAT_PLACE_FLOAT, -1}); /* start from all that this process may use */
    sched_getaffinity(0, sizeof(all), &all);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all)) {
            first = first < 0 ? i : first;
            last = i;
        }
    if (CPU_COUNT(&all) < 2) {
        MPI_Finalize();
        return 77;
    }
    test_auto(&all, first, CPU_COUNT(&all));
    test_told(&all, first, last);
    test_bad(first);
    MPI_Allreduce(&failures, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return result != 0;
}
