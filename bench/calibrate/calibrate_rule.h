/*
 * calibrate_rule.h — which algorithm another version of the MPI library would take, as something to hold choices against.
 */
#ifndef CALIBRATE_RULE_H
#define CALIBRATE_RULE_H

#include "algorithms.h"

/*
 * The library's algorithm on the tree that Open MPI 3.1 takes by itself, though in this library's segments; NULL: of this collective there
 * is none.
 */
const pat_algorithm *calibrate_rule(enum pat_op op, int ranks, int64_t bytes);

#endif
