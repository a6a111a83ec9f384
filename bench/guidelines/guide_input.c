/*
 * guide_input.c — see guide_input.h. Must never go on with a default where a value was given that it does not understand.
 */
#include "guide_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "guide_need.h"
#include "tool_options.h"

const char guide_input_options[] = "--msizes-list=LIST (--bytes) sizes in bytes, with K or M; --nrep=N "
                                   "(--samples) so many samples of a series at most (5000); "
                                   "--rt-bench-time-ms=MS (--time-ms) so long for a series at most (3000); "
                                   "--proc-sync=roundtime|barrier (--sync) how ranks begin together "
                                   "(barrier); --rt-barrier-count=K (--barrier-after) after K late starts a "
                                   "size goes on with barriers, 0: from the first sample on, "
                                   "-1: never (-1); --runtime-type=local|global a sample is the longest time "
                                   "in the call, or from the first start to the last end (local); "
                                   "--root=R (0)";

static const int64_t most_bytes = INT64_C(1) << 30;

typedef struct place {
    guide_line *line;
    const char *option, *value;
    char *why;
    size_t why_size;
} place;

static bool refuse(const place *p, const char *accepted)
{
    snprintf(p->why, p->why_size, "%s '%s': accepted: %s", p->option, p->value, accepted);
    return false;
}

static bool take_sizes(const place *p)
{
    guide_line *l = p->line;
    char *copy = guide_need(strdup(p->value));
    bool ok = true;
    l->num_bytes = 0;
    for (char *rest = copy, *word; ok && (word = strsep(&rest, ",")) != NULL; l->num_bytes++) {
        int64_t bytes = 0;
        ok =
            l->num_bytes < GUIDE_SIZES && pat_config_bytes(word, &bytes) && bytes >= 1 && bytes <= most_bytes;
        for (int i = 0; ok && i < l->num_bytes; i++)
            ok = l->bytes[i] != bytes;
        if (ok)
            l->bytes[l->num_bytes] = bytes;
    }
    free(copy);
    return ok ||
           refuse(p, "up to 64 different sizes from 1 to 1G bytes, with a comma between them, as 1,1024,64K");
}

static bool take_whole(const place *p, int64_t least, int64_t most, const char *accepted, int *to)
{
    int64_t value;
    if (!tool_read_whole(p->value, least, most, &value))
        return refuse(p, accepted);
    *to = (int)value;
    return true;
}

/* One of two words. */
static bool take_word(const place *p, const char *no, const char *yes, bool *to)
{
    char accepted[64];
    snprintf(accepted, sizeof(accepted), "%s, %s", no, yes);
    *to = strcmp(p->value, yes) == 0;
    return *to || strcmp(p->value, no) == 0 || refuse(p, accepted);
}

static bool take_samples(const place *p)
{
    return take_whole(p, 1, 1000000, "a whole number from 1 to 1000000", &p->line->samples);
}

static bool take_time(const place *p)
{
    return tool_read_number(p->value, 1, 3.6e6, &p->line->time_ms) || refuse(p, "ms, from 1 to 3600000");
}

static bool take_sync(const place *p)
{
    return take_word(p, "barrier", "roundtime", &p->line->round_time);
}

static bool take_barrier_after(const place *p)
{
    p->line->barrier_after = -1;
    return strcmp(p->value, "-1") == 0 ||
           take_whole(p, 0, 1000000, "-1, or a whole number from 0 to 1000000", &p->line->barrier_after);
}

static bool take_runtime(const place *p)
{
    return take_word(p, "local", "global", &p->line->global);
}

static bool take_root(const place *p)
{
    return take_whole(p, 0, 1 << 24, "a rank's number", &p->line->root);
}

static const struct {
    const char *name, *also;
    bool (*take)(const place *p);
} options[] = {
    {"--msizes-list", "--bytes", take_sizes},
    {"--nrep", "--samples", take_samples},
    {"--rt-bench-time-ms", "--time-ms", take_time},
    {"--proc-sync", "--sync", take_sync},
    {"--rt-barrier-count", "--barrier-after", take_barrier_after},
    {"--runtime-type", "--runtime-type", take_runtime},
    {"--root", "--root", take_root},
};
enum { OPTIONS = sizeof(options) / sizeof(options[0]) };

static bool take_option(guide_line *line, char *word, char *why, size_t why_size)
{
    char *equals = strchr(word, '=');
    if (equals)
        *equals = '\0';
    for (int i = 0; i < OPTIONS && equals; i++)
        if (strcmp(word, options[i].name) == 0 || strcmp(word, options[i].also) == 0)
            return options[i].take(&(place){line, word, equals + 1, why, why_size});
    snprintf(why, why_size, "'%s': accepted: %s", word, guide_input_options);
    return false;
}

static bool take_line(guide_input *input, char *text, char *why, size_t why_size)
{
    static const char blanks[] = " \t\r\n";
    char *rest = text, *word;
    guide_line line = {.samples = 5000, .time_ms = 3000, .barrier_after = -1};
    while ((word = strsep(&rest, blanks)) != NULL && *word == '\0')
        ;
    if (!word || *word == '#')
        return true;
    if (strncmp(word, "MPI_", 4) != 0 || strlen(word) >= sizeof(line.mpi)) {
        snprintf(why, why_size, "'%.60s': accepted: a collective, as MPI_Bcast, and its options", word);
        return false;
    }
    strcpy(line.mpi, word);
    for (int i = 0; i < input->num; i++)
        if (strcmp(input->lines[i].mpi, line.mpi) == 0) {
            snprintf(why, why_size, "%s is there in an earlier line; accepted: a line for each collective",
                     line.mpi);
            return false;
        }
    while ((word = strsep(&rest, blanks)) != NULL)
        if (*word && !take_option(&line, word, why, why_size))
            return false;
    if (input->num > 0 && input->lines[0].global != line.global) {
        snprintf(
            why, why_size,
            "--runtime-type: accepted: the same in all lines, since what they measure is counted together");
        return false;
    }
    if (line.num_bytes == 0) {
        snprintf(why, why_size, "%s has no --msizes-list", line.mpi);
        return false;
    }
    input->lines = guide_need(realloc(input->lines, (size_t)(input->num + 1) * sizeof(line)));
    input->lines[input->num++] = line;
    return true;
}

int guide_input_read(guide_input *input, const char *path, char *why, size_t why_size)
{
    char *text = NULL, wrong[1024] = "";
    size_t room = 0;
    int number = 0;
    ssize_t length;
    bool ok = true;
    FILE *from = fopen(path, "r");
    *input = (guide_input){.num = 0};
    if (!from) {
        const int error = errno;
        snprintf(why, why_size, "cannot read '%s': %s", path, strerror(error));
        return error;
    }
    while (ok && (length = getline(&text, &room, from)) >= 0) {
        number++;
        ok = strlen(text) == (size_t)length;
        if (!ok)
            snprintf(wrong, sizeof(wrong), "accepted: text");
        ok = ok && take_line(input, text, wrong, sizeof(wrong));
    }
    const bool broke = ferror(from);
    free(text);
    fclose(from);
    if (!ok)
        snprintf(why, why_size, "'%s', line %d: %s", path, number, wrong);
    else if (broke)
        snprintf(why, why_size, "cannot read '%s'", path);
    else if (input->num == 0)
        snprintf(why, why_size,
                 "'%s': there is no collective in it; accepted: lines as MPI_Bcast --msizes-list=1,1024",
                 path);
    if (ok && !broke && input->num > 0)
        return 0;
    guide_input_free(input);
    return EINVAL;
}

void guide_input_free(guide_input *input)
{
    free(input->lines);
    *input = (guide_input){.num = 0};
}
