/* Tests formatted printing, with %T for terms. */
#include "nif_api.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints into much room, then into ten bytes. */
static void print(const char *name, const char *format, ...)
{
    static char buffer[100000];
    char small[10];
    va_list list;

    begin_row("enif_vsnprintf: %s, then into 10 bytes", name);
    va_start(list, format);
    put_int(enif_vsnprintf(buffer, sizeof buffer, format, list));
    va_end(list);
    put_text(buffer);
    va_start(list, format);
    memset(small, 'X', sizeof small);
    put_int(enif_vsnprintf(small, sizeof small, format, list));
    va_end(list);
    small[sizeof small - 1] = 0;
    put_text(small);
    end_row();
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
    print("widths", "%5d|%-5d|%05d|%*d|%-*d|", 7, 7, 7, 5, 7, 5, 7);
    print("signs and precisions", "%+d|% d|%.3d|%5.3d", 7, 7, 7, 7);
    print("lengths", "%ld|%lu|%lld|%llu|%hd", -1l, 1ul, -1ll, 1ull, (short)-1);
    print("floats", "%f|%e|%.2f|%8.3f|%E", 1.5, 1.5, 1.5, 1.5, 1.5);
    print("strings", "%s|%5s|%-5s|%.2s|%*s|%.*s", "abc", "abc", "abc", "abc", 5, "abc", 1, "abc");
    print("a percent sign", "100%%");
    print("nothing", "%s", "");
}

static void print_pointers(void)
{
    void *p = (void *)16;

    print("pointers", "%p|%20p|%-20p|%25p", p, p, p, p);
    print("pointers, the least and the most", "%p|%p", (void *)0, (void *)-1);
    print("pointers with a precision", "%.20p|%.3p", p, p);
}

/* Puts a term with widths, precisions and flags. */
static void put_wide(ERL_NIF_TERM term)
{
    static const char *const formats[] = {"%-20T|", "%20T|",   "%5.2T",  "%020T", "%-20.1T|",
                                          "%2T|",   "%20.1T|", "%+20T|", "% 20T|"};
    static char buffer[100000];

    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        enif_snprintf(buffer, sizeof buffer, formats[i], term);
        put_text(buffer);
    }
    enif_snprintf(buffer, sizeof buffer, "%*T|%-*T", 20, term, 30, term);
    put_text(buffer);
}

/* Puts the result of %T, and the text. */
static void put_printed(ERL_NIF_TERM term)
{
    static char buffer[100000];
    int result = enif_snprintf(buffer, sizeof buffer, "%T", term);

    put_int(result);
    put_text(buffer);
}

/* True if both hosts print the term alike: numbers of identifiers and large maps differ. */
static bool has_one_text(ErlNifEnv *env, ERL_NIF_TERM term)
{
    ERL_NIF_TERM head;
    const ERL_NIF_TERM *elements;
    size_t size;
    int arity;

    if (enif_get_map_size(env, term, &size))
        return size == 0;
    if (enif_is_pid(env, term) || enif_is_port(env, term) || enif_is_ref(env, term))
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

/* --- Random terms ----------------------------------------------------------------------------- */

static unsigned long chance = 1;

/* Returns a random number below LIMIT. */
static unsigned some(unsigned limit)
{
    chance = chance * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(chance >> 33) % limit;
}

static ERL_NIF_TERM some_atom(ErlNifEnv *env)
{
    static const char *const names[] = {
        "a",          "receive", "of",     "end",      "maybe",    "node@host", "Upper",
        "with space", "",        "_",      "a1_B",     "1a",       "it's",      "back\\slash",
        "new\nline",  "tab\t",   "\1\33",  "\177",     "\200\237", "\240",      "\337t\366",
        "\327\367",   "\300",    "a\200b", "\v\f\b\r", "a-b",      "true",      "undefined"};
    char wide[] = "\x83\x77\x04"
                  "a\xce\xb1z";
    ERL_NIF_TERM term;
    unsigned i = some(sizeof names / sizeof names[0] + 2);

    if (i < sizeof names / sizeof names[0])
        return enif_make_atom(env, names[i]);
    if (i % 2) /* starts with a character beyond Latin-1 */
        memcpy(wide + 3,
               "\xe2\x82\xac"
               "a",
               4);
    enif_binary_to_term(env, (const unsigned char *)wide, sizeof wide - 1, &term, 0);
    return term;
}

/* Returns a printable byte, an odd one, or any byte, depending on KIND. */
static unsigned char some_byte(unsigned kind)
{
    static const unsigned char odd[] = "\n\r\t\"\\'\0\177\200\237\240\377";

    return kind == 0 ? 32 + some(95) : kind == 1 ? odd[some(sizeof odd - 1)] : some(256);
}

static ERL_NIF_TERM some_binary(ErlNifEnv *env)
{
    unsigned size = some(12), kind = some(3);
    ERL_NIF_TERM term;
    unsigned char *data = enif_make_new_binary(env, size, &term);

    for (unsigned i = 0; i < size; i++)
        data[i] = some_byte(kind);
    return size > 2 && some(3) == 0 ? enif_make_sub_binary(env, term, 1, size - 2) : term;
}

static ERL_NIF_TERM some_string(ErlNifEnv *env)
{
    unsigned size = some(12), kind = some(3);
    ERL_NIF_TERM list = some(8) ? enif_make_list(env, 0) : some_atom(env);

    while (size-- > 0)
        list = enif_make_list_cell(env, number(env, some_byte(kind)), list);
    return list;
}

static ERL_NIF_TERM some_number(ErlNifEnv *env)
{
    static const double floats[] = {0.0,     -0.0,    1.5,           1e10,   1e300,
                                    -1e-300, 1.0 / 3, 123456789.123, 5e-324, 0.1};
    static const unsigned char big[] = "\x83\x6e\x0a\x01\1\2\3\4\5\6\7\10\11\12";
    ERL_NIF_TERM term;

    switch (some(4)) {
    case 0:
        return number(env, some(2000000000) - 1000000000);
    case 1:
        return enif_make_int64(env, (ErlNifSInt64)(chance * 2654435761u));
    case 2:
        enif_binary_to_term(env, big, sizeof big - 1, &term, 0);
        return term;
    default:
        return enif_make_double(env, floats[some(sizeof floats / sizeof floats[0])]);
    }
}

static ERL_NIF_TERM some_other(ErlNifEnv *env)
{
    static const char bits[] = "\x83\x4d\0\0\0\3\5"
                               "ab\xa8";
    static const char export[] = "\x83\x71\x77\4node\x77\3a@b\x61\2";
    const char *bytes = some(2) ? bits : export;
    size_t size = bytes == bits ? sizeof bits - 1 : sizeof export - 1;
    ERL_NIF_TERM term;

    enif_binary_to_term(env, (const unsigned char *)bytes, size, &term, 0);
    return term;
}

static ERL_NIF_TERM some_term(ErlNifEnv *env, unsigned depth);

static ERL_NIF_TERM some_list(ErlNifEnv *env, unsigned depth)
{
    ERL_NIF_TERM list = some(4) ? enif_make_list(env, 0) : some_term(env, depth - 1);

    for (unsigned count = some(5); count > 0; count--)
        list = enif_make_list_cell(env, some_term(env, depth - 1), list);
    return list;
}

static ERL_NIF_TERM some_tuple(ErlNifEnv *env, unsigned depth)
{
    ERL_NIF_TERM elements[4];
    unsigned count = some(5);

    for (unsigned i = 0; i < count; i++)
        elements[i] = some_term(env, depth - 1);
    return enif_make_tuple_from_array(env, elements, count);
}

static ERL_NIF_TERM some_map(ErlNifEnv *env, unsigned depth)
{
    ERL_NIF_TERM map = enif_make_new_map(env);

    for (unsigned count = some(4); count > 0; count--) {
        ERL_NIF_TERM key = some_binary(env); /* they have one order */
        enif_make_map_put(env, map, key, some_term(env, depth - 1), &map);
    }
    return map;
}

static ERL_NIF_TERM some_term(ErlNifEnv *env, unsigned depth)
{
    switch (some(depth > 0 ? 9 : 6)) {
    case 0:
    case 1:
        return some_atom(env);
    case 2:
        return some_binary(env);
    case 3:
        return some_string(env);
    case 4:
        return some_number(env);
    case 5:
        return some_other(env);
    case 6:
        return some_list(env, depth);
    case 7:
        return some_tuple(env, depth);
    default:
        return some_map(env, depth);
    }
}

/* Puts the whole term, then with each precision that truncates it, and into each size of memory
 * that is too small. */
static void put_some(ErlNifEnv *env)
{
    static char buffer[100000];
    ERL_NIF_TERM term = some_term(env, 4);
    int length = enif_snprintf(buffer, sizeof buffer, "%T|", term);

    put_int(length);
    put_text(buffer);
    put_wide(term);
    for (int i = 0; i < 12; i++) {
        int precision = i < 6 ? i : (int)some((unsigned)length + 2);
        put_int(enif_snprintf(buffer, sizeof buffer, "<%.*T>", precision, term));
        put_text(buffer);
        memset(buffer, 'X', sizeof buffer);
        enif_snprintf(buffer, 1 + some((unsigned)length + 4), "%T", term);
        put_text(buffer);
    }
}

/* Since OTP 26 atom keys are in the order of the BEAM's atom table, where `true` comes early. */
static void print_map(ErlNifEnv *env)
{
    ERL_NIF_TERM map = enif_make_new_map(env);
    char buffer[100];

    enif_make_map_put(env, map, atom(env, "true"), number(env, 1), &map);
    enif_make_map_put(env, map, atom(env, "nif_api_a"), number(env, 2), &map);
    enif_snprintf(buffer, sizeof buffer, "%T", map);
    say_differing(env, "enif_snprintf: %T of a map whose keys are atoms", text(env, buffer));
}

static void print_differing(ErlNifEnv *env, const char *name, const char *format, ...)
{
    char buffer[100];
    va_list list;

    va_start(list, format);
    enif_vsnprintf(buffer, sizeof buffer, format, list);
    va_end(list);
    say_differing(env, name, text(env, buffer));
}

static void print_odd(ErlNifEnv *env)
{
    static const char pid[] = "\x83\x58\x77\x05other\0\0\0\x07\0\0\0\x01\0\0\0\x05";
    ERL_NIF_TERM term;
    char buffer[10], all[100];

    print_differing(env, "enif_snprintf: %zu", "%zu", (size_t)7);
    print_differing(env, "enif_snprintf: %g", "%g", 1.5);
    print_differing(env, "enif_snprintf: %#T", "%#T", enif_make_double(env, 1.5));
    enif_binary_to_term(env, (const unsigned char *)pid, sizeof pid - 1, &term, 0);
    enif_snprintf(all, sizeof all, "%T", term); /* the first number is the host's own for a node */
    say_text("enif_snprintf: %T of a pid of another node, after its node", strchr(all, '.'));
    say_differing(
        env, "enif_snprintf: the result where a %T was cut",
        number(env, enif_snprintf(buffer, sizeof buffer, "%T", text(env, "twelve bytes"))));
}

static void print_kinds(ErlNifEnv *env, const struct terms *terms)
{
    for (size_t kind = 0; kind < KINDS; kind++) {
        begin_row("enif_snprintf: %%T of %s", terms->kinds[kind].name);
        for (size_t i = terms->kinds[kind].first; i < terms->kinds[kind].end; i++)
            if (has_one_text(env, terms->all[i]))
                put_printed(terms->all[i]);
        end_row();
    }
    begin_row("enif_snprintf: %%T of nested terms");
    for (size_t i = terms->plain; i < terms->count; i++)
        if (has_one_text(env, terms->all[i]))
            put_printed(terms->all[i]);
    end_row_as_hash();
    begin_row("enif_snprintf: %%T of an atom with widths, precisions and flags");
    put_wide(atom(env, "an atom"));
    end_row();
    begin_row("enif_snprintf: %%T of a list with widths, precisions and flags");
    put_wide(enif_make_list2(env, number(env, 1), number(env, 2)));
    end_row();
    begin_row("enif_snprintf: 400 random terms with widths, precisions and sizes");
    for (int i = 0; i < 400; i++)
        put_some(env);
    end_row_as_hash();
}

static void print_files(ErlNifEnv *env)
{
    char *all = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&all, &size);

    say_int("enif_fprintf: text, a number and an atom",
            enif_fprintf(file, "%s %d %T\n", "text", 1, atom(env, "ok")));
    say_int("nothing", enif_fprintf(file, "%s", ""));
    say_int("enif_vfprintf: a tuple", print_file(file, "%T", enif_make_tuple(env, 0)));
    say_int("an int and a string", print_file(file, "%d%s", 1, "a"));
    fclose(file);
    say_text("the file", all);
    say_text("enif_fprintf: the file", all);
    free(all);
}

ERL_NIF_TERM printing(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct terms terms = make_terms(env);
    char buffer[20];

    (void)argc;
    (void)argv;
    print_numbers();
    print_pointers();
    print_files(env);
    say_int("enif_snprintf: two terms",
            enif_snprintf(buffer, sizeof buffer, "%T and %T", atom(env, "a"), number(env, 1)));
    say_text("the text", buffer);
    say_int("into 1 byte", enif_snprintf(buffer, 1, "abc"));
    say_text("the text", buffer);
    print_kinds(env, &terms);
    print_odd(env);
    print_map(env);
    free_terms(&terms);
    return atom(env, "ok");
}
