#include "check_calls.h"

#include "host/base/memory.h"
#include "host/shell/shell.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void th_check_calls_add(struct th_check_calls *calls, size_t function, const char *call,
                        const char *arguments)
{
    TH_ARRAY_GROW(calls->items, calls->count, calls->capacity);
    calls->items[calls->count++] = (struct th_check_call_line){
        th_strdup(call), arguments ? th_strdup(arguments) : NULL, function};
}

void th_check_calls_copy(struct th_check_calls *calls, const struct th_check_calls *other,
                         const size_t units[], size_t count)
{
    for (size_t i = 0; i < (units ? count : other->count); i++) {
        const struct th_check_call_line *line = &other->items[units ? units[i] : i];
        th_check_calls_add(calls, line->function, line->call, line->arguments);
    }
}

void th_check_calls_free(struct th_check_calls *calls)
{
    for (size_t i = 0; i < calls->count; i++) {
        th_free(calls->items[i].call);
        th_free(calls->items[i].arguments);
    }
    th_free(calls->items);
    *calls = (struct th_check_calls){0};
}

void th_check_call_line_print(const struct th_check_call_line *line, struct th_buffer *out)
{
    const char *from = line->arguments, *quote;

    th_buffer_add_text(out, line->call);
    if (!from)
        return;
    th_buffer_add_text(out, "(");
    while ((quote = strstr(from, "'="))) {
        const char *end = strchr(quote + 1, '\'');
        th_buffer_add(out, from, (size_t)(quote - from));
        th_buffer_add(out, quote + 2, (size_t)(end - (quote + 2)));
        from = end + 1;
    }
    th_buffer_add_text(out, from);
    th_buffer_add_text(out, ")");
}

void th_check_calls_print(const struct th_check_calls *calls, struct th_buffer *out)
{
    for (size_t i = 0; i < calls->count; i++) {
        th_check_call_line_print(&calls->items[i], out);
        th_buffer_add_text(out, ".\n");
    }
}

/* Adds the expression LINE, which is number NUMBER of the file NAME. */
static enum th_status add_expression(struct th_check_calls *calls, char *line, const char *name,
                                     unsigned number)
{
    struct th_program program;
    size_t length = strlen(line);
    enum th_status status;

    while (length > 0 && strchr(" \t\r\n", line[length - 1]))
        line[--length] = '\0';
    if (length == 0 || *line == '%')
        return TH_OK;
    status = th_shell_parse(&program, line, length, false);
    if (status == TH_OK && program.count != 1)
        status = th_error_raise(TH_MALFORMED, "there must be one expression on a line, not %zu",
                                program.count);
    th_shell_program_free(&program);
    if (status != TH_OK)
        return th_error_context("cannot read line %u of %s", number, name);
    line[length - 1] = '\0'; /* the full stop */
    th_check_calls_add(calls, SIZE_MAX, line, NULL);
    return TH_OK;
}

enum th_status th_check_calls_read(struct th_check_calls *calls, const char *name)
{
    FILE *file = fopen(name, "re");
    enum th_status status = TH_OK;
    unsigned number = 0;
    size_t room = 0;
    char *line = NULL;

    if (!file) {
        th_error_raise(TH_MALFORMED, "%s", strerror(errno));
        return th_error_context("cannot read %s", name);
    }
    while (status == TH_OK && getline(&line, &room, file) >= 0)
        status = add_expression(calls, line, name, ++number);
    if (status == TH_OK && ferror(file))
        status = th_error_raise(TH_MALFORMED, "cannot read %s", name);
    free(line);
    fclose(file);
    return status;
}
