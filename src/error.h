/*
 * error.h — how an error gets its text: a code plus, per thread, one line of detail.
 */
#ifndef PAT_ERROR_H
#define PAT_ERROR_H

/* Remember the detail for PAT_Error_string and return `code`, so that callers can `return pat_error(...)`. */
int pat_error(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Forget the calling thread's detail: the code it is about to return comes from MPI. */
void pat_error_clear(void);

#endif
