/*
 * guide_list.c — see guide_list.h. Must never measure a collective whose left side was deleted: there would be nothing to compare with.
 */
#include "guide_list.h"

#include <errno.h>
#include <string.h>

#include "guide_need.h"

void guide_list_add(guide_list *list, const char *cli, const char *mpi, const char *alg, bool rooted)
{
    list->entries = guide_need(realloc(list->entries, (size_t)(list->num + 1) * sizeof(*list->entries)));
    guide_entry *e = &list->entries[list->num++];
    *e = (guide_entry){.rooted = rooted};
    snprintf(e->cli, sizeof(e->cli), "%s", cli);
    snprintf(e->mpi, sizeof(e->mpi), "%s", mpi);
    snprintf(e->alg, sizeof(e->alg), "%s", alg);
}

void guide_list_free(guide_list *list)
{
    free(list->entries);
    *list = (guide_list){.num = 0};
}

const guide_entry *guide_list_find(const guide_list *list, const char *mpi, const char *alg)
{
    for (int i = 0; i < list->num; i++)
        if (strcmp(list->entries[i].mpi, mpi) == 0 && strcmp(list->entries[i].alg, alg) == 0)
            return &list->entries[i];
    return NULL;
}

char *guide_list_text(const guide_list *list, size_t *length)
{
    char *text = NULL;
    FILE *to = guide_need(open_memstream(&text, length));
    fprintf(to, "%s\n", GUIDE_LIST_HEADER);
    for (int i = 0; i < list->num; i++)
        fprintf(to, "%s;%s;%s;%d\n", list->entries[i].cli, list->entries[i].mpi, list->entries[i].alg,
                list->entries[i].rooted);
    fclose(to);
    return guide_need(text);
}

/* Which algorithms there are of a collective, or which collectives; for messages. */
static void tell_known(const guide_list *known, const char *mpi, char *to, size_t size)
{
    size_t length = 0;
    to[0] = '\0';
    for (int i = 0; i < known->num && length + GUIDE_NAME + 2 < size; i++) {
        const guide_entry *e = &known->entries[i];
        if (mpi ? strcmp(e->mpi, mpi) == 0 : i == 0 || strcmp(e->mpi, known->entries[i - 1].mpi) != 0)
            length += (size_t)snprintf(to + length, size - length, "%s%s", length > 0 ? ", " : "",
                                       mpi ? e->alg : e->mpi);
    }
}

static bool take_line(guide_list *list, const guide_list *known, char *line, char *why, size_t why_size)
{
    char *word[4], *rest = line, *item, names[2048];
    int words = 0;
    for (; (item = strsep(&rest, ";")) != NULL; words++)
        if (words < 4)
            word[words] = item;
    if (words != 4) {
        snprintf(why, why_size, "there are not 4 columns; accepted: " GUIDE_LIST_HEADER);
        return false;
    }
    const guide_entry *e = guide_list_find(known, word[1], word[2]);
    if (!e) {
        tell_known(known, word[1], names, sizeof(names));
        if (names[0]) {
            snprintf(why, why_size, "'%.60s': accepted for %s: %s", word[2], word[1], names);
        } else {
            tell_known(known, NULL, names, sizeof(names));
            snprintf(why, why_size, "'%.60s': accepted: %s", word[1], names);
        }
        return false;
    }
    if (strcmp(e->cli, word[0]) != 0 || strcmp(word[3], e->rooted ? "1" : "0") != 0) {
        snprintf(why, why_size, "accepted for this algorithm: %s;%s;%s;%d", e->cli, e->mpi, e->alg,
                 e->rooted);
        return false;
    }
    if (guide_list_find(list, e->mpi, e->alg)) {
        snprintf(why, why_size, "%s by %s is there in an earlier line", e->mpi, e->alg);
        return false;
    }
    guide_list_add(list, e->cli, e->mpi, e->alg, e->rooted);
    return true;
}

int guide_list_read(guide_list *list, const guide_list *known, const char *left, const char *path, char *why,
                    size_t why_size)
{
    const bool needs_default = strcmp(left, "default") == 0;
    char *line = NULL, wrong[3000] = "";
    size_t room = 0;
    int number = 0;
    bool ok = true, has_header = false;
    FILE *from = fopen(path, "r");
    *list = (guide_list){.num = 0};
    if (!from) {
        const int error = errno;
        snprintf(why, why_size, "cannot read '%s': %s", path, strerror(error));
        return error;
    }
    while (ok && getline(&line, &room, from) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        number++;
        if (*line == '#' || *line == '\0')
            continue;
        if (has_header)
            ok = take_line(list, known, line, wrong, sizeof(wrong));
        else if (strcmp(line, GUIDE_LIST_HEADER) != 0)
            ok = !snprintf(wrong, sizeof(wrong), "not the header " GUIDE_LIST_HEADER);
        has_header = true;
    }
    free(line);
    fclose(from);
    if (!ok)
        snprintf(why, why_size, "'%s', line %d: %s", path, number, wrong);
    else if (list->num == 0)
        snprintf(why, why_size, "'%s': there is no algorithm in it; --write-algorithms writes a list", path);
    for (int i = 0; ok && needs_default && i < list->num; i++) {
        const guide_entry *e = &list->entries[i];
        ok = guide_list_find(list, e->mpi, "default") != NULL;
        if (!ok)
            snprintf(why, why_size,
                     "'%s': the line %s;%s;default;%d is missing: the others are held against it", path,
                     e->cli, e->mpi, e->rooted);
    }
    if (ok && list->num > 0)
        return 0;
    guide_list_free(list);
    return EINVAL;
}
