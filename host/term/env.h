/*
 * Environments: where terms live.
 *
 * An environment is a bump heap (chunks of memory that are filled from the bottom and only given
 * back as a whole), the list of things outside the heap that its terms hold on to (shared binaries,
 * resources), and what a callback may ask of its surroundings. Terms of an environment are valid
 * until it is cleared or freed. One thread at a time.
 *
 * An environment can be embedded (th_env_init) or allocated (th_env_create). Clearing keeps the
 * largest chunk, at most TH_ENV_KEEP bytes, so that a steady stream of events allocates nothing; it
 * takes constant time while nothing outside the heap is held and the heap is one chunk.
 */
#ifndef TH_ENV_H
#define TH_ENV_H

#include "word.h"

enum { TH_ENV_KEEP = 1 << 20 };

/* A thing outside the heap that a term holds a share in. Lies within the term's own words. */
struct th_offheap {
    struct th_offheap *next;
    void (*release)(struct th_offheap *self);
};

/* Bytes shared between terms and, perhaps, ErlNifBinary structs. */
struct th_binary {
    _Atomic size_t count; /* shares held; see th_binary_release() for the orders */
    size_t size;          /* bytes of data */
    void (*free)(struct th_binary *self, void *owner); /* NULL: data lies behind this struct */
    void *owner;
    unsigned char *data;
};

struct th_chunk;
struct th_clock;

/* The ErlNifEnv of erl_nif.h, which only knows the name of the struct. */
struct enif_environment_t {
    th_term *top;            /* the next free word */
    th_term *limit;          /* the end of the chunk */
    th_term *bottom;         /* compact: where top stood while the heap was empty */
    struct th_chunk *chunks; /* the chunk in use first */
    struct th_offheap *offheap;
    th_term exception;    /* what was raised, TH_NONE while nothing was */
    th_term self;         /* the process (a pid) that enif_self tells, TH_NONE: none */
    void *library;        /* the loaded library whose code runs with it (library/), or NULL */
    unsigned char kind;   /* enum th_env_kind */
    bool compact;         /* clearing is setting top to bottom */
    unsigned char thread; /* ErlNif thread type (ERL_NIF_THR_*) of the code that runs with it */
    unsigned char exception_class; /* of the exception: whoever runs the code knows which is what */
};

enum th_env_kind {
    TH_ENV_PLAIN,    /* holds terms for the host itself */
    TH_ENV_CALLBACK, /* given to a function of a library for one call */
    TH_ENV_MESSAGE,  /* made by enif_alloc_env */
    TH_ENV_RETIRED   /* no term may be made in it; see th_env_retire() */
};

typedef struct enif_environment_t th_env;

void th_env_init(th_env *env, enum th_env_kind kind);
th_env *th_env_create(enum th_env_kind kind);

/* Gives back all terms and memory. For an embedded environment th_env_init() must come before its
 * next use. */
void th_env_release(th_env *env);

/* th_env_release() and free, for th_env_create(). NULL is allowed. */
void th_env_free(th_env *env);

/* Bytes that the environment's chunks take. */
size_t th_env_footprint(const th_env *env);

/* The words of its heap that are in use, or were passed over at the end of a chunk. */
size_t th_env_used(const th_env *env);

/* The rare part of th_env_clear(). */
void th_env_restart(th_env *env);

/* Gives back all terms. The environment can be used again; kind, library and thread stay, exception
 * and self go. */
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

/* WORDS words of the heap, not cleared. */
static inline th_term *th_env_take(th_env *env, size_t words)
{
    th_term *place = env->top;

    if (__builtin_expect((size_t)(env->limit - place) < words, 0))
        return th_env_grow(env, words);
    env->top = place + words;
    return place;
}

/* For what is read, from the budget of base/memory.h: sees to it that WORDS words can be taken, or
 * raises an error and returns false if the budget is exceeded. */
bool th_env_make_room(th_env *env, size_t words);

static inline bool th_env_room(th_env *env, size_t words)
{
    return __builtin_expect((size_t)(env->limit - env->top) >= words, 1) ||
           th_env_make_room(env, words);
}

/* Hangs SELF, a share taken by a term of ENV, on the environment's list. */
static inline void th_env_hold(th_env *env, struct th_offheap *self,
                               void (*release)(struct th_offheap *self))
{
    self->release = release;
    self->next = env->offheap;
    env->offheap = self;
}

/*
 * For whoever checks what libraries do with terms.
 *
 * th_env_stretch() tells the part of ENV's heap that ADDRESS lies in, END being behind its last
 * word in use; false if it lies in none. (All but the chunk in use count as used up.)
 *
 * th_env_retire() gives back what the terms of ENV, made by th_env_create(), hold on to, and
 * overwrites each word of its heap with TH_ENV_GONE: a header of no kind, which is found nowhere
 * else, and small enough to do no harm where it is taken for one. The memory stays, so that
 * addresses in it remain its own, until th_env_free(). What is made in it none the less is told to
 * the watch.
 *
 * th_env_move() makes an environment with all that was in ENV, which then is as if it was cleared.
 *
 * The watch hears of the memory of all heaps, in the thread that gets, moves or frees it: never of
 * fewer bytes than TH_ENV_LEAST. It is NULL while nobody wants to know.
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

/* A binary of SIZE bytes, one share, not cleared. NULL if there is no memory. */
struct th_binary *th_binary_create(size_t size);

/* Gives a binary of th_binary_create(), of which the caller holds the only share, another size. It
 * may move. NULL if there is no memory: then it stays as it is. */
struct th_binary *th_binary_resize(struct th_binary *binary, size_t size);

/* A binary whose bytes belong to OWNER; RELEASE(self, owner) is called with the last share and must
 * free SELF too. */
struct th_binary *th_binary_wrap(unsigned char *data, size_t size, void *owner,
                                 void (*release)(struct th_binary *self, void *owner));
void th_binary_keep(struct th_binary *binary);
void th_binary_release(struct th_binary *binary);

/* --- Copies, and the room that they take ------------------------------------------------------ */

/* T, built anew in ENV; immediates as they are. Shared binaries and magic references take a further
 * share. Terms that T refers to twice are copied twice, as the BEAM does. Iterative. */
th_term th_copy(th_env *env, th_term t);

/* The same without an environment: T, built anew in WORDS, of which there are COUNT, just
 * th_term_words(T). Shares that the copy holds are hung on *OFFHEAP; whoever has WORDS releases
 * them. */
th_term th_copy_into(th_term *words, size_t count, struct th_offheap **offheap, th_term t);

/* The words that a copy of T takes, without the word that is T itself: 0 for an immediate. What is
 * referred to twice counts twice; what is shared, as the bytes of a shared binary, does not count.
 * Iterative. */
size_t th_term_words(th_term t);

/* The same, but it stops counting soon after MOST: what refers to one thing again and again can
 * have a copy of any size. */
size_t th_term_words_up_to(th_term t, size_t most);

#endif
