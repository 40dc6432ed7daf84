/* tracehost cut: writes a part of a recording, which is a recording. */
#include "interrupt.h"
#include "replaying.h"
#include "rewrite.h"
#include "subcommand.h"

#include "host/base/buffer.h"
#include "host/base/log.h"
#include "host/base/memory.h"
#include "host/cli/options/usage.h"
#include "host/term/text.h"
#include "host/trace/event.h"
#include "host/trace/note.h"
#include "host/trace/pattern.h"
#include "host/trace/recorded/execution.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct cut {
    struct th_stream_options stream;
    struct th_rewrite_options output;
    struct th_player_options bounds; /* from and to alone */
    struct th_texts tracee_texts, function_texts;
    const char *records;
    const char *in, *out;

    uint64_t first, last; /* numbers of records, both included */
    th_term *tracees;
    size_t tracee_count;
    struct th_pattern *functions;
    struct cut_zero {
        bool known;
        int64_t ns;
    } zeros[TH_CLOCKS]; /* first time of each clock */
    uint64_t written, untimed;
};

static const struct th_argument arguments[] = {
    TH_WORD("IN", FILE, TH_ARGUMENT_NEEDED, TH_INTO(struct cut, in)),
    TH_WORD("OUT", FILE, TH_ARGUMENT_NEEDED, TH_INTO(struct cut, out)),
    TH_OPTION("from", "T", TIME, INPUT, "Records from T on: 250ms, 1.5s or @CLOCK",
              .take = th_cli_bound_take, TH_INTO(struct cut, bounds.from)),
    TH_OPTION("to", "T", TIME, INPUT, "Records up to T", .take = th_cli_bound_take,
              TH_INTO(struct cut, bounds.to)),
    TH_OPTION("processes", "LIST", TEXT, INPUT,
              "Records of these processes and ports: <0.80.0>,#Port<0.5>",
              .how = TH_ARGUMENT_REPEATS, TH_INTO(struct cut, tracee_texts)),
    TH_OPTION("pattern", "PATTERN", TEXT, INPUT,
              "Calls of these functions, and their ends: M:F/A, M:F/_ or M:_/_; may be given again",
              .letter = 'p', .how = TH_ARGUMENT_REPEATS, TH_INTO(struct cut, function_texts)),
    TH_OPTION("records", "A..B", TEXT, INPUT,
              "Records with these numbers, both included; A.. and ..B stand for one bound",
              TH_INTO(struct cut, records)),
    {0},
};

static enum th_status check_bounds(void *input)
{
    struct cut *cut = input;

    return th_cli_bounds_check(&cut->bounds);
}

static const struct th_argument_set sets[] = {
    {.items = arguments, .check = check_bounds},
    {.items = th_cli_rewrite_arguments, .offset = offsetof(struct cut, output)},
    {.items = th_cli_stream_arguments, .offset = offsetof(struct cut, stream)},
    {0},
};

static const struct th_usage usage = {
    .sets = sets,
    .before = "Writes the chosen records of a recording as a recording.\n"
              "IN and OUT are files, or - for stdin and stdout. OUT is a trace-port file, or JSON "
              "lines if its "
              "name ends in .jsonl; .gz or .zst behind that compresses it.",
    .after =
        "A record is written if all options choose it. " TH_TIME_HELP
        " Records without a time are in each span. Drops, which tell how many events the recorder "
        "lost, and notes of tracehost are always written.",
    .examples = "  tracehost cut --to=1s samples/recordings/s13_procs.trace begin.trace\n"
                "  tracehost cut --records=1..9 samples/recordings/s13_procs.trace - | wc -c",
};

/* --- The choice -------------------------------------------------------------------------------- */

/* Reads "A..B". Errors: TH_USAGE. */
static enum th_status read_numbers(struct cut *cut)
{
    const char *text = cut->records, *dots = text ? strstr(text, "..") : NULL;
    char *end = NULL;

    cut->first = 0;
    cut->last = UINT64_MAX;
    if (!text)
        return TH_OK;
    if (dots && dots > text)
        cut->first = strtoull(text, &end, 10);
    if (dots && dots > text && end != dots)
        dots = NULL;
    if (dots && dots[2]) {
        cut->last = strtoull(dots + 2, &end, 10);
        if (*end)
            dots = NULL;
    }
    if (dots && strspn(text, "0123456789.") == strlen(text) && cut->first <= cut->last)
        return TH_OK;
    return th_error_raise(TH_USAGE, "--records must be two numbers, such as 100..200, not '%s'",
                          text);
}

/* Reads the tracee of SIZE characters at TEXT. Errors: TH_USAGE. */
static enum th_status read_tracee(const char *text, size_t size, th_term *tracee)
{
    enum th_status status;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    status = th_text_parse(&env, text, size, tracee);
    th_env_release(&env);
    if (status == TH_OK && (th_is_local_pid(*tracee) || th_is_local_port(*tracee)))
        return TH_OK;
    th_error_clear();
    return th_error_raise(TH_USAGE, "'%.*s' is no process or port, such as <0.80.0> or #Port<0.5>",
                          (int)size, text);
}

/* Reads the tracees of all --processes, separated by commas. Returns their number in *COUNT. Errors:
 * TH_USAGE. */
static enum th_status read_tracees(struct cut *cut, size_t *count)
{
    size_t capacity = 0;

    *count = 0;
    for (size_t i = 0; i < cut->tracee_texts.count; i++)
        for (const char *text = cut->tracee_texts.items[i]; *text;) {
            size_t size = strcspn(text, ",");
            TH_ARRAY_GROW(cut->tracees, *count, capacity);
            if (read_tracee(text, size, &cut->tracees[*count]) != TH_OK)
                return TH_USAGE;
            ++*count;
            text += size + (text[size] == ',');
        }
    return TH_OK;
}

static enum th_status read_patterns(struct cut *cut)
{
    const struct th_texts *texts = &cut->function_texts;

    cut->functions = th_alloc_zero((texts->count + 1) * sizeof *cut->functions);
    for (size_t i = 0; i < texts->count; i++)
        if (!th_trace_pattern_parse(texts->items[i], &cut->functions[i]))
            return th_error_raise(TH_USAGE,
                                  "'%s' is no pattern; the patterns are " TH_PATTERN_FORMS,
                                  texts->items[i]);
    return TH_OK;
}

static bool is_function(void *context, const struct th_mfa *function)
{
    const struct cut *cut = context;

    for (size_t i = 0; i < cut->function_texts.count; i++)
        if (th_trace_pattern_concerns(&cut->functions[i], function))
            return true;
    return false;
}

/* Returns TH_OK if EVENT has one of the functions; TH_END: none. */
static enum th_status takes_function(struct cut *cut, struct th_event *event)
{
    struct th_caller function = {.kind = TH_CALLER_FUNCTION};
    enum th_status status = TH_OK;

    if (!cut->function_texts.count)
        return TH_OK;
    if (event->kind == TH_EVENT_SEQ_TRACE)
        return TH_END;
    if (event->tag == TH_TAG_call)
        status = event->source->function(event, &function.function);
    else if (event->tag != TH_TAG_return_from && event->tag != TH_TAG_exception_from &&
             event->tag != TH_TAG_return_to)
        return TH_END;
    else if (!th_recorded_end_function(event, &function))
        status = TH_MALFORMED;
    if (status != TH_OK)
        return status;
    return function.kind == TH_CALLER_FUNCTION && is_function(cut, &function.function) ? TH_OK
                                                                                       : TH_END;
}

static bool takes_tracee(const struct cut *cut, size_t count, const struct th_event *event)
{
    for (size_t i = 0; i < count; i++)
        if (event->tracee == cut->tracees[i])
            return true;
    return count == 0;
}

static enum th_status takes_time(struct cut *cut, struct th_event *event)
{
    enum th_status status = th_trace_event_time(event);
    enum th_time_clock clock;

    if (status != TH_OK)
        return status;
    if (event->time.kind == TH_TIME_NONE) {
        cut->untimed += cut->bounds.from.set || cut->bounds.to.set;
        return TH_OK;
    }
    clock = th_trace_time_clock(event->time.kind);
    if (!cut->zeros[clock].known)
        cut->zeros[clock] = (struct cut_zero){true, event->time.ns};
    return th_replay_is_between(&cut->bounds.from, &cut->bounds.to, cut->zeros[clock].ns,
                                event->time.ns, event->time.ns)
               ? TH_OK
               : TH_END;
}

static enum th_status cut_takes(void *context, struct th_event *event, th_env *env)
{
    struct cut *cut = context;
    enum th_status status;
    struct th_note note;

    if (event->kind == TH_EVENT_DROP)
        return TH_OK;
    if (event->kind == TH_EVENT_OTHER) {
        if (th_trace_note(event, env, &note))
            return TH_OK;
        return th_error_raise(TH_MALFORMED, "the record is not a trace message");
    }
    status = takes_time(cut, event); /* first: it notes the zeros of clocks */
    if (status == TH_OK && (event->number < cut->first || event->number > cut->last ||
                            !takes_tracee(cut, cut->tracee_count, event)))
        status = TH_END;
    if (status == TH_OK)
        status = takes_function(cut, event);
    cut->written += status == TH_OK;
    return status;
}

/* Writes the part. Returns the exit status. */
static int run_cut(struct cut *cut)
{
    struct th_writer_options how = {.format = TH_FORMAT_TRACE_PORT};
    struct th_reader_selection selection = {0};
    int status;

    cut->output.by_name = true;
    if (strcmp(cut->out, "-") == 0)
        cut->output.to = "trace";
    if (th_cli_rewrite_format(&cut->output, cut->out, &how) != TH_OK ||
        read_numbers(cut) != TH_OK || read_tracees(cut, &cut->tracee_count) != TH_OK ||
        read_patterns(cut) != TH_OK || !th_cli_rewrite_is_another(cut->in, cut->out))
        return th_cli_command_fail("cut");
    selection = (struct th_reader_selection){
        .from = cut->bounds.from,
        .to = cut->bounds.to,
        .tracees = cut->tracees,
        .tracee_count = cut->tracee_count,
        .is_wanted = cut->function_texts.count ? is_function : NULL,
        .context = cut,
    };
    th_cli_interrupt_install();
    status = th_cli_rewrite(
        (struct th_stream){.command = "cut", .name = cut->in, .options = &cut->stream}, cut->out,
        how, &(struct th_rewrite_filter){cut_takes, cut, &selection});
    if (status == TH_OK && !cut->written)
        th_warn("no record of %s is in the part", th_cli_stream_title(cut->in));
    if (cut->untimed)
        th_warn("records without a time, written despite --from and --to: %llu",
                (unsigned long long)cut->untimed);
    return status;
}

int th_cli_command_cut(int argc, char **argv)
{
    struct cut cut = {0};
    int status;

    th_cli_command_parse(&usage, argc, argv, &cut);
    status = run_cut(&cut);
    th_free(cut.tracee_texts.items);
    th_free(cut.function_texts.items);
    th_free(cut.tracees);
    th_free(cut.functions);
    return status;
}
