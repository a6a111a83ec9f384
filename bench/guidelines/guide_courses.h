/*
 * guide_courses.h — views that differ in the number of ranks alone, put in its order: how a verdict goes along with it.
 */
#ifndef GUIDE_COURSES_H
#define GUIDE_COURSES_H

#include "guide_views.h"

/* Of one kind, group and test. Each number of ranks is there once: a second view of the same number is one of another course. */
typedef struct guide_course {
    const guide_view **views; /* in ascending order of ranks */
    int num;
} guide_course;

typedef struct guide_courses {
    guide_course *courses;
    int num;
    bool is_sweep; /* one of them has two numbers of ranks at least */
} guide_courses;

void guide_courses_make(guide_courses *c, const guide_views *v);
void guide_courses_free(guide_courses *c);

#endif
