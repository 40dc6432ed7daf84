/* Formatted printing, with %T for terms. */
#include "nif_api.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print(const char *name, const char *format, ...)
{
    static char buffer[100000];
    char small[10];
    va_list list;

    va_start(list, format);
    memset(buffer, 'X', sizeof buffer);
    say_int(name, enif_vsnprintf(buffer, sizeof buffer, format, list));
    va_end(list);
    say_text(format, buffer);
    va_start(list, format);
    memset(small, 'X', sizeof small);
    say_int("into ten bytes", enif_vsnprintf(small, sizeof small, format, list));
    small[sizeof small - 1] = 0;
    say_text(format, small);
    va_end(list);
}

static int print_file(FILE *file, const char *format, ...)
{
    va_list list;
    int result;

    va_start(list, format);
    result = enif_vfprintf(file, format, list);
    va_end(list);
    return result;
}

static void print_numbers(void)
{
    print("integers", "%d|%i|%u|%x|%X|%o|%c", -1, 77, 77u, 77u, 77u, 77u, 'c');
    print("integers", "%5d|%-5d|%05d|%+d|% d|%.3d|%5.3d|%*d|%-*d|", 7, 7, 7, 7, 7, 7, 7, 5, 7, 5,
          7);
    print("lengths", "%ld|%lu|%lld|%llu|%hd|%zu", -1l, 1ul, -1ll, 1ull, (short)-1, (size_t)7);
    print("floats", "%f|%e|%g|%.2f|%8.3f|%E|%G", 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5);
    print("strings", "%s|%5s|%-5s|%.2s|%*s|%.*s", "abc", "abc", "abc", "abc", 5, "abc", 1, "abc");
    print("percent", "100%%");
    print("nothing", "%s", "");
}

ERL_NIF_TERM printing(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct terms terms = make_terms(env);
    char buffer[20], *text_of_file = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text_of_file, &size);

    (void)argc;
    (void)argv;
    topic("printf");
    print_numbers();
    say_int("fprintf", enif_fprintf(file, "%s %d %T\n", "text", 1, atom(env, "ok")));
    say_int("vfprintf", print_file(file, "%T", enif_make_tuple(env, 0)));
    fclose(file);
    say_text("the file", text_of_file);
    free(text_of_file);
    say_int("snprintf",
            enif_snprintf(buffer, sizeof buffer, "%T and %T", atom(env, "a"), number(env, 1)));
    say_text("the text", buffer);
    say_int("snprintf of nothing", enif_snprintf(buffer, 1, "abc"));
    say_text("the text", buffer);
    topic("printf of a term");
    for (size_t i = 0; i < terms.count; i++)
        print("", "%T", terms.all[i]);
    free_terms(&terms);
    return atom(env, "ok");
}
