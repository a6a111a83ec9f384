/*
 * error.h — how an error gets its text: a code plus, per thread, one line of detail.
 */
#ifndef PAT_ERROR_H
#define PAT_ERROR_H

/* Remember the detail for PAT_Error_string and return `code`, so that callers can `return pat_error(...)`. */
int pat_error(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Forget the calling thread's detail: the code it is about to return comes from MPI. */
void pat_error_clear(void);

/*
 * An error that stays: the code with its text, so that a thread other than the one in which it happened can tell it. All zero: none. The
 * caller sees to it that one thread at a time uses it.
 */
typedef struct pat_failure {
    int code;
    char detail[256];
} pat_failure;

/* Keep `code`, which this thread has just got, unless an earlier one is kept. Returns the one that is kept. */
int pat_failure_note(pat_failure *f, int code);

/* It is this thread's error now. Returns its code; MPI_SUCCESS: there is none. */
int pat_failure_tell(const pat_failure *f);

#endif
