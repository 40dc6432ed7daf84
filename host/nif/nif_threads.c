/* Threads of libraries and their data. */
#include "nif.h"

#include "host/base/memory.h"
#include "host/check/check.h"
#include "host/library/load.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* --- Threads that libraries create ------------------------------------------------------------ */

struct ErlDrvTid_ {
    pthread_t thread;
    void *(*function)(void *argument); /* NULL: the thread was not made by enif_thread_create() */
    void *argument;
    char *name;
    struct th_library *library; /* library of `function` */
    sem_t *begun;               /* of the creator, which waits */
};

/* The calling thread, if a library created it; else NULL. */
static _Thread_local struct ErlDrvTid_ *self;

/* --- Options ---------------------------------------------------------------------------------- */

ErlNifThreadOpts *enif_thread_opts_create(char *name)
{
    ErlNifThreadOpts *opts = malloc(sizeof *opts);

    (void)name;
    if (opts)
        opts->suggested_stack_size = -1;
    th_check_got(TH_CHECK_OPTIONS, opts, 0, NULL, "enif_thread_opts_create");
    return opts;
}

void enif_thread_opts_destroy(ErlNifThreadOpts *opts)
{
    if (opts && th_check_gave(TH_CHECK_OPTIONS, opts, "enif_thread_opts_destroy"))
        free(opts);
}

/* Limits of a BEAM, in kilowords; a suggestion outside is moved to the nearest limit. */
enum { LEAST_STACK = 8, LARGEST_STACK = 8192, KILOWORD = 1024 * sizeof(void *) };

static int set_stack_size(pthread_attr_t *attributes, int kilowords)
{
    long page = sysconf(_SC_PAGESIZE);
    size_t size;

    if (kilowords < 0)
        return 0;
    if (kilowords < LEAST_STACK)
        kilowords = LEAST_STACK;
    if (kilowords > LARGEST_STACK)
        kilowords = LARGEST_STACK;
    /* The C library's own part (thread-local variables and so on) is added. */
    size = (size_t)kilowords * KILOWORD + (size_t)sysconf(_SC_THREAD_STACK_MIN);
    size += (size_t)(page - 1);
    return pthread_attr_setstacksize(attributes, size - size % (size_t)page);
}

/* --- Creating --------------------------------------------------------------------------------- */

/* Runs also after enif_thread_exit(). */
static void end_thread(void *made)
{
    th_library_thread_ends(((struct ErlDrvTid_ *)made)->library);
}

static void *nif_threads_run_thread(void *argument)
{
    char shown[16]; /* the kernel's limit of a thread's name */
    void *result;

    self = argument;
    snprintf(shown, sizeof shown, "%s", self->name);
    pthread_setname_np(pthread_self(), shown);
    sem_post(self->begun);
    pthread_cleanup_push(end_thread, argument);
    result = self->function(self->argument);
    pthread_cleanup_pop(1);
    return result;
}

/* Returns when the thread has begun, as in a BEAM. (A thread that begins allocates: a process that is forked
 * meanwhile could not, with a sanitizer's allocator.) */
static int start_thread(struct ErlDrvTid_ *tid, const ErlNifThreadOpts *opts)
{
    static const int synchronous[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
    pthread_attr_t attributes;
    sigset_t blocked, old;
    sem_t begun;
    int error = pthread_attr_init(&attributes);

    if (error)
        return error;
    error = set_stack_size(&attributes, opts ? opts->suggested_stack_size : -1);
    if (!error) {
        /* Signals sent to the process are for the program's own threads. */
        sigfillset(&blocked);
        for (size_t i = 0; i < sizeof synchronous / sizeof synchronous[0]; i++)
            sigdelset(&blocked, synchronous[i]);
        pthread_sigmask(SIG_BLOCK, &blocked, &old);
        sem_init(&begun, 0, 0);
        tid->begun = &begun;
        error = pthread_create(&tid->thread, &attributes, nif_threads_run_thread, tid);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    pthread_attr_destroy(&attributes);
    while (!error && sem_wait(&begun) != 0)
        ; /* a signal */
    return error;
}

int enif_thread_create(char *name, ErlNifTid *tid, void *(*func)(void *), void *args,
                       ErlNifThreadOpts *opts)
{
    struct ErlDrvTid_ *made;
    int error;

    if (!tid || !func)
        return EINVAL;
    made = th_nif_named_create(sizeof *made, name);
    if (!made)
        return ENOMEM;
    made->function = func;
    made->argument = args;
    made->name = (char *)(made + 1);
    *tid = made; /* set before the start: the new thread may read *TID */
    th_check_got(TH_CHECK_THREAD, made, 0, name, "enif_thread_create");
    made->library = th_library_thread_begins((uintptr_t)func);
    error = start_thread(made, opts);
    if (error) {
        th_library_thread_ends(made->library);
        th_check_gave(TH_CHECK_THREAD, made, "enif_thread_create");
        *tid = NULL;
        free(made);
    }
    return error;
}

/* --- Identity --------------------------------------------------------------------------------- */

/* A thread of the host, or one that a library created by other means, has an identity while it
 * runs. The identity is thread-local, so nothing must be freed. */
ErlNifTid enif_thread_self(void)
{
    static char unknown[] = "unknown";
    static _Thread_local struct ErlDrvTid_ foreign = {.name = unknown};

    if (self)
        return self;
    foreign.thread = pthread_self();
    return &foreign;
}

int enif_equal_tids(ErlNifTid tid1, ErlNifTid tid2)
{
    return tid1 == tid2;
}

char *enif_thread_name(ErlNifTid tid)
{
    return tid ? tid->name : NULL;
}

/* --- Ending ----------------------------------------------------------------------------------- */

/* No error can be returned here; a BEAM ends at once, too. */
void enif_thread_exit(void *resp)
{
    if (!self) {
        fprintf(stderr, "tracehost: enif_thread_exit() was called by a thread that "
                        "enif_thread_create() did not make\n");
        abort();
    }
    pthread_exit(resp);
}

int enif_thread_join(ErlNifTid tid, void **respp)
{
    void *result;
    int error;

    if (!tid || !th_check_has(TH_CHECK_THREAD, tid, "enif_thread_join") || !tid->function)
        return EINVAL;
    if (tid == self)
        return EDEADLK;
    error = pthread_join(tid->thread, &result);
    if (error)
        return error;
    th_check_gave(TH_CHECK_THREAD, tid, "enif_thread_join");
    free(tid);
    if (respp)
        *respp = result;
    return 0;
}

/* --- Thread-specific data --------------------------------------------------------------------- */

/* Any number of keys in every thread. Keys begin at 1, as some libraries use 0 for "no key". A
 * value is lost when its key is destroyed or its thread ends; no destructor is called. A key is the
 * number of a slot. The slot's generation is odd while the key exists, and increases when the key
 * is made or destroyed. Each thread has an array of values with the generations of their slots: a
 * value of another generation belongs to an earlier key. The C library's keys would do the same,
 * but a program has only 1024 of them. */

struct slot {
    _Atomic uint64_t generation; /* relaxed: passing a key synchronises */
    size_t next_free;            /* next free slot, while the slot has no key; guarded by `lock` */
};

/* Page I has FIRST_PAGE << I slots, and never moves. Stored with release by its creator, loaded
 * with acquire. */
enum { FIRST_PAGE = 256, PAGES = 23 };
static struct slot *_Atomic pages[PAGES];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the two variables below */
static size_t made;                                      /* number of slots that have had a key */
static size_t first_free = SIZE_MAX;

struct value {
    uint64_t generation;
    void *data;
};

struct values {
    size_t count;
    struct value all[];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t own; /* struct values of the thread; written once */

static void make_own(void)
{
    if (pthread_key_create(&own, th_free) != 0)
        abort(); /* the program has used all keys of the C library */
}

/* Returns the index of slot NUMBER in its page. */
static inline size_t nif_threads_place_of(size_t number, unsigned *page)
{
    size_t in_units = number / FIRST_PAGE + 1;

    *page = (unsigned)(63 - __builtin_clzl(in_units));
    return number - FIRST_PAGE * (((size_t)1 << *page) - 1);
}

/* Returns the slot NUMBER; NULL if no key has had it. */
static inline struct slot *nif_threads_slot_at(size_t number)
{
    unsigned page;
    size_t place = nif_threads_place_of(number, &page);
    struct slot *slots;

    if (page >= PAGES)
        return NULL;
    slots = atomic_load_explicit(&pages[page], memory_order_acquire);
    return slots ? &slots[place] : NULL;
}

/* Called with the lock held. Returns NULL if memory or numbers are exhausted. */
static struct slot *new_slot(size_t *number)
{
    unsigned page;
    struct slot *slots;

    if (first_free != SIZE_MAX) {
        *number = first_free;
        first_free = nif_threads_slot_at(first_free)->next_free;
        return nif_threads_slot_at(*number);
    }
    if (made == INT_MAX)
        return NULL;
    if (nif_threads_place_of(made, &page) == 0) {
        slots = calloc((size_t)FIRST_PAGE << page, sizeof *slots);
        if (!slots)
            return NULL;
        atomic_store_explicit(&pages[page], slots, memory_order_release);
    }
    *number = made++;
    return nif_threads_slot_at(*number);
}

int enif_tsd_key_create(char *name, ErlNifTSDKey *key)
{
    size_t number = 0;
    struct slot *slot;

    (void)name;
    pthread_once(&once, make_own);
    pthread_mutex_lock(&lock);
    slot = new_slot(&number);
    if (slot)
        atomic_fetch_add_explicit(&slot->generation, 1, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    if (!slot)
        return ENOMEM;
    *key = (ErlNifTSDKey)number + 1;
    return 0;
}

/* Returns the slot of KEY and its generation; NULL if the key does not exist. */
static inline struct slot *nif_threads_slot_of(ErlNifTSDKey key, uint64_t *generation)
{
    struct slot *slot = key > 0 ? nif_threads_slot_at((size_t)key - 1) : NULL;

    if (!slot)
        return NULL;
    *generation = atomic_load_explicit(&slot->generation, memory_order_relaxed);
    return *generation % 2 ? slot : NULL;
}

void enif_tsd_key_destroy(ErlNifTSDKey key)
{
    uint64_t generation;
    struct slot *slot;

    pthread_mutex_lock(&lock);
    slot = nif_threads_slot_of(key, &generation);
    if (slot) {
        atomic_store_explicit(&slot->generation, generation + 1, memory_order_relaxed);
        slot->next_free = first_free;
        first_free = (size_t)key - 1;
    }
    pthread_mutex_unlock(&lock);
}

/* If memory is short, the program ends, as in a BEAM: the API has no error here. */
void enif_tsd_set(ErlNifTSDKey key, void *data)
{
    struct values *values;
    uint64_t generation;
    size_t before, count = (size_t)key;

    if (!nif_threads_slot_of(key, &generation))
        return;
    values = pthread_getspecific(own);
    before = values ? values->count : 0;
    if (count > before) {
        count += count / 2;
        values = th_realloc(values, sizeof *values + count * sizeof values->all[0]);
        memset(values->all + before, 0, (count - before) * sizeof values->all[0]);
        values->count = count;
        pthread_setspecific(own, values);
    }
    values->all[key - 1] = (struct value){generation, data};
}

void *enif_tsd_get(ErlNifTSDKey key)
{
    uint64_t generation;
    const struct values *values =
        nif_threads_slot_of(key, &generation) ? pthread_getspecific(own) : NULL;

    if (!values || (size_t)key > values->count || values->all[key - 1].generation != generation)
        return NULL;
    return values->all[key - 1].data;
}
