/*
 * Writes results as text. Terms are printed with the API's own functions, so that no host's printer
 * affects the text: pairs of maps in the order of their keys, long terms as size and hash,
 * identifiers of this node without their numbers.
 */
#define UNCOUNTED /* calls of the printer do not count as tested */
#include "nif_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 100, /* elements or bytes that are printed */ KNOWN = 8 };

static FILE *answers; /* each line is one write; opened by load() */
static const char *subject = "load";

/* Written by the calls, of which only one runs at a time. */
static struct {
    ERL_NIF_TERM pid;
    const char *name;
} known[KNOWN];

bool open_answers(void)
{
    const char *path = getenv("NIF_API_ANSWERS");

    answers = path ? fopen(path, "w") : NULL;
    return answers;
}

void close_answers(void)
{
    fclose(answers);
}

void topic(const char *name)
{
    subject = name;
}

void name_pid(ERL_NIF_TERM pid, const char *name)
{
    size_t i = 0;

    while (i + 1 < KNOWN && known[i].name && known[i].pid != pid)
        i++;
    known[i].pid = pid;
    known[i].name = name;
}

static void put(FILE *to, ErlNifEnv *env, ERL_NIF_TERM term);

/* Prints the external bytes, or a hash if newer BEAMs encode the atoms otherwise: big integers, bit
 * strings, atoms beyond Latin-1, identifiers of other nodes. */
static void put_external(FILE *to, ErlNifEnv *env, ERL_NIF_TERM term)
{
    ErlNifBinary bin;

    if (NEWER) {
        fprintf(to, "hash %lu", (unsigned long)enif_hash(ERL_NIF_PHASH2, term, 0));
        return;
    }
    if (!enif_term_to_binary(env, term, &bin)) {
        fputs("no external term", to);
        return;
    }
    fputs("external ", to);
    for (size_t i = 0; i < bin.size; i++)
        fprintf(to, "%02x", bin.data[i]);
    enif_release_binary(&bin);
}

static void put_text(FILE *to, const char *text)
{
    for (; *text; text++)
        fprintf(to, *text > ' ' && *text < 127 ? "%c" : "\\%02x", (unsigned char)*text);
}

static void put_atom(FILE *to, ErlNifEnv *env, ERL_NIF_TERM term)
{
    char name[260];
    unsigned length = 0;

    enif_get_atom_length(env, term, &length, ERL_NIF_LATIN1);
    if (!enif_get_atom(env, term, name, sizeof name, ERL_NIF_LATIN1) || strlen(name) != length) {
        put_external(to, env, term);
        return;
    }
    fputc('\'', to);
    put_text(to, name);
    fputc('\'', to);
}

static void put_integer(FILE *to, ErlNifEnv *env, ERL_NIF_TERM term)
{
    long value;
    unsigned long positive;

    if (enif_get_long(env, term, &value))
        fprintf(to, "%ld", value);
    else if (enif_get_ulong(env, term, &positive))
        fprintf(to, "%lu", positive);
    else
        put_external(to, env, term);
}

/* Prints kind, size and hash of a term that is too long. */
static void put_long(FILE *to, ERL_NIF_TERM term, const char *kind, size_t size)
{
    fprintf(to, "%s of %zu, hash %lu", kind, size,
            (unsigned long)enif_hash(ERL_NIF_PHASH2, term, 0));
}

static void put_bits(FILE *to, ErlNifEnv *env, ERL_NIF_TERM term)
{
    ErlNifBinary bin;

    if (!enif_inspect_binary(env, term, &bin)) {
        put_external(to, env, term);
        return;
    }
    if (bin.size > LONGEST) {
        put_long(to, term, "binary", bin.size);
        return;
    }
    fputs("<<", to);
    for (size_t i = 0; i < bin.size; i++)
        fprintf(to, "%02x", bin.data[i]);
    fputs(">>", to);
}

static void put_list(FILE *to, ErlNifEnv *env, ERL_NIF_TERM term)
{
    const char *before = "[";
    unsigned length = 0;
    ERL_NIF_TERM head;

    if (enif_get_list_length(env, term, &length) && length > LONGEST) {
        put_long(to, term, "list", length);
        return;
    }
    while (enif_get_list_cell(env, term, &head, &term)) {
        fputs(before, to);
        put(to, env, head);
        before = ",";
    }
    if (!enif_is_empty_list(env, term)) {
        fputc('|', to);
        put(to, env, term);
    } else if (*before == '[') {
        fputc('[', to);
    }
    fputc(']', to);
}

static void put_tuple(FILE *to, ErlNifEnv *env, ERL_NIF_TERM term)
{
    const ERL_NIF_TERM *elements;
    int arity;

    if (!enif_get_tuple(env, term, &arity, &elements))
        return;
    if (arity > LONGEST) {
        put_long(to, term, "tuple", (size_t)arity);
        return;
    }
    fputc('{', to);
    for (int i = 0; i < arity; i++) {
        fputs(i > 0 ? "," : "", to);
        put(to, env, elements[i]);
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

static void put_map(FILE *to, ErlNifEnv *env, ERL_NIF_TERM term)
{
    ERL_NIF_TERM pairs[LONGEST][2];
    ErlNifMapIterator iterator;
    size_t size = 0, count = 0;

    enif_get_map_size(env, term, &size);
    if (size > LONGEST) {
        put_long(to, term, "map", size);
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
        put(to, env, pairs[i][0]);
        fputs("=>", to);
        put(to, env, pairs[i][1]);
    }
    fprintf(to, count == size ? "}" : " and not %zu}", size);
}

static void put_pid(FILE *to, ErlNifEnv *env, ERL_NIF_TERM term)
{
    const char *name = "pid";
    ErlNifPid pid;

    if (!enif_get_local_pid(env, term, &pid)) {
        put_external(to, env, term);
        return;
    }
    for (size_t i = 0; i < KNOWN && known[i].name; i++)
        if (known[i].pid == term)
            name = known[i].name;
    fprintf(to, "<%s>", name);
}

static void put_port(FILE *to, ErlNifEnv *env, ERL_NIF_TERM term)
{
    ErlNifPort port;

    if (enif_get_local_port(env, term, &port))
        fputs("<port>", to);
    else
        put_external(to, env, term);
}

static void put(FILE *to, ErlNifEnv *env, ERL_NIF_TERM term)
{
    double value;

    switch (enif_term_type(env, term)) {
    case ERL_NIF_TERM_TYPE_ATOM:
        put_atom(to, env, term);
        break;
    case ERL_NIF_TERM_TYPE_INTEGER:
        put_integer(to, env, term);
        break;
    case ERL_NIF_TERM_TYPE_FLOAT:
        fprintf(to, "%a", enif_get_double(env, term, &value) ? value : 0);
        break;
    case ERL_NIF_TERM_TYPE_BITSTRING:
        put_bits(to, env, term);
        break;
    case ERL_NIF_TERM_TYPE_LIST:
        put_list(to, env, term);
        break;
    case ERL_NIF_TERM_TYPE_TUPLE:
        put_tuple(to, env, term);
        break;
    case ERL_NIF_TERM_TYPE_MAP:
        put_map(to, env, term);
        break;
    case ERL_NIF_TERM_TYPE_PID:
        put_pid(to, env, term);
        break;
    case ERL_NIF_TERM_TYPE_PORT:
        put_port(to, env, term);
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

/* A line that is being written. */
struct line {
    FILE *to;
    char *text;
    size_t size;
};

static void begin(struct line *line, const char *before, const char *name)
{
    line->to = open_memstream(&line->text, &line->size);
    if (!line->to)
        abort();
    fprintf(line->to, "%s%s: %s ", before, subject, name);
}

static void end(struct line *line)
{
    fputc('\n', line->to);
    fclose(line->to);
    fputs(line->text, answers);
    fflush(answers);
    free(line->text);
}

void say(ErlNifEnv *env, const char *name, ERL_NIF_TERM value)
{
    struct line line;

    begin(&line, "", name);
    put(line.to, env, value);
    end(&line);
}

void say_meant(ErlNifEnv *env, const char *name, ERL_NIF_TERM value)
{
    struct line line;

    begin(&line, "meant: ", name);
    fputs("is ", line.to);
    put(line.to, env, value);
    end(&line);
}

void say_meant_in_newer(ErlNifEnv *env, const char *name, ERL_NIF_TERM value)
{
    (NEWER ? say_meant : say)(env, name, value);
}

void say_meant_in_older(ErlNifEnv *env, const char *name, ERL_NIF_TERM value)
{
    (NEWER ? say : say_meant)(env, name, value);
}

void say_int(const char *name, long value)
{
    struct line line;

    begin(&line, "", name);
    fprintf(line.to, "%ld", value);
    end(&line);
}

void say_text(const char *name, const char *text)
{
    struct line line;

    begin(&line, "", name);
    if (text)
        put_text(line.to, text);
    else
        fputs("(none)", line.to);
    end(&line);
}

void say_pair(ErlNifEnv *env, const char *name, long result, ERL_NIF_TERM output)
{
    struct line line;

    begin(&line, "", name);
    fprintf(line.to, "%ld ", result);
    put(line.to, env, output);
    end(&line);
}
