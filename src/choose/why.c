/*
 * why.c — why one algorithm runs a call and not another one, in words for people: see profile.h.
 */
#include "profile.h"

const char *pat_why_text(enum pat_why why)
{
    static const char *const texts[PAT_NUM_WHYS] = {
        [PAT_WHY_NOT_KNOWN] = "not known",
        [PAT_WHY_ASKED] = "asked for",
        [PAT_WHY_SHORT] = "too short to gain",
        [PAT_WHY_FIRST] = "first calls",
        [PAT_WHY_LONG] = "long blocks",
        [PAT_WHY_FASTER] = "measured: faster",
        [PAT_WHY_LEAST] = "least by calibration",
        [PAT_WHY_APART] = "ranks come apart",
        [PAT_WHY_TOGETHER] = "ranks come together",
        [PAT_WHY_SLOWER] = "measured: slower",
        [PAT_WHY_NO_GAIN] = "no gain on this link",
        [PAT_WHY_SAID] = "by milestones",
        [PAT_WHY_LATER] = "not tried yet",
        [PAT_WHY_COMPARE] = "to compare",
        [PAT_WHY_NOT_CALIBRATED] = "no calibration",
        [PAT_WHY_BY_NAME] = "others only by name",
        [PAT_WHY_ONE_NODE] = "ranks on one node",
        [PAT_WHY_ONE_RANK] = "one rank",
        [PAT_WHY_GROUPS] = "between groups or jobs",
        [PAT_WHY_NO_THREAD] = "no background thread",
        [PAT_WHY_TAGS] = "too few message tags",
        [PAT_WHY_NODES] = "several ranks a node",
        [PAT_WHY_TWO] = "two ranks, early anyway",
        [PAT_WHY_REQUEST] = "beside a request",
        [PAT_WHY_ORDER] = "order kept, see PAT_REORDER",
        [PAT_WHY_LIBRARY] = "not with this MPI library",
        [PAT_WHY_MEANWHILE] = "moves meanwhile",
        [PAT_WHY_LENGTHS] = "own lengths",
        [PAT_WHY_AS_FAST] = "as fast by the MPI library",
        [PAT_WHY_PERSISTENT] = "persistent request",
        [PAT_WHY_CANNOT] = "not for plans",
    };
    return texts[why];
}
