/* Converts terms to texts of bounded length. */
#include "../kit/escape.h"
#include "../kit/term.h"
#include "report.h"

size_t print_bounded(char *text, ErlNifEnv *env, ERL_NIF_TERM term)
{
    const char *end = "...";
    struct line line;
    size_t size = 0, length;

    line_start(&line);
    line.for_people = 1;
    term_print(&line, env, term, ARGS_BOUNDED);
    while (size < line.used) {
        length = character_size((const unsigned char *)line.text + size, line.used - size);
        length += !length;
        if (size + length > TEXT_MOST - 4)
            break;
        size += length;
    }
    memcpy(text, line.text, size);
    strcpy(text + size, size < line.used ? end : "");
    line_drop(&line);
    return strlen(text);
}

char *text_of(ErlNifEnv *env, ERL_NIF_TERM term)
{
    char text[TEXT_MOST], *copy;

    print_bounded(text, env, term);
    copy = strdup(text);
    if (!copy)
        loss_add();
    return copy;
}
