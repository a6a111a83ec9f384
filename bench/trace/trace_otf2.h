/*
 * trace_otf2.h — the calls of a program as an archive of OTF2, the format that tools for performance analysis read (Vampir, Scalasca, otf2-print).
 */
#ifndef TRACE_OTF2_H
#define TRACE_OTF2_H

#include "log.h"

/* Write the archive calls.otf2 and what belongs to it into the directory, which must not be there. Returns NULL, or why that could not be done. */
const char *trace_otf2_write(const pat_log *log, const char *dir);

#endif
