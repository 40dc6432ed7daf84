/* Terms in the answers of the host's commands, in the encoding of who reads them. */
#include "ctl.h"

#include "host/trace/trace.h"

#include <string.h>

static void show_function(struct th_buffer *out, th_term fun)
{
    struct th_mfa function;

    if (th_get_export(fun, &function.module, &function.function, &function.arity))
        th_trace_function_show(out, &function);
}

/* Reads *TEXT, Erlang text when PREFIX stands before it, and shows it as SHOW does. Text that
 * cannot be read, as that of references, stays as it is: the host writes it for everybody. */
static void show_text(json_t *text, const char *prefix,
                      void (*show)(struct th_buffer *out, th_term term))
{
    char *whole = th_printf("%s%s", prefix, json_string_value(text));
    struct th_buffer out = {0};
    th_env env;
    th_term term;

    th_env_init(&env, TH_ENV_PLAIN);
    if (th_text_parse(&env, whole, strlen(whole), &term) == TH_OK)
        show(&out, term);
    if (out.size > 0)
        json_string_set(text, th_buffer_text(&out));
    th_error_clear();
    th_env_release(&env);
    th_buffer_free(&out);
    th_free(whole);
}

/* Other names than that of a process are no Erlang text. */
static bool is_process(const json_t *object)
{
    return json_object_get(object, "pid") != NULL;
}

void th_ctl_show_terms(json_t *value)
{
    const char *key;
    json_t *part;
    size_t i;

    json_array_foreach(value, i, part)
    {
        th_ctl_show_terms(part);
    }
    json_object_foreach(value, key, part)
    {
        if (json_is_string(part) && (strcmp(key, "function") == 0 || strcmp(key, "first") == 0))
            show_text(part, "fun ", show_function);
        else if (json_is_string(part) &&
                 (strstr(key, "match_spec") || (strcmp(key, "name") == 0 && is_process(value))))
            show_text(part, "", th_text_show);
        else
            th_ctl_show_terms(part);
    }
}
