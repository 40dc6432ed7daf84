/* Prints the contents of events in words: a function for each shape of term and extra, and the
 * table of tags. */
#include "event.h"

static void print(struct event *event, const char *before, ERL_NIF_TERM term)
{
    line_add(&event->line, "%s", before);
    line_add_term(&event->line, term);
}

/* Prints a term that is data, to the requested detail; with ARGS_NONE not even BEFORE. */
static void print_data(struct event *event, const char *before, ERL_NIF_TERM term)
{
    term_print_after(&event->line, before, event->env, term, event->args);
}

/* Prints {M, F, Arity} as M:F/Arity, {M, F, Args} as M:F(Args), any other term as it is. */
static void print_function(struct event *event, ERL_NIF_TERM mfa)
{
    const ERL_NIF_TERM *elements;
    int size;

    if (!enif_get_tuple(event->env, mfa, &size, &elements) || size != 3) {
        print(event, "", mfa);
        return;
    }
    line_add_called(&event->line, elements[0], elements[1]);
    term_print_arguments(&event->line, event->env, elements[2], event->args);
}

static void function(struct event *event)
{
    line_add(&event->line, " ");
    print_function(event, event->term);
}

/* Prints the function at which a process or port is; nothing for 0. */
static void place(struct event *event)
{
    int none;

    if (!enif_get_int(event->env, event->term, &none))
        function(event);
}

static void returned(struct event *event)
{
    function(event);
    if (event->extra)
        print_data(event, " -> ", event->extra);
}

static void thrown(struct event *event)
{
    function(event);
    if (event->extra)
        term_print_exception(&event->line, event->env, event->extra, event->args);
}

static void message(struct event *event)
{
    print_data(event, " ", event->term);
    if (event->extra)
        print(event, " -> ", event->extra);
}

static void undelivered(struct event *event)
{
    message(event);
    line_add(&event->line, " (no such process)");
}

static void only_term(struct event *event)
{
    print(event, " ", event->term);
}

static void only_data(struct event *event)
{
    print_data(event, " ", event->term);
}

static void as_function(struct event *event)
{
    print(event, " ", event->term);
    if (!event->extra)
        return;
    line_add(&event->line, " as ");
    print_function(event, event->extra);
}

static void opened(struct event *event)
{
    if (event->extra)
        print(event, " ", event->extra);
    print(event, " by ", event->term);
}

/* Finds KEY's value in a list of pairs. */
static bool find(ErlNifEnv *env, ERL_NIF_TERM list, const char *key, ERL_NIF_TERM *value)
{
    ERL_NIF_TERM atom = enif_make_atom(env, key), pair;
    const ERL_NIF_TERM *elements;
    int size;

    while (enif_get_list_cell(env, list, &pair, &list))
        if (enif_get_tuple(env, pair, &size, &elements) && size == 2 && elements[0] == atom) {
            *value = elements[1];
            return true;
        }
    return false;
}

/* Prints the words in use, "/", and the words of the whole area. */
static void sizes(struct event *event)
{
    static const char *const rows[][3] = {{"heap", "heap_size", "heap_block_size"},
                                          {"old heap", "old_heap_size", "old_heap_block_size"},
                                          {"stack", "stack_size", ""},
                                          {"message buffers", "mbuf_size", ""},
                                          {"binaries", "bin_vheap_size", "bin_vheap_block_size"},
                                          {"wordsize", "wordsize", ""}};
    const char *before = " ";
    ERL_NIF_TERM value;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!find(event->env, event->term, rows[i][1], &value))
            continue;
        line_add(&event->line, "%s%s %#T", before, rows[i][0], value);
        if (find(event->env, event->term, rows[i][2], &value))
            print(event, "/", value);
        before = ", ";
    }
}

/* Returns the elements of a seq_trace event's Info: {send | 'receive' | print, Serial, From, To,
 * Term}. Info is the event's term; its label takes the place of the tracee. */
static const ERL_NIF_TERM *token_info(const struct event *event)
{
    const ERL_NIF_TERM *info;
    int size;

    return enif_get_tuple(event->env, event->term, &size, &info) && size == 5 ? info : NULL;
}

static void token(struct event *event)
{
    const ERL_NIF_TERM *info = token_info(event);
    bool received;

    print(event, " ", event->tracee);
    if (!info) {
        only_data(event);
        return;
    }
    received = info[0] == TH_TRACER_ATOM(event->env, receive);
    if (received)
        line_add(&event->line, " receive"); /* without the quotes of the atom */
    else
        print(event, " ", info[0]);
    print(event, " ", info[1]);
    print_data(event, " ", info[4]);
    if (received)
        print(event, " <- ", info[2]);
    else if (info[0] == TH_TRACER_ATOM(event->env, send))
        print(event, " -> ", info[3]);
}

static const struct style {
    const char *verb, *colour;
    void (*print)(struct event *event);
} styles[TH_TAGS] = {
    [TH_TAG_send] = {"send", YELLOW, message},
    [TH_TAG_send_to_non_existing_process] = {"send", RED, undelivered},
    [TH_TAG_receive] = {"receive", YELLOW, only_data},
    [TH_TAG_call] = {"call", GREEN, function},
    [TH_TAG_return_to] = {"return_to", CYAN, function},
    [TH_TAG_return_from] = {"return", CYAN, returned},
    [TH_TAG_exception_from] = {"exception", RED, thrown},
    [TH_TAG_spawn] = {"spawn", MAGENTA, as_function},
    [TH_TAG_spawned] = {"spawned by", MAGENTA, as_function},
    [TH_TAG_exit] = {"exit", RED, only_data},
    [TH_TAG_link] = {"link", MAGENTA, only_term},
    [TH_TAG_unlink] = {"unlink", MAGENTA, only_term},
    [TH_TAG_getting_linked] = {"getting_linked", MAGENTA, only_term},
    [TH_TAG_getting_unlinked] = {"getting_unlinked", MAGENTA, only_term},
    [TH_TAG_register] = {"register", MAGENTA, only_term},
    [TH_TAG_unregister] = {"unregister", MAGENTA, only_term},
    [TH_TAG_open] = {"open", MAGENTA, opened},
    [TH_TAG_closed] = {"closed", RED, only_data},
    [TH_TAG_in] = {"in", BLUE, place},
    [TH_TAG_out] = {"out", BLUE, place},
    [TH_TAG_in_exiting] = {"in_exiting", BLUE, place},
    [TH_TAG_out_exiting] = {"out_exiting", BLUE, place},
    [TH_TAG_out_exited] = {"out_exited", BLUE, place},
    [TH_TAG_gc_minor_start] = {"gc_minor_start", BLUE, sizes},
    [TH_TAG_gc_minor_end] = {"gc_minor_end", BLUE, sizes},
    [TH_TAG_gc_major_start] = {"gc_major_start", BLUE, sizes},
    [TH_TAG_gc_major_end] = {"gc_major_end", BLUE, sizes},
    [TH_TAG_gc_max_heap_size] = {"gc_max_heap_size", RED, sizes},
    [TH_TAG_seq_trace] = {"seq_trace", YELLOW, token},
};

/* Written before the first callback. */
static ERL_NIF_TERM tags[TH_TAGS];

void event_load(ErlNifEnv *env)
{
#define ROW(tag, process, port, calls, term, extra) tags[TH_TAG_##tag] = enif_make_atom(env, #tag);
    TH_TRACER_TAGS(ROW)
#undef ROW
}

void event_print(struct event *event)
{
    /* A tag that a later OTP adds is printed as it is. */
    static const struct style unknown = {"", PLAIN, message};
    const struct style *style = &unknown;

    for (size_t i = 0; i < TH_TAGS; i++)
        if (tags[i] == event->tag && styles[i].verb)
            style = &styles[i];
    event_colour(event, style->colour);
    if (style == &unknown)
        print(event, "", event->tag);
    line_add(&event->line, style->verb);
    event_colour(event, PLAIN);
    style->print(event);
}

ERL_NIF_TERM event_tracee(const struct event *event)
{
    const ERL_NIF_TERM *info = NULL;

    if (event->tag == TH_TRACER_ATOM(event->env, seq_trace))
        info = token_info(event);
    if (!info)
        return event->tracee;
    return info[0] == TH_TRACER_ATOM(event->env, receive) ? info[3] : info[2];
}
