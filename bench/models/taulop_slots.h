/*
 * taulop_slots.h — messages and collectives through slots in shared memory, two for each pair of members, each as long as a segment.
 */
#ifndef TAULOP_SLOTS_H
#define TAULOP_SLOTS_H

#include "taulop_way.h"

enum { TAULOP_TREE_DEGREE = 2 };

/* Memory for the slots of so many members. The caller writes its own once, so that they lie on its NUMA node. */
size_t taulop_slots_bytes(int num, int64_t segment_bytes);
void taulop_slots_settle(taulop_member *m);

/* Messages in segments as long as the members' slots. */
taulop_way taulop_slots_way(int64_t segment_bytes);

/*
 * A broadcast among the first `ranks` members, down a tree in which a member's children all read what it writes once. All must meet
 * before one of another degree.
 */
typedef struct taulop_fan {
    int ranks, degree;
    int64_t written; /* segments until now, counted by each member for itself; 0 before the first */
} taulop_fan;
void taulop_fan_out(taulop_member *m, taulop_fan *fan, char *data, int64_t bytes);

#endif
