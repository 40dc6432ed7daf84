#include "tracer_option.h"

#include "host/process/process.h"

/* `console` stands for the host process of that name. */
static th_term console_or(th_term t)
{
    return t == TH_AM(console) ? th_console_pid() : t;
}

static th_term value_of(th_env *env, const char *text, size_t length)
{
    th_term term = TH_NONE;
    bool plain;

    if (th_text_parse(env, text, length, &term) != TH_OK)
        th_error_clear();
    plain = th_is_integer(term) || term == TH_AM(true) || term == TH_AM(false);
    if (plain || term == TH_AM(console))
        return console_or(term);
    return th_make_binary(env, text, length);
}

/* key=value,key=value,... */
static enum th_status parse_settings(th_env *env, const char *text, th_term *state)
{
    th_term map = th_make_map(env, NULL, NULL, 0, true);

    for (;;) {
        size_t pair = strcspn(text, ",");
        const char *equals = memchr(text, '=', pair);
        th_term key;
        if (!equals || equals == text)
            return th_error_raise(TH_USAGE, "'%.*s' is no key=value pair", (int)pair, text);
        key = th_atom_utf8(text, (size_t)(equals - text));
        if (key == TH_NONE)
            return th_error_raise(TH_USAGE, "'%.*s' can be no key", (int)(equals - text), text);
        map = th_map_put(env, map, key,
                         value_of(env, equals + 1, (size_t)(text + pair - equals) - 1));
        if (!text[pair])
            break;
        text += pair + 1;
    }
    *state = map;
    return TH_OK;
}

static enum th_status parse_state(struct th_tracer_option *option, const char *text)
{
    enum th_status status = TH_OK;

    if (*text == ',')
        return parse_settings(&option->env, text + 1, &option->state);
    if (*text == '=')
        status = th_text_parse(&option->env, text + 1, strlen(text + 1), &option->state);
    else
        option->state = th_make_map(&option->env, NULL, NULL, 0, true);
    if (status != TH_OK)
        return th_error_raise(TH_USAGE, "the state is no Erlang term: %s", th_error_link(0));
    option->state = console_or(option->state);
    return TH_OK;
}

enum th_status th_tracer_option_parse(const char *text, struct th_tracer_option *option)
{
    size_t length = strcspn(text, "=,");

    th_env_init(&option->env, TH_ENV_PLAIN);
    option->name = th_printf("%.*s", (int)length, text);
    option->state = TH_NONE;
    if (length == 0)
        th_error_raise(TH_USAGE, "there is no name in it");
    else if (parse_state(option, text + length) == TH_OK)
        return TH_OK;
    th_error_context("cannot use -t '%s'", text);
    th_tracer_option_free(option);
    return TH_USAGE;
}

void th_tracer_option_free(struct th_tracer_option *option)
{
    th_env_release(&option->env);
    th_free(option->name);
    option->name = NULL;
}

static void warn_of_remarks(const char *name, const struct th_library *library)
{
    const struct th_names *remarks = th_library_remarks(library);

    for (size_t i = 0; i < remarks->count; i++)
        th_warn("tracer '%s': %s", name, remarks->items[i]);
}

enum th_status th_tracer_option_load(const struct th_tracer_option *option,
                                     const struct th_search *search, struct th_session_setup *setup)
{
    enum th_status status = th_library_find(search, option->name, &setup->library);

    if (status != TH_OK)
        return status;
    status = th_library_check_tracer(setup->library);
    if (status == TH_OK)
        status = th_library_load(setup->library, NULL, th_small(0));
    if (status != TH_OK) {
        th_library_release(setup->library);
        return status;
    }
    setup->name = option->name;
    setup->state = option->state;
    warn_of_remarks(option->name, setup->library);
    return TH_OK;
}
