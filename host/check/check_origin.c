/*
 * Who does it: which function of a library runs in this thread, and with which arguments.
 */
#include "check_internal.h"

#include "host/self/self.h"

enum { ARGUMENT_TEXT = 80, ARGUMENTS_TEXT = 240 /* bytes, about */ };

/* --- Text ------------------------------------------------------------------------------------ */

static void put_arguments(struct th_buffer *out, const struct th_check_call *call)
{
    size_t begin = out->size;

    th_buffer_add_text(out, "(");
    for (int i = 0; i < call->argc; i++) {
        if (i > 0)
            th_buffer_add_text(out, ",");
        if (out->size - begin > ARGUMENTS_TEXT) {
            th_buffer_add_text(out, "...");
            break;
        }
        if (call->argv[i] == TH_NONE)
            th_buffer_add_text(out, "none");
        else
            th_text_show_limited(out, call->argv[i], ARGUMENT_TEXT);
    }
    th_buffer_add_text(out, ")");
}

/* True if what runs is what was called, no continuation of it. */
static bool is_itself(const struct th_check_call *call)
{
    const ErlNifFunc *function = call->callee->function;

    return (unsigned)call->argc == function->arity && strcmp(call->function, function->name) == 0;
}

static void put_function(struct th_buffer *out, const struct th_check_call *call)
{
    th_text_show_atom(out, th_library_name(call->callee->library));
    th_buffer_add_text(out, ":");
    th_text_show_atom(out, th_atom(call->function));
}

static char *take_text(struct th_buffer *buffer)
{
    char *text = th_strdup(th_buffer_text(buffer));

    th_buffer_free(buffer);
    return text;
}

static char *where_of_call(const struct th_check_call *call)
{
    struct th_buffer out = {0};

    if (is_itself(call))
        return th_strdup(call->callee->name);
    put_function(&out, call);
    th_buffer_printf(&out, "/%d", call->argc);
    return take_text(&out);
}

static char *text_of_call(const struct th_check_call *call)
{
    struct th_buffer out = {0};

    put_function(&out, call);
    put_arguments(&out, call);
    if (!is_itself(call))
        th_buffer_printf(&out, ", scheduled by %s", call->callee->name);
    return take_text(&out);
}

static char *where_of_running(const struct th_library_frame *running)
{
    const char *slash = strrchr(running->library, '/');

    return th_printf("%s of %s", running->function, slash ? slash + 1 : running->library);
}

/* --- Origins --------------------------------------------------------------------------------- */

static struct th_origin *new_origin(char *where, char *text)
{
    static _Atomic uint64_t last; /* relaxed: only distinct, and in order within a thread */
    struct th_origin *origin = th_alloc(sizeof *origin);

    *origin = (struct th_origin){
        .order = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed),
        .where = where,
        .text = text,
    };
    atomic_init(&origin->holders, 1);
    return origin;
}

static struct th_origin *origin_of_running(const struct th_library_frame *running)
{
    struct th_origin *origin = new_origin(where_of_running(running), where_of_running(running));

    if (strcmp(running->function, "load") == 0 || strcmp(running->function, "upgrade") == 0)
        origin->loads = th_strdup(running->library);
    return origin;
}

/* What the library's own room runs, a destructor or load(), is further in than a call. */
struct th_origin *th_check_origin_now(void)
{
    static const char thread[] = "a thread of the library";
    struct th_check_frame *frame = th_self.check_frame;

    if (th_self.library_frame && (!frame || frame->running != th_self.library_frame))
        return origin_of_running(th_self.library_frame);
    if (!frame)
        return new_origin(th_strdup(thread), th_strdup(thread));
    return th_check_origin_keep(frame->origin);
}

static struct th_origin *origin_of_callback(th_term tag)
{
    const struct th_event *event = th_trace_callback_handled();
    char *where =
        th_printf("%s of tracer '%s'", th_trace_callback_name(), th_trace_callback_tracer());
    struct th_buffer text = {0};

    th_buffer_printf(&text, "%s, ", where);
    th_text_show_atom(&text, tag);
    if (event && !event->live)
        th_buffer_printf(&text, " of record %llu", (unsigned long long)event->number);
    return new_origin(where, take_text(&text));
}

struct th_origin *th_check_origin_of_call(const struct th_check_call *call)
{
    if (!call->callee)
        return origin_of_callback(call->argv[0]);
    return new_origin(where_of_call(call), text_of_call(call));
}

/* Relaxed: whoever keeps a share knows of one. */
struct th_origin *th_check_origin_keep(struct th_origin *origin)
{
    atomic_fetch_add_explicit(&origin->holders, 1, memory_order_relaxed);
    return origin;
}

/* Release and acquire, so that freeing comes after what all holders read. */
void th_check_origin_release(struct th_origin *origin)
{
    if (!origin || atomic_fetch_sub_explicit(&origin->holders, 1, memory_order_acq_rel) > 1)
        return;
    th_free(origin->where);
    th_free(origin->text);
    th_free(origin->loads);
    th_free(origin);
}
