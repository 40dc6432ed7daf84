/* What match specifications ask of a process that runs. */
#include "mailbox.h"
#include "seq_token.h"
#include "stack_dump.h"
#include "host/runtime/traced/traced_call.h"
#include "host/runtime/traced/tracepoint.h"

static struct th_process *of(void *context)
{
    return th_runtime_process_of_live(context);
}

/* --- Sequential tokens ----------------------------------------------------------------------- */

static th_term is_seq_trace(void *context)
{
    return of(context)->seq.set ? TH_AM(true) : TH_AM(false);
}

static th_term get_seq_token(void *context, th_env *env)
{
    th_term token;

    if (!th_runtime_dirty_take(of(context)))
        return TH_NONE;
    token = th_runtime_seq_token(of(context), env);
    th_runtime_dirty_let_go(of(context));
    return token;
}

static th_term set_seq_token(void *context, th_env *env, th_term component, th_term value)
{
    th_term before;

    if (!th_runtime_dirty_take(of(context)))
        return TH_MATCH_RAISED;
    before = th_runtime_seq_set_in(of(context), env, component, value);
    th_runtime_dirty_let_go(of(context));
    return before == TH_NONE ? TH_MATCH_RAISED : before;
}

/* --- The dump -------------------------------------------------------------------------------- */

static size_t count_of(const struct th_message *message)
{
    size_t count = 0;

    for (; message; message = message->next)
        count++;
    return count;
}

static void print_links(struct th_buffer *text, const struct th_process *process)
{
    const struct th_slot *slot;
    size_t position = 0;
    const char *separator = "";

    th_buffer_add_text(text, "Link list: [");
    while ((slot = th_hash_table_next(&process->links, &position))) {
        if (slot->value != TH_LINKED)
            continue;
        th_buffer_add_text(text, separator);
        th_text_print(text, slot->key);
        separator = ", ";
    }
    th_buffer_add_text(text, "]\n");
}

/* The lines that a BEAM's dump has of what there is here, by the names that they have there. */
static th_term process_dump(void *context, th_env *env)
{
    struct th_process *process = of(context);
    struct th_heap_sizes sizes;
    struct th_buffer text = {0};
    th_term dump;

    if (!th_runtime_dirty_take(process))
        return TH_NONE;
    sizes = th_runtime_heap_sizes(process);
    th_buffer_printf(&text, "State: Running\nMessage queue length: %zu\n",
                     count_of(process->inbox));
    th_buffer_printf(&text, "Heap fragment data: %zu\n", sizes.mbuf_size);
    print_links(&text, process);
    th_buffer_printf(&text, "Stack+heap: %zu\nHeap unused: %zu\n",
                     sizes.heap_block_size + sizes.stack_size,
                     sizes.heap_block_size - sizes.heap_size);
    th_runtime_stack_dump(process, th_traced_from(), &text);
    th_runtime_dirty_let_go(process);
    dump = th_make_binary(env, text.data, text.size);
    th_buffer_free(&text);
    return dump;
}

const struct th_match_operations th_traced_process_asked = {
    .caller = th_traced_caller,
    .caller_line = th_traced_caller_line,
    .is_external = th_traced_is_external,
    .stack = th_traced_stack,
    .is_seq_trace = is_seq_trace,
    .get_seq_token = get_seq_token,
    .set_seq_token = set_seq_token,
    .process_dump = process_dump,
};
