/*
 * error.h — how an error gets its text: a code plus, per thread, one line of detail.
 */
#ifndef PAT_ERROR_H
#define PAT_ERROR_H

/* Remember the detail for PAT_Error_string and return `code`, so that callers can `return pat_error(...)`. */
int pat_error(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Forget the calling thread's detail: the code it is about to return comes from MPI. */
void pat_error_clear(void);

/* A call begins: a detail from before is not its own. PAT_Error_string still gives it until there is a new one. */
void pat_error_begin(void);

/* The call is about to return `code`: a detail from before pat_error_begin, or of another code, is forgotten. Returns `code`. */
int pat_error_end(int code);

/* The application gets `error_class` in the place of `code`: the detail belongs to both. */
void pat_error_seen_as(int code, int error_class);

/*
 * An error that stays: the code with its detail, so that a thread other than the one in which it happened can return it. All zero: there
 * is none. The caller sees to it that one thread at a time uses it.
 */
typedef struct pat_failure {
    int code;
    char detail[256];
} pat_failure;

/* Keep `code`, with the detail that this thread has had since pat_error_begin, unless an earlier error is kept. Returns the kept code. */
int pat_failure_note(pat_failure *f, int code);

/*
 * Make the failure's detail the calling thread's, for PAT_Error_string. Returns its code; MPI_SUCCESS: there is no
 * failure.
 */
int pat_failure_tell(const pat_failure *f);

#endif
