#include "executed.h"

#include "assertions.h"

#include "host/base/base.h"

#include <stddef.h>
#include <string.h>

struct th_execution executed;
struct th_recorded_stack executed_stack;
uint64_t executed_doubtful, executed_undecided;
static struct th_buffer said;

void executed_begin(const struct th_execution_options *options)
{
    th_recorded_start(&executed, options);
    executed_doubtful = executed_undecided = 0;
}

void executed_end(void)
{
    th_recorded_forget(&executed, &executed_stack);
    assert_int_equal(executed.bounds.slots, 0);
    executed_stack = (struct th_recorded_stack){0};
    th_buffer_free(&said);
}

struct th_mfa executed_function(const char *name)
{
    size_t length = strcspn(name, "_/");

    return (struct th_mfa){TH_AM(erlang), th_atom_utf8(name, length), 0};
}

static const char *name_of(const struct th_caller *caller)
{
    if (caller->kind == TH_CALLER_FUNCTION)
        return th_atom_name(caller->function.function)->text;
    return caller->kind == TH_CALLER_UNDEFINED ? "." : "?";
}

static void say(const char *format, const char *name, const char *other)
{
    if (said.size)
        th_buffer_add_byte(&said, ' ');
    th_buffer_printf(&said, format, name, other);
}

static uint64_t note_end(void *context, enum th_ending ending, const struct th_mfa *function,
                         uint64_t word)
{
    static const char *const formats[] = {"-%s", "!%s", "~%s", "/%s", "?%s"};

    assert_ptr_equal(context, &executed_stack);
    assert_order(word, >, 0);
    executed_doubtful += ending > TH_ENDED_UNTOLD;
    say(formats[ending], th_atom_name(function->function)->text, "");
    return 0;
}

static void enter(enum th_fact tail, const char *name)
{
    struct th_recorded_call call = {.function = executed_function(name), .tail = tail};
    const char *recorded = strchr(name, '/');
    struct th_caller caller;

    if (recorded)
        call.recorded = (struct th_caller){TH_CALLER_FUNCTION, executed_function(recorded + 1)};
    th_recorded_enter(&executed, &executed_stack, &call);
    caller = th_recorded_caller(&executed, &executed_stack);
    say("%s<%s", th_atom_name(call.function.function)->text, name_of(&caller));
    if (!strchr(name, '_'))
        th_recorded_want(&executed, &executed_stack, 1, 0);
}

static void leave(enum th_tracer_tag tag, const char *name, bool matters)
{
    struct th_execution_end end = {.tag = tag, .ended = note_end, .context = &executed_stack};
    struct th_caller to;

    end.function.kind = *name ? TH_CALLER_FUNCTION : TH_CALLER_UNDEFINED;
    if (*name)
        end.function.function = executed_function(name);
    executed.each_matters = matters;
    to = th_recorded_leave(&executed, &executed_stack, &end).to;
    executed.each_matters = false;
    if (tag == TH_TAG_return_to)
        executed_undecided += executed_stack.undecided;
    say(">%s", name_of(&to), "");
}

static void happen(const char *word)
{
    switch (*word) {
    case '+':
        enter(TH_NO, word + 1);
        break;
    case '=':
        enter(TH_YES, word + 1);
        break;
    case '?':
        enter(TH_UNKNOWN, word + 1);
        break;
    case '-':
        leave(TH_TAG_return_from, word + 1, true);
        break;
    case '!':
        leave(TH_TAG_exception_from, word + 1, true);
        break;
    case '>':
        leave(TH_TAG_return_to, word + 1, true);
        break;
    case '^':
        leave(TH_TAG_return_to, word + 1, false);
        break;
    case '#':
        th_recorded_gap(&executed);
        break;
    default:
        th_recorded_spawned(&executed, &executed_stack);
    }
}

void executed_expect(const char *events, const char *answers)
{
    char *words = th_strdup(events);
    char *rest = words;

    said.size = 0;
    for (char *word; (word = strsep(&rest, " "));)
        happen(word);
    assert_string_equal(th_buffer_text(&said), answers);
    th_free(words);
}
