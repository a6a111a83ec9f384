/*
 * guide_campaign.h — a campaign from its input to its files, or a sweep of one over numbers of ranks. Starts and ends MPI.
 */
#ifndef GUIDE_CAMPAIGN_H
#define GUIDE_CAMPAIGN_H

#include "guide_options.h"

/* Returns the exit status. */
int guide_campaign(const guide_options *o, int argc, char **argv);

#endif
