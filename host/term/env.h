/*
 * Environments: the heaps in which terms lie.
 *
 * An environment has a bump heap (chunks of memory that are filled from the bottom and freed only
 * as a whole), the list of objects outside the heap that its terms refer to (shared binaries,
 * resources), and the context of a callback: process, library, exception. Terms of an environment
 * are valid until it is cleared or freed. One thread at a time.
 *
 * An environment can be embedded (th_env_init) or allocated (th_env_create). Clearing keeps the
 * largest chunk, at most TH_ENV_KEEP bytes, so that a steady stream of events allocates nothing.
 * Clearing takes constant time while the heap is one chunk and refers to nothing outside.
 */
#ifndef TH_ENV_H
#define TH_ENV_H

#include "word.h"

enum { TH_ENV_KEEP = 1 << 20 };

/* A term's reference to an object outside the heap. Lies within the term's own words. */
struct th_offheap {
    struct th_offheap *next;
    void (*release)(struct th_offheap *self);
};

/* Bytes that terms, and perhaps ErlNifBinary structs, share. */
struct th_binary {
    _Atomic size_t count; /* references; see th_binary_release() for the orders */
    size_t size;          /* bytes of data */
    void (*free)(struct th_binary *self, void *owner); /* NULL: data lies behind this struct */
    void *owner;
    unsigned char *data;
};

struct th_chunk;
struct th_clock;

/* The ErlNifEnv of erl_nif.h, which knows only the name of the struct. */
struct enif_environment_t {
    th_term *top;            /* the next free word */
    th_term *limit;          /* the end of the chunk */
    th_term *bottom;         /* the value of top after a clear, if compact */
    struct th_chunk *chunks; /* the chunk in use first */
    struct th_offheap *offheap;
    th_term exception;    /* the exception that was raised, TH_NONE: none */
    th_term self;         /* the pid for enif_self(), TH_NONE: none */
    void *library;        /* the library whose code runs with it (library/), or NULL */
    unsigned char kind;   /* enum th_env_kind */
    bool compact;         /* clearing only sets top to bottom */
    unsigned char thread; /* ErlNif thread type (ERL_NIF_THR_*) of the code that runs with it */
    unsigned char exception_class; /* of the exception; defined by the room that runs the code */
};

enum th_env_kind {
    TH_ENV_PLAIN,    /* holds terms for the host itself */
    TH_ENV_CALLBACK, /* passed to a function of a library for one call */
    TH_ENV_MESSAGE,  /* made by enif_alloc_env */
    TH_ENV_RETIRED   /* no term may be made in it; see th_env_retire() */
};

typedef struct enif_environment_t th_env;

/* Begins an empty environment, which the caller embeds; or allocates one. */
void th_env_init(th_env *env, enum th_env_kind kind);
th_env *th_env_create(enum th_env_kind kind);

/* Frees all terms and memory. An embedded environment needs th_env_init() before its next use. */
void th_env_release(th_env *env);

/* Releases and frees an environment of th_env_create(). NULL is allowed. */
void th_env_free(th_env *env);

/* Bytes of the environment's chunks. */
size_t th_env_footprint(const th_env *env);

/* Words of the heap that are in use, or were skipped at the end of a chunk. */
size_t th_env_used(const th_env *env);

/* The slow path of th_env_clear(). */
void th_env_restart(th_env *env);

/* Frees all terms. The environment can be used again: kind, library and thread stay, exception and
 * self are reset. */
static inline void th_env_clear(th_env *env)
{
    env->exception = TH_NONE;
    env->self = TH_NONE;
    if (__builtin_expect(env->compact && !env->offheap, 1))
        env->top = env->bottom;
    else
        th_env_restart(env);
}

th_term *th_env_grow(th_env *env, size_t words);

/* Allocates WORDS words of the heap, not cleared. */
static inline th_term *th_env_take(th_env *env, size_t words)
{
    th_term *place = env->top;

    if (__builtin_expect((size_t)(env->limit - place) < words, 0))
        return th_env_grow(env, words);
    env->top = place + words;
    return place;
}

/* True if the chunk in use has room for WORDS words: then th_env_take() calls no function. A short
 * function that makes a term asks first, and goes a slow way as its last step otherwise: so its usual
 * way saves no register. The slow way makes room, by th_env_reserve(). */
static inline bool th_env_has(const th_env *env, size_t words)
{
    return __builtin_expect((size_t)(env->limit - env->top) >= words, 1);
}
void th_env_reserve(th_env *env, size_t words);

/* Makes room for WORDS words, from the budget of base/memory.h, for input that is read.
 * Errors: returns false, with an error raised, if the budget is exceeded or the system refuses
 * memory. */
bool th_env_make_room(th_env *env, size_t words);

static inline bool th_env_room(th_env *env, size_t words)
{
    return __builtin_expect((size_t)(env->limit - env->top) >= words, 1) ||
           th_env_make_room(env, words);
}

/* Adds SELF, a reference that a term of ENV holds, to the environment's list. */
static inline void th_env_hold(th_env *env, struct th_offheap *self,
                               void (*release)(struct th_offheap *self))
{
    self->release = release;
    self->next = env->offheap;
    env->offheap = self;
}

/*
 * Functions for the checks of a library's use of terms (check/).
 *
 * th_env_stretch() finds the part of ENV's heap that contains ADDRESS; END is behind its last word
 * in use. Returns false if no part contains ADDRESS. (All chunks but the one in use count as full.)
 *
 * th_env_retire() drops the references that terms of ENV, an environment of th_env_create(), hold,
 * and overwrites each word of its heap with TH_ENV_GONE: a header that no other term has, and whose
 * size is too small to do harm. The memory stays until th_env_free(), so that its addresses are not
 * reused. If code makes a term in ENV nevertheless, the watch gets `used`.
 *
 * th_env_move() returns a new environment with all contents of ENV, which is empty then, as after
 * th_env_clear().
 *
 * The watch gets the memory of all heaps, in the thread that allocates, moves or frees it: at least
 * TH_ENV_LEAST bytes each time. NULL: no watch.
 */
#define TH_ENV_GONE ((th_term)1 << 6 | 0x38)
enum { TH_ENV_LEAST = 512 };
struct th_env_stretch {
    const th_term *begin, *end;
};
bool th_env_stretch(const th_env *env, const void *address, struct th_env_stretch *stretch);
void th_env_retire(th_env *env);
th_env *th_env_move(th_env *env);

struct th_env_watch {
    void (*got)(const th_env *env, struct th_env_stretch memory);
    void (*freed)(struct th_env_stretch memory);
    void (*used)(const th_env *retired);
};
extern const struct th_env_watch *_Atomic th_env_watch; /* release; acquire */

/* Creates a binary of SIZE bytes, with one reference, not cleared. NULL if there is no memory. */
struct th_binary *th_binary_create(size_t size);

/* Resizes a binary of th_binary_create(); the caller must hold the only reference. The binary may
 * move. NULL if there is no memory: BINARY is unchanged then. */
struct th_binary *th_binary_resize(struct th_binary *binary, size_t size);

/* Creates a binary whose bytes belong to OWNER. RELEASE(self, owner) is called when the last
 * reference is dropped, and must free SELF, too. */
struct th_binary *th_binary_wrap(unsigned char *data, size_t size, void *owner,
                                 void (*release)(struct th_binary *self, void *owner));

/* Takes, or drops, a reference. Any thread. */
void th_binary_keep(struct th_binary *binary);
void th_binary_release(struct th_binary *binary);

/* --- Copies, and their size ------------------------------------------------------------------- */

/* Copies T into ENV; an immediate is its own copy. Shared binaries and magic references get a
 * further reference. A term that T refers to twice is copied twice, as in the BEAM. Iterative. */
th_term th_copy(th_env *env, th_term t);

/* Copies T into WORDS, an array of COUNT words; COUNT is th_term_words(T).
 * Owner: references that the copy holds are added to *OFFHEAP; the owner of WORDS releases them. */
th_term th_copy_into(th_term *words, size_t count, struct th_offheap **offheap, th_term t);

/* Counts the words of a copy of T, without the word T itself: 0 for an immediate. A term that T
 * refers to twice counts twice; shared data, such as the bytes of a shared binary, does not count.
 * Iterative. */
size_t th_term_words(th_term t);

/* As th_term_words(), but stops soon after MOST: a term with repeated references can have a copy of
 * any size. */
size_t th_term_words_up_to(th_term t, size_t most);

#endif
