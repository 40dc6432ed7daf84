/* Threads that libraries create. */
#include "nif.h"

#include "lock.h"

#include "host/runtime/runtime.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

struct ErlDrvTid_ {
    pthread_t thread;
    void *(*function)(
        void *argument); /* NULL: of a thread that enif_thread_create() did not make */
    void *argument;
    char *name;
    struct th_library *library; /* whose code it runs */
};

/* The calling thread, if a library created it. */
static _Thread_local struct ErlDrvTid_ *self;

/* --- Options --------------------------------------------------------------------------------- */

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

/* The limits that a BEAM has, in kilowords; a suggestion beyond them counts as the nearer. */
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
    /* What the C library itself takes, thread-local variables for one, is not the library's. */
    size = (size_t)kilowords * KILOWORD + (size_t)sysconf(_SC_THREAD_STACK_MIN);
    size += (size_t)(page - 1);
    return pthread_attr_setstacksize(attributes, size - size % (size_t)page);
}

/* --- Creating -------------------------------------------------------------------------------- */

/* Also when it ends itself by enif_thread_exit(). */
static void end(void *made)
{
    th_library_thread_ends(((struct ErlDrvTid_ *)made)->library);
}

static void *run(void *argument)
{
    char shown[16]; /* all that the system remembers of a name */
    void *result;

    self = argument;
    snprintf(shown, sizeof shown, "%s", self->name);
    pthread_setname_np(pthread_self(), shown);
    pthread_cleanup_push(end, argument);
    result = self->function(self->argument);
    pthread_cleanup_pop(1);
    return result;
}

/* Signals that others send to the program are for the program's own threads. */
static void block_signals(sigset_t *old)
{
    static const int synchronous[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t blocked;

    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof synchronous / sizeof synchronous[0]; i++)
        sigdelset(&blocked, synchronous[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, old);
}

static int start(struct ErlDrvTid_ *tid, const ErlNifThreadOpts *opts)
{
    pthread_attr_t attributes;
    sigset_t old;
    int error = pthread_attr_init(&attributes);

    if (error)
        return error;
    error = set_stack_size(&attributes, opts ? opts->suggested_stack_size : -1);
    if (!error) {
        block_signals(&old);
        error = pthread_create(&tid->thread, &attributes, run, tid);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    pthread_attr_destroy(&attributes);
    return error;
}

int enif_thread_create(char *name, ErlNifTid *tid, void *(*func)(void *), void *args,
                       ErlNifThreadOpts *opts)
{
    struct ErlDrvTid_ *made;
    int error;

    if (!tid || !func)
        return EINVAL;
    made = th_named_create(sizeof *made, name);
    if (!made)
        return ENOMEM;
    made->function = func;
    made->argument = args;
    made->name = (char *)(made + 1);
    *tid = made; /* before it starts: it may look for itself there */
    th_check_got(TH_CHECK_THREAD, made, 0, name, "enif_thread_create");
    made->library = th_library_thread_begins((uintptr_t)func);
    error = start(made, opts);
    if (error) {
        th_library_thread_ends(made->library);
        th_check_gave(TH_CHECK_THREAD, made, "enif_thread_create");
        *tid = NULL;
        free(made);
    }
    return error;
}

/* --- Who it is ------------------------------------------------------------------------------- */

/* A thread of the host, or one that a library made by other means, has an identity for as long as
 * it runs. Allocated by nobody, so that nobody has to free it. */
static struct ErlDrvTid_ *foreign_self(void)
{
    static char unknown[] = "unknown";
    static _Thread_local struct ErlDrvTid_ foreign = {.name = unknown};

    foreign.thread = pthread_self();
    return &foreign;
}

ErlNifTid enif_thread_self(void)
{
    return self ? self : foreign_self();
}

int enif_equal_tids(ErlNifTid tid1, ErlNifTid tid2)
{
    return tid1 == tid2;
}

char *enif_thread_name(ErlNifTid tid)
{
    return tid ? tid->name : NULL;
}

/* --- Ending ---------------------------------------------------------------------------------- */

/* There is nothing that could be answered here: a BEAM ends at once, too. */
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
