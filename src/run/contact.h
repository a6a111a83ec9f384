/*
 * contact.h — how the members of a communicator reach each other without one of the library's own, which all of them would have to make together: on the library's
 * communicator of all ranks, with tags that each member has chosen for what it receives, and which it tells the others by a non-blocking
 * all-gather on the user's communicator. So nobody waits. Must never know what the messages are.
 *
 * One thread at a time. Functions that return int return MPI error codes.
 */
#ifndef PAT_CONTACT_H
#define PAT_CONTACT_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* What a member tells the others. */
typedef struct pat_contact_facts {
    int64_t first_tag; /* of what it receives; negative: it has none left */
    int64_t eager_bytes, packet_bytes;
} pat_contact_facts;

typedef struct pat_contact {
    bool local; /* the communicator's members reach each other so; all else here is 0 where they do not */
    bool begun; /* this rank has told, or could not */
    bool known; /* all have told */
    int *rank,
        *first_tag; /* of each member: its number among all ranks; where what it receives begins, known then */
    int own_first, num_tags;  /* the tags of this rank, which it has chosen for nobody else; negative: none */
    struct pat_contact *next; /* of those that have chosen tags */
    pat_contact_facts *told;  /* of this rank, and then of every member */
    MPI_Request requests[2];  /* of what is told; and room for one more (pat_wire_test_known) */
} pat_contact;

/* Can members have so many tags each, and many other communicators too? The same on all ranks. */
bool pat_contact_has_tags(int num_tags);

/*
 * A contact of so many members, which are to have so many tags each. The caller fills in `rank`. Returns whether there is memory; it is to be freed in any case.
 */
bool pat_contact_begin(pat_contact *contact, int size, int num_tags);

/*
 * Choose tags: the lowest below `most` (pat_contact_most_tags) that nothing in the list `first` has; negative where there are none left. And be in the list from now on, until pat_contact_drop. The caller sees
 * to it that no other thread changes the list.
 */
void pat_contact_choose(pat_contact *contact, pat_contact **first, int most);
void pat_contact_drop(pat_contact *contact, pat_contact **first);

/* How many tags MPI has. */
int pat_contact_most_tags(void);

/* Tell all members; to be called by all once, where a collective on `user` may be started. */
int pat_contact_tell(pat_contact *contact, MPI_Comm user, int64_t eager_bytes, int64_t packet_bytes);

/* Have all told? Then *least is the least of what they have said. asks_mpi: see pat_wire_test (wire.h). world: the library's communicator of all ranks. *moved: set where they have just now. */
int pat_contact_look(pat_contact *contact, int size, MPI_Comm world, bool asks_mpi, bool *moved,
                     pat_contact_facts *least);

/* May MPI still write to its memory? */
bool pat_contact_exposed(const pat_contact *contact);

void pat_contact_free(pat_contact *contact);

#endif
