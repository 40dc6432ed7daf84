#include "crash.h"
#include "crash_internal.h"
#include "crash_machine.h"

#include "host/base/memory.h"
#include "host/base/output.h"
#include "host/code/export.h"
#include "host/code/instance.h"
#include "host/library/debuginfo/line.h"
#include "host/library/examine.h"
#include "host/library/load.h"
#include "host/term/clock.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
#include <unwind.h>

/* Held while the list is changed or read; no lock is taken under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct th_crash_thread *threads;
static _Thread_local struct th_crash_thread own;

/* All loads here and below are relaxed: an old value delays the watchdog, and the thread checks
 * again before it reports. */
bool th_crash_thread_is_in(const struct th_crash_thread *thread)
{
    return __atomic_load_n(&thread->self->attachment, __ATOMIC_RELAXED) &&
           atomic_load_explicit(&thread->self->callbacks, memory_order_relaxed) == thread->seen;
}

void th_crash_threads_look(pthread_t spared, int64_t nanoseconds,
                           bool (*excused)(const struct th_crash_thread *thread),
                           bool (*ask)(const struct th_crash_thread *thread))
{
    int64_t now = th_clock_real_monotonic();

    pthread_mutex_lock(&lock);
    for (struct th_crash_thread *t = threads; t; t = t->next) {
        bool done = false;
        if (pthread_equal(t->thread, spared))
            continue;
        if (th_crash_thread_is_in(t) && (t->since == INT64_MAX || !excused(t))) {
            if (now - t->since < nanoseconds)
                continue;
            done = ask(t);
        }
        t->seen = atomic_load_explicit(&t->self->callbacks, memory_order_relaxed);
        t->since = done ? INT64_MAX : now;
    }
    pthread_mutex_unlock(&lock);
}

/* A first thread that has ended stays as a zombie. */
bool th_crash_thread_has_ended(pid_t process, pid_t id)
{
    char path[64], text[512];
    const char *state;
    ssize_t size;
    int file;

    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)process, (int)id);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return true;
    size = read(file, text, sizeof text - 1);
    close(file);
    text[size > 0 ? size : 0] = '\0';
    state = strrchr(text, ')'); /* behind the name */
    return size <= 0 || (state && strncmp(state, ") Z", 3) == 0);
}

/* --- The process ------------------------------------------------------------------------------ */

pid_t th_crash_owner;

bool th_crash_is_child(void)
{
    return getpid() != th_crash_owner;
}

void th_crash_end_child(void)
{
    if (!th_crash_is_child())
        return;
    th_write_text(STDERR_FILENO,
                  "tracehost: a process that a library has forked came back to the host, and is "
                  "ended\n");
    _exit(TH_CRASHED);
}

/*
 * Two stacks for each thread: its own, whose end must be known to recognize an overflow, and one
 * for signal handlers, as the first may have no room left.
 */

enum {
    STACK_BYTES = 512 * 1024, /* for handlers; the printers are iterative */
    REACH = 256 * 1024        /* distance from the stack's end at which an access counts as an
                                 overflow */
};

static _Thread_local void *handler_stack;
static _Thread_local stack_t stack_before; /* of the former handlers, for example a sanitizer's */

void (*th_crash_thread_lost)(const struct th_self *self);

/* The destructor of a key runs as the thread ends, however it does. */
static pthread_key_t lost_key;
static pthread_once_t lost_once = PTHREAD_ONCE_INIT;

static void end_lost(void *self)
{
    if (th_crash_is_in_library(self))
        th_crash_thread_lost(self);
}

static void make_lost_key(void)
{
    (void)pthread_key_create(&lost_key, end_lost); /* without a key the watchdog finds the thread */
}

void th_crash_thread_begin(void)
{
    sigset_t met;

    th_self_share();
    th_self.id = gettid();
    pthread_once(&lost_once, make_lost_key);
    pthread_setspecific(lost_key, &th_self);
    own = (struct th_crash_thread){.thread = pthread_self(), .id = th_self.id, .self = &th_self};
    pthread_mutex_lock(&lock);
    own.next = threads;
    own.place = &threads;
    if (threads)
        threads->place = &own.next;
    threads = &own;
    pthread_mutex_unlock(&lock);
    handler_stack = th_alloc(STACK_BYTES);
    sigaltstack(&(stack_t){.ss_sp = handler_stack, .ss_size = STACK_BYTES}, &stack_before);
    th_self_stack(); /* computed here, as a signal handler cannot */
    /* The thread may have been started with all signals blocked. */
    th_crash_signal_set(&met);
    sigaddset(&met, TH_CRASH_TIMEOUT_SIGNAL);
    pthread_sigmask(SIG_UNBLOCK, &met, NULL);
}

pid_t th_crash_threads_fork(void)
{
    pid_t id;

    pthread_mutex_lock(&lock); /* the watchdog may hold it */
    id = fork();
    pthread_mutex_unlock(&lock);
    if (id == 0) {
        th_crash_owner = getpid();
        own.id = th_self.id = gettid();
    }
    return id;
}

void th_crash_thread_end(void)
{
    pthread_mutex_lock(&lock);
    *own.place = own.next;
    if (own.next)
        own.next->place = own.place;
    pthread_mutex_unlock(&lock);
    sigaltstack(&stack_before, NULL);
    th_free(handler_stack);
    handler_stack = NULL;
    pthread_setspecific(lost_key, NULL);
    th_self.id = 0;
    th_self_unshare();
}

/* The access is just below the lowest address of the stack, or just above: the kernel stops growth
 * a little before. */
bool th_crash_stack_is_used_up(int number, const siginfo_t *info)
{
    uintptr_t address = (uintptr_t)info->si_addr, low = th_self.stack.low;

    return low && number == SIGSEGV && info->si_code > 0 && address + REACH > low &&
           address < low + REACH;
}

enum { MOST_FRAMES = 128, MOST_TOLD = 12, NAME_BYTES = 512 };

struct frame {
    uintptr_t at;    /* the current instruction, or the last byte of the call */
    uintptr_t start; /* of the function; 0: not known */
};

struct walk {
    uintptr_t from; /* address of the first frame; 0: keeps all frames */
    struct frame frames[MOST_FRAMES];
    size_t count;
};

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *argument)
{
    struct walk *walk = argument;
    int interrupted = 0;
    uintptr_t at = _Unwind_GetIPInfo(context, &interrupted);

    if (walk->count == 0 && walk->from && at != walk->from)
        return _URC_NO_REASON; /* a frame of the handler */
    if (walk->count == MOST_FRAMES)
        return _URC_END_OF_STACK; /* ends the walk */
    walk->frames[walk->count++] =
        (struct frame){interrupted ? at : at - 1, _Unwind_GetRegionStart(context)};
    return _URC_NO_REASON;
}

/* Returns whether SYMBOL is in the object of INFO. */
static bool has_symbol(const Dl_info *info, const void *symbol)
{
    Dl_info other;

    return dladdr(symbol, &other) && other.dli_fbase == info->dli_fbase;
}

static bool is_host(const Dl_info *info)
{
    return has_symbol(info, th_library_program_symbol);
}

/* Writes the line of a frame. The name is that of a module's function, of another function of the
 * module's code, or of a symbol. Each line is written at once, as other threads may write, too. */
static void tell_crash_frame(int output, const struct frame *frame, const Dl_info *info)
{
    const struct th_callee *callee;
    const struct th_instance *instance;
    struct th_code_place place;
    char name[NAME_BYTES], old[64] = "";

    th_progress_enter();
    callee = th_code_at(frame->start);
    if (callee)
        snprintf(name, NAME_BYTES, "%s", callee->name);
    else if (th_code_place(frame->at, &place) && place.function)
        snprintf(name, NAME_BYTES, "%s:%s", th_atom_name(place.instance->module->name)->text,
                 place.function);
    else
        snprintf(name, NAME_BYTES, "%s", info->dli_sname ? info->dli_sname : "");
    instance = th_code_instance_at(frame->at);
    if (instance && th_code_module_current(instance->module, th_code_index()) != instance)
        snprintf(old, sizeof old, ", old code of generation %llu",
                 (unsigned long long)instance->generation);
    th_progress_leave();
    th_write_text(output, *name ? "  at %s (%s+%#lx)%s\n" : "  at %s%s+%#lx%s\n", name,
                  info->dli_fname, (unsigned long)(frame->at - (uintptr_t)info->dli_fbase), old);
}

static struct walk walk; /* one report, by one thread */

void th_crash_unwind(void *context)
{
    walk.from = 0;
    walk.count = 0;
    if (context)
        walk.from = th_crash_program_counter(context);
    _Unwind_Backtrace(add_frame, &walk);
}

/* Returns whether INFO is of the C library, whose frames belong to abort() or its like. */
static bool is_libc(const Dl_info *info)
{
    return strstr(info->dli_fname, "/libc.so") != NULL;
}

uintptr_t th_crash_innermost(const void *context, const char **file)
{
    Dl_info info;

    th_crash_unwind((void *)(uintptr_t)context);
    for (size_t i = 0; i < walk.count; i++)
        if (dladdr((void *)walk.frames[i].at, &info) && info.dli_fname && !is_host(&info) &&
            !is_libc(&info)) {
            *file = info.dli_fname;
            return walk.frames[i].at - (uintptr_t)info.dli_fbase;
        }
    return 0;
}

/* An embedding program is not the host. */
const char *th_crash_culprit(void)
{
    const struct th_library *library;
    Dl_info info;

    for (size_t i = 0; i < walk.count; i++) {
        const void *at = (const void *)walk.frames[i].at;
        if (!dladdr(at, &info) || is_host(&info) ||
            has_symbol(&info, (const void *)getauxval(AT_ENTRY)))
            return NULL;
        library = th_library_at(walk.frames[i].at);
        if (library)
            return th_library_path(library);
    }
    return NULL;
}

/* Host frames before a library's are functions called by libraries. */
void th_crash_write_frames(int output)
{
    uintptr_t told[MOST_TOLD];
    char offsets[MOST_TOLD * sizeof " 0x0123456789abcdef"] = "";
    size_t count = 0, length = 0;
    Dl_info info, first;

    for (size_t i = 0; i < walk.count && count < MOST_TOLD; i++) {
        bool known = dladdr((void *)walk.frames[i].at, &info) && info.dli_fname;
        if (known && is_host(&info) && count > 0)
            break;
        if (!known || is_host(&info) || is_libc(&info))
            continue;
        if (count > 0 && told[count - 1] == walk.frames[i].at)
            continue; /* a recursive call */
        tell_crash_frame(output, &walk.frames[i], &info);
        told[count++] = walk.frames[i].at;
    }
    /* The offsets that belong to the innermost library. */
    if (count == 0 || !dladdr((void *)told[0], &first))
        return;
    for (size_t i = 0; i < count; i++)
        if (dladdr((void *)told[i], &info) && info.dli_fbase == first.dli_fbase)
            length += (size_t)snprintf(offsets + length, sizeof offsets - length, " %#lx",
                                       (unsigned long)(told[i] - (uintptr_t)first.dli_fbase));
    th_write_text(output, "  lines: addr2line -Cfie %s%s\n", first.dli_fname, offsets);
}

/* Returns the next line of FILE, without its end, in BUFFER, of SIZE bytes; NULL: there is none.
 * *FILLED bytes of BUFFER are read already, of which *USED belong to earlier lines. */
static char *next_mapping(int file, char *buffer, size_t size, size_t *filled, size_t *used)
{
    char *end, *line;
    ssize_t more;

    while (!(end = memchr(buffer + *used, '\n', *filled - *used))) {
        memmove(buffer, buffer + *used, *filled - *used);
        *filled -= *used;
        *used = 0;
        more = read(file, buffer + *filled, size - *filled);
        if (more <= 0)
            return NULL;
        *filled += (size_t)more;
    }
    *end = '\0';
    line = buffer + *used;
    *used = (size_t)(end + 1 - buffer);
    return line;
}

/* Writes the line of the frame at AT, if it is of a file other than the program and the C library.
 * Returns whether it did. */
static bool write_bare_frame(int output, uintptr_t at)
{
    static char buffer[8192], program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t filled = 0, used = 0;
    bool written = false;
    char *line;

    program[length > 0 ? length : 0] = '\0';
    while (file >= 0 && (line = next_mapping(file, buffer, sizeof buffer, &filled, &used))) {
        unsigned long from, to, offset;
        int name = 0;
        if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %n", &from, &to, &offset, &name) < 3 ||
            at < from || at >= to)
            continue;
        written = line[name] == '/' && strcmp(line + name, program) != 0 &&
                  !strstr(line + name, "/libc.so");
        if (written)
            th_write_text(output, "  at %s+%#lx\n", line + name, at - from + offset);
        break;
    }
    if (file >= 0)
        close(file);
    return written;
}

void th_crash_write_bare_frames(int output)
{
    size_t written = 0;

    for (size_t i = 0; i < walk.count && written < MOST_TOLD; i++)
        written += write_bare_frame(output, walk.frames[i].at);
}
