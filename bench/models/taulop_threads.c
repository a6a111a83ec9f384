/*
 * taulop_threads.c — see taulop_threads.h.
 */
#include "taulop_threads.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "taulop_slots.h"

typedef struct start {
    pthread_t thread;
    taulop_member member;
    taulop_work *body;
    void *arg;
} start;

static void *run(void *arg)
{
    start *s = arg;
    taulop_settle(&s->member);
    taulop_slots_settle(&s->member);
    taulop_meet(&s->member);
    s->body(&s->member, s->arg);
    return NULL;
}

static bool start_all(start *starts, int num)
{
    for (int i = 0; i < num; i++)
        if (pthread_create(&starts[i].thread, NULL, run, &starts[i]) != 0) {
            if (i == 0)
                return false;
            abort(); /* those that run wait for the others: nothing can be undone */
        }
    return true;
}

int taulop_threads(const taulop_member *like, taulop_work *body, void *arg)
{
    const int num = like->num;
    const size_t bytes = taulop_shared_bytes(taulop_slots_bytes(num, like->segment_bytes));
    void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    start *starts = calloc((size_t)num, sizeof(*starts));
    bool good = shared != MAP_FAILED && starts;
    for (int i = 0; good && i < num; i++) {
        starts[i] = (start){.member = *like, .body = body, .arg = arg};
        starts[i].member.number = i;
        starts[i].member.shared = shared;
        starts[i].member.cold = malloc((size_t)like->cold_bytes);
        good = starts[i].member.cold != NULL;
    }
    good = good && start_all(starts, num);
    for (int i = 0; good && i < num; i++)
        pthread_join(starts[i].thread, NULL);
    for (int i = 0; starts && i < num; i++)
        free(starts[i].member.cold);
    free(starts);
    if (shared != MAP_FAILED)
        munmap(shared, bytes);
    return good ? 0 : -1;
}
