/*
 * Formatted printing: printf with %T for terms.
 *
 * The text is made in memory, directive by directive. A directive with an argument is passed to the
 * C library with only that argument; %T prints a term like a BEAM's %T, %#T as Erlang text. A
 * precision cuts a term's text, and a width pads the text with blanks, as in a BEAM (pad()).
 */
#include "host/base/buffer.h"
#include "host/check/check.h"
#include "host/term/text.h"
#include "plugin_api/erl_nif.h"

#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { DIRECTIVE_MAX = 64 };

/* One directive: %[flags][width][.precision][length]conversion */
struct directive {
    char text[DIRECTIVE_MAX]; /* for the C library, with stars replaced by their numbers */
    int width;                /* 0: none */
    int precision;            /* -1: none */
    char length[3];
    char conversion;
    bool alternate; /* '#' is among the flags */
    bool left;      /* '-' is among the flags */
};

/* va_list may be an array type; a struct can be passed by address. */
struct arguments {
    va_list list;
    const char *function; /* the API function, for messages */
};

static size_t append_directive(struct directive *d, size_t used, const char *text, size_t size)
{
    size_t room = DIRECTIVE_MAX - 1 - used;

    size = size < room ? size : room;
    memcpy(d->text + used, text, size);
    d->text[used + size] = 0;
    return used + size;
}

/* Reads a width or precision: digits, or a star with an argument. *VALUE stays if there is
 * neither. */
static const char *read_number(const char *at, struct directive *d, size_t *used,
                               struct arguments *arguments, int *value)
{
    char digits[16];

    if (*at == '*') {
        *value = va_arg(arguments->list, int);
        snprintf(digits, sizeof digits, "%d", *value);
        *used = append_directive(d, *used, digits, strlen(digits));
        return at + 1;
    }
    if (*at >= '0' && *at <= '9')
        *value = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        *value = *value < INT_MAX / 10 - 1 ? *value * 10 + (*at - '0') : *value;
        *used = append_directive(d, *used, at, 1);
    }
    return at;
}

/* Reads the directive after a '%', and returns its end. */
static const char *read_directive(const char *at, struct directive *d, struct arguments *arguments)
{
    size_t used = append_directive(d, 0, "%", 1), letters;

    d->width = 0;
    d->precision = -1;
    d->alternate = d->left = false;
    for (; *at && strchr("-+ #0'", *at); at++) {
        d->alternate |= *at == '#';
        d->left |= *at == '-';
        used = append_directive(d, used, at, 1);
    }
    at = read_number(at, d, &used, arguments, &d->width);
    if (*at == '.') {
        d->precision = 0;
        used = append_directive(d, used, at, 1);
        at = read_number(at + 1, d, &used, arguments, &d->precision);
    }
    letters = strspn(at, "hlLqjzt");
    snprintf(d->length, sizeof d->length, "%.*s", (int)(letters < 2 ? letters : 2), at);
    used = append_directive(d, used, at, letters);
    at += letters;
    d->conversion = *at;
    append_directive(d, used, at, *at != 0);
    return at + (*at != 0);
}

static void print_integer(struct th_buffer *out, const struct directive *d,
                          struct arguments *arguments)
{
    switch (d->length[0]) {
    case 'l':
    case 'q':
    case 'L':
        if (d->length[1] == 'l' || d->length[0] != 'l')
            th_buffer_printf(out, d->text, va_arg(arguments->list, long long));
        else
            th_buffer_printf(out, d->text, va_arg(arguments->list, long));
        break;
    case 'j':
        th_buffer_printf(out, d->text, va_arg(arguments->list, intmax_t));
        break;
    case 'z':
    case 't':
        th_buffer_printf(out, d->text, va_arg(arguments->list, size_t));
        break;
    default:
        th_buffer_printf(out, d->text, va_arg(arguments->list, int));
    }
}

/* Pads the text from START on with blanks. Blanks on the right: a BEAM measures the written text.
 * Blanks on the left: a BEAM uses MEASURE, which for a term counts only the bytes of numbers. */
static void pad(struct th_buffer *out, const struct directive *d, size_t start, size_t measure)
{
    size_t size = out->size - start, blanks, width = d->width > 0 ? (size_t)d->width : 0;

    if (d->left)
        measure = size;
    if (width <= measure)
        return;
    blanks = width - measure;
    memset(th_buffer_reserve(out, blanks), ' ', blanks);
    out->size += blanks;
    if (!d->left) {
        memmove(out->data + start + blanks, out->data + start, size);
        memset(out->data + start, ' ', blanks);
    }
}

/* Prints a term like a BEAM's %T, or as Erlang text; a precision cuts Erlang text after that many
 * bytes, as it cuts a string in C. */
static void print_term(struct th_buffer *out, const struct directive *d, ERL_NIF_TERM term)
{
    size_t start = out->size, measure, end = start + (size_t)d->precision;

    if (!d->alternate) {
        measure =
            th_text_print_beam(out, term, d->precision < 0 ? TH_TEXT_BEAM_LIMIT : d->precision);
    } else {
        if (d->precision < 0)
            th_text_print(out, term);
        else
            th_text_print_limited(out, term, (size_t)d->precision);
        if (d->precision >= 0 && out->size > end)
            out->size = end;
        measure = out->size - start;
    }
    pad(out, d, start, measure);
}

static void add_directive(struct th_buffer *out, const struct directive *d,
                          struct arguments *arguments)
{
    enum { DIGITS = 2 * sizeof(void *) };
    size_t start = out->size;

    switch (d->conversion) {
    case 'T':
        print_term(out, d,
                   th_check_read(va_arg(arguments->list, ERL_NIF_TERM), arguments->function));
        break;
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
        print_integer(out, d, arguments);
        break;
    case 'c':
        th_buffer_printf(out, d->text, va_arg(arguments->list, int));
        break;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        if (d->length[0] == 'L')
            th_buffer_printf(out, d->text, va_arg(arguments->list, long double));
        else
            th_buffer_printf(out, d->text, va_arg(arguments->list, double));
        break;
    case 'p': /* 16 digits, or the precision, right-aligned in at least 16 columns, or the width */
        th_buffer_printf(out, "0x%0*jx", d->precision < 0 ? DIGITS : d->precision,
                         (uintmax_t)(uintptr_t)va_arg(arguments->list, void *));
        pad(out, &(struct directive){.width = d->width > 0 ? d->width : DIGITS}, start,
            out->size - start);
        break;
    case 's':
        th_buffer_printf(out, d->text, va_arg(arguments->list, void *));
        break;
    default: /* %%, and unknown directives, which are printed unchanged */
        th_buffer_add_byte(out, '%');
        if (d->conversion != '%')
            th_buffer_add_text(out, d->text + 1);
    }
}

static void format_all(struct th_buffer *out, const char *function, const char *format,
                       va_list list)
{
    struct arguments arguments = {.function = function};
    struct directive d;

    va_copy(arguments.list, list);
    while (*format) {
        size_t plain = strcspn(format, "%");
        th_buffer_add(out, format, plain);
        format += plain;
        if (*format) {
            format = read_directive(format + 1, &d, &arguments);
            add_directive(out, &d, &arguments);
        }
    }
    va_end(arguments.list);
}

int enif_vfprintf(FILE *file, const char *format, va_list list)
{
    struct th_buffer out = {0};
    size_t written;
    int result;

    format_all(&out, "enif_fprintf", format, list);
    written = fwrite(out.data, 1, out.size, file);
    result = written == out.size && out.size <= INT_MAX ? (int)out.size : -1;
    th_buffer_free(&out);
    return result;
}

int enif_vsnprintf(char *buffer, size_t size, const char *format, va_list list)
{
    struct th_buffer out = {0};
    size_t copied;
    int result;

    format_all(&out, "enif_snprintf", format, list);
    copied = out.size < size ? out.size : size - (size > 0);
    if (size > 0) {
        memcpy(buffer, th_buffer_text(&out), copied);
        buffer[copied] = 0;
    }
    result = out.size <= INT_MAX ? (int)out.size : -1;
    th_buffer_free(&out);
    return result;
}

int enif_fprintf(FILE *file, const char *format, ...)
{
    va_list list;
    int result;

    va_start(list, format);
    result = enif_vfprintf(file, format, list);
    va_end(list);
    return result;
}

int enif_snprintf(char *buffer, size_t size, const char *format, ...)
{
    va_list list;
    int result;

    va_start(list, format);
    result = enif_vsnprintf(buffer, size, format, list);
    va_end(list);
    return result;
}
