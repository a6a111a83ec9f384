/*
 * file.c — see file.h. Must never leave a temporary file behind when it returns, and never change the process's umask, which
 * other threads make their files by.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Standard output or error by another name; -1: neither. */
static int own_output(const struct stat *st)
{
    struct stat own;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (fstat(fd, &own) == 0 && own.st_dev == st->st_dev && own.st_ino == st->st_ino)
            return fd;
    return -1;
}

/*
 * A new file beside `path`, or beside what it is a link to: `*to` is what it is to replace, `*name` its own name, both to be
 * freed. -1 with errno set when there can be none. own: nobody else may ever write to it.
 */
static int open_beside(const char *path, bool own, char **to, char **name)
{
    struct stat old;
    const bool is_there = stat(path, &old) == 0;
    int fd = -1;
    *to = is_there ? realpath(path, NULL) : strdup(path);
    const size_t size = *to ? strlen(*to) + 32 : 0;
    *name = *to ? malloc(size) : NULL;
    for (int i = 0; *name && fd < 0 && i < 100; i++) {
        snprintf(*name, size, "%s.%ld-%d", *to, (long)getpid(), i);
        fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, own ? 0644 : 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd >= 0) {
        if (own || is_there) /* who may read it is as before, if the file system lets us */
            (void)!fchmod(fd, own ? 0644 : old.st_mode & 0777);
        return fd;
    }
    const int error = errno;
    free(*to);
    free(*name);
    errno = error;
    return -1;
}

int pat_file_check(const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            return EISDIR;
        if (own_output(&st) >= 0)
            return 0;
        if (access(path, W_OK) != 0)
            return errno;
        if (!S_ISREG(st.st_mode)) /* not opened: a pipe's reader would take that for the end */
            return 0;
    }
    char *to, *name;
    const int fd = open_beside(path, false, &to, &name);
    if (fd < 0)
        return errno;
    close(fd);
    unlink(name);
    free(to);
    free(name);
    return 0;
}

static int write_file(const char *path, bool own, const char *text, size_t length)
{
    struct stat st;
    char *to = NULL, *name = NULL;
    const bool is_there = stat(path, &st) == 0;
    const int output = is_there ? own_output(&st) : -1;
    const bool direct = output >= 0 || (is_there && !S_ISREG(st.st_mode));
    const int fd = output >= 0 ? dup(output)
                   : direct    ? open(path, O_WRONLY | O_CLOEXEC)
                               : open_beside(path, own, &to, &name);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    int error = file ? 0 : errno;
    if (file) {
        errno = 0;
        const bool whole = fwrite(text, 1, length, file) == length;
        if (fclose(file) != 0 || !whole)
            error = errno ? errno : EIO;
    } else if (fd >= 0) {
        close(fd);
    }
    if (fd >= 0 && !direct) {
        if (!error && rename(name, to) != 0)
            error = errno;
        if (error)
            unlink(name);
        free(to);
        free(name);
    }
    return error;
}

int pat_file_write(const char *path, const char *text, size_t length)
{
    return write_file(path, false, text, length);
}

int pat_file_write_own(const char *path, const char *text, size_t length)
{
    return write_file(path, true, text, length);
}
