/*
 * contact.c — see contact.h.
 */
#include "contact.h"

#include <limits.h>
#include <stdlib.h>

#include "error.h"
#include "wire.h"

/* Lower ones are used by clocks, and while the library starts. */
enum { FIRST_FREE_TAG = 16 };

int pat_contact_most_tags(void)
{
    enum { PROMISED = 32767 };
    int *highest, found;
    if (PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &highest, &found) != MPI_SUCCESS || !found)
        return PROMISED;
    return *highest < INT_MAX ? *highest + 1 : INT_MAX;
}

bool pat_contact_begin(pat_contact *k, int size, int num_tags)
{
    const size_t n = (size_t)size;
    *k = (pat_contact){.local = true,
                       .rank = malloc(n * sizeof(*k->rank)),
                       .first_tag = malloc(n * sizeof(*k->first_tag)),
                       .told = malloc((n + 1) * sizeof(*k->told)),
                       .own_first = -1,
                       .num_tags = num_tags,
                       .requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}};
    return k->rank && k->first_tag && k->told;
}

bool pat_contact_has_tags(int num_tags)
{
    enum { AT_LEAST = 64 }; /* communicators, at a time */
    return num_tags <= pat_contact_most_tags() / AT_LEAST;
}

/* Who has a tag between `first` and the one before `end`? NULL: nobody. */
static const pat_contact *holder_of(const pat_contact *list, int first, int end)
{
    for (const pat_contact *k = list; k; k = k->next)
        if (k->own_first >= 0 && first < k->own_first + k->num_tags && k->own_first < end)
            return k;
    return NULL;
}

void pat_contact_choose(pat_contact *k, pat_contact **list, int most)
{
    int first = FIRST_FREE_TAG;
    k->own_first = -1;
    while (k->own_first < 0 && first <= most - k->num_tags) {
        const pat_contact *holder = holder_of(*list, first, first + k->num_tags);
        if (holder)
            first = holder->own_first + holder->num_tags;
        else
            k->own_first = first;
    }
    k->next = *list;
    *list = k;
}

void pat_contact_drop(pat_contact *k, pat_contact **list)
{
    for (pat_contact **at = list; *at; at = &(*at)->next)
        if (*at == k) {
            *at = k->next;
            return;
        }
}

int pat_contact_tell(pat_contact *k, MPI_Comm user, int64_t eager_bytes, int64_t packet_bytes)
{
    enum { WORDS = sizeof(pat_contact_facts) / sizeof(int64_t) };
    k->begun = true;
    k->told[0] = (pat_contact_facts){k->own_first, eager_bytes, packet_bytes};
    return PMPI_Iallgather(&k->told[0], WORDS, MPI_INT64_T, &k->told[1], WORDS, MPI_INT64_T, user,
                           &k->requests[0]);
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int take_in(pat_contact *k, int size, pat_contact_facts *least)
{
    *least = k->told[1];
    for (int r = 0; r < size; r++) {
        const pat_contact_facts *said = &k->told[1 + r];
        if (said->first_tag < 0)
            return pat_error(MPI_ERR_OTHER,
                             "rank %d has non-blocking calls on too many communicators: the MPI library has "
                             "no tags left for one more",
                             r);
        k->first_tag[r] = (int)said->first_tag;
        *least = (pat_contact_facts){lesser(least->first_tag, said->first_tag),
                                     lesser(least->eager_bytes, said->eager_bytes),
                                     lesser(least->packet_bytes, said->packet_bytes)};
    }
    k->known = true;
    return MPI_SUCCESS;
}

int pat_contact_look(pat_contact *k, int size, MPI_Comm world, bool asks_mpi, bool *moved,
                     pat_contact_facts *least)
{
    int over = 0, places[2];
    if (k->known || !pat_contact_exposed(k))
        return MPI_SUCCESS;
    int rc = asks_mpi ? PMPI_Test(&k->requests[0], &over, MPI_STATUS_IGNORE)
                      : pat_wire_test_known(world, 1, k->requests, &over, places);
    if (rc != MPI_SUCCESS || !over)
        return rc;
    *moved = true;
    return take_in(k, size, least);
}

bool pat_contact_exposed(const pat_contact *k)
{
    return k->local && k->requests[0] != MPI_REQUEST_NULL;
}

void pat_contact_free(pat_contact *k)
{
    free(k->rank);
    free(k->first_tag);
    free(k->told);
}
