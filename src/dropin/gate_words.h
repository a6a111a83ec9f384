/*
 * gate_words.h — for the preloaded file every parameter in faces.h and faces_messages.h is a word. Included before each use of such a list, which
 * undefines them.
 */
#define IN      word
#define OUT     word
#define INT     word
#define INTS    word
#define SIZE    word
#define SIZES   word
#define AINTS   word
#define TYPE    word
#define TYPES   word
#define OP      word
#define COMM    word
#define REQUEST word
#define STATUS  word
#define FLAG    word
#define TAKEN   word
