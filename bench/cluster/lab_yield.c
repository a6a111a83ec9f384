/*
 * lab_yield.c — whoever looks for messages and finds none gives up the processor: preloaded into MPICH's ranks in the lab (lab_launch_mpich.sh).
 *
 * The nodes of a lab share the processors of one machine, so a rank that waits must not keep one busy which others need in order to send. Open MPI has a setting
 * for that (mpi_yield_when_idle); MPICH has one that its waiting over UCX does not heed (MPIR_CVAR_POLLS_BEFORE_YIELD). UCX looks at its sockets by
 * epoll_wait without a timeout, and so does nothing else that a rank calls while it waits.
 */
#include <dlfcn.h>
#include <sched.h>
#include <sys/epoll.h>

typedef int epoll_wait_function(int, struct epoll_event *, int, int);

__attribute__((visibility("default"))) int epoll_wait(int epfd, struct epoll_event *events, int maxevents,
                                                      int timeout)
{
    static epoll_wait_function *real; /* threads that find it at once find the same */
    epoll_wait_function *wait = __atomic_load_n(&real, __ATOMIC_RELAXED);
    if (!wait) {
        *(void **)&wait = dlsym(RTLD_NEXT, "epoll_wait");
        __atomic_store_n(&real, wait, __ATOMIC_RELAXED);
    }
    int found = wait(epfd, events, maxevents, timeout);
    if (found == 0 && timeout == 0)
        sched_yield();
    return found;
}
