/*
 * imbalance.c — see imbalance.h.
 */
#include "imbalance.h"

static int class_of(double wif)
{
    static const double below[PAT_IMBALANCE_CLASSES - 1] = {1, 2, 8, 32};
    int i = 0;
    while (i < PAT_IMBALANCE_CLASSES - 1 && wif >= below[i])
        i++;
    return i;
}

void pat_imbalance_add(pat_imbalance *to, const pat_coming *call)
{
    to->calls++;
    to->average_ns += call->average_ns;
    to->worst_ns += call->worst_ns;
    if (call->has_before) {
        to->alike += call->own_ns * call->before_ns;
        to->square += (call->own_ns * call->own_ns + call->before_ns * call->before_ns) / 2;
    }
    if (call->message_ns <= 0)
        return;
    const double wif = call->worst_ns / call->message_ns;
    to->aif += call->average_ns / call->message_ns;
    to->wif += wif;
    to->classes[class_of(wif)]++;
    if (call->after_ns > call->message_ns)
        return;
    to->after++;
    to->after_balanced += wif < 1;
}

void pat_imbalance_join(pat_imbalance *to, const pat_imbalance *more)
{
    to->calls += more->calls;
    for (int i = 0; i < PAT_IMBALANCE_CLASSES; i++)
        to->classes[i] += more->classes[i];
    to->after += more->after;
    to->after_balanced += more->after_balanced;
    to->average_ns += more->average_ns;
    to->worst_ns += more->worst_ns;
    to->aif += more->aif;
    to->wif += more->wif;
    to->alike += more->alike;
    to->square += more->square;
}

double pat_imbalance_alike(const pat_imbalance *i)
{
    return i->square > 0 ? i->alike / i->square : 0;
}
