#include "runtime_internal.h"
#include "mailbox.h"

struct list {
    struct th_process_seen *items;
    size_t count, capacity;
};

static uint64_t shown(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

/* Under the mailbox's lock, so that the process stays. */
static void see(void *context, void *what, th_term pid)
{
    struct list *list = context;
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
    };
}

size_t th_runtime_list(struct th_process_seen **processes)
{
    struct list list = {0};

    th_process_each(th_runtime_mailbox_wake, see, &list);
    for (size_t i = 0; i < list.count; i++)
        list.items[i].name = th_process_name_of(list.items[i].pid);
    *processes = list.items;
    return list.count;
}

/* --- Purging ---------------------------------------------------------------------------------- */

struct pids {
    th_term *items;
    size_t count, capacity;
};

static void note_pid(void *context, void *what, th_term pid)
{
    struct pids *pids = context;

    (void)what;
    TH_ARRAY_GROW(pids->items, pids->count, pids->capacity);
    pids->items[pids->count++] = pid;
}

/* Each looks itself, between two functions. */
void th_runtime_processes_purge(const struct th_instance *instance)
{
    struct pids pids = {0};

    th_process_each(th_runtime_mailbox_wake, note_pid, &pids);
    for (size_t i = 0; i < pids.count; i++)
        th_runtime_signal_send(pids.items[i], TH_SIGNAL_PURGE, TH_NONE, instance->serial,
                               th_atom("killed"));
    th_free(pids.items);
}

enum { MOST_SHOWN = 5 };

static void show_user(const struct th_process_seen *seen, uint64_t code, struct th_buffer *text)
{
    if (text->size > 0)
        th_buffer_add_text(text, ", ");
    th_text_print(text, seen->pid);
    if (seen->name != TH_NONE) {
        th_buffer_add_byte(text, ' ');
        th_text_show_atom(text, seen->name);
    }
    if (seen->code == code && seen->function)
        th_buffer_printf(text, " in %s", seen->function);
    else
        th_buffer_printf(text, " waiting for %s", seen->function ? seen->function : "a call");
}

void th_runtime_processes_show_inside(const struct th_instance *instance, struct th_buffer *text)
{
    struct th_process_seen *processes;
    size_t count = th_runtime_list(&processes), shown = 0;

    for (size_t i = 0; i < count; i++) {
        const struct th_process_seen *seen = &processes[i];
        if (seen->code != instance->serial && seen->kept != instance->serial)
            continue;
        if (shown++ < MOST_SHOWN)
            show_user(seen, instance->serial, text);
    }
    if (shown > MOST_SHOWN)
        th_buffer_printf(text, " and %zu more", shown - MOST_SHOWN);
    th_free(processes);
}
