/*
 * Calls: checks before a function of a library runs and after it has returned, and around callbacks
 * of tracers. Start and end of the checker.
 */
#include "check_internal.h"

#include "host/base/buffer.h"
#include "host/base/hash.h"
#include "host/code/export.h"
#include "host/library/load.h"
#include "host/term/text.h"
#include "host/trace/callback.h"

#include <pthread.h>
#include <stdarg.h>

/*
 * Origins: the running function of a library, with its arguments.
 */

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

/* Returns whether the called function runs, and no continuation of it. */
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

static char *check_call_take_text(struct th_buffer *buffer)
{
    char *text = th_strdup(th_buffer_text(buffer));

    th_buffer_free(buffer);
    return text;
}

/* --- Origins --------------------------------------------------------------------------------- */

static struct th_origin *new_origin(char *where, char *text)
{
    static _Atomic uint64_t last; /* relaxed: distinct, and in order within a thread */
    struct th_origin *origin = th_alloc(sizeof *origin);

    *origin = (struct th_origin){
        .order = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed),
        .where = where,
        .text = text,
    };
    atomic_init(&origin->holders, 1);
    return origin;
}

/* A destructor or load(), which library/ runs, is an inner frame of the call. */
struct th_origin *th_check_origin_now(void)
{
    static const char thread[] = "a thread of the library";
    const struct th_library_frame *running = th_self.library_frame;
    struct th_check_frame *frame = th_self.check_frame;
    struct th_origin *origin;
    const char *slash;
    char *where;

    if (!running || (frame && frame->running == running))
        return frame ? th_check_origin_keep(frame->origin)
                     : new_origin(th_strdup(thread), th_strdup(thread));
    slash = strrchr(running->library, '/');
    where = th_printf("%s of %s", running->function, slash ? slash + 1 : running->library);
    origin = new_origin(where, th_strdup(where));
    if (strcmp(running->function, "load") == 0 || strcmp(running->function, "upgrade") == 0)
        origin->loads = th_strdup(running->library);
    return origin;
}

struct th_origin *th_check_origin_of_call(const struct th_check_call *call)
{
    const struct th_event *event = th_trace_callback_handled();
    struct th_buffer text = {0}, other = {0};
    char *where;

    if (!call->callee) {
        where = th_printf("%s of tracer '%s'", th_trace_callback_name(&th_self),
                          th_trace_callback_tracer(&th_self));
        th_buffer_printf(&text, "%s, ", where);
        th_text_show_atom(&text, call->argv[0]);
        if (event && !event->live)
            th_buffer_printf(&text, " of record %llu", (unsigned long long)event->number);
        return new_origin(where, check_call_take_text(&text));
    }
    put_function(&text, call);
    put_arguments(&text, call);
    if (is_itself(call))
        return new_origin(th_strdup(call->callee->name), check_call_take_text(&text));
    th_buffer_printf(&text, ", scheduled by %s", call->callee->name);
    put_function(&other, call);
    th_buffer_printf(&other, "/%d", call->argc);
    return new_origin(check_call_take_text(&other), check_call_take_text(&text));
}

/* Relaxed: the caller has a reference. */
struct th_origin *th_check_origin_keep(struct th_origin *origin)
{
    atomic_fetch_add_explicit(&origin->holders, 1, memory_order_relaxed);
    return origin;
}

/* Release and acquire, so that freeing comes after the reads of all holders. */
void th_check_origin_release(struct th_origin *origin)
{
    if (!origin || atomic_fetch_sub_explicit(&origin->holders, 1, memory_order_acq_rel) > 1)
        return;
    th_free(origin->where);
    th_free(origin->text);
    th_free(origin->loads);
    th_free(origin);
}

/*
 * Findings: printed on stderr, a line each, and counted.
 */

enum { TOLD = 10 /* printed findings of a series */ };

/* The findings of one kind in one function. */
struct series {
    uint64_t count;
    char *where;
    char *first; /* text of the first finding */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the following */
static struct th_table all;                              /* by function and kind */
static uint64_t found;

static th_check_finding_watch *finding_watch; /* NULL: findings are printed */

const struct th_check_rule_text th_check_rules[TH_RULES] = {
#define ROW(name, ...) [TH_RULE_##name] = {__VA_ARGS__},
    TH_ALL_RULES(ROW)};

void th_check_watch_findings(th_check_finding_watch *watch)
{
    finding_watch = watch;
}

/* Writes a line on stderr, after flushing stdout to keep the order. */
static void print_finding(const char *who, const char *message)
{
    fflush(stdout);
    fprintf(stderr, "tracehost: check: %s: %s\n", who, message);
}

/* Counts MESSAGE in the series of KIND and ORIGIN's function, prints the first few, and frees
 * MESSAGE. Two series with the same key, of 64 mixed bits, would be counted as one. */
static void tell_finding(const struct th_origin *origin, enum th_check_rule rule, const char *kind,
                         char *message)
{
    const char *where = origin->where;
    uint64_t key = th_hash_mix(th_hash_bytes(where, strlen(where)) ^ (uintptr_t)kind) | 1;
    struct series *series;
    uint64_t count;

    pthread_mutex_lock(&lock);
    series = th_hash_table_get(&all, key);
    if (!series) {
        series = th_alloc(sizeof *series);
        *series = (struct series){0, th_strdup(where), th_strdup(message)};
        th_hash_table_set(&all, key, series);
    }
    found++;
    count = ++series->count;
    pthread_mutex_unlock(&lock);
    if (finding_watch)
        finding_watch(&(struct th_check_finding){rule, where, origin->text, kind, message});
    else if (count <= TOLD)
        print_finding(origin->text, message);
    th_free(message);
}

void th_check_found(const struct th_origin *origin, enum th_check_rule rule, const char *kind,
                    const char *format, ...)
{
    va_list args;

    va_start(args, format);
    tell_finding(origin, rule, kind, th_vprintf(format, args));
    va_end(args);
}

void th_check_found_now(enum th_check_rule rule, const char *kind, const char *format, ...)
{
    struct th_origin *origin = th_check_origin_now();
    va_list args;

    va_start(args, format);
    tell_finding(origin, rule, kind, th_vprintf(format, args));
    va_end(args);
    th_check_origin_release(origin);
}

void th_check_report_leak(const struct th_origin *origin, const char *kind, const char *message)
{
    if (finding_watch)
        finding_watch(
            &(struct th_check_finding){TH_RULE_LEAK, origin->where, origin->text, kind, message});
    else
        print_finding("leak", message);
    pthread_mutex_lock(&lock);
    found++;
    pthread_mutex_unlock(&lock);
}

void th_check_blame(enum th_check_rule rule, const char *function, const char *what)
{
    th_check_found_now(rule, what, "calls %s() %s", function, what);
}

void th_check_blame_of(enum th_check_rule rule, const char *function, const char *what,
                       const char *other)
{
    th_check_found_now(rule, what, "calls %s() %s %s()", function, what, other);
}

uint64_t th_check_findings_end(void)
{
    size_t position = 0;
    struct th_slot *slot;
    uint64_t total;

    pthread_mutex_lock(&lock);
    while ((slot = th_hash_table_next(&all, &position))) {
        struct series *series = slot->value;
        if (series->count > TOLD && !finding_watch)
            fprintf(stderr, "tracehost: check: %s: %llu more times: %s\n", series->where,
                    (unsigned long long)(series->count - TOLD), series->first);
        th_free(series->where);
        th_free(series->first);
        th_free(series);
    }
    th_hash_table_free(&all);
    total = found;
    found = 0;
    pthread_mutex_unlock(&lock);
    return total;
}

/* --- Calls ----------------------------------------------------------------------------------- */

enum { MOST_BYTES = 64 << 10 /* of one binary */, MOST_BINARIES = 64 /* of one call */ };

/* Bytes of an argument, which must not change. */
struct th_check_bytes {
    const unsigned char *bytes;
    size_t size;
    uint64_t hash;
    int argument; /* from 0 */
};

/* --- The bytes of arguments ------------------------------------------------------------------ */

struct collecting {
    struct th_check_frame *frame;
    int argument;
};

static void note_bytes(void *context, const unsigned char *bytes, size_t size)
{
    struct collecting *collecting = context;
    struct th_check_frame *frame = collecting->frame;

    if (size == 0 || size > MOST_BYTES || frame->byte_count == MOST_BINARIES)
        return;
    TH_ARRAY_GROW(frame->bytes, frame->byte_count, frame->byte_capacity);
    frame->bytes[frame->byte_count++] =
        (struct th_check_bytes){bytes, size, th_hash_bytes(bytes, size), collecting->argument};
}

/* --- Calls ----------------------------------------------------------------------------------- */

void th_check_begin(const struct th_check_call *call)
{
    static _Atomic uint64_t calls; /* relaxed: only distinct */
    struct th_check_frame *frame = th_alloc(sizeof *frame);

    *frame = (struct th_check_frame){
        .outer = th_self.check_frame,
        .call = call,
        .running = th_self.library_frame,
        .origin = th_check_origin_of_call(call),
        .number = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) + 1,
    };
    for (int i = 0; i < call->argc; i++)
        if (call->argv[i] != TH_NONE) /* TH_NONE stands for a result or a message */
            th_check_each_binary(call->env, call->argv[i], note_bytes,
                                 &(struct collecting){frame, i});
    th_self.check_frame = frame;
}

th_term th_check_answer(const struct th_check_call *call, th_term answer, bool scheduled)
{
    struct th_check_frame *frame = th_self.check_frame;
    th_env *env = call->env;

    if (env->exception != TH_NONE) {
        if (answer != TH_NONE)
            th_check_found_now(TH_RULE_TERM, "raised",
                               "returns a term after raising an exception; the exception counts");
        if (!th_check_valid(env, env->exception, "raises", NULL))
            env->exception = TH_AM(undefined);
        answer = TH_NONE;
    } else if (answer == TH_NONE && !scheduled) {
        th_check_found_now(TH_RULE_TERM, "nothing", "returns 0: neither a term nor an exception");
        answer = TH_AM(undefined);
    } else if (answer != TH_NONE && !th_check_valid(env, answer, "returns", NULL)) {
        answer = TH_AM(undefined);
    }
    for (size_t i = 0; i < frame->byte_count; i++) {
        const struct th_check_bytes *it = &frame->bytes[i];
        if (th_hash_bytes(it->bytes, it->size) != it->hash)
            th_check_found_now(TH_RULE_BYTES, "changed bytes",
                               "changed the bytes of a binary in argument %d", it->argument + 1);
    }
    th_check_locks_left(frame);
    th_self.check_frame = frame->outer;
    th_check_ended(env, frame->origin);
    th_free(frame->bytes);
    th_free(frame);
    return answer;
}

/* --- The checker ------------------------------------------------------------------------------ */

_Atomic bool th_check_started;

void th_check_start(void)
{
    th_check_heaps_start();
    th_check_callbacks_start();
    atomic_store_explicit(&th_check_started, true, memory_order_relaxed);
}

/* Freed memory is checked before leaks, so that the lines are in order of time. */
uint64_t th_check_end(void)
{
    if (!th_check_on())
        return 0;
    atomic_store_explicit(&th_check_started, false, memory_order_relaxed);
    th_check_callbacks_end();
    th_check_heaps_end();
    th_check_owned_end();
    return th_check_findings_end();
}
