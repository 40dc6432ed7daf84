#include "declared.h"

#include "mapped_memory.h"

#include "host/term/term.h"

#include <string.h>

static enum th_status check_texts(const struct th_memory *memory,
                                  const struct th_tracer_setting *setting)
{
    enum th_status status = th_library_memory_check_text(memory, "name", setting->name);

    if (!status)
        status = th_library_memory_check_text(memory, "words", setting->words);
    if (!status)
        status = th_library_memory_check_text(memory, "otherwise", setting->otherwise);
    return status ? status : th_library_memory_check_text(memory, "help", setting->help);
}

static enum th_status check_row(const struct th_memory *memory,
                                const struct th_tracer_setting *setting)
{
    if (check_texts(memory, setting))
        return th_error_status();
    if (!*setting->name || strlen(setting->name) > TH_ATOM_BYTES)
        return th_error_raise(TH_REFUSED, "its name is none that an atom can have");
    if (setting->type < 0 || setting->type > TH_SETTING_NUMBER)
        return th_error_raise(TH_REFUSED, "its type is %d; this tracehost knows 0 to %d",
                              setting->type, TH_SETTING_NUMBER);
    if (setting->type == TH_SETTING_WORD &&
        (!setting->words || !setting->words[strspn(setting->words, " ")]))
        return th_error_raise(TH_REFUSED, "it is of TH_SETTING_WORD, but has no words");
    return TH_OK;
}

static enum th_status check_table(const struct th_memory *memory,
                                  const struct th_tracer_setting *settings, size_t size)
{
    size_t count = size / sizeof *settings;

    if (th_library_memory_check(memory, "table", settings, size))
        return th_error_status();
    for (size_t i = 0; i < count; i++) {
        if (!settings[i].name)
            return TH_OK;
        if (check_row(memory, &settings[i]))
            return th_error_context("row %zu of its th_tracer_settings is damaged", i + 1);
    }
    return th_error_raise(TH_REFUSED,
                          "its th_tracer_settings has no end: none of its %zu rows is {0}", count);
}

enum th_status th_library_declared_check(const struct th_tracer_setting *settings, size_t size)
{
    struct th_memory memory = {0};
    enum th_status status;

    th_library_memory_of_process(&memory);
    status = check_table(&memory, settings, size);
    th_library_memory_free(&memory);
    return status;
}
