/*
 * taulop_threads.h — a team of threads.
 */
#ifndef TAULOP_THREADS_H
#define TAULOP_THREADS_H

#include "taulop_member.h"

/* Runs body in like->num threads, members like this one, and waits for their end. 0, or -1 when memory or threads cannot be had. */
int taulop_threads(const taulop_member *like, taulop_work *body, void *arg);

#endif
