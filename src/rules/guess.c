/*
 * guess.c — see guess.h.
 */
#include "guess.h"

enum pat_guess pat_guess_next(const pat_guess_facts *facts)
{
    if (facts->basis != PAT_BASIS_ESTIMATES)
        return facts->basis == PAT_BASIS_LAST ? PAT_GUESS_BY_ORDER : PAT_GUESS_NONE;
    if (facts->announced != PAT_ANNOUNCED_THIS)
        return PAT_GUESS_NONE;
    if (facts->said_guess)
        return PAT_GUESS_BY_ORDER;
    return facts->said_hashed ? PAT_GUESS_NONE : PAT_GUESS_SAID;
}

bool pat_guess_prepares(const pat_guess_lane *lane)
{
    const bool may_now =
        lane->basis == PAT_BASIS_ESTIMATES || !lane->by_request || lane->open || lane->overdue;
    return lane->guessed && may_now && !lane->prepared;
}

pat_guess_outcome pat_guess_call(enum pat_basis basis, enum pat_announced announced, enum pat_match match)
{
    if (match == PAT_MATCH_WRONG)
        return (pat_guess_outcome){false, PAT_VOIDS_OWN};
    return (pat_guess_outcome){true, pat_guess_ends_announced(basis, announced) ? PAT_VOIDS_ANNOUNCED
                                                                                : PAT_VOIDS_NOTHING};
}

enum pat_void pat_guess_void(enum pat_basis basis, bool guessed, bool prepared)
{
    if (prepared)
        return PAT_VOID_IT;
    return basis == PAT_BASIS_ESTIMATES && guessed ? PAT_VOID_MADE_FIRST : PAT_VOID_NOTHING;
}

/* A call that needs no estimates leaves for later what they say. */
bool pat_guess_ends_announced(enum pat_basis basis, enum pat_announced announced)
{
    return basis == PAT_BASIS_ESTIMATES && announced == PAT_ANNOUNCED_OTHER;
}

int pat_guess_slot(int64_t epoch, bool as_prepared)
{
    return 2 * (int)(epoch % PAT_TAG_EPOCHS) + (as_prepared ? 0 : 1);
}
