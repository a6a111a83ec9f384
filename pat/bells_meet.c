/*
 * bells_meet.c — see bells_meet.h. The first rank of the node makes the memory and a socket that the others' connections wait at; they send their
 * eventfds, and get everybody's. Nobody waits for anybody but in the collective calls in between, at which all that was sent is there.
 */
#include "bells_meet.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "error.h"

/* The kernel passes 253 descriptors on in one message: the memory's, and one for each rank. Bells take this part of the files that a process may have open, at most. */
enum { MOST_RANKS = 252, BELLS_PART = 4 };

/* What the first rank tells the others: where to connect, and what shows that somebody is of this job. */
typedef struct invitation {
    struct sockaddr_un at;
    socklen_t length; /* 0: there is no way */
    uint64_t secret;
    int at_once; /* ranks to which descriptors may be under way at the same time */
} invitation;

/* What a rank says of itself. */
typedef struct card {
    uint64_t secret;
    int64_t rank; /* as long as the secret, so that there is nothing between them that nobody has set */
} card;

/* What is handed over, and what is needed for that. Descriptors are -1 where there is none. */
typedef struct meeting {
    int count, mine; /* ranks of the node, and this one's number */
    invitation to;
    int door;                                 /* of the first rank */
    int memory;                               /* what all are to map */
    int bells[MOST_RANKS], lines[MOST_RANKS]; /* of each rank: its eventfd, and the connection to it */
} meeting;

/* How many files this process may have open. The kernel lets it have no more than that under way to others, where it is not privileged. */
static int most_files(void)
{
    struct rlimit limit;
    const bool known = getrlimit(RLIMIT_NOFILE, &limit) == 0;
    return !known ? 0 : limit.rlim_cur < INT_MAX ? (int)limit.rlim_cur : INT_MAX;
}

/* The first rank: memory for all, and a socket whose name the kernel chooses, which is in no directory. */
static void invite(meeting *m)
{
    struct sockaddr_un any = {.sun_family = AF_UNIX};
    socklen_t length = sizeof(m->to.at);
    m->memory = memfd_create("pat-bells", MFD_CLOEXEC);
    m->door = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (m->memory >= 0 && m->door >= 0 && ftruncate(m->memory, (off_t)pat_bells_bytes(m->count)) == 0 &&
        bind(m->door, (struct sockaddr *)&any, sizeof(any.sun_family)) == 0 &&
        listen(m->door, 2 * m->count) == 0 &&
        getsockname(m->door, (struct sockaddr *)&m->to.at, &length) == 0 &&
        getrandom(&m->to.secret, sizeof(m->to.secret), 0) == (ssize_t)sizeof(m->to.secret))
        m->to.length = length;
    const int most = most_files();
    m->to.at_once = most / 2 > m->count ? most / 2 / (m->count + 1) : 1;
}

/* Room for the descriptors of one message. */
typedef union pass {
    struct cmsghdr header; /* for its alignment */
    char bytes[CMSG_SPACE((MOST_RANKS + 1) * sizeof(int))];
} pass;

static bool send_fds(int to, const card *from, const int *fds, int count)
{
    pass room = {.bytes = {0}};
    struct iovec data = {(void *)(uintptr_t)from, sizeof(*from)};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = room.bytes,
                             .msg_controllen = CMSG_SPACE((size_t)count * sizeof(int))};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    *header = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN((size_t)count * sizeof(int))};
    memcpy(CMSG_DATA(header), fds, (size_t)count * sizeof(int));
    return sendmsg(to, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof(*from);
}

/* Take in exactly `count` descriptors from somebody with the secret. Others' are closed. */
static bool receive_fds(int from, uint64_t secret, card *of, int *fds, int count)
{
    pass room;
    struct iovec data = {of, sizeof(*of)};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof(room.bytes)};
    const ssize_t length = recvmsg(from, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    struct cmsghdr *header = length < 0 ? NULL : CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
        return false;
    const int came = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    int all[MOST_RANKS + 1];
    memcpy(all, CMSG_DATA(header), (size_t)came * sizeof(int));
    const bool good = length == (ssize_t)sizeof(*of) && came == count && of->secret == secret &&
                      !(message.msg_flags & MSG_CTRUNC);
    for (int i = 0; i < came; i++)
        if (good)
            fds[i] = all[i];
        else
            close(all[i]);
    return good;
}

/* Another rank: the connection is made and its bell is sent before the first rank looks. */
static bool knock(meeting *m)
{
    const card me = {m->to.secret, m->mine};
    const int line = m->lines[0] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return line >= 0 && connect(line, (const struct sockaddr *)&m->to.at, m->to.length) == 0 &&
           send_fds(line, &me, &m->bells[m->mine], 1);
}

/* The first rank lets in whoever is there. Returns whether all have come. */
static bool let_in(meeting *m)
{
    int come = 0;
    for (int fd; (fd = accept4(m->door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
        card of;
        int bell;
        if (!receive_fds(fd, m->to.secret, &of, &bell, 1)) {
            close(fd); /* a stranger, of whom this job needs nothing */
            continue;
        }
        if (of.rank < 1 || of.rank >= m->count || m->lines[of.rank] >= 0) {
            close(bell);
            close(fd);
            return false;
        }
        m->lines[of.rank] = fd;
        m->bells[of.rank] = bell;
        come++;
    }
    return come == m->count - 1;
}

/* The first rank hands over the memory and all bells to ranks from `first` on, before `end`. */
static bool hand_over(const meeting *m, int first, int end)
{
    const card me = {m->to.secret, 0};
    int fds[MOST_RANKS + 1] = {m->memory};
    bool good = true;
    memcpy(fds + 1, m->bells, (size_t)m->count * sizeof(*fds));
    for (int r = first; r < end; r++)
        good = good && send_fds(m->lines[r], &me, fds, m->count + 1);
    return good;
}

/* Another rank takes them. */
static bool take(meeting *m)
{
    int fds[MOST_RANKS + 1];
    card of;
    if (!receive_fds(m->lines[0], m->to.secret, &of, fds, m->count + 1))
        return false;
    close(m->bells[m->mine]); /* it comes back with the others */
    m->memory = fds[0];
    memcpy(m->bells, fds + 1, (size_t)m->count * sizeof(*fds));
    return true;
}

/* Could all ranks do what they had to? */
static int all_could(MPI_Comm node, bool could, bool *all)
{
    const int mine = could;
    int least = 0;
    int rc = PMPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, node);
    *all = rc == MPI_SUCCESS && least;
    return rc;
}

static int hand_round(meeting *m, MPI_Comm node, bool *all)
{
    int rc = PMPI_Bcast(&m->to, sizeof(m->to), MPI_BYTE, 0, node);
    /* The MPI library and the program need files, too. */
    const bool room = m->count <= most_files() / BELLS_PART;
    if (rc == MPI_SUCCESS)
        rc = all_could(node, room && m->bells[m->mine] >= 0 && m->to.length > 0 && (m->mine == 0 || knock(m)),
                       all);
    if (rc == MPI_SUCCESS && *all)
        rc = all_could(node, m->mine > 0 || let_in(m), all);
    for (int first = 1, end; rc == MPI_SUCCESS && *all && first < m->count; first = end) {
        end = first + m->to.at_once < m->count ? first + m->to.at_once : m->count;
        rc = all_could(node, m->mine > 0 || hand_over(m, first, end), all);
        const bool mine = m->mine >= first && m->mine < end;
        if (rc == MPI_SUCCESS && *all)
            rc = all_could(node, !mine || take(m), all);
    }
    return rc;
}

static void close_all(const int *fds, int count)
{
    for (int i = 0; i < count; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

int pat_bells_meet(MPI_Comm node, pat_bells **bells)
{
    meeting m = {.door = -1, .memory = -1};
    bool all = false;
    *bells = NULL;
    PMPI_Comm_size(node, &m.count);
    PMPI_Comm_rank(node, &m.mine);
    if (m.count < 2 || m.count > MOST_RANKS)
        return MPI_SUCCESS;
    for (int r = 0; r < m.count; r++)
        m.bells[r] = m.lines[r] = -1;
    m.bells[m.mine] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (m.mine == 0)
        invite(&m);
    int rc = hand_round(&m, node, &all);
    if (all)
        *bells = pat_bells_create(m.count, m.mine, m.memory, m.bells);
    if (rc == MPI_SUCCESS)
        rc = all_could(node, *bells != NULL, &all);
    if (!all) {
        if (!*bells)
            close_all(m.bells, m.count);
        pat_bells_free(*bells);
        *bells = NULL;
    }
    close_all(m.lines, m.count);
    close_all((const int[]){m.memory, m.door}, 2);
    return rc == MPI_SUCCESS ? rc : pat_error(rc, "an MPI function has failed while the ranks of a node met");
}
