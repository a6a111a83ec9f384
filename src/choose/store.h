/*
 * store.h — the store: the directory in which pat-calibrate keeps calibrations, and in which the library looks for one where
 * PAT_CALIBRATION names none. The name of a file there begins with the digest of its machine, so that those of other machines need not be
 * read. Must never call MPI, and never take what another user may have written.
 */
#ifndef PAT_STORE_H
#define PAT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calibration.h"

enum { PAT_STORE_PATH = 512, PAT_STORE_MOST = 16 };

/*
 * A calibration that is still being measured has this behind the name that it will have. Only pat-calibrate reads such
 * a file.
 */
#define PAT_STORE_PART ".part"

/* A calibration of the store. */
typedef struct pat_stored {
    char path[PAT_STORE_PATH];
    int64_t written_ns; /* when the file was */
    bool taken;         /* by a communicator of this process, ever */
    bool digested;      /* `digest` is that of pat_calibration_digest, which takes long */
    uint32_t digest;
    pat_calibration calibration;
} pat_stored;

/* Who wants to know why a file of the store is not taken, and `to`, which is for that one's own use. */
typedef struct pat_store_listener {
    void (*tell)(void *to, const char *path, const char *why);
    void *to;
} pat_store_listener;

/*
 * Where the store is: $XDG_CACHE_HOME/pat, or $HOME/.cache/pat where the former is not set or no absolute path. get: a variable of the
 * environment (pat_config_env). False: neither is an absolute path, or the path is too long.
 */
bool pat_store_find(const char *(*get)(const char *name), char *path, size_t size);

/* What looking at a store's names alone finds. */
enum pat_store_state {
    PAT_STORE_EMPTY, /* no calibration, or no such directory */
    PAT_STORE_HOLDS, /* some */
    PAT_STORE_UNTRUSTED, /* it belongs to another user, or others may write to it, or it cannot be read: `why` says what it is */
};

enum pat_store_state pat_store_look(const char *path, char *why, size_t why_size);

/* Make the directory, and those above it, where they are missing. Returns 0, or an error number; then `why` says what is wrong. */
int pat_store_make(const char *path, char *why, size_t why_size);

/*
 * Read what the store holds of this machine, the last written first, PAT_STORE_MOST at most. *all is the caller's to free. Returns how many;
 * whatever is wrong with a file or with the store is no error, but told. listener: NULL, or who is told; then other machines' files
 * are read too, to say what differs.
 */
int pat_store_read(const char *path, const pat_machine *machine, const pat_store_listener *listener,
                   pat_stored **all);

/* The same of those that are still being measured. Nobody is told anything. */
int pat_store_read_parts(const char *path, const pat_machine *machine, pat_stored **all);

/*
 * Read one file, if nobody else can have written it: a regular one of this user's, which no other may write to. *written_ns: when it
 * was; NULL: not wanted. Returns as pat_calibration_read does; `why` does not name the file.
 */
int pat_store_read_file(pat_calibration *c, const char *path, int64_t *written_ns, char *why,
                        size_t why_size);

/* What a calibration is looked for: ranks that are placed so, and their link. */
typedef struct pat_store_wish {
    pat_placing placing;
    double link_mbit;
} pat_store_wish;

/*
 * Which of `all` is to be used there? Only those count that are whole (pat_calibration_is_whole), of ranks that are placed alike
 * (pat_placing_is_alike), and that pat_calibration_is_of_link accepts. Of these it is the one whose rate is nearest; of those that are as near
 * within a tenth, the one that was written last. NULL: there is none. The answer is the same on all ranks that have the
 * same processor.
 */
pat_stored *pat_store_nearest(pat_stored *all, int num, const pat_store_wish *wish);

/* Why `stored` was not what pat_store_nearest has given for this wish; taken: what it has given. */
void pat_store_why_not(const pat_stored *stored, const pat_stored *taken, const pat_store_wish *wish,
                       char *why, size_t why_size);

/*
 * Of these the last written that was measured as c was, with as many ranks, placed alike, over a network whose rate was the same within a quarter: what a
 * new measurement goes on with, or replaces. NULL: there is none.
 */
const pat_stored *pat_store_same(const pat_stored *all, int num, const pat_calibration *c);

/* What a new file for this calibration is called, with the store's path before it. False: the path is too long. */
bool pat_store_name(const char *path, const pat_calibration *c, char *name, size_t size);

#endif
