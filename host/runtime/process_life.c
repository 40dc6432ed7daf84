/* Processes: creation, turns, end. */
#include "process_life.h"

#include "call_steps.h"
#include "mailbox.h"
#include "queue.h"
#include "runtime_internal.h"

#include "host/code/instance.h"
#include "host/library/resource/resource.h"
#include "host/runtime/traced/traced_call.h"
#include "host/runtime/traced/tracepoint.h"
#include "host/term/make.h"
#include "host/term/text.h"

#include <time.h>

/* Relaxed: only a count; th_runtime_kill_all() checks it repeatedly. */
static _Atomic size_t process_count;

size_t th_runtime_processes(void)
{
    return atomic_load_explicit(&process_count, memory_order_relaxed);
}

struct th_process *th_runtime_process_create(bool told, struct th_process *parent, bool linked)
{
    struct th_process *process = th_runtime_process_memory_take();

    atomic_fetch_add_explicit(&process_count, 1, memory_order_relaxed);
    process->inbox_end = &process->inbox;
    process->offer = &process->inbox;
    process->next.where = ERL_NIF_THR_NORMAL_SCHEDULER;
    process->told = told;
    process->takes = 1;
    process->reductions = TH_TURN;
    process->waiting = told;
    th_runtime_shown_doing(&process->shown, told ? TH_PROCESS_WAITING : TH_PROCESS_QUEUED);
    process->mailbox =
        th_process_start_mailbox(th_runtime_mailbox_wake, process, &process->shown.inbox);
    process->pid = th_process_pid(process->mailbox);
    process->env->self = process->pid;
    th_runtime_heap_start(process);
    th_traced_tracepoint_begin(process, parent, linked);
    return process;
}

/* --- Spawn ----------------------------------------------------------------------------------- */

th_term th_runtime_process_spawn(struct th_call *call, th_term module, th_term function, int argc,
                                 const th_term argv[], int options, th_term *monitor)
{
    struct th_process *parent = call->process;
    bool linked = options & TH_PROCESS_LINK;
    struct th_process *child;
    uint64_t number;
    th_term pid;

    if (th_runtime_processes() >= th_runtime_threads().processes || !th_runtime_dirty_take(parent))
        return TH_NONE;
    child = th_runtime_process_create(false, parent, linked);
    pid = child->pid;
    child->next = (struct th_continuation){
        .step = TH_STEP_CALL,
        .where = ERL_NIF_THR_NORMAL_SCHEDULER,
        .module = module,
        .function = function,
        .argc = argc,
        .argv = th_runtime_terms_copy(child->env, argc, argv),
    };
    child->home = parent->home;
    th_runtime_seq_spawn(parent, child);

    /* Both sides record the link and the monitor before one of them can act. */
    if (linked) {
        th_hash_table_set(&parent->links, pid, TH_LINKED);
        th_hash_table_set(&child->links, parent->pid, TH_LINKED);
    }
    if (options & TH_PROCESS_MONITOR) {
        *monitor = th_make_new_reference(call->env);
        number = th_reference_number(*monitor);
        th_hash_table_set(&parent->monitors, number, (void *)(uintptr_t)pid);
        th_hash_table_set(&child->watchers, number, (void *)(uintptr_t)parent->pid);
    }
    th_traced_probed_spawn(child, parent);
    th_traced_tracepoint_spawn(parent, child, linked);
    th_runtime_dirty_let_go(parent);
    th_runtime_queue_add(child); /* from here on other threads may use the child */
    return pid;
}

/* --- A turn ---------------------------------------------------------------------------------- */

/* Ends the call or the process. Returns true if the process goes on. */
static bool process_life_conclude(struct th_process *process)
{
    static const enum th_call_end ends[] = {
        [TH_RAISED_ERROR] = TH_CALL_RAISED,
        [TH_RAISED_EXIT] = TH_CALL_EXITED,
        [TH_RAISED_THROW] = TH_CALL_THREW,
    };
    bool returned = process->outcome != TH_NONE;
    th_term reason = TH_AM(normal);

    if (process->told) {
        atomic_store_explicit(&process->shown.function, NULL,
                              memory_order_relaxed); /* the function has returned */
        th_runtime_request_finish(process,
                                  returned ? TH_CALL_RETURNED : ends[process->raised.class],
                                  returned ? process->outcome : process->raised.reason);
        return true;
    }
    if (!returned) { /* the process' first function did not catch an exception */
        reason = th_runtime_exception_exit_reason(process->env, &process->raised);
        if (process->raised.class != TH_RAISED_EXIT)
            th_runtime_exception_report(process, reason);
    }
    th_runtime_process_end(process, reason);
    return false;
}

/* Takes PROCESS back on a dirty thread. Returns false if the process has ended and the thread must
 * not use it any more. */
static bool is_back(struct th_process *process)
{
    if (process->told || th_runtime_dirty_take(process))
        return true;
    th_runtime_dirty_over(process);
    return false;
}

/* Runs code, on any thread. A dirty thread releases the process first, unless the process is
 * driven. Returns false if the process has ended meanwhile: the thread must not use it any more. */
static bool process_life_run(struct th_process *process)
{
    bool dirty = th_self.scheduler->type != ERL_NIF_THR_NORMAL_SCHEDULER;

    if (dirty && !process->told)
        th_runtime_dirty_let_go(process);
    if (!th_runtime_dirty_is_over(process))
        th_runtime_step_take(process, NULL);
    if (dirty && !is_back(process))
        return false;
    if (process->offered)
        th_runtime_mailbox_offered(process);
    if (process->next.step != TH_STEP_CONCLUDE)
        th_runtime_heap_collect(process);
    if (!dirty)
        th_resource_reap();
    return true;
}

/* Takes one step. Returns false if the process has ended or waits: the thread must not use it any
 * more. */
static bool process_life_step(struct th_process *process)
{
    switch (process->next.step) {
    case TH_STEP_RUN:
    case TH_STEP_CALL:
        return process_life_run(process);
    case TH_STEP_AWAIT:
    case TH_STEP_RECEIVE:
        return th_runtime_mailbox_offer(process);
    case TH_STEP_FILE:
        return th_runtime_file_step(process);
    case TH_STEP_CODE:
        return th_runtime_code_step(process);
    case TH_STEP_CONCLUDE:
        return process_life_conclude(process);
    default:
        return th_runtime_mailbox_wait(process);
    }
}

/* The rest of a turn may be negative. */
static uint64_t reductions_of(const struct th_process *process)
{
    return process->reductions_before + (uint64_t)(TH_TURN - process->reductions);
}

enum { OLDEST_FRAMES = 4 }; /* examined frames; long stacks would take too much time */

void th_runtime_process_show(struct th_process *process)
{
    struct th_process_shown *shown = &process->shown;
    const struct th_continuation *next = &process->next;
    uint64_t code = 0, oldest = 0;

    if (th_runtime_step_is_code(next->step) && next->callee)
        code = th_code_callee_serial(next->callee);
    for (size_t i = 0; i < process->frame_count && i < OLDEST_FRAMES; i++) {
        uint64_t serial = th_code_callee_serial(process->frames[i].then.callee);
        if (serial && (!oldest || serial < oldest))
            oldest = serial;
    }
    th_runtime_shown_set(&shown->code, code);
    th_runtime_shown_set(&shown->kept, oldest);
    th_runtime_shown_set(&shown->reductions, reductions_of(process));
    th_runtime_shown_set(&shown->words, th_env_used(process->env) + process->fragment_words);
    th_runtime_shown_set(&shown->links, process->links.count);
}

void th_runtime_process_begin_turn(struct th_process *process)
{
    process->reductions_before = reductions_of(process);
    process->reductions = TH_TURN;
}

static void end_meanwhile(struct th_process *process);

/* A function that needs another thread, or another turn, waits in a queue. */
void th_runtime_process_turn(struct th_process *process)
{
    int here = th_self.scheduler->type;

    if (here != ERL_NIF_THR_NORMAL_SCHEDULER) {
        if (!is_back(process))
            return;
    } else if (th_runtime_dirty_is_over(process)) {
        end_meanwhile(process);
        return;
    }
    /* A driven process stands for one that makes one call after the other: waiting between two
     * calls does not begin a new turn. */
    if (!process->told || process->next.step != TH_STEP_NONE || process->reductions <= 0)
        th_runtime_process_begin_turn(process);
    th_runtime_shown_doing(&process->shown, TH_PROCESS_RUNNING);
    th_traced_tracepoint_in(process);
    do {
        if (here == ERL_NIF_THR_NORMAL_SCHEDULER) { /* signals act between two functions */
            if (!process->ending && atomic_load_explicit(&process->mail, memory_order_relaxed))
                th_runtime_mailbox_look(process);
            if (process->ending) {
                th_runtime_process_end(process, process->ending->term);
                return;
            }
        }
        if (process->next.where != here || process->reductions <= 0) {
            th_traced_tracepoint_out(process);
            th_runtime_process_show(process);
            th_runtime_shown_doing(&process->shown, TH_PROCESS_QUEUED);
            th_runtime_queue_add(process);
            return;
        }
    } while (process_life_step(process));
}

/* --- The end --------------------------------------------------------------------------------- */

/* Guards waiting for the last processes to end. No lock is taken under it. */
static pthread_mutex_t ends_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ends = PTHREAD_COND_INITIALIZER;
static _Atomic bool ends_awaited; /* relaxed: the waiting thread also checks at intervals */

/* Ends the process for others: it is dead first, then the others are notified, so that they find it
 * dead. */
static void process_life_leave(struct th_process *process, th_term reason)
{
    struct th_host_remains remains;

    if (TH_PROBE_ENABLED(process__exit))
        th_traced_probe_exit(process, reason);
    th_traced_tracepoint_about(process, TH_TAG_exit, reason);
    th_runtime_timer_stop(process); /* no timer may reach the next user of the mailbox */
    th_runtime_file_end(process);
    if (process->told)
        process->end_message = th_process_message_create(reason);
    th_process_leave(process->mailbox, reason, &remains);
    th_runtime_signals_end(process, &remains, reason);
}

/* Ends the part of the process that others do not see. No code runs for the process any more. */
static void process_life_finish(struct th_process *process)
{
    th_traced_open_drop_all(process);
    th_traced_probed_out(process);
    th_traced_tracepoint_end(process);

    th_process_messages_free(process->inbox);
    th_process_messages_free(process->ending);
    th_process_messages_free(process->answer);
    process->inbox = process->ending = process->answer = NULL;
    th_hash_table_free(&process->links);
    th_hash_table_free(&process->monitors);
    th_hash_table_free(&process->watchers);
    th_runtime_heap_end(process);
    th_runtime_steps_drop(process);
    th_free(process->frames);
    process->frames = NULL;
    th_runtime_seq_release(&process->seq);
    th_resource_reap();

    atomic_fetch_sub_explicit(&process_count, 1, memory_order_relaxed);
    if (atomic_load_explicit(&ends_awaited, memory_order_relaxed)) {
        pthread_mutex_lock(&ends_lock);
        pthread_cond_signal(&ends);
        pthread_mutex_unlock(&ends_lock);
    }
    if (process->told)
        sem_post(&process->over);
    else
        th_runtime_process_memory_give(process);
}

void th_runtime_process_end(struct th_process *process, th_term reason)
{
    struct th_request *request = process->request;

    process_life_leave(process, reason);
    if (request)
        th_runtime_request_end(request, reason);
    process_life_finish(process);
}

/* Ends, on a normal scheduler, a process that was released (dirty_end.c), and later the part that
 * its dirty thread has left. */
static void end_meanwhile(struct th_process *process)
{
    if (!process->ending) {
        th_runtime_mailbox_look(process);
        process_life_leave(process, process->ending->term);
        th_traced_tracepoint_leave(process);
        th_resource_reap();
        if (th_runtime_dirty_goes_on(process))
            return;
    }
    process_life_finish(process);
}

/* --- List of processes ------------------------------------------------------------------------ */

struct seen_list {
    struct th_process_seen *items;
    size_t count, capacity;
};

static uint64_t shown(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

/* Under the mailbox's lock, so that the process stays. */
static void see_one(void *context, void *what, th_term pid)
{
    struct seen_list *list = context;
    struct th_process *process = what;

    TH_ARRAY_GROW(list->items, list->count, list->capacity);
    list->items[list->count++] = (struct th_process_seen){
        .pid = pid,
        .name = TH_NONE,
        .doing = (enum th_process_doing)atomic_load_explicit(&process->shown.doing,
                                                             memory_order_relaxed),
        .function = atomic_load_explicit(&process->shown.function, memory_order_relaxed),
        .code = shown(&process->shown.code),
        .kept = shown(&process->shown.kept),
        .messages = shown(&process->shown.inbox) + th_process_mail(pid),
        .reductions = shown(&process->shown.reductions),
        .words = shown(&process->shown.words),
        .links = shown(&process->shown.links),
        .driven = process->told,
    };
}

static size_t process_life_see_all(struct th_process_seen **processes)
{
    struct seen_list list = {0};

    th_process_each(th_runtime_mailbox_wake, see_one, &list);
    *processes = list.items;
    return list.count;
}

size_t th_runtime_list(struct th_process_seen **processes)
{
    size_t count = process_life_see_all(processes);

    for (size_t i = 0; i < count; i++)
        (*processes)[i].name = th_process_name_of((*processes)[i].pid);
    return count;
}

/* --- Purging ---------------------------------------------------------------------------------- */

/* Each process checks itself, between two functions. */
void th_runtime_processes_purge(const struct th_instance *instance)
{
    struct th_process_seen *processes;
    size_t count = process_life_see_all(&processes);

    for (size_t i = 0; i < count; i++)
        th_runtime_signal_send(processes[i].pid, TH_SIGNAL_PURGE, TH_NONE, instance->serial,
                               th_atom("killed"));
    th_free(processes);
}

enum { MOST_SHOWN = 5 };

void th_runtime_processes_show_inside(const struct th_instance *instance, struct th_buffer *text)
{
    struct th_process_seen *processes;
    size_t count = th_runtime_list(&processes), shown = 0;

    for (size_t i = 0; i < count; i++) {
        const struct th_process_seen *seen = &processes[i];
        if ((seen->code != instance->serial && seen->kept != instance->serial) ||
            shown++ >= MOST_SHOWN)
            continue;
        if (text->size > 0)
            th_buffer_add_text(text, ", ");
        th_text_print(text, seen->pid);
        if (seen->name != TH_NONE) {
            th_buffer_add_byte(text, ' ');
            th_text_show_atom(text, seen->name);
        }
        if (seen->code == instance->serial && seen->function)
            th_buffer_printf(text, " in %s", seen->function);
        else
            th_buffer_printf(text, " waiting for %s", seen->function ? seen->function : "a call");
    }
    if (shown > MOST_SHOWN)
        th_buffer_printf(text, " and %zu more", shown - MOST_SHOWN);
    th_free(processes);
}

/* --- The end of all processes ----------------------------------------------------------------- */

/* Ending processes may have spawned others, so the loop looks again, after 10 ms or when a process
 * has ended. */
void th_runtime_kill_all(void)
{
    bool waits = true;

    atomic_store_explicit(&ends_awaited, true, memory_order_relaxed);
    while (waits) {
        struct th_process_seen *seen;
        size_t count = process_life_see_all(&seen), driven = 0;
        struct timespec until;

        for (size_t i = 0; i < count; i++) {
            driven += seen[i].driven;
            if (!seen[i].driven)
                th_runtime_signal_send(seen[i].pid, TH_SIGNAL_EXIT, TH_NONE, 0, TH_AM(kill));
        }
        th_free(seen);
        waits = count > driven || th_runtime_processes() > driven ||
                th_file_pool_operations() > 0 || th_runtime_loader_orders() > 0;
        if (waits) {
            until = th_runtime_moment(CLOCK_REALTIME, 10000000);
            pthread_mutex_lock(&ends_lock);
            pthread_cond_timedwait(&ends, &ends_lock, &until);
            pthread_mutex_unlock(&ends_lock);
        }
    }
    atomic_store_explicit(&ends_awaited, false, memory_order_relaxed);
}
