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
    print("lengths", "%ld|%lu|%lld|%llu|%hd", -1l, 1ul, -1ll, 1ull, (short)-1);
    print("floats", "%f|%e|%.2f|%8.3f|%E", 1.5, 1.5, 1.5, 1.5, 1.5);
    print("strings", "%s|%5s|%-5s|%.2s|%*s|%.*s", "abc", "abc", "abc", "abc", 5, "abc", 1, "abc");
    print("percent", "100%%");
    print("nothing", "%s", "");
}

static void print_term(ERL_NIF_TERM term)
{
    static char buffer[100000];

    say_int("snprintf", enif_snprintf(buffer, sizeof buffer, "%T", term));
    say_text("the text", buffer);
}

/* Terms that look the same in both hosts, those that are meant to differ left out. */
static bool has_one_text(ErlNifEnv *env, ERL_NIF_TERM term)
{
    ERL_NIF_TERM head;
    const ERL_NIF_TERM *elements;
    unsigned length;
    double value;
    int arity;

    if (enif_get_double(env, term, &value) || enif_is_map(env, term) || enif_is_pid(env, term) ||
        enif_is_port(env, term) || enif_is_ref(env, term))
        return false;
    if (enif_is_atom(env, term) && !enif_get_atom_length(env, term, &length, ERL_NIF_LATIN1))
        return false;
    if (enif_get_tuple(env, term, &arity, &elements))
        return arity != 1 || has_one_text(env, elements[0]);
    if (!enif_get_list_cell(env, term, &head, &term))
        return true;
    do
        if (!has_one_text(env, head))
            return false;
    while (enif_get_list_cell(env, term, &head, &term));
    return has_one_text(env, term);
}

static void print_meant(ErlNifEnv *env, const char *name, const char *format, ...)
{
    char buffer[100];
    va_list list;

    va_start(list, format);
    enif_vsnprintf(buffer, sizeof buffer, format, list);
    va_end(list);
    say_meant(env, name, text(env, buffer));
}

static void print_odd(ErlNifEnv *env)
{
    static const char wide[] = "\x83\x77\x02\xce\xb1";
    static const char pid[] = "\x83\x58\x77\x05other\0\0\0\x07\0\0\0\x01\0\0\0\x05";
    ERL_NIF_TERM map = enif_make_new_map(env), a = atom(env, "a"), term;
    char buffer[10];

    enif_make_map_put(env, map, a, a, &map);
    print_meant(env, "enif_snprintf: %zu", "%zu", (size_t)7);
    print_meant(env, "enif_snprintf: %g", "%g", 1.5);
    print_meant(env, "enif_snprintf: %T of a float", "%T", enif_make_double(env, 1.5));
    print_meant(env, "enif_snprintf: %T of a map", "%T", map);
    enif_binary_to_term(env, (const unsigned char *)wide, sizeof wide - 1, &term, 0);
    print_meant(env, "enif_snprintf: %T of an atom beyond Latin-1", "%T", term);
    enif_binary_to_term(env, (const unsigned char *)pid, sizeof pid - 1, &term, 0);
    print_meant(env, "enif_snprintf: %T of an identifier of another node", "%T", term);
    say_meant(env, "enif_snprintf: the result where a %T was cut",
              number(env, enif_snprintf(buffer, sizeof buffer, "%T", text(env, "twelve bytes"))));
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
        if (has_one_text(env, terms.all[i]))
            print_term(terms.all[i]);
    print_odd(env);
    free_terms(&terms);
    return atom(env, "ok");
}
