/*
 * bench_draw.c — see bench_draw.h. Must never leave half a file.
 */
#include "bench_draw.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench_file.h"

FILE *bench_sheet_begin(bench_sheets *s)
{
    s->text = NULL;
    s->to = open_memstream(&s->text, &s->length);
    if (!s->to) {
        snprintf(s->why, s->why_size, "no figures: no memory");
        s->num = -1;
    }
    return s->to;
}

static void quote(FILE *to, const char *dir, const char *name)
{
    fputc('\'', to);
    for (const char *p = dir; *p; p++)
        fprintf(to, *p == '\'' ? "''" : "%c", *p);
    fprintf(to, "/%s'", name);
}

void bench_sheet_end(bench_sheets *s, const char *template, const char *name, bool worth_it)
{
    char *path = NULL;
    if (fclose(s->to) != 0 || asprintf(&path, "%s/%s.csv", s->dir, name) < 0) {
        snprintf(s->why, s->why_size, "no figures: no memory");
        s->num = -1;
    } else if (worth_it && bench_file_write(path, s->text, s->length, s->why, s->why_size) != 0) {
        s->num = -1;
    } else if (worth_it) {
        s->num++;
        if (s->calls) {
            fputs("call ", s->calls);
            quote(s->calls, s->templates, template);
            fputc(' ', s->calls);
            quote(s->calls, s->dir, name);
            fputc('\n', s->calls);
        }
    }
    free(path);
    free(s->text);
}

bool bench_plot_available(void)
{
    const char *path = getenv("PATH");
    char *copy = strdup(path ? path : ""), *rest = copy, *dir, file[4096];
    bool found = false;
    while (!found && copy && (dir = strsep(&rest, ":")) != NULL) {
        snprintf(file, sizeof(file), "%s/gnuplot", *dir ? dir : ".");
        found = access(file, X_OK) == 0;
    }
    free(copy);
    return found;
}

/* Where the templates are, from where this program is: a tree may be moved. */
static bool find_templates(char *dir, size_t size)
{
    char program[3000];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    program[length > 0 ? length : 0] = '\0';
    char *name = strrchr(program, '/');
    if (!name)
        return false;
    *name = '\0';
    snprintf(dir, size, "%s/%s", program, PAT_BIN_TO_PLOTS);
    return access(dir, R_OK | X_OK) == 0;
}

int bench_draw(const char *dir, void (*fill)(bench_sheets *s, const void *with), const void *with, char *why,
               size_t why_size)
{
    char templates[4096] = "";
    if (!bench_plot_available()) {
        snprintf(why, why_size, "no figures: gnuplot is not on the PATH (Debian package gnuplot-nox)");
        return -1;
    }
    if (!find_templates(templates, sizeof(templates))) {
        snprintf(why, why_size, "no figures: their templates are not in '%s'", templates);
        return -1;
    }
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
        snprintf(why, why_size, "no figures: cannot make '%s': %s", dir, strerror(errno));
        return -1;
    }
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* a gnuplot that dies is told by its status */
    bench_sheets s = {.dir = dir,
                      .templates = templates,
                      .calls = popen("gnuplot", "w"),
                      .num = -1,
                      .why = why,
                      .why_size = why_size};
    if (s.calls) {
        s.num = 0;
        fill(&s, with);
    }
    const int status = s.calls ? pclose(s.calls) : -1;
    signal(SIGPIPE, before);
    if (status != 0) {
        snprintf(why, why_size, "no figures, or not all: gnuplot failed (wait status %d)", status);
        return -1;
    }
    return s.num;
}
