/*
 * unit_sockets.c — a sleeper is woken by what comes in, over connections of which it has not known too, by room in a full socket and by its own
 * signal; not by sockets that somebody else leaves unread.
 */
#include <arpa/inet.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sockets.h"

#define SECOND INT64_C(1000000000)

/* A socket on loopback that listens; those that connect to it, at *at, send packets of so many bytes at most, unless it is 0. */
static int listen_cut(struct sockaddr_in *at, int packet)
{
    socklen_t length = sizeof(*at);
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_true(listener >= 0);
    assert_int_equal(bind(listener, (struct sockaddr *)at, sizeof(*at)), 0);
    if (packet > 0)
        assert_int_equal(setsockopt(listener, IPPROTO_TCP, TCP_MAXSEG, &packet, sizeof(packet)), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)at, &length), 0);
    return listener;
}

static int connect_to(const struct sockaddr_in *at)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    connect(fd, (const struct sockaddr *)at, sizeof(*at));
    return fd;
}

/* Two connected ends on loopback. */
static void connect_cut(int pair[2], int packet)
{
    struct sockaddr_in at;
    const int listener = listen_cut(&at, packet);
    pair[0] = connect_to(&at);
    pair[1] = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    assert_true(pair[1] >= 0);
    close(listener);
}

static void connect_pair(int pair[2])
{
    connect_cut(pair, 0);
}

static void hang_up(int pair[2])
{
    close(pair[0]);
    close(pair[1]);
}

static int packet_bytes(void)
{
    pat_sockets *s = pat_sockets_create();
    pat_sockets_scan(s);
    int bytes = pat_sockets_packet_bytes(s);
    pat_sockets_free(s);
    return bytes;
}

static void knows_the_packets(void **state)
{
    (void)state;
    int whole[2], small[2], larger[2];
    assert_int_equal(pat_sockets_packet_bytes(NULL), INT_MAX);
    int before = packet_bytes(); /* what the test was started with */
    connect_pair(whole);
    struct sockaddr_in at;
    const int listener = listen_cut(&at, 0);
    assert_int_equal(packet_bytes(),
                     before); /* the loopback's packets are no network's, and who listens has none */
    close(listener);
    connect_cut(small, 500);
    connect_cut(larger, 900);
    int least = packet_bytes();
    assert_true(least > 400 && least <= 500); /* less options */
    hang_up(small);
    least = packet_bytes();
    assert_true(least > 800 && least <= 900);
    connect_cut(small, 500);
    least = packet_bytes();
    assert_true(least > 400 && least <= 500);
    hang_up(whole);
    hang_up(small);
    hang_up(larger);
}

static void finds_connections_only(void **state)
{
    (void)state;
    int pair[2], local[2], datagram = socket(AF_INET, SOCK_DGRAM, 0);
    pat_sockets *s = pat_sockets_create();
    assert_non_null(s);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, local), 0);
    int before = pat_sockets_scan(s); /* what the test was started with */
    assert_true(pat_sockets_tell(s).far == (before > 0));
    assert_false(pat_sockets_tell(NULL).far);
    struct sockaddr_in at;
    const int listener = listen_cut(&at, 0);
    assert_int_equal(pat_sockets_scan(s), before);
    assert_true(pat_sockets_tell(s).far == (before > 0));
    connect_pair(pair);
    assert_int_equal(pat_sockets_scan(s), before + 2);
    assert_true(pat_sockets_tell(s).far);
    hang_up(pair);
    close(listener);
    assert_int_equal(pat_sockets_scan(s), before);
    close(datagram);
    hang_up(local);
    pat_sockets_free(s);
}

static void wakes_for(void **state)
{
    (void)state;
    int pair[2], event = eventfd(0, EFD_NONBLOCK);
    char byte;
    connect_pair(pair);
    pat_sockets *s = pat_sockets_create();
    pat_sockets_scan(s);
    assert_int_equal(pat_sockets_wait(s, event, false, 0), PAT_SOCKETS_TIME);
    assert_int_equal(pat_sockets_wait(s, -1, true, 1000000), PAT_SOCKETS_TIME); /* room is no news */
    assert_int_equal(write(pair[0], "x", 1), 1);
    assert_int_equal(pat_sockets_wait(s, event, false, 10 * SECOND), PAT_SOCKETS_DATA);
    assert_int_equal(read(pair[1], &byte, 1), 1);
    pat_sockets_learn(s, PAT_SOCKETS_DATA, true);
    eventfd_write(event, 1);
    assert_int_equal(pat_sockets_wait(s, event, false, -1), PAT_SOCKETS_EXTRA);
    assert_int_equal(pat_sockets_wait(NULL, event, false, -1), PAT_SOCKETS_EXTRA);
    close(event);
    hang_up(pair);
    pat_sockets_free(s);
}

static void wakes_for_room(void **state)
{
    (void)state;
    static char block[1 << 16];
    int pair[2];
    connect_pair(pair);
    pat_sockets *s = pat_sockets_create();
    pat_sockets_scan(s);
    while (write(pair[0], block, sizeof(block)) > 0)
        ;
    /* The other end's unread bytes are taken for somebody else's after a while; then only room is news. */
    enum pat_sockets_event event;
    int wakes = 0;
    while ((event = pat_sockets_wait(s, -1, true, 1000000)) == PAT_SOCKETS_DATA && wakes++ < 1000)
        pat_sockets_learn(s, event, false);
    assert_int_equal(event, PAT_SOCKETS_TIME);
    pid_t reader = fork(); /* makes room while we sleep */
    if (reader == 0) {
        usleep(20000);
        while (read(pair[1], block, sizeof(block)) > 0)
            ;
        _exit(0);
    }
    assert_int_equal(pat_sockets_wait(s, -1, true, 10 * SECOND), PAT_SOCKETS_DATA);
    assert_true(write(pair[0], block, 1) == 1);
    waitpid(reader, NULL, 0);
    hang_up(pair);
    pat_sockets_free(s);
}

/* Wake-ups by something that nobody takes in, until it is left out. */
static int wakes_in_vain(pat_sockets *s)
{
    int wakes = 0;
    while (pat_sockets_wait(s, -1, false, 1000000) == PAT_SOCKETS_DATA && wakes < 1000) {
        pat_sockets_learn(s, PAT_SOCKETS_DATA, false);
        wakes++;
    }
    return wakes;
}

/* As the MPI library opens them, when two ranks first send each other something: nobody scans meanwhile. */
static void wakes_for_new_connections(void **state)
{
    (void)state;
    struct sockaddr_in at;
    int pair[2];
    char byte;
    const int listener = listen_cut(&at, 0);
    pat_sockets *s = pat_sockets_create();
    pat_sockets_scan(s);
    assert_int_equal(pat_sockets_wait(s, -1, false, 0), PAT_SOCKETS_TIME);
    /* Whatever a wait ends with, and also if it is taken in only later, as by another thread. */
    static const enum pat_sockets_event ends[] = {PAT_SOCKETS_DATA, PAT_SOCKETS_EXTRA, PAT_SOCKETS_TIME};
    for (int i = 0; i < 3; i++) {
        pair[0] = connect_to(&at);
        assert_int_equal(pat_sockets_wait(s, -1, false, 10 * SECOND), PAT_SOCKETS_DATA);
        if (i > 0)
            pat_sockets_learn(s, PAT_SOCKETS_DATA, false);
        pair[1] = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
        assert_true(pair[1] >= 0);
        pat_sockets_learn(s, ends[i], false);
        assert_int_equal(pat_sockets_wait(s, -1, false, 0), PAT_SOCKETS_TIME);
        assert_int_equal(write(pair[0], "x", 1), 1);
        assert_int_equal(pat_sockets_wait(s, -1, false, 10 * SECOND), PAT_SOCKETS_DATA);
        assert_int_equal(read(pair[1], &byte, 1), 1);
        pat_sockets_learn(s, PAT_SOCKETS_DATA, true);
        hang_up(pair);
        pat_sockets_scan(s);
    }
    /* One that the program itself is to accept, and does not. */
    const int foreign = connect_to(&at);
    assert_in_range(wakes_in_vain(s), 1, 100);
    pat_sockets_learn(s, PAT_SOCKETS_TIME, false);
    assert_int_equal(pat_sockets_wait(s, -1, false, 0), PAT_SOCKETS_TIME);
    close(foreign);
    close(listener);
    pat_sockets_free(s);
}

static void leaves_out_what_nobody_reads(void **state)
{
    (void)state;
    int foreign[2], ours[2];
    char byte;
    connect_pair(foreign);
    connect_pair(ours);
    pat_sockets *s = pat_sockets_create();
    assert_true(pat_sockets_scan(s) >= 4);
    assert_int_equal(write(foreign[0], "x", 1), 1);
    assert_in_range(wakes_in_vain(s), 1, 100);
    /* The others still wake, however often what they bring is only part of a message. */
    for (int i = 0; i < 200; i++) {
        assert_int_equal(write(ours[0], "x", 1), 1);
        assert_int_equal(pat_sockets_wait(s, -1, false, 10 * SECOND), PAT_SOCKETS_DATA);
        assert_int_equal(read(ours[1], &byte, 1), 1);
        pat_sockets_learn(s, PAT_SOCKETS_DATA, false);
    }
    hang_up(foreign);
    hang_up(ours);
    pat_sockets_free(s);
}

static void distrusts_sockets_that_keep_silent(void **state)
{
    (void)state;
    int pair[2];
    connect_pair(pair);
    pat_sockets *s = pat_sockets_create();
    pat_sockets_scan(s);
    for (int i = 0; i < 100; i++)
        pat_sockets_learn(s, PAT_SOCKETS_TIME, true);
    assert_false(pat_sockets_tell(s).far);
    for (int i = 0; i < 500; i++)
        pat_sockets_learn(s, PAT_SOCKETS_DATA, true);
    assert_true(pat_sockets_tell(s).far);
    pat_sockets_learn(NULL, PAT_SOCKETS_DATA, true);
    hang_up(pair);
    pat_sockets_free(s);
}

/* Bells of two ranks: this process, and one that it forks. */
static void make_bells(pat_bells *bells[2])
{
    const int memory = memfd_create("bells", 0);
    int fds[2][2];
    assert_int_equal(ftruncate(memory, (off_t)pat_bells_bytes(2)), 0);
    fds[0][0] = eventfd(0, EFD_NONBLOCK);
    fds[0][1] = eventfd(0, EFD_NONBLOCK);
    for (int r = 0; r < 2; r++) {
        fds[1][r] = dup(fds[0][r]);
        bells[r] = NULL;
    }
    for (int r = 0; r < 2; r++) {
        bells[r] = pat_bells_create(2, r, memory, fds[r]);
        assert_non_null(bells[r]);
    }
    close(memory);
}

static void is_woken_by_a_bell(void **state)
{
    (void)state;
    pat_bells *bells[2];
    make_bells(bells);
    pat_sockets *s = pat_sockets_create();
    assert_false(pat_sockets_tell(s).near);
    pat_sockets_hear(s, bells[0]);
    pat_sockets_hear(NULL, bells[0]);
    assert_true(pat_sockets_tell(s).near);
    assert_false(pat_sockets_tell(s).far); /* there is no connection */
    assert_false(pat_sockets_tell(NULL).near);
    pat_sockets_look(s);
    assert_int_equal(pat_sockets_wait(s, -1, false, 0), PAT_SOCKETS_TIME);
    /* Rung before the look: that was seen. After it: it does not sleep. */
    pat_bells_ring(bells[1], 0, PAT_BELL_DATA);
    pat_sockets_look(s);
    assert_int_equal(pat_sockets_wait(s, -1, true, 1000000), PAT_SOCKETS_TIME);
    pat_bells_ring(bells[1], 0, PAT_BELL_DATA);
    assert_int_equal(pat_sockets_wait(s, -1, false, -1), PAT_SOCKETS_DATA);
    pat_sockets_look(s);
    /* While it sleeps, by another process. */
    for (int i = 0; i < 100; i++) {
        const pid_t child = fork();
        if (child == 0) {
            usleep(i % 2 * 3000);
            pat_bells_ring(bells[1], 0, PAT_BELL_DATA);
            _exit(0);
        }
        assert_true(child > 0);
        assert_int_equal(pat_sockets_wait(s, -1, false, 10 * SECOND), PAT_SOCKETS_DATA);
        pat_sockets_look(s);
        assert_int_equal(waitpid(child, NULL, 0), child);
        pat_sockets_look(s);
        pat_sockets_wait(s, -1, false,
                         0); /* a ring that came before the sleep may still be there to be read */
    }
    assert_int_equal(pat_sockets_wait(s, -1, false, 1000000), PAT_SOCKETS_TIME);
    /* Who does not heed data sleeps on, whether it is rung before the sleep or meanwhile; a word wakes it. */
    pat_sockets_heed(s, false);
    pat_bells_ring(bells[1], 0, PAT_BELL_DATA);
    assert_int_equal(pat_sockets_wait(s, -1, false, 1000000), PAT_SOCKETS_TIME);
    const pid_t teller = fork();
    if (teller == 0) {
        usleep(3000);
        pat_bells_ring(bells[1], 0, PAT_BELL_DATA);
        _exit(0);
    }
    assert_int_equal(pat_sockets_wait(s, -1, false, SECOND / 20), PAT_SOCKETS_TIME);
    assert_int_equal(waitpid(teller, NULL, 0), teller);
    pat_sockets_look(s);
    pat_bells_ring(bells[1], 0, PAT_BELL_WORD);
    assert_int_equal(pat_sockets_wait(s, -1, false, -1), PAT_SOCKETS_DATA);
    pat_sockets_look(s);
    pat_sockets_heed(s, true);
    pat_sockets_heed(NULL, true);
    /* Beside sockets, whose place it does not take. */
    int pair[2];
    char byte;
    connect_pair(pair);
    assert_true(pat_sockets_scan(s) >= 2);
    assert_int_equal(write(pair[0], "x", 1), 1);
    assert_int_equal(pat_sockets_wait(s, -1, true, 10 * SECOND), PAT_SOCKETS_DATA);
    assert_int_equal(read(pair[1], &byte, 1), 1);
    pat_bells_ring(bells[1], 0, PAT_BELL_DATA);
    assert_int_equal(pat_sockets_wait(s, -1, false, 10 * SECOND), PAT_SOCKETS_DATA);
    hang_up(pair);
    pat_sockets_free(s);
    pat_bells_free(bells[0]);
    pat_bells_free(bells[1]);
    pat_bells_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_connections_only),
        cmocka_unit_test(knows_the_packets),
        cmocka_unit_test(wakes_for),
        cmocka_unit_test(wakes_for_room),
        cmocka_unit_test(wakes_for_new_connections),
        cmocka_unit_test(leaves_out_what_nobody_reads),
        cmocka_unit_test(distrusts_sockets_that_keep_silent),
        cmocka_unit_test(is_woken_by_a_bell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
