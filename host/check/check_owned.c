/*
 * Objects that libraries own: got from the API, and not given back.
 */
#include "check_internal.h"

#include "host/base/buffer.h"
#include "host/base/hash.h"
#include "host/base/thread.h"
#include "host/library/load.h"

#include <pthread.h>

/* An owned object. */
struct owned {
    size_t count;         /* references of the library; 1 except for resources */
    size_t bytes;         /* 0: not known */
    int holders;          /* of a lock: number of holders */
    const char *function; /* function that gave it */
    char *name;           /* or NULL */
    struct th_origin *origin;
};

/* An object that was given back recently. */
struct returned {
    enum th_check_kind kind;
    const void *thing; /* NULL: free */
    const char *function;
    struct th_origin *origin;
};

enum { REMEMBERED = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the following */
static struct th_table owned[TH_CHECK_KINDS];            /* struct owned, by address */
static struct returned returned[REMEMBERED];             /* a ring */
static size_t next_returned;

/* Words for each kind in findings. */
static const struct {
    const char *article, *one, *many;
    const char *stranger; /* follows "calls enif_free() on " if the library does not own it */
} words[TH_CHECK_KINDS] = {
    [TH_CHECK_MEMORY] = {"a", "block of memory", "blocks of memory",
                         "memory that enif_alloc() did not return"},
    [TH_CHECK_BINARY] = {"a", "binary", "binaries", "a binary that the library does not own"},
    [TH_CHECK_ENVIRONMENT] = {"an", "environment", "environments",
                              "an environment that enif_alloc_env() did not return"},
    [TH_CHECK_RESOURCE] = {"a", "resource", "resources",
                           "a resource to which the library has no reference"},
    [TH_CHECK_LOCK] = {"a", "lock", "locks", "an address that is not a lock"},
    [TH_CHECK_QUEUE] = {"a", "queue", "queues", "an address that is not a queue"},
    [TH_CHECK_VECTOR] = {"an", "I/O vector", "I/O vectors",
                         "an I/O vector that the library does not own"},
    [TH_CHECK_OPTIONS] = {"a", "set of thread options", "sets of thread options",
                          "thread options that enif_thread_opts_create() did not return"},
    [TH_CHECK_THREAD] = {"a", "thread", "threads",
                         "a thread that enif_thread_create() did not return"},
};

static void free_owned(struct owned *it)
{
    if (!it)
        return;
    th_check_origin_release(it->origin);
    th_free(it->name);
    th_free(it);
}

/* --- Allocations that fail --------------------------------------------------------------------- */

/* Relaxed: a number and a flag, each alone. */
static _Atomic uint64_t fails_in; /* allocations up to the one that fails; 0: none */
static _Atomic bool *has_failed;

void th_check_fail(uint64_t count, _Atomic bool *failed)
{
    has_failed = failed;
    atomic_store_explicit(&fails_in, count, memory_order_relaxed);
}

bool th_check_note_allocation(void)
{
    if (atomic_load_explicit(&fails_in, memory_order_relaxed) == 0 ||
        atomic_fetch_sub_explicit(&fails_in, 1, memory_order_relaxed) != 1)
        return true;
    if (has_failed)
        atomic_store_explicit(has_failed, true, memory_order_relaxed);
    return false;
}

/* --- Got -------------------------------------------------------------------------------------- */

void th_check_note_got(enum th_check_kind kind, void *thing, size_t bytes, const char *name,
                       const char *function)
{
    struct owned *it, *old = NULL, *again = NULL;

    if (!thing)
        return;
    it = th_alloc(sizeof *it);
    *it = (struct owned){
        .count = 1,
        .bytes = bytes,
        .function = function,
        .name = name ? th_strdup(name) : NULL,
        .origin = th_check_origin_now(),
    };
    pthread_mutex_lock(&lock);
    if (kind == TH_CHECK_RESOURCE)
        again = th_hash_table_get(&owned[kind], (uintptr_t)thing);
    if (again) { /* one more reference to an owned object */
        again->count++;
        old = it;
    } else {
        old = th_hash_table_set(&owned[kind], (uintptr_t)thing, it);
        it = NULL;
    }
    pthread_mutex_unlock(&lock);
    if (!it && old && kind == TH_CHECK_MEMORY)
        th_check_found(old->origin, TH_RULE_OWNER, "freed otherwise",
                       "memory that %s() returned was freed by another function than enif_free()",
                       old->function);
    free_owned(old);
}

/* --- Given back ------------------------------------------------------------------------------- */

/* Reports that FUNCTION got THING, which the library does not own, and the origin that gave THING
 * back if that was recent. */
static void tell_stranger(enum th_check_kind kind, const void *thing, const char *function)
{
    struct returned last = {0};

    pthread_mutex_lock(&lock);
    for (size_t i = 1; i <= REMEMBERED && thing && !last.function; i++) {
        const struct returned *it = &returned[(next_returned + REMEMBERED - i) % REMEMBERED];
        if (it->thing == thing && it->kind == kind)
            last = *it;
    }
    if (last.function)
        th_check_origin_keep(last.origin);
    pthread_mutex_unlock(&lock);
    if (last.function)
        th_check_found_now(TH_RULE_OWNER, function,
                           "calls %s() on %s %s that was already given back to %s() by %s",
                           function, words[kind].article, words[kind].one, last.function,
                           last.origin->text);
    else if (kind == TH_CHECK_ENVIRONMENT && th_self.check_frame &&
             th_self.check_frame->call->env == thing)
        th_check_found_now(TH_RULE_OWNER, function, "calls %s() on the environment of this call",
                           function);
    else
        th_check_found_now(TH_RULE_OWNER, function, "calls %s() on %s", function,
                           words[kind].stranger);
    th_check_origin_release(last.origin);
}

bool th_check_note_gave(enum th_check_kind kind, const void *thing, const char *function)
{
    struct th_origin *origin = th_check_origin_now();
    struct owned *it, *gone = NULL;
    bool good;

    pthread_mutex_lock(&lock);
    it = th_hash_table_get(&owned[kind], (uintptr_t)thing);
    if (it && --it->count == 0) {
        struct returned *place = &returned[next_returned];
        struct th_origin *forgotten = place->origin;
        gone = th_hash_table_remove(&owned[kind], (uintptr_t)thing);
        *place = (struct returned){kind, thing, function, origin};
        origin = forgotten;
        next_returned = (next_returned + 1) % REMEMBERED;
    }
    good = it != NULL;
    pthread_mutex_unlock(&lock);
    th_check_origin_release(origin);
    if (!good)
        tell_stranger(kind, thing, function);
    if (gone && kind == TH_CHECK_LOCK) {
        th_check_lock_gone(thing);
        if (gone->holders > 0) { /* destroying it would be undefined and is not done */
            th_check_found_now(TH_RULE_LOCK, "held", "calls %s() on a lock that is locked",
                               function);
            good = false;
        }
    }
    free_owned(gone);
    return good;
}

bool th_check_note_has(enum th_check_kind kind, const void *thing, const char *function)
{
    bool has;

    pthread_mutex_lock(&lock);
    has = thing && th_hash_table_get(&owned[kind], (uintptr_t)thing);
    pthread_mutex_unlock(&lock);
    if (!has)
        tell_stranger(kind, thing, function);
    return has;
}

struct th_origin *th_check_owner(enum th_check_kind kind, const void *thing)
{
    struct owned *it;
    struct th_origin *origin;

    pthread_mutex_lock(&lock);
    it = th_hash_table_get(&owned[kind], (uintptr_t)thing);
    origin = it ? th_check_origin_keep(it->origin) : NULL;
    pthread_mutex_unlock(&lock);
    return origin;
}

bool th_check_hold(const void *thing, int more, int *before, char **name)
{
    struct owned *it;

    pthread_mutex_lock(&lock);
    it = th_hash_table_get(&owned[TH_CHECK_LOCK], (uintptr_t)thing);
    if (it) {
        *before = it->holders;
        it->holders += more;
        if (name)
            *name = it->name ? th_strdup(it->name) : NULL;
    }
    pthread_mutex_unlock(&lock);
    return it;
}

/* --- Leaks ----------------------------------------------------------------------------------- */

struct leaks {
    struct leak {
        enum th_check_kind kind;
        struct owned *it;
    } * all;
    size_t count, capacity;
};

static int compare_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

/* Returns 0 for leaks that share a line. */
static int compare_groups(const struct leak *a, const struct leak *b)
{
    int order = (a->kind > b->kind) - (a->kind < b->kind);

    order = order ? order : compare_text(a->it->origin->where, b->it->origin->where);
    order = order ? order : compare_text(a->it->function, b->it->function);
    return order ? order : compare_text(a->it->name, b->it->name);
}

static int compare_leaks(const void *a, const void *b)
{
    const struct leak *left = a, *right = b;
    int order = compare_groups(left, right);
    uint64_t l = left->it->origin->order, r = right->it->origin->order;

    return order ? order : (l > r) - (l < r);
}

/* Reports COUNT leaks of one group, the oldest first. */
static void tell_leaks(const struct leak *leaks, size_t count)
{
    const struct owned *first = leaks[0].it;
    const struct th_origin *origin = first->origin;
    const char *what = count == 1 ? words[leaks[0].kind].one : words[leaks[0].kind].many;
    struct th_buffer line = {0};
    size_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes += leaks[i].it->bytes;
    th_buffer_printf(&line, "%zu %s", count, what);
    if (first->name)
        th_buffer_printf(&line, leaks[0].kind == TH_CHECK_RESOURCE ? " of type '%s'" : " '%s'",
                         first->name);
    if (bytes > 0)
        th_buffer_printf(&line, " (%zu byte%s)", bytes, th_log_plural(bytes));
    th_buffer_printf(&line, " that %s got from %s()", origin->where, first->function);
    if (strcmp(origin->where, origin->text) != 0)
        th_buffer_printf(&line, "%s in %s", count > 1 ? ", first" : ",", origin->text);
    th_check_report_leak(origin, words[leaks[0].kind].one, th_buffer_text(&line));
    th_buffer_free(&line);
}

void th_check_owned_end(void)
{
    struct leaks leaks = {0};
    struct th_slot *slot;

    /* Moves all owned objects out of the tables. */
    pthread_mutex_lock(&lock);
    for (int kind = 0; kind < TH_CHECK_KINDS; kind++) {
        for (size_t position = 0; (slot = th_hash_table_next(&owned[kind], &position));) {
            TH_ARRAY_GROW(leaks.all, leaks.count, leaks.capacity);
            leaks.all[leaks.count++] = (struct leak){kind, slot->value};
        }
        th_hash_table_free(&owned[kind]);
    }
    for (size_t i = 0; i < REMEMBERED; i++) {
        th_check_origin_release(returned[i].origin);
        returned[i] = (struct returned){0};
    }
    pthread_mutex_unlock(&lock);

    if (leaks.count > 0)
        qsort(leaks.all, leaks.count, sizeof *leaks.all, compare_leaks);
    for (size_t i = 0, end; i < leaks.count; i = end) {
        const char *loads = leaks.all[i].it->origin->loads;
        for (end = i + 1; end < leaks.count && compare_groups(&leaks.all[i], &leaks.all[end]) == 0;
             end++)
            ;
        /* A library that is still open, because resources of it exist, had no chance to free the
         * objects of its load(). */
        if (!loads || !th_library_is_open(loads))
            tell_leaks(&leaks.all[i], end - i);
    }
    for (size_t i = 0; i < leaks.count; i++)
        free_owned(leaks.all[i].it);
    th_free(leaks.all);
}

/*
 * Locks: those that each thread holds.
 */

enum { MOST = 64 /* locks of one thread; further ones are not tracked */ };

/* Locks that the thread holds, the latest last. */
struct held_locks {
    size_t count;
    struct held_lock {
        const void *lock;
        uint64_t call; /* that took it; 0: none */
        bool shared;
        unsigned refused; /* number of refused waits */
    } locks[MOST];
};
static _Thread_local void *of_thread; /* its struct held_locks; NULL: it never held a lock */

static struct held_lock *find_held(const void *lock)
{
    struct held_locks *held = of_thread;

    for (size_t i = held ? held->count : 0; i > 0; i--)
        if (held->locks[i - 1].lock == lock)
            return &held->locks[i - 1];
    return NULL;
}

static void forget_held(struct held_lock *mine)
{
    struct held_locks *held = of_thread;
    const struct held_lock *end = held->locks + held->count--;

    memmove(mine, mine + 1, (size_t)(end - (mine + 1)) * sizeof *mine);
}

bool th_check_note_locks(const void *lock, bool shared, const char *function)
{
    struct held_lock *mine = find_held(lock);

    if (!th_check_note_has(TH_CHECK_LOCK, lock, function))
        return false;
    if (!mine)
        return true;
    if (shared && mine->shared) {
        th_check_blame(
            TH_RULE_LOCK, function,
            "on a lock that this thread holds already: with a waiting writer this is a deadlock");
        return true; /* this mostly works */
    }
    th_check_blame(TH_RULE_LOCK, function,
                   "on a lock that this thread holds already: this is a deadlock");
    mine->refused++;
    return false;
}

void th_check_note_locked(const void *lock, bool shared)
{
    struct held_locks *held = of_thread;
    int before;

    if (!th_check_hold(lock, 1, &before, NULL))
        return;
    if (!held)
        held = th_thread_memory(&of_thread, sizeof *held);
    if (!held || held->count == MOST)
        return;
    held->locks[held->count++] =
        (struct held_lock){lock, th_self.check_frame ? th_self.check_frame->number : 0, shared, 0};
}

bool th_check_note_unlocks(const void *lock, bool shared, const char *function)
{
    struct held_lock *mine = find_held(lock);
    int before;

    if (!th_check_note_has(TH_CHECK_LOCK, lock, function))
        return false;
    if (mine && mine->refused > 0) {
        mine->refused--;
        return false;
    }
    if (!mine && (!th_check_hold(lock, 0, &before, NULL) || before <= 0)) {
        th_check_blame(TH_RULE_LOCK, function, "on a lock that no thread holds");
        return false;
    }
    if (!mine)
        th_check_blame(TH_RULE_LOCK, function, "on a lock that another thread holds");
    else if (mine->shared != shared)
        th_check_blame(TH_RULE_LOCK, function,
                       shared ? "on a lock that this thread holds for writing, not for reading"
                              : "on a lock that this thread holds for reading, not for writing");
    th_check_hold(lock, -1, &before, NULL);
    if (mine)
        forget_held(mine);
    return true;
}

void th_check_lock_gone(const void *lock)
{
    struct held_lock *mine;

    while ((mine = find_held(lock)))
        forget_held(mine);
}

void th_check_locks_left(const struct th_check_frame *frame)
{
    const struct held_locks *held = of_thread;

    for (size_t i = 0; held && i < held->count; i++) {
        const struct held_lock *mine = &held->locks[i];
        char *name = NULL;
        int before;

        if (mine->call != frame->number || !th_check_hold(mine->lock, 0, &before, &name))
            continue;
        th_check_found_now(TH_RULE_LOCK, "returns with lock",
                           "returns without unlocking the lock%s%s%s", name ? " '" : "",
                           name ? name : "", name ? "'" : "");
        th_free(name);
    }
}
