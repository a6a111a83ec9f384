/*
 * tool_options.h — what the command lines of all tools have in common: --version, the exit status for bad input, one way to
 * give a size, a rate and a number. It needs no MPI, because a bad option ends a tool before MPI_Init.
 */
#ifndef TOOL_OPTIONS_H
#define TOOL_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

enum { TOOL_FAILED = 1, TOOL_BAD_INPUT = 2 };

/* The rank as the launcher says it, before MPI_Init; -1 without a launcher. */
int tool_launcher_rank(void);

/*
 * argp_parse for the tool of that name. Bad input ends the program with status 2, and so do arguments where args_doc names
 * none. Where a launcher has started several ranks, only the first one speaks.
 */
void tool_parse(const char *name, const struct argp *argp, int argc, char **argv, void *input);

/* A value of an option, or argp_error with the value and the accepted ones. */
int64_t tool_whole(struct argp_state *state, const char *option, const char *text, int64_t least,
                   int64_t most);
int64_t tool_bytes(struct argp_state *state, const char *option, const char *text, int64_t least,
                   int64_t most); /* with K, M or G */
double tool_number(struct argp_state *state, const char *option, const char *text, double least, double most);

/* "50,940": latency in microseconds, rate in Mbit/s. The option of tools that are told of a link, and its default. */
void tool_link(struct argp_state *state, const char *option, const char *text, double *latency_us,
               double *mbit);
enum { TOOL_LINK_US = 30, TOOL_LINK_MBIT = 1000 };
#define TOOL_LINK_OPTION                                                                                     \
    {                                                                                                        \
        "link", 'l', "US,MBIT", 0,                                                                           \
            "One-way latency in microseconds and rate in Mbit/s of a link (default 30,1000)", 0              \
    }

/* The same for those who say themselves what is wrong with a value: whether it was one, whole and within its limits. */
bool tool_read_whole(const char *text, int64_t least, int64_t most, int64_t *value);
bool tool_read_number(const char *text, double least, double most, double *value);
bool tool_read_link(const char *text, double *latency_us, double *mbit);

/* A file that is to be written; it is tried now, before hours of work. */
const char *tool_output(struct argp_state *state, const char *option, const char *path);

/* Bytes as a person writes them: "64K", "1M", "1000". Returns to. */
const char *tool_bytes_text(char *to, size_t size, int64_t bytes);

#endif
