/*
 * store.c — see store.h.
 */
#include "store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIGITS = 8, NAME = 128 }; /* of the digest; of a file's whole name */

static const char ending[] = ".json", part_ending[] = ".json" PAT_STORE_PART;

bool pat_store_find(const char *(*get)(const char *name), char *path, size_t size)
{
    const char *cache = get("XDG_CACHE_HOME"), *home = get("HOME");
    const bool by_cache = cache && cache[0] == '/';
    if (!by_cache && !(home && home[0] == '/'))
        return false;
    const int length =
        by_cache ? snprintf(path, size, "%s/pat", cache) : snprintf(path, size, "%s/.cache/pat", home);
    return length > 0 && (size_t)length < size;
}

/* Is it called as pat_store_name calls files, with this at the end? Then *digest is that of the machine. */
static bool is_name(const char *name, const char *end, uint32_t *digest)
{
    const size_t length = strlen(name), end_length = strlen(end);
    if (length >= NAME || length <= DIGITS + end_length || name[DIGITS] != '-' ||
        strspn(name, "0123456789abcdef") < DIGITS || strcmp(name + length - end_length, end) != 0)
        return false;
    *digest = (uint32_t)strtoul(name, NULL, 16);
    return true;
}

/* The directory, if what is in it can be believed; else NULL, with `why`, or with an empty one where there is none. */
static DIR *open_store(const char *path, char *why, size_t why_size)
{
    struct stat st;
    DIR *dir = opendir(path);
    why[0] = '\0';
    if (!dir && errno == ENOENT)
        return NULL;
    if (!dir || fstat(dirfd(dir), &st) != 0)
        snprintf(why, why_size, "%s", strerror(errno));
    else if (st.st_uid != geteuid())
        snprintf(why, why_size, "the directory belongs to another user");
    else if (st.st_mode & (S_IWGRP | S_IWOTH))
        snprintf(why, why_size, "other users may write to the directory");
    else
        return dir;
    if (dir)
        closedir(dir);
    return NULL;
}

enum pat_store_state pat_store_look(const char *path, char *why, size_t why_size)
{
    const struct dirent *entry;
    uint32_t digest;
    bool any = false;
    DIR *dir = open_store(path, why, why_size);
    if (!dir)
        return why[0] ? PAT_STORE_UNTRUSTED : PAT_STORE_EMPTY;
    while (!any && (entry = readdir(dir)) != NULL)
        any = is_name(entry->d_name, ending, &digest);
    closedir(dir);
    return any ? PAT_STORE_HOLDS : PAT_STORE_EMPTY;
}

int pat_store_make(const char *path, char *why, size_t why_size)
{
    char part[PAT_STORE_PATH];
    struct stat st;
    const size_t length = strlen(path);
    for (size_t i = 1; i <= length && i < sizeof(part); i++) { /* from the top down */
        if (path[i] != '/' && path[i] != '\0')
            continue;
        snprintf(part, sizeof(part), "%.*s", (int)i, path);
        if (mkdir(part, 0700) != 0 && errno != EEXIST) {
            const int error = errno;
            if (stat(part, &st) == 0)
                continue;
            snprintf(why, why_size, "%s: %s", part, strerror(error));
            return error;
        }
    }
    DIR *dir = open_store(path, why, why_size);
    if (!dir)
        return EPERM;
    closedir(dir);
    return 0;
}

static void tell(const pat_store_listener *listener, const char *path, const char *why)
{
    if (listener)
        listener->tell(listener->to, path, why);
}

int pat_store_read_file(pat_calibration *c, const char *path, int64_t *written_ns, char *why, size_t why_size)
{
    struct stat st;
    int error = EPERM;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* whoever opens a pipe waits */
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (!file || fstat(fd, &st) != 0) {
        error = errno;
        snprintf(why, why_size, "%s", strerror(error));
    } else if (!S_ISREG(st.st_mode)) {
        snprintf(why, why_size, "it is no regular file");
    } else if (st.st_uid != geteuid()) {
        snprintf(why, why_size, "the file belongs to another user");
    } else if (st.st_mode & (S_IWGRP | S_IWOTH)) {
        snprintf(why, why_size, "other users may write to the file");
    } else {
        error = pat_calibration_read_open(c, file, why, why_size);
        if (written_ns)
            *written_ns = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
    }
    if (file)
        fclose(file);
    else if (fd >= 0)
        close(fd);
    return error;
}

/* One file. False: it is not of this machine, or it is broken. */
static bool read_one(pat_stored *s, uint32_t digest, const pat_machine *machine,
                     const pat_store_listener *listener)
{
    char why[1024];
    const bool named = digest == pat_machine_digest(machine);
    if (!named && !listener)
        return false;
    if (pat_store_read_file(&s->calibration, s->path, &s->written_ns, why, sizeof(why)) == 0 &&
        pat_calibration_is_of(&s->calibration, machine, why, sizeof(why))) {
        if (named)
            return true;
        snprintf(why, sizeof(why), "its name is another machine's");
    }
    tell(listener, s->path, why);
    return false;
}

static int later_first(const void *a, const void *b)
{
    const pat_stored *x = a, *y = b;
    if (x->written_ns != y->written_ns)
        return x->written_ns > y->written_ns ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* Those whose names end so. */
static int read_all(const char *path, const char *end, const pat_machine *machine,
                    const pat_store_listener *listener, pat_stored **all)
{
    char why[256];
    const struct dirent *entry;
    uint32_t digest;
    int num = 0;
    pat_stored *list = NULL;
    DIR *dir = open_store(path, why, sizeof(why));
    *all = NULL;
    if (!dir) {
        tell(listener, path, why[0] ? why : "there is no such directory");
        return 0;
    }
    while ((entry = readdir(dir)) != NULL) {
        if (!is_name(entry->d_name, end, &digest))
            continue;
        pat_stored *longer = realloc(list, ((size_t)num + 1) * sizeof(*list));
        if (!longer) {
            tell(listener, path, "there is no memory for more of its files");
            break;
        }
        list = longer;
        list[num] = (pat_stored){.taken = false};
        const int length =
            snprintf(list[num].path, sizeof(list[num].path), "%s/%.*s", path, NAME, entry->d_name);
        if (length < (int)sizeof(list[num].path) && read_one(&list[num], digest, machine, listener))
            num++;
    }
    closedir(dir);
    if (num == 0) {
        free(list);
        list = NULL;
    }
    if (num > 1)
        qsort(list, (size_t)num, sizeof(*list), later_first);
    for (; num > PAT_STORE_MOST; num--)
        tell(listener, list[num - 1].path, "there are enough later ones");
    *all = list;
    return num;
}

int pat_store_read(const char *path, const pat_machine *machine, const pat_store_listener *listener,
                   pat_stored **all)
{
    return read_all(path, ending, machine, listener, all);
}

int pat_store_read_parts(const char *path, const pat_machine *machine, pat_stored **all)
{
    return read_all(path, part_ending, machine, NULL, all);
}

/* How many times as fast is one network as the other? At least 1. By a division alone, which gives the same bits everywhere. */
static double times_apart(const pat_stored *s, double link_mbit)
{
    const double times = link_mbit / s->calibration.link_mbit;
    return times < 1 ? 1 / times : times;
}

/* Can it be taken there, where there is no other? */
static bool is_usable(const pat_stored *s, const pat_store_wish *wish, char *why, size_t why_size)
{
    return pat_calibration_is_whole(&s->calibration, why, why_size) &&
           pat_calibration_is_placed(&s->calibration, &wish->placing, why, why_size) &&
           pat_calibration_is_of_link(&s->calibration, wish->link_mbit, why, why_size);
}

pat_stored *pat_store_nearest(pat_stored *all, int num, const pat_store_wish *wish)
{
    char why[200];
    double least = 0;
    for (int i = 0; i < num; i++)
        if (is_usable(&all[i], wish, why, sizeof(why)) &&
            (least < 1 || times_apart(&all[i], wish->link_mbit) < least))
            least = times_apart(&all[i], wish->link_mbit);
    for (int i = 0; i < num; i++)
        if (times_apart(&all[i], wish->link_mbit) <= 1.1 * least &&
            is_usable(&all[i], wish, why, sizeof(why)))
            return &all[i];
    return NULL;
}

void pat_store_why_not(const pat_stored *stored, const pat_stored *taken, const pat_store_wish *wish,
                       char *why, size_t why_size)
{
    if (!is_usable(stored, wish, why, why_size) || !taken)
        return;
    if (times_apart(stored, wish->link_mbit) > times_apart(taken, wish->link_mbit))
        snprintf(why, why_size, "another one is of a network nearer to this one's %.4g Mbit/s",
                 wish->link_mbit);
    else
        snprintf(why, why_size, "another one is of as near a network, and was written later");
}

const pat_stored *pat_store_same(const pat_stored *all, int num, const pat_calibration *c)
{
    const pat_placing placing = pat_calibration_placing(c);
    char why[200];
    for (int i = 0; i < num; i++)
        if (all[i].calibration.ranks == c->ranks && times_apart(&all[i], c->link_mbit) <= 1.25 &&
            pat_calibration_is_placed(&all[i].calibration, &placing, why, sizeof(why)))
            return &all[i];
    return NULL;
}

bool pat_store_name(const char *path, const pat_calibration *c, char *name, size_t size)
{
    const char *const order = c->numbering == PAT_ACROSS_NODES    ? "-across"
                              : c->numbering == PAT_ANOTHER_ORDER ? "-other"
                                                                  : "";
    const int length =
        snprintf(name, size, "%s/%08x-%dranks%s-%.0fkbit%s", path, (unsigned)pat_machine_digest(&c->machine),
                 c->ranks, order, 1e3 * c->link_mbit, ending);
    return length > 0 && (size_t)length < size;
}
