/*
 * The report of the guard, made in the process and the thread that crashed.
 *
 * The first line needs only memory that the library can hardly have damaged. Then each part is a
 * step of its own: if a step crashes again, or waits for a lock for ever, it is left out.
 */
#include "crash_internal.h"

#include "host/base/buffer.h"
#include "host/base/output.h"
#include "host/library/load.h"
#include "host/term/text.h"
#include "host/trace/callback.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    STEP_SECONDS = 2,  /* time limit of a step */
    EVENT_BYTES = 4096 /* of an event's text */
};

/* --- Scenes ----------------------------------------------------------------------------------- */

/* Returns the address of the subject on the stack. The subject of a call that a breakpoint in
 * machine code has met is in the thread's memory: then the stack pointer before the call. */
static uintptr_t address_of_subject(const struct th_self *self)
{
    return self->subject ? (uintptr_t)self->subject : self->in_trace_hook;
}

/*
 * A lone call is no callback: load(), a destructor, a function that a process called. A callback
 * and a lone call can run within each other: a callback runs during a function that causes a live
 * event. Both have a struct on the stack, which grows down; so the lower address is the inner one.
 */
struct th_crash_scene th_crash_scene_of(const struct th_self *self,
                                        const struct th_crash_facts *facts)
{
    bool lone = self->library_frame &&
                (!self->attachment || (uintptr_t)self->library_frame < address_of_subject(self));
    const char *tracer = th_trace_callback_tracer(self);

    return (struct th_crash_scene){
        .kind = tracer ? "tracer" : facts->kind,
        .name = tracer ? tracer : self->library,
        .function = lone ? self->function : th_trace_callback_name(self),
    };
}

void th_crash_describe_signal(int number, char *text, size_t size)
{
    static const struct {
        int number;
        const char *text;
    } known[] = {
        {SIGSEGV, "a bad memory access"},       {SIGBUS, "a bad memory access"},
        {SIGFPE, "a bad arithmetic operation"}, {SIGILL, "a bad instruction"},
        {SIGABRT, "it called abort()"},         {SIGTRAP, "a breakpoint instruction"},
        {SIGSYS, "a bad system call"},          {SIGXCPU, "too much processor time"},
        {SIGXFSZ, "a file that is too large"},
    };
    const char *name = sigabbrev_np(number), *words = sigdescr_np(number);

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].number == number)
            words = known[i].text;
    if (name)
        snprintf(text, size, "SIG%s, %s", name, words);
    else
        snprintf(text, size, "signal %d, a real-time signal", number);
}

/* Returns the name of the stream that is played; "": none. */
static const char *name_of_stream(const struct th_crash_facts *facts)
{
    const char *name = facts->stream ? *facts->stream : NULL;

    return !name ? "" : strcmp(name, "-") == 0 ? "stdin" : name;
}

void th_crash_write_position(const struct th_self *self, const struct th_crash_facts *facts)
{
    const char *title = self->attachment ? th_trace_callback_session(self) : NULL;
    const struct th_event *played = self->attachment ? self->played : NULL;
    const char *name = name_of_stream(facts);

    if (title)
        th_write_text(STDERR_FILENO, "  session '%s'\n", title);
    if (played && played->number)
        th_write_text(STDERR_FILENO, "  record %llu, at byte %llu%s%s\n",
                      (unsigned long long)played->number, (unsigned long long)played->position,
                      *name ? " of " : "", name);
}

/* --- Steps ------------------------------------------------------------------------------------ */

/* Relaxed, as no other data depend on it: a report has begun, and other threads must not report. */
static atomic_bool reporting;
static _Thread_local volatile bool reporter; /* the calling thread reports */
static volatile bool in_step;                /* the reporting thread may leave its step */
static sigjmp_buf step_end;
static struct sigaction old_alarm;

void th_crash_leave_step(int number)
{
    (void)number;
    if (in_step)
        siglongjmp(step_end, 1);
    _exit(TH_CRASHED);
}

bool th_crash_try(void (*step)(void *context), void *context)
{
    volatile bool done = false;

    alarm(STEP_SECONDS);
    if (sigsetjmp(step_end, 1) == 0) {
        in_step = true;
        step(context);
        done = true;
    }
    in_step = false;
    alarm(0);
    return done;
}

bool th_crash_is_reporting(void)
{
    return atomic_load_explicit(&reporting, memory_order_relaxed);
}

void th_crash_begin_report(void)
{
    struct sigaction alarmed = {.sa_handler = th_crash_leave_step, .sa_flags = SA_NODEFER};
    sigset_t needed;

    if (reporter)
        th_crash_leave_step(0);
    while (atomic_exchange_explicit(&reporting, true, memory_order_relaxed))
        pause();
    reporter = true;
    sigaction(SIGALRM, &alarmed, &old_alarm);
    th_crash_signal_set(&needed);
    sigaddset(&needed, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &needed, NULL);
}

void th_crash_abandon_report(void)
{
    sigaction(SIGALRM, &old_alarm, NULL);
    reporter = false;
    atomic_store_explicit(&reporting, false, memory_order_relaxed);
}

static void write_frames(void *unused)
{
    (void)unused;
    th_crash_write_frames(STDERR_FILENO);
}

static void write_bare_frames(void *unused)
{
    (void)unused;
    th_crash_write_bare_frames(STDERR_FILENO);
}

static void flush(void *unused)
{
    (void)unused;
    fflush(NULL);
}

static void write_event(void *unused)
{
    static th_env env; /* static: decoding may need much memory */
    struct th_event *event = th_trace_callback_event();
    const struct th_library_frame *lone = th_self.library_frame;
    struct th_buffer text = {0};
    th_term tuple;

    (void)unused;
    if (event) {
        th_env_init(&env, TH_ENV_PLAIN);
        if (event->source->whole(event, &env, &tuple) == TH_OK) {
            th_text_show_limited(&text, tuple, EVENT_BYTES);
            th_write_text(STDERR_FILENO, "  event: %s\n", th_buffer_text(&text));
        }
    } else if (lone && lone->tell) {
        lone->tell(STDERR_FILENO, lone);
    }
}

void th_crash_note_report(const char *did, bool written)
{
    struct th_crash_page *page = th_crash_page();

    if (!page)
        return;
    snprintf(page->did, sizeof page->did, "%s", did);
    page->reported = written;
}

/* --- Repeated deaths -------------------------------------------------------------------------- */

static void find_frame(void *context)
{
    struct th_crash_death *death = &th_crash_page()->death;
    const char *file = "", *slash;
    uintptr_t frame = th_crash_innermost(context, &file);

    slash = strrchr(file, '/');
    strncpy(death->file, slash ? slash + 1 : file, sizeof death->file - 1);
    death->frame = frame;
}

void th_crash_end_repeated(int number, const void *context)
{
    struct th_crash_page *page = th_crash_page();
    struct th_crash_death *death, *before;

    if (!page || !th_self.attachment || !th_self.played || !th_self.played->number)
        return;
    death = &page->death;
    before = &page->before;
    *death = (struct th_crash_death){.number = number, .slot = (int)th_self.slot};
    if (number != before->number || death->slot != before->slot || !before->frame)
        return;
    th_crash_try(find_frame, (void *)(uintptr_t)context);
    if (death->frame != before->frame || strcmp(death->file, before->file) != 0)
        return;
    death->byte = th_self.played->position;
    strncpy(death->stream, name_of_stream(th_crash_facts()), sizeof death->stream - 1);
    page->repeated = page->reported = true;
    th_crash_try(flush, NULL);
    _exit(TH_CRASHED);
}

/* The code that crashed cannot continue, and the code that hangs will not. */
void th_crash_end_report(const struct th_self *self, const void *context)
{
    struct th_crash_page *page = th_crash_page();

    th_crash_write_position(self, th_crash_facts());
    if (self == &th_self) {
        th_crash_try(th_crash_unwind, (void *)(uintptr_t)context);
        if (!th_crash_try(write_frames, NULL))
            th_crash_try(write_bare_frames, NULL);
        if (page && page->death.number && !page->death.frame)
            th_crash_try(find_frame, (void *)(uintptr_t)context);
    }
    th_crash_try(flush, NULL);
    if (self == &th_self)
        th_crash_try(write_event, NULL);
    _exit(TH_CRASHED);
}
