/*
 * Memory that is gone: whose terms lie where, environments of earlier calls, memory that was freed.
 *
 * What a library must not use any more is kept for a while, up to a bound, so that its addresses
 * belong to nothing else, and spoiled.
 */
#include "check_internal.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

enum {
    KEPT_BYTES = 16 << 20, /* of environments, and as much of memory */
    SPOILED = 0xDB         /* each byte of memory that was freed */
};

/* Memory of a heap. */
struct heap {
    struct th_env_stretch memory;
    const th_env *env;
    enum th_env_kind kind; /* the environment's, when it got the memory */
};

/* An environment whose terms nobody may use. */
struct retired {
    struct retired *next; /* the next younger */
    th_env *env;
    size_t bytes;
    const char *of; /* "an earlier call": what the origin says */
    struct th_origin *origin;
};

/* Memory that was freed. */
struct freed {
    struct freed *next; /* the next younger */
    unsigned char *memory;
    size_t bytes;
    struct th_origin *origin;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct th_table heaps;                            /* struct heap, by place_of() its begin */
static uint64_t most_places;                             /* that one of them reached over */
static struct th_table retirees;                         /* struct retired, by its environment */
static struct th_table ended; /* struct th_origin, by the environment of a call that is over */
static struct {
    struct retired *oldest, **end;
    size_t bytes;
} environments = {.end = &environments.oldest};
static struct {
    struct freed *oldest, **end;
    size_t bytes;
} memories = {.end = &memories.oldest};

static uint64_t key_of(const void *address)
{
    return (uint64_t)(uintptr_t)address;
}

/* Places have TH_ENV_LEAST bytes, so no two heaps begin in one. */
static uint64_t place_of(const void *address)
{
    return key_of(address) / TH_ENV_LEAST;
}

/* --- The watch ------------------------------------------------------------------------------- */

static void note_got(const th_env *env, struct th_env_stretch memory)
{
    struct heap *heap = th_alloc(sizeof *heap);

    *heap = (struct heap){memory, env, (enum th_env_kind)env->kind};
    pthread_mutex_lock(&lock);
    if (most_places < place_of(memory.end) - place_of(memory.begin))
        most_places = place_of(memory.end) - place_of(memory.begin);
    heap = th_table_set(&heaps, place_of(memory.begin), heap);
    pthread_mutex_unlock(&lock);
    th_free(heap); /* what it was before it moved */
}

static void note_freed(struct th_env_stretch memory)
{
    struct heap *heap;

    pthread_mutex_lock(&lock);
    heap = th_table_remove(&heaps, place_of(memory.begin));
    pthread_mutex_unlock(&lock);
    th_free(heap);
}

/* Who had the retired ENV, as text. */
static char *owner_of_retired(const th_env *env)
{
    struct retired *it;
    char *text;

    pthread_mutex_lock(&lock);
    it = th_table_get(&retirees, key_of(env));
    text = it ? th_printf("%s %s", it->of, it->origin->text) : NULL;
    pthread_mutex_unlock(&lock);
    return text;
}

static void note_used(const th_env *env)
{
    char *owner = owner_of_retired(env);

    th_check_found_now("retired", "makes a term in %s",
                       owner ? owner : "an environment that is gone");
    th_free(owner);
}

static const struct th_env_watch watch = {note_got, note_freed, note_used};

void th_check_heaps_start(void)
{
    atomic_store_explicit(&th_env_watch, &watch, memory_order_release);
}

/* --- Whose memory it is ---------------------------------------------------------------------- */

/* The heap that ADDRESS lies in. As heaps do not overlap, that can only be the one which begins
 * nearest before it. */
static bool find_heap(const void *address, struct heap *found)
{
    const struct heap *heap = NULL;
    bool there;

    pthread_mutex_lock(&lock);
    for (uint64_t i = 0; !heap && i <= most_places && i < place_of(address); i++) {
        heap = th_table_get(&heaps, place_of(address) - i);
        if (heap && key_of(heap->memory.begin) > key_of(address))
            heap = NULL;
    }
    there = heap && key_of(address) < key_of(heap->memory.end);
    if (there)
        *found = *heap;
    pthread_mutex_unlock(&lock);
    return there;
}

char *th_check_heap_of(const void *address)
{
    struct th_origin *owner;
    struct heap heap;
    char *text;

    if (!find_heap(address, &heap))
        return NULL;
    text = owner_of_retired(heap.env);
    if (text)
        return text;
    owner = th_check_owner(TH_CHECK_ENVIRONMENT, heap.env);
    if (owner)
        text = th_printf("the environment that enif_alloc_env() gave to %s", owner->text);
    th_origin_release(owner);
    if (text)
        return text;
    if (th_check_frame && th_check_frame->call->env == heap.env)
        return th_strdup("the environment that it was called with");
    return th_strdup(heap.kind == TH_ENV_CALLBACK ? "the environment of another call"
                                                  : "an environment of the host's own");
}

th_term th_check_note_read(th_term term, const char *function)
{
    const th_term *words = th_is_list(term)    ? th_cell(term)
                           : th_is_boxed(term) ? th_box(term)
                                               : &term; /* taken out of a term that is gone */
    char *owner;

    if (*words != TH_ENV_GONE)
        return term;
    owner = words == &term ? NULL : th_check_heap_of(words);
    th_check_found_now(function, "gives %s() a term that lies in %s", function,
                       owner ? owner : "an environment that is gone");
    th_free(owner);
    return TH_AM(undefined);
}

int th_check_note_misread(th_term term, const char *function)
{
    th_check_note_read(term, function);
    return 0;
}

th_term th_check_note_part(th_term term, const char *function)
{
    const th_term *words = th_is_list(term)    ? th_cell(term)
                           : th_is_boxed(term) ? th_box(term)
                                               : NULL;
    const th_env *own = th_check_frame ? th_check_frame->call->env : NULL;
    struct th_env_stretch stretch;
    struct heap heap;

    if (words && key_of(words) % sizeof *words != 0)
        return term;
    if (words && ((own && th_env_stretch(own, words, &stretch)) || !find_heap(words, &heap)))
        return term;
    return th_check_note_read(term, function);
}

void th_check_note_parts(th_term *words, size_t count, size_t step, const char *function)
{
    for (size_t i = 0; i < count; i++)
        words[i * step] = th_check_note_part(words[i * step], function);
}

/* --- Environments ---------------------------------------------------------------------------- */

/* The oldest environment, if more than BYTES are kept. */
static struct retired *take_retired(size_t bytes)
{
    struct retired *it = NULL;

    pthread_mutex_lock(&lock);
    if (environments.bytes > bytes) {
        it = environments.oldest;
        environments.oldest = it->next;
        if (!it->next)
            environments.end = &environments.oldest;
        environments.bytes -= it->bytes;
        th_table_remove(&retirees, key_of(it->env));
    }
    pthread_mutex_unlock(&lock);
    return it;
}

static void keep_retired_below(size_t bytes)
{
    struct retired *it;

    while ((it = take_retired(bytes))) {
        th_env_free(it->env);
        th_origin_release(it->origin);
        th_free(it);
    }
}

/* OF and ORIGIN, of which this takes over a share, say what the environment was. */
static void retire(th_env *env, const char *of, struct th_origin *origin)
{
    struct retired *it = th_alloc(sizeof *it);

    th_env_retire(env);
    *it = (struct retired){NULL, env, sizeof *it + sizeof *env + th_env_footprint(env), of, origin};
    pthread_mutex_lock(&lock);
    *environments.end = it;
    environments.end = &it->next;
    environments.bytes += it->bytes;
    th_table_set(&retirees, key_of(env), it);
    pthread_mutex_unlock(&lock);
    keep_retired_below(KEPT_BYTES);
}

void th_check_ended(const th_env *env, struct th_origin *origin)
{
    struct th_origin *old;

    pthread_mutex_lock(&lock);
    old = th_table_set(&ended, key_of(env), origin);
    pthread_mutex_unlock(&lock);
    th_origin_release(old);
}

void th_check_retire(th_env *env)
{
    struct th_origin *origin;

    if (!th_check_on()) {
        th_env_free(env);
        return;
    }
    pthread_mutex_lock(&lock);
    origin = th_table_remove(&ended, key_of(env));
    pthread_mutex_unlock(&lock);
    if (origin)
        retire(env, "the environment of an earlier call,", origin);
    else
        th_env_free(env); /* nothing ran with it */
}

void th_check_clear_env(th_env *env, const char *function)
{
    if (!th_check_note_has(TH_CHECK_ENVIRONMENT, env, function))
        return;
    if (env->chunks)
        retire(th_env_move(env), "an environment as it was before it was cleared by",
               th_origin_now());
    th_env_clear(env);
}

void th_check_free_env(th_env *env, const char *function)
{
    if (th_check_note_gave(TH_CHECK_ENVIRONMENT, env, function))
        retire(env, "an environment that was freed by", th_origin_now());
}

/* --- Memory ---------------------------------------------------------------------------------- */

static bool is_spoiled(const struct freed *it)
{
    for (size_t i = 0; i < it->bytes; i++)
        if (it->memory[i] != SPOILED)
            return false;
    return true;
}

static struct freed *take_freed(size_t bytes)
{
    struct freed *it = NULL;

    pthread_mutex_lock(&lock);
    if (memories.bytes > bytes) {
        it = memories.oldest;
        memories.oldest = it->next;
        if (!it->next)
            memories.end = &memories.oldest;
        memories.bytes -= it->bytes + sizeof *it;
    }
    pthread_mutex_unlock(&lock);
    return it;
}

static void keep_freed_below(size_t bytes)
{
    struct freed *it;

    while ((it = take_freed(bytes))) {
        if (!is_spoiled(it))
            th_check_found(it->origin, "written", "memory that it freed was written to later");
        free(it->memory);
        th_origin_release(it->origin);
        th_free(it);
    }
}

static void keep_freed(struct freed *it)
{
    memset(it->memory, SPOILED, it->bytes);
    pthread_mutex_lock(&lock);
    *memories.end = it;
    memories.end = &it->next;
    memories.bytes += it->bytes + sizeof *it;
    pthread_mutex_unlock(&lock);
    keep_freed_below(KEPT_BYTES);
}

/* The address sanitizer has better ways with memory that was freed. */
#ifdef TH_ADDRESS_SANITIZER
enum { KEEPS_FREED = false };
#else
enum { KEEPS_FREED = true };
#endif

void th_check_free(void *memory)
{
    struct freed *it;

    if (!KEEPS_FREED) {
        free(memory);
        return;
    }
    it = th_alloc(sizeof *it);
    *it = (struct freed){NULL, memory, malloc_usable_size(memory), th_origin_now()};
    keep_freed(it);
}

/* --- The end --------------------------------------------------------------------------------- */

void th_check_heaps_end(void)
{
    struct th_slot *slot;

    keep_freed_below(0);
    keep_retired_below(0);
    atomic_store_explicit(&th_env_watch, NULL, memory_order_release);
    pthread_mutex_lock(&lock);
    for (size_t position = 0; (slot = th_table_next(&heaps, &position));)
        th_free(slot->value);
    th_table_free(&heaps);
    th_table_free(&retirees);
    for (size_t position = 0; (slot = th_table_next(&ended, &position));)
        th_origin_release(slot->value);
    th_table_free(&ended);
    pthread_mutex_unlock(&lock);
}
