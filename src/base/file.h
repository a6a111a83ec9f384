/*
 * file.h — files that are whole or not there: written beside their place and renamed. What is no regular file, a device or a
 * pipe, is written to directly, and so is what the process has open as its output, by whatever name (/dev/stderr). All functions
 * return 0 or an error number of errno.
 */
#ifndef PAT_FILE_H
#define PAT_FILE_H

#include <stddef.h>

/* Can a file be put there? Called before hours of work: leaves nothing behind, and an older file as it is. */
int pat_file_check(const char *path);

/* Write the text, in place of an older file. */
int pat_file_write(const char *path, const char *text, size_t length);

/* The same, and all may read the file, but this user alone may write to it, whatever the umask and an older file say. */
int pat_file_write_own(const char *path, const char *text, size_t length);

#endif
