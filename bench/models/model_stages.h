/*
 * model_stages.h — do closed forms or the stage rule describe better what broadcasts were measured to take? No MPI, no clock.
 */
#ifndef MODEL_STAGES_H
#define MODEL_STAGES_H

/*
 * Print, for every broadcast in this file of pat-calibrate, how far either is off: fitted to what was measured with all ranks, and of
 * what was measured with fewer. Returns 0; 1 when memory is short; 2 after a message on the standard error for a file that cannot be used.
 */
int model_stages(const char *calibration);

#endif
