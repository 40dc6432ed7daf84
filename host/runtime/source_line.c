#include "call_steps.h"

#include <string.h>

/* Names of files are UTF-8, or any bytes. */
static th_term string_of(th_env *env, const char *text)
{
    size_t length = strlen(text), used;
    th_term *characters = th_env_take(env, length);
    size_t count = 0;
    uint32_t c;

    if (!th_utf8_count(text, length, &count))
        return th_make_latin1_string(env, (const unsigned char *)text, length);
    count = 0;
    for (size_t at = 0; at < length; at += used) {
        used = th_utf8_get(text + at, length - at, &c);
        characters[count++] = th_small((int64_t)c);
    }
    return th_make_list(env, characters, count);
}

static bool find(struct th_library *library, uintptr_t address, struct th_line *line)
{
    return address && th_library_line(library, address, line) && line->file;
}

th_term th_runtime_source_place(th_env *env, struct th_library *library, uintptr_t address)
{
    struct th_line line;

    if (!find(library, address, &line))
        return TH_AM(undefined);
    return th_make_tuple_of(env, string_of(env, line.file), th_small((int64_t)line.line));
}

th_term th_runtime_source_location(th_env *env, struct th_library *library, uintptr_t address)
{
    struct th_line line;
    th_term both[2];

    if (!find(library, address, &line))
        return TH_NIL;
    both[0] = th_make_tuple_of(env, th_atom("file"), string_of(env, line.file));
    both[1] = th_make_tuple_of(env, th_atom("line"), th_small((int64_t)line.line));
    return th_make_list(env, both, 2);
}

/* --- Lines that are due ----------------------------------------------------------------------- */

static th_term locate(th_env *env, th_term due)
{
    struct th_library *library;
    th_term location;

    if (!th_is_small(due))
        return due;
    library = th_library_at((uintptr_t)th_small_value(due));
    if (!library)
        return TH_NIL;
    location = th_runtime_source_location(env, library, (uintptr_t)th_small_value(due));
    th_library_release(library);
    return location;
}

th_term th_runtime_source_locate_all(th_env *env, th_term stack)
{
    size_t length = 0;
    th_term *entries;

    if (!th_get_list_length(stack, &length) || length == 0)
        return stack;
    entries = th_env_take(env, length);
    for (size_t i = 0; i < length; i++, stack = th_cell(stack)[1]) {
        const th_term *e = th_tuple_elements(th_cell(stack)[0]);
        entries[i] = th_make_tuple_of(env, e[0], e[1], e[2], locate(env, e[3]));
    }
    return th_make_list(env, entries, length);
}
