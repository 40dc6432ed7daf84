/*
 * Memory that is gone: owners of heaps, environments of earlier calls, freed memory.
 *
 * Memory that a library must not use any more is kept for a while, up to a bound, so that its
 * addresses belong to nothing else, and overwritten.
 */
#include "check_internal.h"

#include "host/base/hash.h"
#include "host/base/memory.h"
#include "host/self/self.h"
#include "host/term/atom.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEPT_BYTES = 16 << 20, /* limit for environments, and the same for freed memory */
    SPOILED = 0xDB         /* each byte of freed memory */
};

/* A piece of a heap. */
struct heap {
    struct th_env_stretch memory;
    const th_env *env;
    enum th_env_kind kind; /* of the environment when it got the memory */
};

/* A retired environment, or freed memory. */
struct kept {
    struct kept *next; /* the next younger */
    void *memory;      /* the environment, or the freed memory */
    size_t bytes;      /* of MEMORY */
    const char *of;    /* for an environment: text before the origin */
    struct th_origin *origin;
};

struct keeping {
    struct kept *oldest, **end;
    size_t bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the following */
static struct th_table heaps;    /* struct heap, by heap_place() of its begin */
static uint64_t most_places;     /* the most places that a heap spans */
static struct th_table retirees; /* struct kept, by environment */
static struct th_table ended;    /* struct th_origin, by the environment of an ended call */
static struct keeping environments = {.end = &environments.oldest};
static struct keeping memories = {.end = &memories.oldest};

static uint64_t address_key(const void *address)
{
    return (uint64_t)(uintptr_t)address;
}

/* A place has TH_ENV_LEAST bytes, so no two heaps begin in the same place. */
static uint64_t heap_place(const void *address)
{
    return address_key(address) / TH_ENV_LEAST;
}

/* --- Callbacks of environments ---------------------------------------------------------------- */

static void note_got(const th_env *env, struct th_env_stretch memory)
{
    struct heap *heap = th_alloc(sizeof *heap);

    *heap = (struct heap){memory, env, (enum th_env_kind)env->kind};
    pthread_mutex_lock(&lock);
    if (most_places < heap_place(memory.end) - heap_place(memory.begin))
        most_places = heap_place(memory.end) - heap_place(memory.begin);
    heap = th_hash_table_set(&heaps, heap_place(memory.begin), heap);
    pthread_mutex_unlock(&lock);
    th_free(heap); /* the former heap at this place, which has moved */
}

static void note_freed(struct th_env_stretch memory)
{
    struct heap *heap;

    pthread_mutex_lock(&lock);
    heap = th_hash_table_remove(&heaps, heap_place(memory.begin));
    pthread_mutex_unlock(&lock);
    th_free(heap);
}

/* Returns a text about the owner of the retired ENV. */
static char *owner_of_retired(const th_env *env)
{
    const struct kept *it;
    char *text;

    pthread_mutex_lock(&lock);
    it = th_hash_table_get(&retirees, address_key(env));
    text = it ? th_printf("%s %s", it->of, it->origin->text) : NULL;
    pthread_mutex_unlock(&lock);
    return text;
}

static void note_used(const th_env *env)
{
    struct th_origin *sender = th_check_owner(TH_CHECK_ENVIRONMENT, env);
    char *owner = owner_of_retired(env);

    if (sender)
        th_check_found_now(TH_RULE_SENT, "sent",
                           "makes a term in the environment of a message that was sent, without "
                           "enif_clear_env() before: a BEAM writes the term into the message");
    else
        th_check_found_now(TH_RULE_KEPT, "retired", "makes a term in %s",
                           owner ? owner : "an environment that was freed");
    th_check_origin_release(sender);
    th_free(owner);
}

static const struct th_env_watch watch = {note_got, note_freed, note_used};

void th_check_heaps_start(void)
{
    atomic_store_explicit(&th_env_watch, &watch, memory_order_release);
}

/* --- Owners of memory ------------------------------------------------------------------------- */

/* Finds the heap that ADDRESS lies in: heaps do not overlap, so only the nearest one that begins
 * before ADDRESS can be it. */
static bool find_heap(const void *address, struct heap *found)
{
    const struct heap *heap = NULL;
    bool there;

    pthread_mutex_lock(&lock);
    for (uint64_t i = 0; !heap && i <= most_places && i < heap_place(address); i++) {
        heap = th_hash_table_get(&heaps, heap_place(address) - i);
        if (heap && address_key(heap->memory.begin) > address_key(address))
            heap = NULL;
    }
    there = heap && address_key(address) < address_key(heap->memory.end);
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
    th_check_origin_release(owner);
    if (text)
        return text;
    if (th_self.check_frame && th_self.check_frame->call->env == heap.env)
        return th_strdup("the environment of this call");
    return th_strdup(heap.kind == TH_ENV_CALLBACK ? "the environment of another call"
                                                  : "an environment of the host");
}

th_term th_check_note_read(th_term term, const char *function)
{
    const th_term *words = th_is_list(term)    ? th_cell(term)
                           : th_is_boxed(term) ? th_term_box(term)
                                               : &term; /* an element of a term that is gone */
    char *owner;

    if (*words != TH_ENV_GONE)
        return term;
    owner = words == &term ? NULL : th_check_heap_of(words);
    th_check_found_now(TH_RULE_KEPT, function, "gives %s() a term that lies in %s", function,
                       owner ? owner : "an environment that was freed");
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
                           : th_is_boxed(term) ? th_term_box(term)
                                               : NULL;
    const th_env *own = th_self.check_frame ? th_self.check_frame->call->env : NULL;
    struct th_env_stretch stretch;
    struct heap heap;

    if (words && address_key(words) % sizeof *words != 0)
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

/* --- Kept memory ------------------------------------------------------------------------------ */

/* Removes the oldest item of FROM, if FROM has more than BYTES, and returns it; NULL: no more. */
static struct kept *take_oldest(struct keeping *from, size_t bytes)
{
    struct kept *it;

    pthread_mutex_lock(&lock);
    it = from->bytes > bytes ? from->oldest : NULL;
    if (it) {
        from->oldest = it->next;
        if (!it->next)
            from->end = &from->oldest;
        from->bytes -= sizeof *it + it->bytes;
        if (from == &environments)
            th_hash_table_remove(&retirees, address_key(it->memory));
    }
    pthread_mutex_unlock(&lock);
    return it;
}

static bool is_spoiled(const struct kept *it)
{
    const unsigned char *memory = it->memory;

    for (size_t i = 0; i < it->bytes; i++)
        if (memory[i] != SPOILED)
            return false;
    return true;
}

/* Frees the oldest items of IN until they are at most BYTES. */
static void keep_below(struct keeping *in, size_t bytes)
{
    struct kept *it;

    while ((it = take_oldest(in, bytes))) {
        if (in == &memories && !is_spoiled(it))
            th_check_found(it->origin, TH_RULE_FREED, "written",
                           "memory that this call freed was written to later");
        if (in == &environments)
            th_env_free(it->memory);
        else
            free(it->memory);
        th_check_origin_release(it->origin);
        th_free(it);
    }
}

static void keep_in(struct keeping *in, struct kept what)
{
    struct kept *it = th_alloc(sizeof *it);

    *it = what;
    pthread_mutex_lock(&lock);
    *in->end = it;
    in->end = &it->next;
    in->bytes += sizeof *it + it->bytes;
    if (in == &environments)
        th_hash_table_set(&retirees, address_key(it->memory), it);
    pthread_mutex_unlock(&lock);
    keep_below(in, KEPT_BYTES);
}

/* --- Environments ---------------------------------------------------------------------------- */

/* Retires ENV; OF and ORIGIN are the text about it. Takes over a reference to ORIGIN. */
static void retire(th_env *env, const char *of, struct th_origin *origin)
{
    th_env_retire(env);
    keep_in(&environments,
            (struct kept){NULL, env, sizeof *env + th_env_footprint(env), of, origin});
}

void th_check_ended(const th_env *env, struct th_origin *origin)
{
    struct th_origin *old;

    pthread_mutex_lock(&lock);
    old = th_hash_table_set(&ended, address_key(env), origin);
    pthread_mutex_unlock(&lock);
    th_check_origin_release(old);
}

void th_check_retire(th_env *env)
{
    struct th_origin *origin;

    if (!th_check_on()) {
        th_env_free(env);
        return;
    }
    pthread_mutex_lock(&lock);
    origin = th_hash_table_remove(&ended, address_key(env));
    pthread_mutex_unlock(&lock);
    if (origin)
        retire(env, "the environment of an earlier call,", origin);
    else
        th_env_free(env); /* no call ran with it */
}

void th_check_clear_env(th_env *env, bool sent, const char *function)
{
    if (!th_check_note_has(TH_CHECK_ENVIRONMENT, env, function))
        return;
    if (env->chunks)
        retire(th_env_move(env), "an environment as it was before it was cleared by",
               th_check_origin_now());
    env->kind = sent ? TH_ENV_RETIRED : TH_ENV_MESSAGE;
    th_env_clear(env);
}

void th_check_free_env(th_env *env, const char *function)
{
    if (th_check_note_gave(TH_CHECK_ENVIRONMENT, env, function))
        retire(env, "an environment that was freed by", th_check_origin_now());
}

/* --- Memory ---------------------------------------------------------------------------------- */

/* The address sanitizer finds uses of freed memory better. */
#ifdef TH_ADDRESS_SANITIZER
enum { KEEPS_FREED = false };
#else
enum { KEEPS_FREED = true };
#endif

void th_check_free(void *memory)
{
    size_t bytes = malloc_usable_size(memory);

    if (!KEEPS_FREED) {
        free(memory);
        return;
    }
    memset(memory, SPOILED, bytes);
    keep_in(&memories, (struct kept){NULL, memory, bytes, NULL, th_check_origin_now()});
}

/* --- The end --------------------------------------------------------------------------------- */

void th_check_heaps_end(void)
{
    struct th_slot *slot;

    keep_below(&memories, 0);
    keep_below(&environments, 0);
    atomic_store_explicit(&th_env_watch, NULL, memory_order_release);
    pthread_mutex_lock(&lock);
    for (size_t position = 0; (slot = th_hash_table_next(&heaps, &position));)
        th_free(slot->value);
    th_hash_table_free(&heaps);
    th_hash_table_free(&retirees);
    for (size_t position = 0; (slot = th_hash_table_next(&ended, &position));)
        th_check_origin_release(slot->value);
    th_hash_table_free(&ended);
    pthread_mutex_unlock(&lock);
}
