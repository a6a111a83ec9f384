/*
 * gate_c.c — the names that C programs call, MPI_Init and MPI_Finalize among them: see gate.h.
 */
#include "gate.h"

/* Collectives and messages, and their forms for large counts where the MPI library has them. */
#define PASS(name, lower, upper, parameters, arguments, bytes) CALL(name, lower, parameters, arguments)
#define CALL(name, lower, parameters, arguments)                                                             \
    PAT_GATE(MPI_##name, PAT_WAY_C, PAT_CALL_##name, , parameters, arguments,                                \
             (pat_gate_any *, const void *, LIST parameters), (next, site, LIST arguments))
#include "gate_words.h"
#include "faces.h"
#define MESSAGE(name, lower, upper, parameters, arguments, bytes) CALL(name, lower, parameters, arguments)
#include "gate_words.h"
#include "faces_messages.h"

#if PAT_MPI_HAS_PERSISTENT
#define MAKES(called_as, way, name, parameters, arguments)                                                   \
    PAT_GATE(called_as, way, PAT_CALL_##name##_init, , (LIST parameters, word info, word request),           \
             (LIST arguments, info, request),                                                                \
             (pat_gate_any *, const void *, LIST parameters, word info, word request),                       \
             (next, site, LIST arguments, info, request))
#define PASS_KEPT(name, lower, upper, parameters, arguments, bytes)                                          \
    MAKES(PAT_KEPT_C(name), PAT_WAY_C, name, parameters, arguments)
#include "gate_words.h"
#include "faces.h"
#if PAT_MPI_HAS_LARGE
#define LARGE
#define PASS_KEPT(name, lower, upper, parameters, arguments, bytes)                                          \
    MAKES(PAT_KEPT_LARGE(name), PAT_WAY_LARGE, name, parameters, arguments)
#include "gate_words.h"
#include "faces.h"
#endif
#endif

#if PAT_MPI_HAS_LARGE
#undef CALL
#define CALL(name, lower, parameters, arguments)                                                             \
    PAT_GATE(MPI_##name##_c, PAT_WAY_LARGE, PAT_CALL_##name, , parameters, arguments,                        \
             (pat_gate_any *, const void *, LIST parameters), (next, site, LIST arguments))
#define LARGE
#define PASS(name, lower, upper, parameters, arguments, bytes) CALL(name, lower, parameters, arguments)
#include "gate_words.h"
#include "faces.h"
#define LARGE
#define MESSAGE(name, lower, upper, parameters, arguments, bytes) CALL(name, lower, parameters, arguments)
#include "gate_words.h"
#include "faces_messages.h"
#endif

PAT_GATE(MPI_Init, PAT_WAY_C, PAT_CALL_Init, pat_gate_open(site), (word argc, word argv), (argc, argv),
         (pat_gate_any *, const void *, word, word), (next, site, argc, argv))
PAT_GATE(MPI_Init_thread, PAT_WAY_C, PAT_CALL_Init_thread, pat_gate_open(site),
         (word argc, word argv, word required, word provided), (argc, argv, required, provided),
         (pat_gate_any *, const void *, word, word, word, word), (next, site, argc, argv, required, provided))
PAT_GATE(MPI_Finalize, PAT_WAY_C, PAT_CALL_Finalize, , (void), (), (pat_gate_any *, const void *),
         (next, site))
/* What follows the level is for whoever understands it: as much as registers hold. */
PAT_GATE(MPI_Pcontrol, PAT_WAY_C, PAT_CALL_Pcontrol, , (word level, word a, word b, word c, word d, word e),
         (level, a, b, c, d, e), (pat_gate_any *, const void *, word, word, word, word, word, word),
         (next, site, level, a, b, c, d, e))
