/* Checks the settings in a state against those that the tracer declares. */
#include "named_tracer.h"
#include "trace_internal.h"

#include "host/base/buffer.h"
#include "host/library/load.h"
#include "host/library/name_list.h"
#include "host/term/atom.h"
#include "host/term/make.h"
#include "host/term/map.h"
#include "host/term/text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void th_trace_setting_words(const struct th_tracer_setting *setting, struct th_names *words)
{
    const char *word = setting->type == TH_SETTING_WORD ? setting->words : "";

    for (; *word; word += strspn(word, " ")) {
        size_t length = strcspn(word, " ");
        th_library_names_take(words, th_printf("%.*s", (int)length, word));
        word += length;
    }
}

char *th_trace_setting_values(const struct th_tracer_setting *setting)
{
    static const char *const kinds[] = {[TH_SETTING_TEXT] = "text",
                                        [TH_SETTING_INPUT] = "a file",
                                        [TH_SETTING_OUTPUT] = "a file, or - for stdout",
                                        [TH_SETTING_NUMBER] = "a number from 0 to 4294967295",
                                        [TH_SETTING_TIME] = "a time such as 1.5, 250ms or 10us"};
    struct th_names words = {0};
    struct th_buffer text = {0};
    char *copy;

    th_trace_setting_words(setting, &words);
    for (size_t i = 0; i < words.count; i++)
        th_buffer_printf(&text, "%s%s",
                         i == 0                ? ""
                         : i + 1 < words.count ? ", "
                                               : " or ",
                         words.items[i]);
    if (words.count == 0)
        th_buffer_add_text(&text, kinds[setting->type]);
    copy = th_strdup(th_buffer_text(&text));
    th_library_names_free(&words);
    th_buffer_free(&text);
    return copy;
}

/* Returns VALUE as text, as a tracer takes it: an atom, I/O data, an integer. NULL: none of these,
 * or no text.
 * Owner: the caller frees the text with th_free(). */
static char *setting_text_of(th_term value)
{
    struct th_buffer digits = {0};
    size_t size = 0;
    char *text;

    if (th_is_atom(value))
        return th_strdup(th_atom_name(value)->text);
    if (th_is_integer(value)) {
        th_text_print(&digits, value);
        text = th_strdup(th_buffer_text(&digits));
        th_buffer_free(&digits);
        return text;
    }
    if (!th_term_iodata_size(value, &size))
        return NULL;
    text = th_alloc_zero(size + 1);
    th_term_iodata_copy(value, (unsigned char *)text);
    if (strlen(text) == size)
        return text;
    th_free(text);
    return NULL;
}

/* Raises the error for VALUE, whose text is TEXT; NULL: no text. */
static enum th_status refuse_value(const char *name, const struct th_tracer_setting *setting,
                                   th_term value, const char *text, const char *nearest)
{
    char *values = th_trace_setting_values(setting);
    struct th_buffer term = {0};

    if (!text)
        th_text_print(&term, value);
    if (nearest)
        th_error_raise(TH_USAGE, "did you mean '%.*s'?", (int)strcspn(nearest, " "), nearest);
    else
        th_error_raise(TH_USAGE, "the setting must be %s", values);
    th_error_context("tracer '%s': the setting '%s' cannot be '%.200s'%s%s", name, setting->name,
                     text ? text : th_buffer_text(&term), nearest ? ": it must be " : "",
                     nearest ? values : "");
    th_free(values);
    th_buffer_free(&term);
    return TH_USAGE;
}

static enum th_status check_value(const char *name, const struct th_tracer_setting *setting,
                                  th_term value)
{
    struct th_names words = {0};
    const char *nearest = NULL;
    bool good = true;
    ErlNifTime ns = 0;
    char *text = setting_text_of(value);
    enum th_status status = TH_OK;

    if (setting->type == TH_SETTING_NUMBER)
        good =
            th_is_small(value) && th_small_value(value) >= 0 && th_small_value(value) <= UINT32_MAX;
    else if (setting->type == TH_SETTING_WORD)
        good = false;
    else if (setting->type == TH_SETTING_TIME)
        good = text && th_setting_time(text, &ns) && ns >= 0;
    else if (setting->type == TH_SETTING_OUTPUT)
        good = text && *text; /* an empty name is never stdout */
    else
        good = text;
    if (text && setting->type == TH_SETTING_WORD) {
        th_trace_setting_words(setting, &words);
        for (size_t i = 0; i < words.count; i++)
            good |= strcmp(words.items[i], text) == 0;
        nearest = th_library_suggest_nearest(text, (const char *const *)words.items, words.count);
        if (nearest) /* as part of a text that stays */
            nearest = strstr(setting->words, nearest);
        th_library_names_free(&words);
    }
    if (!good)
        status = refuse_value(name, setting, value, text, nearest);
    /* A file that the tracer will read, possibly at its end, must exist now. */
    if (good && setting->type == TH_SETTING_INPUT && access(text, R_OK) != 0) {
        th_error_raise(TH_USAGE, "cannot read %s: %s", text, strerror(errno));
        status =
            th_error_context("tracer '%s' needs the file of its setting '%s'", name, setting->name);
    }
    th_free(text);
    return status;
}

static enum th_status refuse_key(const char *name, const struct th_tracer_setting *settings,
                                 th_term key)
{
    struct th_names names = {0};
    struct th_buffer term = {0};
    const char *nearest;
    char *text = setting_text_of(key), *joined;

    for (const struct th_tracer_setting *one = settings; one->name; one++)
        th_library_names_add(&names, one->name);
    nearest = text ? th_library_suggest_nearest(text, (const char *const *)names.items, names.count)
                   : NULL;
    joined = th_library_names_join(&names, names.count);
    if (nearest)
        th_error_raise(TH_USAGE, "did you mean '%s'?", nearest);
    else
        th_error_raise(TH_USAGE,
                       names.count > 0 ? "the settings are %s" : "the tracer has no settings%s",
                       joined);
    th_text_print(&term, key);
    if (th_is_atom(key))
        th_error_context("tracer '%s' has no setting '%s'", name, text);
    else
        th_error_context("tracer '%s' has no setting %.200s: the name of a setting must be an atom",
                         name, th_buffer_text(&term));
    th_buffer_free(&term);
    th_free(text);
    th_free(joined);
    th_library_names_free(&names);
    return TH_USAGE;
}

enum th_status th_trace_settings_check(const struct th_library *library, const char *name,
                                       th_term state)
{
    const struct th_tracer_setting *settings = library ? th_library_settings(library) : NULL;
    enum th_status status = TH_OK;

    if (!settings || state == TH_NIL)
        return TH_OK;
    if (!th_is_map(state))
        return th_error_raise(TH_USAGE, "the state of tracer '%s' must be a map of settings", name);
    for (size_t i = 0; i < th_map_size(state) && status == TH_OK; i++) {
        th_term key = th_map_keys(state)[i], value = th_map_values(state)[i];
        const struct th_tracer_setting *setting = settings;
        while (setting->name &&
               !(th_is_atom(key) && strcmp(setting->name, th_atom_name(key)->text) == 0))
            setting++;
        status =
            setting->name ? check_value(name, setting, value) : refuse_key(name, settings, key);
    }
    return status;
}

enum th_status th_trace_settings_each_output(const struct th_library *library, th_term state,
                                             enum th_status (*visit)(void *context,
                                                                     const char *path),
                                             void *context)
{
    const struct th_tracer_setting *settings = library ? th_library_settings(library) : NULL;
    enum th_status status = TH_OK;

    for (; settings && settings->name && th_is_map(state) && status == TH_OK; settings++) {
        th_term value = th_map_get(state, th_atom(settings->name));
        char *path =
            settings->type == TH_SETTING_OUTPUT && value != TH_NONE ? setting_text_of(value) : NULL;
        if (path && *path && strcmp(path, "-") != 0)
            status = visit(context, path);
        th_free(path);
    }
    return status;
}
