#include "tracepoint.h"

#include "host/runtime/call_steps.h"
#include "host/runtime/mailbox.h"
#include "host/term/text.h"

#include <string.h>

/* A text for a probe, valid during the call. */
struct text {
    char bytes[TH_PROBE_TEXT];
};

static const char *probed_text_of(struct text *text, th_term t)
{
    return t == TH_NONE ? "" : th_text_fit(text->bytes, sizeof text->bytes, t);
}

/* A long name is cut off like other texts, with its arity. */
static const char *mfa_text(struct text *text, struct th_mfa name)
{
    struct th_buffer whole = {0};
    size_t most = sizeof text->bytes - 1;

    th_trace_function_print(&whole, &name);
    if (whole.size > most)
        for (whole.size = most; (whole.data[whole.size] & 0xC0) == 0x80; whole.size--)
            ;
    memcpy(text->bytes, whole.data, whole.size);
    text->bytes[whole.size] = 0;
    th_buffer_free(&whole);
    return text->bytes;
}

static const char *next_text(struct text *text, const struct th_continuation *next)
{
    struct th_mfa name;

    return th_traced_next_name(next, &name) ? mfa_text(text, name) : "";
}

static int words_of_bytes(size_t bytes)
{
    size_t words = bytes / sizeof(th_term);

    return words < INT32_MAX ? (int)words : INT32_MAX;
}

/* --- Messages -------------------------------------------------------------------------------- */

/* The process' own token travels with the message. */
void th_traced_probe_send(struct th_process *process, th_term to, th_term message)
{
    struct text sender, receiver;
    struct th_message_numbers numbers;
    th_env env;

    th_traced_probed_taken(process);
    th_env_init(&env, TH_ENV_PLAIN);
    numbers = th_process_message_numbers(message, th_runtime_seq_token(process, &env));
    th_env_release(&env);
    TH_PROBE(message__send, probed_text_of(&sender, process->pid), probed_text_of(&receiver, to),
             numbers.words, numbers.label, numbers.previous, numbers.serial);
}

/* STAYS: number of messages in the queue that were received already. */
static void tell_receive(const struct th_process *process, const struct th_message *message,
                         uint64_t stays)
{
    struct th_message_numbers numbers = th_process_message_numbers(message->term, message->token);
    struct text receiver;

    TH_PROBE(message__receive, probed_text_of(&receiver, process->pid), numbers.words,
             (uint32_t)(th_process_queue(process->mailbox) - stays), numbers.label,
             numbers.previous, numbers.serial);
}

void th_traced_probe_receive(struct th_process *process, const struct th_message *message)
{
    if (!process->receive_probed)
        tell_receive(process, message, 0);
}

void th_traced_probed_taken(struct th_process *process)
{
    if (!process->offered || process->receive_probed || !TH_PROBE_ENABLED(message__receive))
        return;
    process->receive_probed = true;
    tell_receive(process, process->offered, 1);
}

/* --- Processes ------------------------------------------------------------------------------- */

void th_traced_probe_spawn(const struct th_process *process)
{
    struct text p, mfa;

    TH_PROBE(process__spawn, probed_text_of(&p, process->pid), next_text(&mfa, &process->next));
}

void th_traced_probe_copied(const struct th_process *process)
{
    struct text p;
    size_t words = 0;

    for (int i = 0; i < process->next.argc; i++)
        words += th_term_words(process->next.argv[i]);
    TH_PROBE(copy__object, probed_text_of(&p, process->pid), (uint32_t)words);
}

void th_traced_probe_exit(const struct th_process *process, th_term reason)
{
    struct text p, why;

    TH_PROBE(process__exit, probed_text_of(&p, process->pid), probed_text_of(&why, reason));
}

void th_traced_probe_exit_signal(th_term from, th_term to, th_term reason)
{
    struct text sender, receiver, why;

    TH_PROBE(process__exit_signal, probed_text_of(&sender, from), probed_text_of(&receiver, to),
             probed_text_of(&why, reason));
}

void th_traced_probe_in(const struct th_process *process)
{
    struct text p, mfa;

    TH_PROBE(process__scheduled, probed_text_of(&p, process->pid), next_text(&mfa, &process->next));
}

void th_traced_probe_out(const struct th_process *process)
{
    struct text p;

    TH_PROBE(process__unscheduled, probed_text_of(&p, process->pid));
}

/* --- Heaps ----------------------------------------------------------------------------------- */

void th_traced_probe_gc_start(const struct th_process *process)
{
    struct text p;

    TH_PROBE(gc_major__start, probed_text_of(&p, process->pid), 0);
}

void th_traced_probe_gc_end(const struct th_process *process, size_t words)
{
    struct text p;

    TH_PROBE(gc_major__end, probed_text_of(&p, process->pid),
             words_of_bytes(words * sizeof(th_term)));
}

void th_traced_probe_room(const struct th_process *process, size_t before, size_t after)
{
    struct text p;
    int had = words_of_bytes(before), has = words_of_bytes(after);

    probed_text_of(&p, process->pid);
    if (after > before)
        TH_PROBE(process__heap_grow, p.bytes, had, has);
    else if (after < before)
        TH_PROBE(process__heap_shrink, p.bytes, had, has);
}

/* --- Functions ------------------------------------------------------------------------------- */

/* Returns the number of waiting functions: nested calls outwards from OUTER, and kept frames. */
static int depth_in(const struct th_process *process, const struct th_call *outer)
{
    size_t depth = process->frame_count;

    for (; outer; outer = outer->outer)
        depth++;
    return (int)depth;
}

/* A function named by enif_schedule_nif() has that name, unless it continues in the function's
 * place. */
static const char *running_text(struct text *text, const struct th_call *call)
{
    return mfa_text(text,
                    th_runtime_code_name(call->callee, call->function, call->goes_on, call->argc));
}

void th_traced_probe_external(const struct th_process *process, const struct th_callee *callee,
                              const struct th_call *outer)
{
    struct text p, mfa;

    TH_PROBE(global__function__entry, probed_text_of(&p, process->pid),
             mfa_text(&mfa, th_runtime_callee_name(callee)), depth_in(process, outer));
}

/* The call is made in the code of CALL, so one level deeper. */
void th_traced_probe_local(const struct th_call *call, const struct th_mfa *function, bool ends)
{
    struct text p, mfa;
    int depth = depth_in(call->process, call);

    probed_text_of(&p, call->process->pid);
    mfa_text(&mfa, *function);
    if (ends)
        TH_PROBE(function__return, p.bytes, mfa.bytes, depth);
    else
        TH_PROBE(local__function__entry, p.bytes, mfa.bytes, depth);
}

void th_traced_probe_code(const struct th_call *call, bool entered)
{
    struct text p, mfa;

    probed_text_of(&p, call->process->pid);
    running_text(&mfa, call);
    if (entered)
        TH_PROBE(nif__entry, p.bytes, mfa.bytes);
    else
        TH_PROBE(nif__return, p.bytes, mfa.bytes);
}

void th_traced_probe_return(const struct th_call *call)
{
    struct text p, mfa;

    TH_PROBE(function__return, probed_text_of(&p, call->process->pid), running_text(&mfa, call),
             depth_in(call->process, call->outer));
}

/* --- Ports ----------------------------------------------------------------------------------- */

void th_traced_probed_port_open(th_term process, const char *name, th_term port)
{
    struct text who, which;

    TH_PROBE(port__open, probed_text_of(&who, process), name, probed_text_of(&which, port));
}

void th_traced_probed_port_command(th_term process, th_term port)
{
    struct text who, which, name;

    TH_PROBE(port__command, probed_text_of(&who, process), probed_text_of(&which, port),
             th_process_port_what(port, name.bytes, sizeof name.bytes), "command");
}

void th_traced_probed_port_exit(th_term process, th_term port, const char *name, th_term reason)
{
    struct text who, which, why;

    TH_PROBE(port__exit, probed_text_of(&who, process), probed_text_of(&which, port), name,
             probed_text_of(&why, reason));
}
