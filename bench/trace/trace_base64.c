/*
 * trace_base64.c — rows of numbers as text (trace_html.h), by the alphabet of RFC 4648.
 */
#include <endian.h>
#include <stdint.h>
#include <stdlib.h>

#include "trace_html.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Byte i of the numbers as a little-endian machine has them. */
static uint32_t byte_of(const unsigned char *from, size_t i, size_t bytes)
{
    const size_t in = i % bytes;
    return from[__BYTE_ORDER == __LITTLE_ENDIAN ? i : i - in + (bytes - 1 - in)];
}

json_t *trace_base64(const void *numbers, size_t count, size_t bytes)
{
    const size_t length = count * bytes;
    char *text = malloc(length / 3 * 4 + 5), *to = text;
    if (!text)
        return NULL;
    for (size_t i = 0; i < length; i += 3) {
        const size_t left = length - i;
        const uint32_t word = byte_of(numbers, i, bytes) << 16 |
                              (left > 1 ? byte_of(numbers, i + 1, bytes) << 8 : 0) |
                              (left > 2 ? byte_of(numbers, i + 2, bytes) : 0);
        *to++ = alphabet[word >> 18];
        *to++ = alphabet[word >> 12 & 63];
        *to++ = left > 1 ? alphabet[word >> 6 & 63] : '=';
        *to++ = left > 2 ? alphabet[word & 63] : '=';
    }
    json_t *o = json_stringn(text, (size_t)(to - text));
    free(text);
    return o;
}
