/*
 * python.h — places of programs in Python: all their calls come from the same few lines of a module in C, so that without the line in Python
 * every call of a function would be at one place. Python is found in the process; the library is not linked with it.
 */
#ifndef PAT_PYTHON_H
#define PAT_PYTHON_H

#include <pthread.h>
#include <stdbool.h>

/* An object of Python's. */
typedef void pat_python_object;

/* What is used of Python's C interface. */
typedef struct pat_python_calls {
    int (*is_initialized)(void);
    pat_python_object *(*thread_state)(void);
    int (*lock)(void);
    void (*unlock)(int);
    pat_python_object *(*frame)(void); /* borrowed */
    int (*line)(pat_python_object *frame);
    pat_python_object *(*back)(pat_python_object *frame); /* who has called it; NULL: nobody */
    pat_python_object *(*code)(pat_python_object *frame);
    pat_python_object *(*attribute)(pat_python_object *of, const char *name);
    const char *(*text)(pat_python_object *string);
    void (*release)(pat_python_object *);
    void (*forget_error)(void);
} pat_python_calls;

typedef struct pat_python {
    pthread_mutex_t lock;
    struct pat_python_place *places; /* the lines from which calls have come, which are few */
    pat_python_calls calls;
    bool sought, found; /* there is Python in this process */
} pat_python;

/*
 * The place of a call that in C returns to `site`: something that stands for the line in Python from which this thread has come, and those that have called it, `depth` of them at most, if it has, else
 * `site`. Any thread; takes Python's lock while it looks.
 */
const void *pat_python_site(pat_python *python, const void *site, int depth);

/* The line that it stands for, "study.py:12", or "study.py:12 < study.py:40", until pat_python_end; NULL: it stands for nothing in Python. */
const char *pat_python_name(pat_python *python, const void *site);

void pat_python_end(pat_python *python);

#endif
