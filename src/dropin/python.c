/*
 * python.c — see python.h. By functions of Python's C interface that have been there since 3.9 and are to stay.
 */
#include "python.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef pat_python_object object;

typedef struct pat_python_place {
    struct pat_python_place *next;
    char name[160];
} place;

static bool find(pat_python_calls *p)
{
    const struct {
        const char *name;
        void *to;
    } wanted[] = {{"Py_IsInitialized", &p->is_initialized},
                  {"PyGILState_GetThisThreadState", &p->thread_state},
                  {"PyGILState_Ensure", &p->lock},
                  {"PyGILState_Release", &p->unlock},
                  {"PyEval_GetFrame", &p->frame},
                  {"PyFrame_GetLineNumber", &p->line},
                  {"PyFrame_GetBack", &p->back},
                  {"PyFrame_GetCode", &p->code},
                  {"PyObject_GetAttrString", &p->attribute},
                  {"PyUnicode_AsUTF8", &p->text},
                  {"Py_DecRef", &p->release},
                  {"PyErr_Clear", &p->forget_error}};
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        void *at = dlsym(RTLD_DEFAULT, wanted[i].name);
        if (!at)
            return false;
        memcpy(wanted[i].to, &at, sizeof(at)); /* ISO C knows no way from a pointer to a function */
    }
    return true;
}

/* NULL: there is no Python. */
static const pat_python_calls *calls_of(pat_python *p)
{
    pthread_mutex_lock(&p->lock);
    if (!p->sought)
        p->found = find(&p->calls);
    p->sought = true;
    pthread_mutex_unlock(&p->lock);
    return p->found ? &p->calls : NULL;
}

enum { NUMBER = 12, ONE_LINE = 80 };

/* A path, its folder and its name, or its name alone, whichever has at most so many characters. */
static const char *end_of(const char *path, int most)
{
    const char *name = strrchr(path, '/'), *folder = name;
    while (folder && folder > path && folder[-1] != '/')
        folder--;
    if (folder && folder < name && (int)strlen(folder) < most)
        return folder;
    return name ? name + 1 : path;
}

/* The line of a frame. Returns how long its name is; 0: it is not known. */
static int name_frame(const pat_python_calls *p, object *frame, char *name, size_t size)
{
    int length = 0;
    object *code = p->code(frame), *file = code ? p->attribute(code, "co_filename") : NULL;
    const char *path = file ? p->text(file) : NULL;
    if (path)
        length = snprintf(name, size, "%s:%d", end_of(path, ONE_LINE - NUMBER), p->line(frame));
    else if (code)
        p->forget_error();
    if (file)
        p->release(file);
    if (code)
        p->release(code);
    return length < (int)size ? length : (int)size - 1;
}

/* Innermost first; what has no room is left out. */
static bool name_of(const pat_python_calls *p, int depth, char *name, size_t size)
{
    object *frame = p->frame(), *owned = NULL;
    size_t length = 0;
    for (int i = 0; i < depth && frame && size - length >= (i ? ONE_LINE + 3 : ONE_LINE); i++) {
        if (i > 0)
            length += (size_t)snprintf(name + length, size - length, " < ");
        const int more = name_frame(p, frame, name + length, size - length);
        if (more == 0) {
            name[i > 0 ? length - 3 : 0] = '\0';
            break;
        }
        length += (size_t)more;
        frame = p->back(frame);
        if (owned)
            p->release(owned);
        owned = frame;
    }
    if (owned)
        p->release(owned);
    return length > 0;
}

/* NULL without memory. */
static const place *place_of(pat_python *p, const char *name)
{
    pthread_mutex_lock(&p->lock);
    place *at = p->places;
    while (at && strcmp(at->name, name) != 0)
        at = at->next;
    if (!at && (at = malloc(sizeof(*at))) != NULL) {
        at->next = p->places;
        snprintf(at->name, sizeof(at->name), "%s", name);
        p->places = at;
    }
    pthread_mutex_unlock(&p->lock);
    return at;
}

const void *pat_python_site(pat_python *p, const void *site, int depth)
{
    const pat_python_calls *calls = calls_of(p);
    char name[sizeof(p->places->name)];
    if (!calls || !calls->is_initialized() || !calls->thread_state()) /* a thread that is not Python's */
        return site;
    const int state = calls->lock();
    const bool known = name_of(calls, depth, name, sizeof(name));
    calls->unlock(state);
    const place *at = known ? place_of(p, name) : NULL;
    return at ? at : site;
}

const char *pat_python_name(pat_python *p, const void *site)
{
    pthread_mutex_lock(&p->lock);
    const place *at = p->places;
    while (at && at != site)
        at = at->next;
    pthread_mutex_unlock(&p->lock);
    return at ? at->name : NULL;
}

void pat_python_end(pat_python *p)
{
    for (place *at = p->places, *next; at; at = next) {
        next = at->next;
        free(at);
    }
}
