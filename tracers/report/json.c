/* Writes JSON inside of a page. */
#include "page.h"

void write_text(FILE *file, const char *text, size_t size)
{
    static const struct mark marks[] = {
        {'"', "\\\""}, {'\\', "\\\\"}, {'<', "\\u003c"}, {0, "\\ufffd"}};
    struct line line;

    line_start(&line);
    line_add_bytes(&line, "\"", 1);
    line_add_marked(&line, text, size, SIZE_MAX, marks);
    line_add_bytes(&line, "\"", 1);
    fwrite(line.text, 1, line.used, file);
    line_drop(&line);
}

void write_string(FILE *file, const char *text)
{
    if (text)
        write_text(file, text, strlen(text));
    else
        fputs("null", file);
}

void write_term(FILE *file, ERL_NIF_TERM term)
{
    struct line line;

    if (!term) {
        fputs("null", file);
        return;
    }
    line_start(&line);
    line.for_people = 1;
    line_add_term(&line, term);
    write_text(file, line.text, line.used);
    line_drop(&line);
}

void write_function(FILE *file, ERL_NIF_TERM module, ERL_NIF_TERM function, unsigned arity)
{
    struct line line;

    line_start(&line);
    line.for_people = 1;
    line_add_function(&line, module, function, arity);
    write_text(file, line.text, line.used);
    line_drop(&line);
}

void write_count(FILE *file, uint64_t count, bool known)
{
    if (known)
        fprintf(file, "%" PRIu64, count);
    else
        fputs("null", file);
}

void write_time(FILE *file, int64_t time)
{
    write_count(file, time > 0 ? (uint64_t)time : 0, time != TIME_NONE);
}

/* --- names --- */

static bool grow(struct names *names)
{
    size_t size = names->size ? 2 * names->size : 256;
    struct count *functions = realloc(names->functions, size * sizeof *functions);

    if (!functions)
        return false;
    names->functions = functions;
    names->size = size;
    return true;
}

long name_number(struct names *names, const struct count *function)
{
    struct counts *numbers = &names->numbers;
    struct count new = *function, *place = numbers->size ? counts_place(numbers, function) : NULL;

    if (place && place->function)
        return (long)place->events;
    new.events = numbers->used;
    if (numbers->used < names->size || grow(names))
        counts_insert(numbers, &new);
    if (numbers->used == new.events) {
        names->short_of_memory = true;
        return -1;
    }
    names->functions[new.events] = new;
    return (long)new.events;
}

void write_names(struct writing *writing)
{
    const struct names *names = &writing->names;

    fputc('[', writing->file);
    for (size_t i = 0; i < names->numbers.used; i++) {
        const struct count *function = &names->functions[i];
        fputs(i ? ",\n" : "\n", writing->file);
        write_function(writing->file, function->module, function->function, function->arity);
    }
    fputc(']', writing->file);
}
