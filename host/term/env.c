#include "env.h"

#include "term_internal.h"

#include "host/base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Memory of a heap: this head, then WORDS words. The first chunk has FIRST_WORDS, 1 KiB with the
 * head, a size for which malloc() caches blocks in each thread. Each further chunk is twice as
 * large as the one before, up to LARGEST_WORDS, or as large as one term needs. */
struct th_chunk {
    struct th_chunk *older;
    size_t words;
    th_term heap[];
};

enum { FIRST_WORDS = 126, LARGEST_WORDS = TH_ENV_KEEP / sizeof(th_term) };

/* More than any machine has, but small enough to be counted in bytes. */
static const size_t MOST_WORDS = (PTRDIFF_MAX - sizeof(struct th_chunk)) / sizeof(th_term);

_Static_assert(FIRST_WORDS * sizeof(th_term) >= TH_ENV_LEAST, "no chunk has fewer");

const struct th_env_watch *_Atomic th_env_watch;

/* The heap of an environment without chunks: the address of terms of no words. */
static th_term nowhere[1];

void th_env_init(th_env *env, enum th_env_kind kind)
{
    *env = (th_env){
        .top = nowhere,
        .limit = nowhere,
        .bottom = nowhere,
        .kind = (unsigned char)kind,
        .compact = true,
    };
}

th_env *th_env_create(enum th_env_kind kind)
{
    th_env *env = th_alloc(sizeof *env);

    th_env_init(env, kind);
    return env;
}

static void use_chunk(th_env *env, struct th_chunk *chunk)
{
    env->chunks = chunk;
    env->top = chunk ? chunk->heap : nowhere;
    env->limit = chunk ? chunk->heap + chunk->words : nowhere;
    env->bottom = env->top;
    env->compact = !chunk || (!chunk->older && chunk->words <= LARGEST_WORDS);
}

static const struct th_env_watch *env_watch(void)
{
    return atomic_load_explicit(&th_env_watch, memory_order_acquire);
}

static struct th_env_stretch stretch_of(const struct th_chunk *chunk)
{
    return (struct th_env_stretch){chunk->heap, chunk->heap + chunk->words};
}

/* The bytes of a chunk of WORDS words. */
static size_t chunk_size(size_t words)
{
    return sizeof(struct th_chunk) + (words > MOST_WORDS ? MOST_WORDS : words) * sizeof(th_term);
}

/* The words of the chunk by which ENV grows if it needs LEAST words. */
static size_t next_words(const th_env *env, size_t least)
{
    size_t words = env->chunks ? 2 * env->chunks->words : FIRST_WORDS;

    if (words > LARGEST_WORDS)
        words = LARGEST_WORDS;
    return words < least ? least : words;
}

/* MEMORY has chunk_size(WORDS) bytes. */
static struct th_chunk *new_chunk(const th_env *env, void *memory, size_t words)
{
    struct th_chunk *chunk = memory;

    chunk->words = words;
    if (env_watch())
        env_watch()->got(env, stretch_of(chunk));
    return chunk;
}

static void free_chunk(struct th_chunk *chunk)
{
    if (chunk && env_watch())
        env_watch()->freed(stretch_of(chunk));
    th_free(chunk);
}

/* Makes CHUNK the chunk in use and takes its first WORDS words. */
static th_term *begin_chunk(th_env *env, struct th_chunk *chunk, size_t words)
{
    chunk->older = env->chunks;
    use_chunk(env, chunk);
    env->top += words;
    if (env->kind == TH_ENV_RETIRED) {
        env->limit = env->top; /* so that each later term in ENV comes here, too */
        if (env_watch())
            env_watch()->used(env);
    }
    return chunk->heap;
}

th_term *th_env_grow(th_env *env, size_t words)
{
    size_t wanted = next_words(env, words);

    return begin_chunk(env, new_chunk(env, th_alloc(chunk_size(wanted)), wanted), words);
}

void th_env_reserve(th_env *env, size_t words)
{
    if (!th_env_has(env, words))
        env->top = th_env_grow(env, words);
}

th_term *th_env_try_grow(th_env *env, size_t words)
{
    size_t wanted = next_words(env, words);
    void *memory;

    if (chunk_size(wanted) > th_memory_budget.left)
        wanted = words;
    memory = th_try_alloc(chunk_size(wanted));
    return memory ? begin_chunk(env, new_chunk(env, memory, wanted), words) : NULL;
}

bool th_env_make_room(th_env *env, size_t words)
{
    th_term *place;

    if (!env->chunks && words <= FIRST_WORDS)
        return true; /* perhaps only immediates follow, and the first chunk is small */
    place = th_env_try_grow(env, words);
    if (place)
        env->top = place;
    return place;
}

static void release_offheap(th_env *env)
{
    while (env->offheap) {
        struct th_offheap *first = env->offheap;
        env->offheap = first->next;
        first->release(first);
    }
}

/* Frees all terms, and restarts the heap in the largest chunk that may be kept. */
void th_env_restart(th_env *env)
{
    struct th_chunk *kept = NULL, *older;

    release_offheap(env);
    for (struct th_chunk *chunk = env->chunks; chunk; chunk = older) {
        struct th_chunk *loser = chunk;
        older = chunk->older;
        if (chunk->words <= LARGEST_WORDS && (!kept || chunk->words > kept->words)) {
            loser = kept;
            kept = chunk;
        }
        free_chunk(loser);
    }
    if (kept)
        kept->older = NULL;
    use_chunk(env, kept);
}

void th_env_release(th_env *env)
{
    th_env_restart(env);
    free_chunk(env->chunks);
    use_chunk(env, NULL);
}

void th_env_free(th_env *env)
{
    if (env)
        th_env_release(env);
    th_free(env);
}

size_t th_env_footprint(const th_env *env)
{
    size_t bytes = 0;

    for (const struct th_chunk *chunk = env->chunks; chunk; chunk = chunk->older)
        bytes += sizeof *chunk + chunk->words * sizeof(th_term);
    return bytes;
}

size_t th_env_used(const th_env *env)
{
    size_t words = 0;

    for (const struct th_chunk *chunk = env->chunks; chunk; chunk = chunk->older)
        words += chunk == env->chunks ? (size_t)(env->top - chunk->heap) : chunk->words;
    return words;
}

bool th_env_stretch(const th_env *env, const void *address, struct th_env_stretch *stretch)
{
    for (const struct th_chunk *chunk = env->chunks; chunk; chunk = chunk->older) {
        bool in_use = chunk == env->chunks && env->kind != TH_ENV_RETIRED;
        const th_term *end = in_use ? env->top : stretch_of(chunk).end;

        if ((uintptr_t)address >= (uintptr_t)chunk->heap && (uintptr_t)address < (uintptr_t)end) {
            *stretch = (struct th_env_stretch){chunk->heap, end};
            return true;
        }
    }
    return false;
}

void th_env_retire(th_env *env)
{
    release_offheap(env);
    env->top = env->limit = env->bottom = nowhere;
    env->compact = false;
    env->kind = TH_ENV_RETIRED;
    for (struct th_chunk *chunk = env->chunks; chunk; chunk = chunk->older)
        for (size_t i = 0; i < chunk->words; i++)
            chunk->heap[i] = TH_ENV_GONE;
}

th_env *th_env_move(th_env *env)
{
    th_env *moved = th_alloc(sizeof *moved);

    *moved = *env;
    th_env_init(env, (enum th_env_kind)moved->kind);
    env->library = moved->library;
    env->thread = moved->thread;
    if (env_watch())
        for (const struct th_chunk *chunk = moved->chunks; chunk; chunk = chunk->older)
            env_watch()->got(moved, stretch_of(chunk));
    return moved;
}

struct th_binary *th_binary_create(size_t size)
{
    struct th_binary *binary;

    if (size > SIZE_MAX - sizeof *binary || !(binary = malloc(sizeof *binary + size)))
        return NULL;
    *binary = (struct th_binary){.count = 1, .size = size, .data = (unsigned char *)(binary + 1)};
    return binary;
}

struct th_binary *th_binary_resize(struct th_binary *binary, size_t size)
{
    if (size > SIZE_MAX - sizeof *binary || !(binary = realloc(binary, sizeof *binary + size)))
        return NULL;
    binary->size = size;
    binary->data = (unsigned char *)(binary + 1);
    return binary;
}

struct th_binary *th_binary_wrap(unsigned char *data, size_t size, void *owner,
                                 void (*release)(struct th_binary *self, void *owner))
{
    struct th_binary *binary = malloc(sizeof *binary);

    if (binary)
        *binary = (struct th_binary){1, size, release, owner, data};
    return binary;
}

/* Relaxed: the caller holds a reference already, which orders the accesses that matter. */
void th_binary_keep(struct th_binary *binary)
{
    atomic_fetch_add_explicit(&binary->count, 1, memory_order_relaxed);
}

/* Release: this holder's accesses come before the free. Acquire on the last reference: the free
 * comes after the accesses of all other holders. */
void th_binary_release(struct th_binary *binary)
{
    if (atomic_fetch_sub_explicit(&binary->count, 1, memory_order_acq_rel) > 1)
        return;
    if (binary->free)
        binary->free(binary, binary->owner);
    else
        free(binary);
}
