/*
 * sockets.c — see sockets.h. poll() on the sockets listed in /proc/self/fd. Must never read, write or change a
 * socket: they are the MPI library's.
 */
#include "sockets.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

/* Wake-ups in a row in which nobody read from a socket before it is taken for somebody else's. */
enum { PATIENCE = 32 };

/* Most messages missed before sockets are looked for again: what comes through shared memory is missed where there is no bell. */
enum { MOST_PATIENCE = 1000 };

/* The largest frame of a network; the loopback's carry 64 KiB. */
enum { JUMBO_BYTES = 9216 };

typedef struct history {
    bool listens; /* connections come in, not data */
    bool knocked; /* one has come in that was not taken in yet when this was last looked at */
    int unread;   /* bytes that the last wait left to be read */
    int idle;     /* wake-ups in a row in which nobody read them */
} history;

struct pat_sockets {
    struct pollfd *fds; /* fds[0] is the extra one */
    struct pollfd *full;
    history *seen; /* per fd */
    int count, connected, capacity;
    int announced, missed;      /* messages with a socket's word, and without; older ones count less */
    int unexplained, rescan_at; /* missed since the last scan; scan again when so many have been */
    pat_bells *bells;           /* NULL: none */
    uint64_t rung;              /* how often this process's was, when the last look began */
    bool heeds;                 /* its being rung for data ends a wait */
};

pat_sockets *pat_sockets_create(void)
{
    pat_sockets *s = calloc(1, sizeof(*s));
    if (s)
        s->heeds = true;
    return s;
}

void pat_sockets_free(pat_sockets *s)
{
    if (!s)
        return;
    free(s->fds);
    free(s->full);
    free(s->seen);
    free(s);
}

void pat_sockets_look(pat_sockets *s)
{
    if (s && s->bells)
        s->rung = pat_bells_rung(s->bells);
}

void pat_sockets_heed(pat_sockets *s, bool data)
{
    if (s)
        s->heeds = data;
}

enum kind { OTHER, CONNECTED, LISTENS };

static enum kind kind_of(int fd)
{
    struct stat st;
    struct sockaddr_storage at;
    socklen_t length = sizeof(int);
    int type = 0, listens = 0;
    if (fstat(fd, &st) != 0 || !S_ISSOCK(st.st_mode) ||
        getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_STREAM)
        return OTHER;
    length = sizeof(listens);
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) != 0)
        return OTHER;
    length = sizeof(at);
    const int rc = listens ? getsockname(fd, (struct sockaddr *)&at, &length)
                           : getpeername(fd, (struct sockaddr *)&at, &length);
    if (rc != 0 || (at.ss_family != AF_INET && at.ss_family != AF_INET6))
        return OTHER;
    return listens ? LISTENS : CONNECTED;
}

static bool room_for(pat_sockets *s, int count)
{
    if (count <= s->capacity)
        return true;
    int capacity = 2 * count + 14;
    struct pollfd *fds = realloc(s->fds, (size_t)capacity * sizeof(*fds));
    if (fds)
        s->fds = fds;
    struct pollfd *full = realloc(s->full, (size_t)capacity * sizeof(*full));
    if (full)
        s->full = full;
    history *seen = realloc(s->seen, (size_t)capacity * sizeof(*s->seen));
    if (seen)
        s->seen = seen;
    if (!fds || !full || !seen)
        return false;
    s->capacity = capacity;
    return true;
}

void pat_sockets_hear(pat_sockets *s, pat_bells *bells)
{
    if (!s || !bells || !room_for(s, s->count + 2))
        return;
    s->bells = bells;
    pat_sockets_look(s);
}

int pat_sockets_scan(pat_sockets *s)
{
    DIR *dir = opendir("/proc/self/fd");
    s->count = s->connected = 0;
    if (!dir)
        return 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char *end;
        long fd = strtol(entry->d_name, &end, 10);
        if (end == entry->d_name || *end)
            continue;
        const enum kind kind = kind_of((int)fd);
        if (kind == OTHER)
            continue;
        if (!room_for(s, s->count + 3)) /* this one, the extra one and a bell */
            break;
        s->count++;
        s->fds[s->count] = (struct pollfd){.fd = (int)fd, .events = POLLIN};
        s->seen[s->count] = (history){.listens = kind == LISTENS};
        s->connected += kind == CONNECTED;
    }
    closedir(dir);
    return s->connected;
}

int pat_sockets_packet_bytes(const pat_sockets *s)
{
    int least = INT_MAX;
    for (int i = 1; s && i <= s->count; i++) {
        int bytes = 0;
        socklen_t length = sizeof(bytes);
        if (!s->seen[i].listens && getsockopt(s->fds[i].fd, IPPROTO_TCP, TCP_MAXSEG, &bytes, &length) == 0 &&
            bytes > 0 && bytes <= JUMBO_BYTES && bytes < least)
            least = bytes;
    }
    return least;
}

/* Sockets that are full are to be watched for room; others always have some. */
static void watch_full(pat_sockets *s)
{
    for (int i = 1; i <= s->count; i++)
        s->full[i] = (struct pollfd){.fd = s->fds[i].fd, .events = POLLOUT};
    poll(s->full + 1, (nfds_t)s->count, 0);
    for (int i = 1; i <= s->count; i++)
        s->fds[i].events = s->full[i].revents ? POLLIN : POLLIN | POLLOUT;
}

/* Sleep. *rung: the bell has ended it. */
static enum pat_sockets_event sleep_on(pat_sockets *s, struct pollfd alone, bool sending, int64_t timeout_ns,
                                       bool *rung)
{
    struct pollfd *fds = &alone;
    struct timespec limit = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
    nfds_t count = 1, bell = 0;
    if (s && (s->count > 0 || s->bells)) {
        fds = s->fds;
        fds[0] = alone;
        count = (nfds_t)s->count + 1;
        for (int i = 1; i <= s->count; i++)
            fds[i].events = POLLIN;
        if (sending)
            watch_full(s);
        if (s->bells) {
            bell = count++;
            fds[bell] = (struct pollfd){.fd = pat_bells_fd(s->bells), .events = POLLIN};
        }
    }
    struct timespec *until = timeout_ns < 0 ? NULL : &limit;
    int ready = ppoll(fds, count, until, NULL);
    *rung = ready > 0 && bell > 0 && fds[bell].revents;
    if (ready < 0 && errno != EINTR) /* so many sockets cannot be watched: without them */
        return ppoll(&alone, 1, until, NULL) > 0 ? PAT_SOCKETS_EXTRA : PAT_SOCKETS_TIME;
    if (ready <= 0)
        return PAT_SOCKETS_TIME;
    for (nfds_t i = 1; i < count; i++)
        if (fds[i].revents && i != bell) {
            s->seen[i].knocked = s->seen[i].listens;
            if (ioctl(fds[i].fd, FIONREAD, &s->seen[i].unread) != 0)
                s->seen[i].unread = 0;
        }
    return fds[0].revents ? PAT_SOCKETS_EXTRA : PAT_SOCKETS_DATA;
}

enum pat_sockets_event pat_sockets_wait(pat_sockets *s, int extra_fd, bool sending, int64_t timeout_ns)
{
    const struct pollfd extra = {.fd = extra_fd, .events = POLLIN};
    bool rung;
    if (!s || !s->bells)
        return sleep_on(s, extra, sending, timeout_ns, &rung);
    if (!pat_bells_sleep(s->bells, s->rung, s->heeds))
        return PAT_SOCKETS_DATA;
    const enum pat_sockets_event event = sleep_on(s, extra, sending, timeout_ns, &rung);
    pat_bells_awake(s->bells, s->heeds, rung);
    return event;
}

static bool is_readable(int fd)
{
    struct pollfd now = {.fd = fd, .events = POLLIN};
    return poll(&now, 1, 0) > 0;
}

/* Has a connection been taken in that was there in an earlier wait? By whatever a wait ended, and whoever it was: threads share MPI. */
static bool were_accepted(pat_sockets *s)
{
    bool any = false;
    for (int i = 1; i <= s->count; i++)
        if (s->seen[i].knocked && !is_readable(s->fds[i].fd)) {
            s->seen[i].knocked = false;
            any = true;
        }
    return any;
}

/* Has somebody read what was there? */
static bool was_read(const pat_sockets *s, int i)
{
    int unread = 0;
    if (s->seen[i].listens)
        return !s->seen[i].knocked;
    return ioctl(s->fds[i].fd, FIONREAD, &unread) == 0 && unread < s->seen[i].unread;
}

/* Who is readable and stays so, although MPI was driven? */
static void learn_noise(pat_sockets *s, bool moved)
{
    for (int i = 1; i <= s->count; i++) {
        if (!s->fds[i].revents)
            continue;
        s->seen[i].idle = moved || was_read(s, i) || s->fds[i].revents & POLLOUT ? 0 : s->seen[i].idle + 1;
        if (s->seen[i].idle > PATIENCE) {
            s->fds[i].fd = -1; /* poll passes over it */
            s->seen[i].knocked = false;
        }
        s->fds[i].revents = 0;
    }
}

void pat_sockets_learn(pat_sockets *s, enum pat_sockets_event event, bool moved)
{
    if (!s)
        return;
    bool scans = were_accepted(s); /* what comes in over new connections is to wake, too */
    if (event == PAT_SOCKETS_DATA) {
        learn_noise(s, moved);
        s->announced += moved;
    } else if (event == PAT_SOCKETS_TIME && moved) {
        s->missed++;
        if (++s->unexplained >= s->rescan_at) {
            s->unexplained = 0;
            s->rescan_at = s->rescan_at < MOST_PATIENCE ? 2 * s->rescan_at + 2 : MOST_PATIENCE;
            scans = true;
        }
    }
    if (s->announced + s->missed > 64) {
        s->announced /= 2;
        s->missed /= 2;
    }
    if (scans)
        pat_sockets_scan(s);
}

pat_sockets_told pat_sockets_tell(const pat_sockets *s)
{
    const bool trusted = s && s->announced + 4 > 2 * s->missed;
    return (pat_sockets_told){.near = trusted && s->bells, .far = trusted && s->connected > 0};
}
