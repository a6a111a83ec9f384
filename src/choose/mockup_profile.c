/*
 * mockup_profile.c — see mockup_profile.h. Nothing is guessed: what is not as it must be is told with its line.
 */
#include "mockup_profile.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mockup_own.h"

enum { MOST_WORDS = 3 };

/* A line with something in it, cut into words. */
typedef struct reader {
    const char *at, *end;
    int line;
    int num_words;
    struct {
        const char *text;
        int length;
    } words[MOST_WORDS];
    char *why;
    size_t why_size;
} reader;

/* How a value is shown: its head, and nothing that could garble a terminal. */
enum { SHOWN = 48 };
static void show(char shown[SHOWN], const char *text, int length)
{
    const int most = SHOWN - 4;
    snprintf(shown, SHOWN, "%.*s%s", length < most ? length : most, text, length > most ? "..." : "");
    for (char *c = shown; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
}

/* Returns false. word < 0: the whole line; or its end, where there is none. */
static bool refuse(const reader *r, int word, const char *accepted)
{
    char shown[SHOWN] = "";
    if (word >= 0 && word < r->num_words)
        show(shown, r->words[word].text, r->words[word].length);
    else if (word < 0 && r->num_words > 0) {
        const char *first = r->words[0].text;
        const char *newline = memchr(first, '\n', (size_t)(r->end - first));
        show(shown, first, (int)((newline ? newline : r->end) - first));
    }
    if (r->num_words == 0)
        snprintf(r->why, r->why_size, "line %d: the file ends; accepted: %s", r->line ? r->line : 1,
                 accepted);
    else
        snprintf(r->why, r->why_size, "line %d: \"%s\": accepted: %s", r->line, shown, accepted);
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* More words than MOST_WORDS are counted, and not kept. */
static void cut(reader *r, const char *end)
{
    const char *at = r->at;
    r->num_words = 0;
    while (at < end) {
        for (; at < end && is_blank(*at); at++)
            continue;
        const char *begin = at;
        for (; at < end && !is_blank(*at); at++)
            continue;
        if (at == begin)
            break;
        if (r->num_words < MOST_WORDS) {
            r->words[r->num_words].text = begin;
            r->words[r->num_words].length = at - begin > INT_MAX ? INT_MAX : (int)(at - begin);
        }
        r->num_words++;
    }
}

/* The next line that is no comment and has words. False: there is none; then num_words is 0. */
static bool next(reader *r)
{
    r->num_words = 0;
    while (r->at < r->end) {
        const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
        const char *end = newline ? newline : r->end;
        cut(r, end);
        r->line++;
        r->at = newline ? newline + 1 : r->end;
        if (r->num_words > 0 && r->words[0].text[0] != '#')
            return true;
    }
    r->num_words = 0;
    return false;
}

/* A line of so many words. */
static bool expect(reader *r, int words, const char *accepted)
{
    return (next(r) && r->num_words == words) || refuse(r, -1, accepted);
}

static bool take_number(const reader *r, int word, int64_t least, int64_t most, int64_t *value)
{
    char accepted[96];
    const char *text = r->words[word].text;
    const int length = r->words[word].length;
    int64_t number = 0;
    bool good = length > 0;
    for (int i = 0; i < length && good; i++)
        good = text[i] >= '0' && text[i] <= '9' && !__builtin_mul_overflow(number, 10, &number) &&
               !__builtin_add_overflow(number, text[i] - '0', &number);
    *value = number;
    if (good && number >= least && number <= most)
        return true;
    snprintf(accepted, sizeof(accepted), "a whole number from %lld to %lld", (long long)least,
             (long long)most);
    return refuse(r, word, accepted);
}

static bool take_name(const reader *r, int word, char name[PAT_MOCKUP_NAME])
{
    const int length = r->words[word].length;
    if (length >= PAT_MOCKUP_NAME || memchr(r->words[word].text, '\0', (size_t)length))
        return false;
    memcpy(name, r->words[word].text, (size_t)length);
    name[length] = '\0';
    return true;
}

/* ---- The parts of a profile ------------------------------------------------------------------------------- */

static bool read_head(reader *r, pat_mockup_profile *p, pat_mockup_knows *knows)
{
    static const char accepted[] = "the name of a collective that has mock-ups, as MPI_Bcast";
    int64_t ranks;
    if (!expect(r, 1, accepted))
        return false;
    if (!take_name(r, 0, p->collective) || !knows(p->collective, NULL))
        return refuse(r, 0, accepted);
    if (!expect(r, 1, "the number of ranks") || !take_number(r, 0, 1, INT_MAX, &ranks))
        return false;
    p->ranks = (int)ranks;
    return true;
}

static int find(const int64_t *numbers, int num, int64_t number)
{
    for (int i = 0; i < num; i++)
        if (numbers[i] == number)
            return i;
    return -1;
}

static bool refuse_alg(const reader *r, const char *collective)
{
    char own[256], accepted[sizeof(own) + 2 * PAT_MOCKUP_NAME];
    snprintf(accepted, sizeof(accepted), "default, or the name of a mock-up of %s%s", collective,
             pat_mockup_own_names(collective, own, sizeof(own)));
    return refuse(r, 1, accepted);
}

/* numbers: by which ranges call them. */
static bool read_algs(reader *r, pat_mockup_profile *p, pat_mockup_knows *knows, int64_t numbers[])
{
    int64_t num;
    if (!expect(r, 1, "how many algorithms follow") || !take_number(r, 0, 1, PAT_MOCKUP_ALGS, &num))
        return false;
    for (; p->num_algs < num; p->num_algs++) {
        if (!expect(r, 2, "the number of an algorithm and its name") ||
            !take_number(r, 0, 0, INT_MAX, &numbers[p->num_algs]))
            return false;
        if (find(numbers, p->num_algs, numbers[p->num_algs]) >= 0)
            return refuse(r, 0, "a number that no algorithm before has");
        char *name = p->algs[p->num_algs];
        if (!take_name(r, 1, name) || !(pat_mockup_own(p->collective, name) || knows(p->collective, name)))
            return refuse_alg(r, p->collective);
    }
    return true;
}

static bool read_ranges(reader *r, pat_mockup_profile *p, const int64_t numbers[])
{
    int64_t num, alg;
    if (!expect(r, 1, "how many ranges follow") || !take_number(r, 0, 1, PAT_MOCKUP_RANGES, &num))
        return false;
    p->ranges = malloc((size_t)num * sizeof(*p->ranges));
    if (!p->ranges) {
        snprintf(r->why, r->why_size, "line %d: no memory for %lld ranges", r->line, (long long)num);
        return false;
    }
    for (; p->num_ranges < num; p->num_ranges++) {
        pat_mockup_range *range = &p->ranges[p->num_ranges];
        if (!expect(r, 3, "the first and the last byte of a range, and the number of its algorithm") ||
            !take_number(r, 0, 0, INT64_MAX, &range->begin) ||
            !take_number(r, 1, range->begin, INT64_MAX, &range->end) || !take_number(r, 2, 0, INT_MAX, &alg))
            return false;
        range->alg = find(numbers, p->num_algs, alg);
        if (range->alg < 0)
            return refuse(r, 2, "the number of one of the algorithms above");
    }
    return true;
}

bool pat_mockup_profile_read(pat_mockup_profile *profile, const char *text, size_t length,
                             pat_mockup_knows *knows, char *why, size_t why_size)
{
    int64_t numbers[PAT_MOCKUP_ALGS];
    reader r = {.at = text, .end = text + length, .why = why, .why_size = why_size};
    pat_mockup_profile *p = profile;
    memset(p, 0, sizeof(*p));
    if (read_head(&r, p, knows) && read_algs(&r, p, knows, numbers) && read_ranges(&r, p, numbers) &&
        (!next(&r) || refuse(&r, -1, "nothing after the last range")))
        return true;
    pat_mockup_profile_free(p);
    return false;
}

void pat_mockup_profile_free(pat_mockup_profile *profile)
{
    free(profile->ranges);
    memset(profile, 0, sizeof(*profile));
}

int pat_mockup_profile_alg(const pat_mockup_profile *p, int64_t bytes)
{
    for (int i = 0; i < p->num_ranges; i++)
        if (bytes >= p->ranges[i].begin && bytes <= p->ranges[i].end)
            return p->ranges[i].alg;
    return -1;
}
