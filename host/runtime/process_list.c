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
        .driven = process->told,
    };
}

size_t th_runtime_processes_see(struct th_process_seen **processes)
{
    struct list list = {0};

    th_process_each(th_runtime_mailbox_wake, see, &list);
    *processes = list.items;
    return list.count;
}

size_t th_runtime_list(struct th_process_seen **processes)
{
    size_t count = th_runtime_processes_see(processes);

    for (size_t i = 0; i < count; i++)
        (*processes)[i].name = th_process_name_of((*processes)[i].pid);
    return count;
}

/* --- Purging ---------------------------------------------------------------------------------- */

/* Each looks itself, between two functions. */
void th_runtime_processes_purge(const struct th_instance *instance)
{
    struct th_process_seen *processes;
    size_t count = th_runtime_processes_see(&processes);

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
