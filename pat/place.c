/*
 * place.c — see place.h. The choice is arithmetic on sets; only pat_place_ask and pat_place_settle ask the machine and the other
 * ranks, and only pat_place_apply changes anything. Must never bind a thread of the application, and never
 * fail a job because a thread could not be bound.
 */
#include "place.h"

#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

/* ---- Choosing ------------------------------------------------------------------------------------------ */

static bool shares_core(hwloc_topology_t topology, hwloc_obj_t pu, hwloc_const_cpuset_t set)
{
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
    return core && hwloc_bitmap_intersects(core->cpuset, set);
}

/* Depth of the first object that holds both the PU and one of the set: the deeper, the more caches they
 * share. */
static int common_depth(hwloc_obj_t pu, hwloc_const_cpuset_t set)
{
    hwloc_obj_t at = pu;
    while (at->parent && !hwloc_bitmap_intersects(at->cpuset, set))
        at = at->parent;
    return at->depth;
}

/*
 * The best PU for a process that computes on `own`, among those neither computed on nor given away; NULL:
 * none is left. First a core on which nobody computes, because a sibling slows the computation down even from
 * a PU of its own; then the nearest; then a core where no other background thread is; then the lowest number.
 * hwloc_get_closest_objs orders PUs by what they share with one PU, here it is a set, and does not say which are equally near.
 */
static hwloc_obj_t nearest_free(hwloc_topology_t topology, hwloc_const_cpuset_t allowed,
                                hwloc_const_cpuset_t own, hwloc_const_cpuset_t computing,
                                hwloc_const_cpuset_t given)
{
    const int depth = hwloc_topology_get_depth(topology);
    hwloc_obj_t best = NULL;
    int best_cost = INT_MAX;
    for (hwloc_obj_t pu = NULL; (pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu));) {
        if (!hwloc_bitmap_isset(allowed, pu->os_index) || hwloc_bitmap_isset(computing, pu->os_index) ||
            hwloc_bitmap_isset(given, pu->os_index))
            continue;
        int cost = shares_core(topology, pu, computing);
        cost = cost * (depth + 1) + depth - common_depth(pu, own);
        cost = cost * 2 + shares_core(topology, pu, given);
        if (cost < best_cost) {
            best_cost = cost;
            best = pu;
        }
    }
    return best;
}

pat_place pat_place_choose(hwloc_topology_t topology, hwloc_const_cpuset_t allowed,
                           const hwloc_const_cpuset_t *compute, int num_local, int local_rank)
{
    pat_place place = {PAT_PLACE_FLOAT, -1};
    hwloc_bitmap_t computing = hwloc_bitmap_alloc(), given = hwloc_bitmap_alloc();
    bool good = computing && given;
    /*
     * A process that is not bound brings the whole allowed set, and with it no PU is free: its compute thread
     * may be on any of them at any moment, also when there are more PUs than processes. The scheduler can
     * move a compute thread away from ours while ours floats; it cannot move ours away when it is pinned. So
     * pinning would win nothing there and could hurt, and everybody floats. The same goes for a set outside
     * what is allowed, which is not understood.
     */
    for (int i = 0; i < num_local && good; i++)
        good = hwloc_bitmap_intersects(compute[i], allowed) &&
               hwloc_bitmap_or(computing, computing, compute[i]) == 0;
    /* Everybody works out the choices of those before him, so that nobody has to be told. */
    for (int i = 0; i <= local_rank && good; i++) {
        hwloc_obj_t pu = nearest_free(topology, allowed, compute[i], computing, given);
        if (!pu)
            break;
        hwloc_bitmap_set(given, pu->os_index);
        if (i == local_rank)
            place = (pat_place){PAT_PLACE_PU, (int)pu->os_index};
    }
    hwloc_bitmap_free(computing);
    hwloc_bitmap_free(given);
    return place;
}

/* ---- Asking the machine and the other ranks ------------------------------------------------------------ */

/*
 * What this process sees of its node. Asked of the kernel, without a topology: reading that takes milliseconds, which a
 * program that never needs the thread must not pay.
 */
typedef struct sight {
    hwloc_bitmap_t own; /* where this process's threads are bound to, seen together */
    hwloc_bitmap_t
        allowed; /* where they may be bound to; NULL: not known, and everybody on the node floats */
} sight;

enum { MOST_PUS = 8192 }; /* the kernel's own limit */
typedef cpu_set_t mask[MOST_PUS / CPU_SETSIZE];

static void sight_close(sight *s)
{
    hwloc_bitmap_free(s->own);
    hwloc_bitmap_free(s->allowed);
    *s = (sight){0};
}

static bool add_mask(hwloc_bitmap_t set, const mask *m)
{
    unsigned long words[MOST_PUS / (CHAR_BIT * sizeof(unsigned long))];
    hwloc_bitmap_t more = hwloc_bitmap_alloc();
    memcpy(words, m, sizeof(words));
    bool good = more && hwloc_bitmap_from_ulongs(more, sizeof(words) / sizeof(words[0]), words) == 0 &&
                hwloc_bitmap_or(set, set, more) == 0;
    hwloc_bitmap_free(more);
    return good;
}

/* Of a thread that asks for every PU the kernel leaves those that this process's control group allows. */
static void *ask_for_all(void *arg)
{
    mask *m = arg;
    memset(m, 0xff, sizeof(*m));
    bool good = sched_setaffinity(0, sizeof(*m), *m) == 0 && (memset(m, 0, sizeof(*m)), true) &&
                sched_getaffinity(0, sizeof(*m), *m) == 0;
    return good ? m : NULL;
}

/* In a thread of its own, since the application's are not to be touched. */
static bool see_allowed(hwloc_bitmap_t allowed)
{
    mask m;
    pthread_t id;
    void *answer = NULL;
    sigset_t all, old; /* the application's signal handlers must not run there */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    const int error = pthread_create(&id, NULL, ask_for_all, &m);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error == 0 && pthread_join(id, &answer) == 0 && answer && add_mask(allowed, &m);
}

static bool see_own(hwloc_bitmap_t own)
{
    DIR *threads = opendir("/proc/self/task");
    bool good = threads != NULL;
    for (struct dirent *entry; good && (entry = readdir(threads));) {
        mask m;
        memset(&m, 0, sizeof(m));
        if (entry->d_name[0] != '.' && sched_getaffinity((pid_t)atoi(entry->d_name), sizeof(m), m) == 0)
            good = add_mask(own, &m);
    }
    if (threads)
        closedir(threads);
    return good;
}

static void sight_open(sight *s)
{
    *s = (sight){hwloc_bitmap_alloc(), hwloc_bitmap_alloc()};
    if (!s->own || !s->allowed || !see_own(s->own) || !see_allowed(s->allowed))
        sight_close(s);
    else
        hwloc_bitmap_and(s->own, s->own, s->allowed);
}

/* What the setting says without regard to the others; `auto` is left open as PAT_PLACE_FLOAT. */
static int obey(const sight *s, const char *setting, pat_place *place)
{
    char accepted[256] = "";
    *place = (pat_place){PAT_PLACE_FLOAT, -1};
    if (strcmp(setting, "auto") == 0)
        return MPI_SUCCESS;
    if (strcmp(setting, "off") == 0) {
        place->kind = PAT_PLACE_OFF;
        return MPI_SUCCESS;
    }
    if (!s->allowed)
        return pat_error(
            MPI_ERR_OTHER,
            "PAT_THREAD_PIN=\"%s\": this node's processing units cannot be read; accepted: auto, off",
            setting);
    char *end = NULL;
    long pu = setting[0] >= '0' && setting[0] <= '9' ? strtol(setting, &end, 10) : -1;
    if (pu < 0 || *end || pu > INT_MAX || !hwloc_bitmap_isset(s->allowed, (unsigned)pu)) {
        hwloc_bitmap_list_snprintf(accepted, sizeof(accepted), s->allowed);
        return pat_error(
            MPI_ERR_ARG,
            "PAT_THREAD_PIN=\"%s\": accepted on this node: auto, off, or one of the processing units %s",
            setting, accepted);
    }
    *place = (pat_place){PAT_PLACE_PU, (int)pu};
    return MPI_SUCCESS;
}

/* What a rank tells the others on its node: this, then the words of `own`, then those of `allowed`. */
enum { KIND, HEADER };

struct pat_place_view {
    pat_place told;      /* what the setting says; PAT_PLACE_FLOAT: to be chosen */
    unsigned long *said; /* by num_local ranks, HEADER + 2 * words each */
    int words, num_local, me;
};

/*
 * Ranks that were told where to go count last: they need nothing, and the PU they were told is computed on as far as the
 * others are concerned.
 */
static pat_place choose_together(const pat_place_view *v, hwloc_topology_t topology,
                                 hwloc_const_cpuset_t allowed)
{
    const size_t length = HEADER + 2 * (size_t)v->words;
    const unsigned long *here = v->said + (size_t)v->me * length + HEADER + v->words;
    pat_place place = {PAT_PLACE_FLOAT, -1};
    hwloc_bitmap_t *sets = calloc((size_t)v->num_local, sizeof(*sets));
    bool good = sets != NULL;
    int used = 0, my_turn = 0;
    for (int told = 0; told < 2 && good; told++)
        for (int i = 0; i < v->num_local && good; i++) {
            const unsigned long *other = v->said + (size_t)i * length;
            if ((other[KIND] != PAT_PLACE_FLOAT) != told)
                continue;
            if (i == v->me)
                my_turn = used;
            sets[used] = hwloc_bitmap_alloc();
            good =
                sets[used] && hwloc_bitmap_from_ulongs(sets[used], (unsigned)v->words, other + HEADER) == 0;
            /* Ranks in different containers see different machines: what is free cannot be told. */
            good = good && memcmp(other + HEADER + v->words, here, (size_t)v->words * sizeof(*here)) == 0;
            used++;
        }
    if (good)
        place =
            pat_place_choose(topology, allowed, (const hwloc_const_cpuset_t *)sets, v->num_local, my_turn);
    for (int i = 0; i < used; i++)
        hwloc_bitmap_free(sets[i]);
    free(sets);
    return place;
}

/* All ranks go on or none: one that was told a PU that it does not have stops everybody, in time. */
static int agree(MPI_Comm comm, int mine)
{
    int worst;
    int rc = PMPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, comm);
    if (rc != MPI_SUCCESS || worst == MPI_SUCCESS)
        return rc;
    return mine == worst
               ? mine
               : pat_error(worst, "PAT_THREAD_PIN: another rank's thread cannot be placed as asked");
}

int pat_place_ask(MPI_Comm comm, MPI_Comm node, const char *setting, pat_place_view **view)
{
    pat_place_view *v = calloc(1, sizeof(*v));
    int words = 0, mine;
    sight s;
    *view = NULL;
    if (!v) { /* the others on the node take part in the same reductions */
        int most_words;
        PMPI_Allreduce(&words, &most_words, 1, MPI_INT, MPI_MAX, node);
        return agree(comm, pat_error(MPI_ERR_NO_MEM, "no memory to place the background thread"));
    }
    sight_open(&s);
    mine = obey(&s, setting, &v->told);
    PMPI_Comm_size(node, &v->num_local);
    PMPI_Comm_rank(node, &v->me);
    if (s.allowed) {
        int own = hwloc_bitmap_nr_ulongs(s.own), allowed = hwloc_bitmap_nr_ulongs(s.allowed);
        words = own > allowed ? own : allowed;
    }
    int rc = PMPI_Allreduce(&words, &v->words, 1, MPI_INT, MPI_MAX, node);
    if (rc != MPI_SUCCESS)
        v->words = 0;
    const size_t length = HEADER + 2 * (size_t)v->words;
    v->said = calloc((size_t)v->num_local + 1, length * sizeof(*v->said));
    if (mine == MPI_SUCCESS && !v->said)
        mine = pat_error(MPI_ERR_NO_MEM, "no memory to place the background thread");
    if (rc == MPI_SUCCESS)
        rc = agree(comm, mine);
    if (rc == MPI_SUCCESS) {
        unsigned long *say = v->said + (size_t)v->num_local * length;
        say[KIND] = v->told.kind;
        if (s.allowed) {
            if (v->told.kind == PAT_PLACE_PU)
                hwloc_bitmap_set(s.own, (unsigned)v->told.pu_os_index);
            hwloc_bitmap_to_ulongs(s.own, (unsigned)v->words, say + HEADER);
            hwloc_bitmap_to_ulongs(s.allowed, (unsigned)v->words, say + HEADER + v->words);
        }
        rc = PMPI_Allgather(say, (int)length, MPI_UNSIGNED_LONG, v->said, (int)length, MPI_UNSIGNED_LONG,
                            node);
    }
    sight_close(&s);
    if (rc == MPI_SUCCESS)
        *view = v;
    else
        pat_place_forget(v);
    return rc;
}

void pat_place_forget(pat_place_view *v)
{
    if (!v)
        return;
    free(v->said);
    free(v);
}

bool pat_place_is_crowded(const pat_place_view *v)
{
    int pus = 0;
    for (int word = 0; word < v->words; word++) {
        unsigned long bound = 0;
        for (int i = 0; i < v->num_local; i++)
            bound |= v->said[(size_t)i * (HEADER + 2 * (size_t)v->words) + HEADER + (size_t)word];
        pus += __builtin_popcountl(bound);
    }
    return pus < v->num_local;
}

pat_place pat_place_settle(const pat_place_view *v)
{
    pat_place place = v->told;
    hwloc_topology_t topology;
    if (place.kind != PAT_PLACE_FLOAT || hwloc_topology_init(&topology) != 0)
        return place;
    if (hwloc_topology_load(topology) == 0)
        place = choose_together(v, topology, hwloc_topology_get_allowed_cpuset(topology));
    hwloc_topology_destroy(topology);
    return place;
}

int pat_place_find(MPI_Comm comm, const char *setting, pat_place *place)
{
    MPI_Comm node;
    pat_place_view *view;
    *place = (pat_place){PAT_PLACE_FLOAT, -1};
    int rc = PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    if (rc != MPI_SUCCESS)
        return rc;
    PMPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
    rc = pat_place_ask(comm, node, setting, &view);
    if (rc == MPI_SUCCESS)
        *place = pat_place_settle(view);
    pat_place_forget(view);
    PMPI_Comm_free(&node);
    return rc;
}

/* ---- Binding ------------------------------------------------------------------------------------------- */

/*
 * Bind the calling thread to one PU, or with pu < 0 to all. Done without hwloc, which would have to read the
 * topology again. "All" is more than may be allowed: the kernel takes the part that this process's control
 * group allows.
 */
static bool bind_self(int pu)
{
    mask set;
    if (pu >= MOST_PUS)
        return false;
    memset(set, pu < 0 ? 0xff : 0, sizeof(set));
    if (pu >= 0)
        CPU_SET_S((size_t)pu, sizeof(set), set);
    return sched_setaffinity(0, sizeof(set), set) == 0;
}

enum pat_place_kind pat_place_apply(const pat_place *place)
{
    if (place->kind == PAT_PLACE_OFF)
        return PAT_PLACE_OFF;
    if (place->kind == PAT_PLACE_PU && bind_self(place->pu_os_index))
        return PAT_PLACE_PU;
    bind_self(-1); /* else the thread would inherit the binding of the compute thread that made it, and sit on
                      top of it */
    return PAT_PLACE_FLOAT;
}
