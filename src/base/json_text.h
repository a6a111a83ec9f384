/*
 * json_text.h — a text of unknown origin as JSON, which is UTF-8: names, paths and arguments need not be.
 */
#ifndef PAT_JSON_TEXT_H
#define PAT_JSON_TEXT_H

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Where it is no UTF-8 whatever is not ASCII becomes "?". NULL without memory. */
static inline json_t *pat_json_text(const char *text)
{
    json_t *o = json_string(text);
    char *copy = o ? NULL : strdup(text);
    for (char *c = copy; c && *c; c++)
        *c = (unsigned char)*c < 0x80 ? *c : '?';
    if (copy)
        o = json_string(copy);
    free(copy);
    return o;
}

#endif
