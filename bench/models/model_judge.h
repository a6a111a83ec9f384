/*
 * model_judge.h — what the models would have chosen in cells that pat-bench has measured, what that loses, and how far
 * their times are off. Needs no run of its own: delays follow from the cell's seed.
 */
#ifndef MODEL_JUDGE_H
#define MODEL_JUDGE_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Print the table for these cells (JSON files of pat-bench), each by the calibration whose link is as fast as the cell's.
 * plot, when not NULL, is a file that gets predicted against measured time, tab-separated, a line per cell and algorithm. Returns 0,
 * or 1 after a message on the standard error.
 */
int model_judge(const char *const *calibrations, int num_calibrations, const char *const *cells,
                int num_cells, const char *plot);

#endif
