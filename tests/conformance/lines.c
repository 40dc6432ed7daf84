/*
 * Writes results as text. Terms are printed with the API's own functions, so that no host's printer
 * affects the text: pairs of maps in the order of their keys, long terms as size and hash,
 * identifiers of this node without their numbers.
 */
#define _GNU_SOURCE /* declares RTLD_DEFAULT */
#include "nif_api.h"
#include "functions.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 32, /* elements or bytes that are printed */ KNOWN = 8 };

/* The calls write, of which only one runs at a time; a thread of theirs while they wait for it. */
static FILE *lines, *details; /* each line is one write; opened by load() */
static unsigned since;        /* the minor version that marks lines */

/* A function and its number of checks. The last one is not of erl_nif.h. */
#define ROW(name, since) {#name, since, 0},
static struct function {
    const char *name;
    unsigned since, checks;
} functions[] = {NIF_FUNCTIONS(ROW){"erl_errno_id", 0, 0}};
static struct function *function; /* of the last line */

/* The line that is being written. */
static struct {
    FILE *to;
    char *text;
    size_t size, value; /* where the value begins */
    size_t results;
} line;

static struct {
    ERL_NIF_TERM pid;
    const char *name;
} known[KNOWN];

bool open_lines(void)
{
    const char *path = getenv("NIF_API_LINES"), *more = getenv("NIF_API_DETAILS");

    lines = path ? fopen(path, "w") : NULL;
    details = more ? fopen(more, "w") : NULL;
    return lines;
}

void close_lines(void)
{
    fclose(lines);
    if (details)
        fclose(details);
}

void *find_function(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

bool has_utf8(void)
{
    return find_function("enif_make_new_atom");
}

void say_since(unsigned minor)
{
    since = minor;
}

void name_pid(ERL_NIF_TERM pid, const char *name)
{
    size_t i = 0;

    while (i + 1 < KNOWN && known[i].name && known[i].pid != pid)
        i++;
    known[i].pid = pid;
    known[i].name = name;
}

static void print(FILE *to, ErlNifEnv *env, ERL_NIF_TERM term);

/* Prints big integers, bit strings, atoms beyond Latin-1, identifiers of other nodes. */
static void print_hash(FILE *to, ERL_NIF_TERM term)
{
    fprintf(to, "hash %lu", (unsigned long)enif_hash(ERL_NIF_PHASH2, term, 0));
}

static void print_text(FILE *to, const char *text)
{
    for (; *text; text++)
        fprintf(to, *text > ' ' && *text < 127 ? "%c" : "\\%02x", (unsigned char)*text);
}

/* Prints kind, size and hash of a term that is too long. */
static void print_long(FILE *to, ERL_NIF_TERM term, const char *kind, size_t size)
{
    fprintf(to, "%s of %zu, hash %lu", kind, size,
            (unsigned long)enif_hash(ERL_NIF_PHASH2, term, 0));
}

static void print_atom(FILE *to, ErlNifEnv *env, ERL_NIF_TERM term)
{
    char name[260];
    unsigned length = 0;

    enif_get_atom_length(env, term, &length, ERL_NIF_LATIN1);
    if (!enif_get_atom(env, term, name, sizeof name, ERL_NIF_LATIN1) || strlen(name) != length) {
        print_hash(to, term);
        return;
    }
    if (length > LONGEST) {
        print_long(to, term, "atom", length);
        return;
    }
    fputc('\'', to);
    print_text(to, name);
    fputc('\'', to);
}

static void print_integer(FILE *to, ErlNifEnv *env, ERL_NIF_TERM term)
{
    long value;
    unsigned long positive;

    if (enif_get_long(env, term, &value))
        fprintf(to, "%ld", value);
    else if (enif_get_ulong(env, term, &positive))
        fprintf(to, "%lu", positive);
    else
        print_hash(to, term);
}

static void print_bits(FILE *to, ErlNifEnv *env, ERL_NIF_TERM term)
{
    ErlNifBinary bin;

    if (!enif_inspect_binary(env, term, &bin)) {
        print_hash(to, term);
        return;
    }
    if (bin.size > LONGEST) {
        print_long(to, term, "binary", bin.size);
        return;
    }
    fputs("<<", to);
    for (size_t i = 0; i < bin.size; i++)
        fprintf(to, "%02x", bin.data[i]);
    fputs(">>", to);
}

/* Prints a list of printable characters as text. False: it is another list. */
static bool print_string(FILE *to, ErlNifEnv *env, ERL_NIF_TERM term)
{
    char all[LONGEST + 2];

    if (enif_get_string(env, term, all, sizeof all, ERL_NIF_LATIN1) < 2)
        return false;
    for (const char *c = all; *c; c++)
        if (*c < ' ' || *c > '~')
            return false;
    fputc('"', to);
    print_text(to, all);
    fputc('"', to);
    return true;
}

static void print_list(FILE *to, ErlNifEnv *env, ERL_NIF_TERM term)
{
    const char *before = "[";
    unsigned length = 0;
    ERL_NIF_TERM head;

    if (enif_get_list_length(env, term, &length) && length > LONGEST) {
        print_long(to, term, "list", length);
        return;
    }
    if (print_string(to, env, term))
        return;
    while (enif_get_list_cell(env, term, &head, &term)) {
        fputs(before, to);
        print(to, env, head);
        before = ",";
    }
    if (!enif_is_empty_list(env, term)) {
        fputc('|', to);
        print(to, env, term);
    } else if (*before == '[') {
        fputc('[', to);
    }
    fputc(']', to);
}

static void print_tuple(FILE *to, ErlNifEnv *env, ERL_NIF_TERM term)
{
    const ERL_NIF_TERM *elements;
    int arity;

    if (!enif_get_tuple(env, term, &arity, &elements))
        return;
    if (arity > LONGEST) {
        print_long(to, term, "tuple", (size_t)arity);
        return;
    }
    fputc('{', to);
    for (int i = 0; i < arity; i++) {
        fputs(i > 0 ? "," : "", to);
        print(to, env, elements[i]);
    }
    fputc('}', to);
}

/* Orders equal keys such as 1 and 1.0 by their types. */
static int compare_keys(const void *one, const void *other)
{
    const ERL_NIF_TERM *x = one, *y = other;
    int order = enif_compare(*x, *y);

    return order ? order : (int)enif_term_type(NULL, *x) - (int)enif_term_type(NULL, *y);
}

static void print_map(FILE *to, ErlNifEnv *env, ERL_NIF_TERM term)
{
    ERL_NIF_TERM pairs[LONGEST][2];
    ErlNifMapIterator iterator;
    size_t size = 0, count = 0;

    enif_get_map_size(env, term, &size);
    if (size > LONGEST) {
        print_long(to, term, "map", size);
        return;
    }
    enif_map_iterator_create(env, term, &iterator, ERL_NIF_MAP_ITERATOR_FIRST);
    while (count < size &&
           enif_map_iterator_get_pair(env, &iterator, &pairs[count][0], &pairs[count][1])) {
        count++;
        enif_map_iterator_next(env, &iterator);
    }
    enif_map_iterator_destroy(env, &iterator);
    qsort(pairs, count, sizeof *pairs, compare_keys);
    fputs("#{", to);
    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? "," : "", to);
        print(to, env, pairs[i][0]);
        fputs("=>", to);
        print(to, env, pairs[i][1]);
    }
    fprintf(to, count == size ? "}" : " and not %zu}", size);
}

static void print_pid(FILE *to, ErlNifEnv *env, ERL_NIF_TERM term)
{
    const char *name = "pid";
    ErlNifPid pid;

    if (!enif_get_local_pid(env, term, &pid)) {
        print_hash(to, term);
        return;
    }
    for (size_t i = 0; i < KNOWN && known[i].name; i++)
        if (known[i].pid == term)
            name = known[i].name;
    fprintf(to, "<%s>", name);
}

static void print_port(FILE *to, ErlNifEnv *env, ERL_NIF_TERM term)
{
    ErlNifPort port;

    if (enif_get_local_port(env, term, &port))
        fputs("<port>", to);
    else
        print_hash(to, term);
}

static void print(FILE *to, ErlNifEnv *env, ERL_NIF_TERM term)
{
    double value;

    switch (enif_term_type(env, term)) {
    case ERL_NIF_TERM_TYPE_ATOM:
        print_atom(to, env, term);
        break;
    case ERL_NIF_TERM_TYPE_INTEGER:
        print_integer(to, env, term);
        break;
    case ERL_NIF_TERM_TYPE_FLOAT:
        fprintf(to, "%a", enif_get_double(env, term, &value) ? value : 0);
        break;
    case ERL_NIF_TERM_TYPE_BITSTRING:
        print_bits(to, env, term);
        break;
    case ERL_NIF_TERM_TYPE_LIST:
        print_list(to, env, term);
        break;
    case ERL_NIF_TERM_TYPE_TUPLE:
        print_tuple(to, env, term);
        break;
    case ERL_NIF_TERM_TYPE_MAP:
        print_map(to, env, term);
        break;
    case ERL_NIF_TERM_TYPE_PID:
        print_pid(to, env, term);
        break;
    case ERL_NIF_TERM_TYPE_PORT:
        print_port(to, env, term);
        break;
    case ERL_NIF_TERM_TYPE_REFERENCE:
        fputs("#Ref", to);
        break;
    case ERL_NIF_TERM_TYPE_FUN:
        fputs("#Fun", to);
        break;
    default:
        fputs("no type", to);
    }
}

/* Finds the function at the beginning of NAME. Returns the rest of NAME. */
static const char *take_function(const char *name)
{
    size_t length = strcspn(name, ":");

    if (strncmp(name, "enif_", 5) != 0 && strncmp(name, "erl_", 4) != 0)
        return name;
    for (size_t i = 0; i < COUNT(functions); i++)
        if (strncmp(functions[i].name, name, length) == 0 && !functions[i].name[length]) {
            function = &functions[i];
            return name + length + strspn(name + length, ": ");
        }
    abort(); /* a check of no function */
}

static void begin(const char *name, bool differs)
{
    const char *rest = take_function(name);
    unsigned least = function->since > since ? function->since : since;

    line.to = open_memstream(&line.text, &line.size);
    if (!line.to)
        abort();
    fprintf(line.to, "%s %u", function->name, ++function->checks);
    if (least > 16)
        fprintf(line.to, " [2.%u]", least);
    fprintf(line.to, "%s: %s ->", differs ? " [differs]" : "", rest);
    fflush(line.to);
    line.value = line.size;
    line.results = 0;
}

static void end(void)
{
    fputc('\n', line.to);
    fclose(line.to);
    fputs(line.text, lines);
    fflush(lines);
    free(line.text);
}

void begin_row(const char *name, ...)
{
    char all[200];
    va_list list;

    va_start(list, name);
    vsnprintf(all, sizeof all, name, list);
    va_end(list);
    begin(all, false);
}

void put_int(long value)
{
    fprintf(line.to, " %ld", value);
    line.results++;
}

void put_term(ErlNifEnv *env, ERL_NIF_TERM term)
{
    fputc(' ', line.to);
    print(line.to, env, term);
    line.results++;
}

void put_text(const char *text)
{
    fputc(' ', line.to);
    print_text(line.to, text ? text : "(none)");
    line.results++;
}

void put_output(ErlNifEnv *env, long result, ERL_NIF_TERM output, ERL_NIF_TERM untouched)
{
    if (result == 1)
        put_term(env, output);
    else if (!enif_is_identical(output, untouched)) {
        fprintf(line.to, " %ld:", result);
        print(line.to, env, output);
        line.results++;
    } else
        put_text(result ? "odd" : "-");
}

void end_row(void)
{
    end();
}

void end_row_as_hash(void)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */

    fflush(line.to);
    if (details)
        fprintf(details, "%s\n", line.text);
    for (size_t i = line.value; i < line.size; i++)
        hash = (hash ^ (unsigned char)line.text[i]) * 1099511628211u;
    fprintf(lines, "%.*s %zu results, hash %016lx\n", (int)line.value, line.text, line.results,
            (unsigned long)hash);
    fflush(lines);
    fclose(line.to);
    free(line.text);
}

void say(ErlNifEnv *env, const char *name, ERL_NIF_TERM value)
{
    begin(name, false);
    put_term(env, value);
    end();
}

void say_differing(ErlNifEnv *env, const char *name, ERL_NIF_TERM value)
{
    begin(name, true);
    put_term(env, value);
    end();
}

void say_int(const char *name, long value)
{
    begin(name, false);
    put_int(value);
    end();
}

void say_text(const char *name, const char *text)
{
    begin(name, false);
    put_text(text);
    end();
}

void say_pair(ErlNifEnv *env, const char *name, long result, ERL_NIF_TERM output)
{
    begin(name, false);
    put_int(result);
    put_term(env, output);
    end();
}

void say_missing_functions(void)
{
    for (size_t i = 0; i < COUNT(functions); i++)
        if (functions[i].checks == 0)
            fprintf(lines, "%s %s: since NIF 2.%u\n", functions[i].name,
                    find_function(functions[i].name) ? "unchecked" : "missing", functions[i].since);
}
