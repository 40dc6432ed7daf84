#include "native.h"

#include "native_internal.h"
#include "native_thunk.h"

#include "host/base/buffer.h"
#include "host/base/hash.h"
#include "host/library/code_map.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

static void (*const thunks[TH_NATIVE_FORMS])(void) = {
    [TH_NATIVE_TERMS_0] = th_native_thunk_terms_0, [TH_NATIVE_TERMS_1] = th_native_thunk_terms_1,
    [TH_NATIVE_TERMS_2] = th_native_thunk_terms_2, [TH_NATIVE_TERMS_3] = th_native_thunk_terms_3,
    [TH_NATIVE_TERMS_4] = th_native_thunk_terms_4, [TH_NATIVE_TERMS_5] = th_native_thunk_terms_5,
    [TH_NATIVE_NIF] = th_native_thunk_terms_2,
};

/* The reason why all functions are refused; NULL: none. Written by th_native_begin(). */
static const char *refusal =
    "this program sets no breakpoints in machine code: call the function with a program that does";

/* Guards the tables, and the blocks of native_near.c. No other lock is taken under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Records by code, also dropped ones that threads may still reach; and the list of dropped ones,
 * which may hold some that were taken again. */
static struct th_table records;
static struct {
    struct th_native **items;
    size_t count, capacity;
} drops;

/* The number of a page that could be written when a record in it was made; 0: none. Saves the test,
 * two system calls, for further entries of the page. Under the lock. */
static uintptr_t tried_page;

/* --- Records ---------------------------------------------------------------------------------- */

static th_entry_word *native_word_of(const struct th_native *native)
{
    return (th_entry_word *)((char *)native->body - TH_ENTRY_WORD);
}

static uintptr_t native_page_of(const void *code)
{
    return (uintptr_t)code / (uintptr_t)sysconf(_SC_PAGESIZE);
}

/* Frees dropped records of closed libraries, when LIBRARY has been opened: those whose code is now
 * LIBRARY's, or is not mapped any more. */
static void free_gone(const struct th_library *library)
{
    struct th_memory memory = {0};
    size_t kept = 0;

    pthread_mutex_lock(&lock);
    if (drops.count > 0)
        th_library_memory_of_process(&memory);
    for (size_t i = 0; i < drops.count; i++) {
        struct th_native *native = drops.items[i];
        uintptr_t word = (uintptr_t)native_word_of(native);
        bool is_gone =
            th_library_executes(library, word, 1) ||
            (memory.count > 0 && !th_library_memory_after(&memory, word, TH_MEMORY_EXECUTABLE));
        if (!native->dropped) {
            native->listed = false;
        } else if (is_gone) {
            th_hash_table_remove(&records, (uintptr_t)native->code);
            th_native_near_free(native);
        } else {
            drops.items[kept++] = native;
        }
    }
    drops.count = kept;
    pthread_mutex_unlock(&lock);
    th_library_memory_free(&memory);
}

static void see_opened(const struct th_library *library)
{
    free_gone(library);
    th_native_entries_make_ready(library);
}

static _Unwind_Reason_Code native_stop(struct _Unwind_Context *context, void *unused)
{
    (void)context;
    (void)unused;
    return _URC_NORMAL_STOP;
}

enum th_status th_native_begin(void)
{
    /* libgcc's unwinder learns the sizes of registers at its first use. An exception of a library
     * with an unwinder of its own passes handlers, whose cleanups use libgcc's: so libgcc's must be
     * ready before. */
    _Unwind_Backtrace(native_stop, NULL);
    refusal = th_native_text_begin()
                  ? NULL
                  : "the kernel has no membarrier() for changed code: use Linux 4.16 or newer";
    if (refusal)
        return th_error_raise(TH_FAILED, "%s", refusal);
    th_library_watch_opened(see_opened);
    return TH_OK;
}

/* Describes CODE's entry in WORD. False, with errno: CODE is not in LIBRARY. */
static bool native_describe(const struct th_library *library, void *code, struct th_text_word *word)
{
    errno = EFAULT;
    if (!th_library_executes(library, (uintptr_t)code, TH_ENTRY_WORD))
        return false;
    word->word = th_native_entry_word(code);
    word->protection = th_library_protection(library, (uintptr_t)word->word, TH_ENTRY_WORD);
    return word->protection != 0;
}

static bool can_write(const struct th_text_word *word)
{
    bool tried;

    pthread_mutex_lock(&lock);
    tried = tried_page == native_page_of(word->word);
    pthread_mutex_unlock(&lock);
    return tried || th_native_text_can_write(word);
}

struct th_native *th_native_find(const void *code)
{
    struct th_native *native;

    pthread_mutex_lock(&lock);
    native = th_hash_table_get(&records, (uintptr_t)code);
    if (native && native->dropped)
        native = NULL;
    pthread_mutex_unlock(&lock);
    return native;
}

const char *th_native_refusal(const struct th_library *library, const void *code)
{
    struct th_text_word word;
    const char *why;
    bool near;

    if (refusal || th_native_find(code))
        return refusal;
    why = th_native_entry_refusal(library, code);
    if (why)
        return why;
    if (!native_describe(library, (void *)code, &word) || !can_write(&word))
        return TH_ENTRY_UNWRITABLE;
    pthread_mutex_lock(&lock);
    near = th_native_near_find(code, false) != NULL;
    pthread_mutex_unlock(&lock);
    if (!near)
        return "there is no free memory within " TH_NATIVE_REACH_TEXT
               " of the code, which a breakpoint needs: load the library before so much memory is "
               "mapped";
    return NULL;
}

struct th_native *th_native_create(const struct th_library *library, void *code,
                                   enum th_native_form form, void *handler, void *owner)
{
    struct th_native *native;
    struct th_text_word word;

    errno = ENOTSUP;
    if (refusal || !native_describe(library, code, &word) || !can_write(&word))
        return NULL;
    pthread_mutex_lock(&lock);
    /* CODE keeps the record that it had before, if any. */
    native = th_hash_table_get(&records, (uintptr_t)code);
    if (native && !native->dropped)
        th_bug("a function has two native records");
    if (!native && (native = th_native_near_find(code, true))) {
        native->listed = false;
        th_hash_table_set(&records, (uintptr_t)code, native);
    }
    if (native) {
        native->dropped = false;
        native->handler = handler;
        native->body = word.word + 1;
        native->owner = owner;
        native->thunk = (const void *)(uintptr_t)thunks[form];
        native->code = code;
        native->jump = th_native_jump(word.word, th_native_near_stub(native));
        native->protection = (short)word.protection;
        tried_page = native_page_of(word.word);
    }
    pthread_mutex_unlock(&lock);
    return native;
}

void th_native_drop_all(struct th_native *const natives[], size_t count)
{
    pthread_mutex_lock(&lock);
    tried_page = 0; /* the library may be closed next */
    for (size_t i = 0; i < count; i++) {
        struct th_native *native = natives[i];
        if (native->armed > 0)
            th_bug("a native record with an armed site is dropped");
        native->dropped = true;
        if (native->listed)
            continue;
        native->listed = true;
        TH_ARRAY_GROW(drops.items, drops.count, drops.capacity);
        drops.items[drops.count++] = native;
    }
    pthread_mutex_unlock(&lock);
}

/* --- Sites ------------------------------------------------------------------------------------ */

/* Entry words to write together. */
struct writing {
    struct th_text_word *words;
    size_t count;
};

/* Adds NATIVE's entry if this is its first armed site, or was its last. */
static void write_later(struct writing *writing, struct th_native *native, bool arm)
{
    th_entry_word *word = native_word_of(native);

    if (arm ? native->armed++ == 0 : --native->armed == 0)
        writing->words[writing->count++] = (struct th_text_word){
            word, th_native_entry_keeping(*word, arm ? (th_entry_word)native->jump : TH_ENTRY_NOP),
            native->protection};
}

static void write_now(struct writing *writing)
{
    if (!th_native_text_write(writing->words, writing->count))
        th_bug("cannot make code writable, which was possible before: %s", strerror(errno));
    th_free(writing->words);
}

static void write_entries(struct th_site *const *sites, size_t count, bool arm)
{
    struct writing writing = {th_alloc(count * TH_NATIVE_INSTANCES * sizeof *writing.words), 0};

    for (size_t i = 0; i < count; i++) {
        const struct th_native_place *place = sites[i]->place;
        for (int j = 0; j < TH_NATIVE_INSTANCES; j++)
            if (place->records[j])
                write_later(&writing, place->records[j], arm);
    }
    write_now(&writing);
}

/* Relaxed: a reader decides nothing by the count without reading more. Written with the permission.
 */
static void count_record(struct th_native *native, unsigned generation, uint32_t before,
                         uint32_t after)
{
    _Atomic uint32_t *active = &native->active[generation];
    const bool others_before = before & ~TH_BP_LOCAL, others_after = after & ~TH_BP_LOCAL;
    uint32_t had = atomic_load_explicit(active, memory_order_relaxed);
    uint64_t had_others = atomic_load_explicit(&native->others, memory_order_relaxed);

    atomic_store_explicit(active, had + (after != 0) - (before != 0), memory_order_relaxed);
    atomic_store_explicit(&native->others, had_others + others_after - others_before,
                          memory_order_relaxed);
}

/* False in mode=debug: so a debugger that stops in th_breakpoint_hit() sees each hit. */
#ifdef __OPTIMIZE__
static const bool finds_only = true;
#else
static const bool finds_only = false;
#endif

/* Returns the first breakpoint of SITE that is active in GENERATION; NULL: none. */
static struct th_generic_bp *first_active(const struct th_site *site, unsigned generation)
{
    struct th_generic_bp *bp = atomic_load_explicit(&site->first, memory_order_relaxed);

    while (bp && !th_breakpoint_active(&bp->data[generation]))
        bp = atomic_load_explicit(&bp->next, memory_order_relaxed);
    return bp;
}

/* Returns the sessions, by bit, that have a breakpoint at SITE which is active in any generation. */
static uint64_t sessions_at(const struct th_site *site)
{
    const struct th_generic_bp *bp = atomic_load_explicit(&site->first, memory_order_relaxed);
    uint64_t sessions = 0;

    for (; bp; bp = atomic_load_explicit(&bp->next, memory_order_relaxed))
        if (th_breakpoint_active(&bp->data[0]) | th_breakpoint_active(&bp->data[1]))
            sessions |= bp->session->bit;
    return sessions;
}

/* Sets `only` and `sessions` of NATIVE after a breakpoint of SITE was counted. If the only
 * breakpoint is one of another site of the entry, or if SITE has lost the entry (SITE is NULL),
 * calls find it slowly. An entry of several sites has all sessions. */
static void set_only(struct th_native *native, const struct th_site *site, unsigned generation)
{
    struct th_generic_bp *only = NULL;
    uint64_t sessions = native->arity < 0 ? UINT64_MAX : site ? sessions_at(site) : 0;

    if (finds_only && site &&
        atomic_load_explicit(&native->active[generation], memory_order_relaxed) == 1)
        only = first_active(site, generation);
    if (only && th_breakpoint_active(&only->data[generation]) != TH_BP_LOCAL)
        only = NULL;
    atomic_store_explicit(&native->sessions, sessions, memory_order_relaxed);
    atomic_store_explicit(&native->only[generation], only ? &only->data[generation] : NULL,
                          memory_order_release);
}

static void count_active(struct th_site *site, unsigned generation, uint32_t before, uint32_t after)
{
    const struct th_native_place *place = site->place;

    for (int i = 0; i < TH_NATIVE_INSTANCES; i++)
        if (place->records[i]) {
            count_record(place->records[i], generation, before, after);
            set_only(place->records[i], site, generation);
        }
}

const struct th_site_operations th_native_site_native = {.kind = "native",
                                                         .kinds = TH_BP_ALL & ~TH_BP_GLOBAL,
                                                         .write = write_entries,
                                                         .count = count_active};

/* --- Records of a site ------------------------------------------------------------------------ */

/* Puts NEW in the place of OLD. */
static void replace_record(struct th_site *site, const struct th_native *old, struct th_native *new)
{
    struct th_native_place *place = site->place;

    for (int i = 0; i < TH_NATIVE_INSTANCES; i++)
        if (place->records[i] == old) {
            place->records[i] = new;
            return;
        }
    th_bug(new ? "a native site gets more records than there are instances"
               : "a record is removed from a native site that does not have the record");
}

static void change_records(struct th_site *const sites[], struct th_native *const natives[],
                           size_t count, bool attach)
{
    struct writing writing = {th_alloc((count + 1) * sizeof *writing.words), 0};
    const struct th_generic_bp *bp;

    for (size_t i = 0; i < count; i++) {
        replace_record(sites[i], attach ? NULL : natives[i], attach ? natives[i] : NULL);
        /* The site's active breakpoints count for the record, or no longer. */
        for (bp = atomic_load_explicit(&sites[i]->first, memory_order_relaxed); bp;
             bp = atomic_load_explicit(&bp->next, memory_order_relaxed))
            for (unsigned generation = 0; generation < 2; generation++) {
                uint32_t active = th_breakpoint_active(&bp->data[generation]);
                count_record(natives[i], generation, attach ? 0 : active, attach ? active : 0);
            }
        for (unsigned generation = 0; generation < 2; generation++)
            set_only(natives[i], attach ? sites[i] : NULL, generation);
        if (th_breakpoint_site_is_armed(sites[i]))
            write_later(&writing, natives[i], attach);
    }
    write_now(&writing);
}

void th_native_attach(struct th_site *const sites[], struct th_native *const natives[],
                      size_t count)
{
    change_records(sites, natives, count, true);
}

void th_native_detach(struct th_site *const sites[], struct th_native *const natives[],
                      size_t count)
{
    change_records(sites, natives, count, false);
}
