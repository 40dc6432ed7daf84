/* Random numbers, odd terms, and records of generated events. */
#include "generate_internal.h"

#include "part.h"

#include "host/base/error.h"
#include "host/term/make.h"
#include "host/term/map.h"
#include "host/term/text.h"
#include "host/trace/event.h"

#include <math.h>
#include <string.h>

enum {
    ATOM_LENGTH = 255,
    DEEP = 10000,
    LARGE_BINARY = 100000,
    LARGE_MAP = 100,
    LONG_LIST = 10000,
    ARGUMENTS = 255,
    BIG_LIMBS = 64
};

/* --- Random numbers --------------------------------------------------------------------------- */

/* The generator SplitMix64. Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number
 * Generators", 2014. */
uint64_t th_replay_generate_bits(struct th_generate_random *random)
{
    uint64_t z = random->state += 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

size_t th_replay_generate_number(struct th_generate_random *random, size_t limit)
{
    return th_replay_generate_bits(random) % limit;
}

bool th_replay_generate_chance(struct th_generate_random *random, unsigned percent)
{
    return th_replay_generate_number(random, 100) < percent;
}

/* --- Terms that Erlang text cannot express in short ------------------------------------------- */

static th_term other_node(void)
{
    return th_atom("other@host");
}

static th_term external_pid(th_env *env)
{
    return th_make_pid(env, other_node(), 5, 77, 1);
}

static th_term external_port(th_env *env)
{
    return th_make_port(env, other_node(), 5, 12);
}

static th_term external_reference(th_env *env)
{
    static const uint32_t words[] = {1, 2, 3};

    return th_make_reference(env, other_node(), 5, words, 3);
}

/* A reference with five words, as aliases of OTP 26 may have. */
static th_term alias(th_env *env)
{
    static const uint32_t words[] = {7, 6, 5, 4, 3};

    return th_make_reference(env, TH_NONE, 0, words, TH_REF_WORDS);
}

/* A fun with two free variables. */
static th_term fun(th_env *env)
{
    const th_term free[] = {th_atom("free"), th_make_float(env, 0.5)};

    return th_make_fun(env, &(struct th_fun_parts){
                                .module = th_atom("worker"),
                                .arity = 1,
                                .index = 3,
                                .unique = "fifteen letters",
                                .old_index = th_small(3),
                                .old_unique = th_small(123456),
                                .creator = th_make_pid(env, TH_NONE, 0, 100, 0),
                                .free = free,
                                .free_count = 2,
                            });
}

/* An atom of 255 times the character TEXT. */
static th_term long_atom(const char *text)
{
    char name[4 * ATOM_LENGTH];
    size_t bytes = strlen(text);

    for (size_t i = 0; i < ATOM_LENGTH; i++)
        memcpy(name + i * bytes, text, bytes);
    return th_atom_utf8(name, ATOM_LENGTH * bytes);
}

static th_term long_latin_atom(th_env *env)
{
    (void)env;
    return long_atom("a");
}

static th_term long_wide_atom(th_env *env)
{
    (void)env;
    return long_atom("\U0001F600");
}

static th_term large_binary(th_env *env)
{
    unsigned char *bytes;
    const th_term made = th_make_heap_binary(env, 8 * LARGE_BINARY, &bytes);

    for (size_t i = 0; i < LARGE_BINARY; i++)
        bytes[i] = (unsigned char)(i * 31 >> 3);
    return made;
}

static th_term large_map(th_env *env)
{
    th_term keys[LARGE_MAP], values[LARGE_MAP];

    for (size_t i = 0; i < LARGE_MAP; i++) {
        keys[i] = i % 3 ? th_small((int64_t)(i * 7)) : th_make_float(env, (double)i);
        values[i] = th_make_tuple_of(env, th_small((int64_t)i), TH_NIL);
    }
    return th_make_map(env, keys, values, LARGE_MAP, true);
}

static th_term numbers(th_env *env, size_t count)
{
    th_term made = TH_NIL;

    for (size_t i = count; i-- > 0;)
        made = th_make_cons(env, th_small((int64_t)i), made);
    return made;
}

static th_term long_list(th_env *env)
{
    return numbers(env, LONG_LIST);
}

static th_term most_arguments(th_env *env)
{
    return numbers(env, ARGUMENTS);
}

static th_term deep_tuple(th_env *env)
{
    th_term made = th_atom("ground");

    for (size_t i = 0; i < DEEP; i++)
        made = th_make_tuple_of(env, made);
    return made;
}

static th_term deep_list(th_env *env)
{
    th_term made = TH_NIL;

    for (size_t i = 0; i < DEEP; i++)
        made = th_make_cons(env, made, TH_NIL);
    return made;
}

static th_term big_integer(th_env *env)
{
    uint64_t limbs[BIG_LIMBS];

    memset(limbs, 0xA5, sizeof limbs);
    return th_make_integer(env, true, limbs, BIG_LIMBS);
}

static const struct stand_in {
    const char *name;
    th_term (*make)(th_env *env);
} stand_ins[] = {
    {"external_pid", external_pid},
    {"external_port", external_port},
    {"external_ref", external_reference},
    {"alias_ref", alias},
    {"a_fun", fun},
    {"long_atom", long_latin_atom},
    {"long_wide_atom", long_wide_atom},
    {"large_binary", large_binary},
    {"large_map", large_map},
    {"long_list", long_list},
    {"arguments_255", most_arguments},
    {"deep_tuple", deep_tuple},
    {"deep_list", deep_list},
    {"big_integer", big_integer},
};

static th_term replace_stand_ins(th_env *env, th_term t)
{
    th_term *elements;

    if (th_is_atom(t)) {
        for (size_t i = 0; i < sizeof stand_ins / sizeof stand_ins[0]; i++)
            if (strcmp(th_atom_name(t)->text, stand_ins[i].name) == 0)
                return stand_ins[i].make(env);
    } else if (th_is_list(t)) {
        const th_term head = replace_stand_ins(env, th_cell(t)[0]);
        return th_make_cons(env, head, replace_stand_ins(env, th_cell(t)[1]));
    } else if (th_is_tuple(t)) {
        const th_term made = th_make_tuple_space(env, th_tuple_arity(t), &elements);
        for (size_t i = 0; i < th_tuple_arity(t); i++)
            elements[i] = replace_stand_ins(env, th_tuple_elements(t)[i]);
        return made;
    }
    return t;
}

th_term th_replay_generate_parse(th_env *env, const char *text)
{
    th_term parsed;

    if (th_text_parse(env, text, strlen(text), &parsed) != TH_OK)
        th_bug("this text of a generated event is no term: %s", text);
    return replace_stand_ins(env, parsed);
}

/* --- Odd terms -------------------------------------------------------------------------------- */

static const char *const odd_atoms[] = {
    "ok",          "error",          "undefined",
    "true",        "'EXIT'",         "''",
    "' '",         "'\\n\\t\\0'",    "'a\"b<c>&;{}|:'",
    "'it\\'s'",    "'Elixir.Mod'",   "'a-b/2-fun-0-'",
    "'caf\u00E9'", "'\u540D\u524D'", "'\U0001F600'",
    "long_atom",   "long_wide_atom",
};

static const char *const odd_terms[] = {
    /* integers */
    "0", "1", "-1", "127", "-128", "255", "256", "2147483647", "2147483648", "-2147483648",
    "-2147483649", "134217728", "576460752303423487", "576460752303423488", "-576460752303423488",
    "-576460752303423489", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
    "-9223372036854775809", "18446744073709551615", "18446744073709551616",
    /* floats */
    "0.0", "-0.0", "1.0", "0.1", "-2.5e-10", "1.7976931348623157e308", "5.0e-324",
    "2.2250738585072014e-308", "9007199254740992.0",
    /* lists */
    "[]", "\"text\"", "\"\\x{e9}\\n\"", "[0]", "[256]", "[1114111]", "[55296]", "[a|b]", "[1,2|3]",
    "[[],[[]],[[[]]]]", "[{key,value},{key,[]}]", "[\"io\",<<\"data\">>|<<>>]",
    /* tuples and maps */
    "{}", "{ok,{}}", "{{{{}}}}", "{'EXIT',<0.100.0>,normal}", "{badmatch,{error,enoent}}", "#{}",
    "#{a => 1}", "#{1 => a,1.0 => b,<<>> => c,{} => #{}}",
    /* bit strings */
    "<<>>", "<<0>>", "<<\"text\">>", "<<\"caf\u00E9\"/utf8>>", "<<255,254>>", "<<1:1>>", "<<0:7>>",
    "<<\"abc\",5:3>>",
    /* identifiers and functions */
    "<0.0.0>", "<0.100.0>", "<0.32767.8191>", "external_pid", "#Port<0.6>", "external_port",
    "#Ref<0.1.2.3>", "alias_ref", "external_ref", "a_fun", "fun lists:map/2", "fun '':''/255"};

static const char *const large_terms[] = {"big_integer", "long_list", "deep_list",
                                          "deep_tuple",  "large_map", "large_binary"};

static th_term choose_text(struct th_generate_random *random, th_env *env,
                           const char *const texts[], size_t count)
{
    return th_replay_generate_parse(env, texts[th_replay_generate_number(random, count)]);
}

th_term th_replay_generate_atom(struct th_generate_random *random, th_env *env)
{
    return choose_text(random, env, odd_atoms, sizeof odd_atoms / sizeof odd_atoms[0]);
}

/* A bit string of at most 64 bytes; seldom of at most 100 kB. */
static th_term random_bits(struct th_generate_random *random, th_env *env)
{
    const bool large = th_replay_generate_chance(random, 2);
    size_t bits = 8 * th_replay_generate_number(random, large ? LARGE_BINARY + 1 : 65);
    unsigned char *bytes;
    th_term made;

    if (bits > 0 && th_replay_generate_chance(random, 20))
        bits -= th_replay_generate_number(random, 8);
    made = th_make_heap_binary(env, bits, &bytes);
    for (size_t i = 0; i < (bits + 7) / 8; i++)
        bytes[i] = (unsigned char)th_replay_generate_bits(random);
    if (bits % 8)
        bytes[bits / 8] &= (unsigned char)(0xFF00 >> bits % 8);
    return made;
}

static th_term random_integer(struct th_generate_random *random, th_env *env)
{
    uint64_t limbs[BIG_LIMBS];
    size_t count =
        1 +
        (th_replay_generate_chance(random, 20) ? th_replay_generate_number(random, BIG_LIMBS) : 0);

    for (size_t i = 0; i < count; i++)
        limbs[i] = th_replay_generate_bits(random);
    limbs[count - 1] >>= th_replay_generate_number(random, 64);
    return th_make_integer(env, th_replay_generate_chance(random, 50), limbs, count);
}

static th_term random_float(struct th_generate_random *random, th_env *env)
{
    uint64_t bits;
    double d;

    do {
        bits = th_replay_generate_bits(random);
        memcpy(&d, &bits, sizeof d);
    } while (!isfinite(d));
    return th_make_float(env, d);
}

/* A term of elements; each may be such a term again, down to DEPTH. */
static th_term random_term(struct th_generate_random *random, th_env *env, unsigned depth)
{
    enum { MOST = 48 };
    th_term elements[2 * MOST];
    size_t count =
        th_replay_generate_number(random, th_replay_generate_chance(random, 5) ? MOST : 6);
    const size_t kind = th_replay_generate_number(random, 10);
    th_term made = TH_NIL;

    if (kind == 0)
        return random_bits(random, env);
    if (kind == 1)
        return random_integer(random, env);
    if (kind == 2)
        return random_float(random, env);
    if (kind == 3)
        return th_replay_generate_atom(random, env);
    if (th_replay_generate_chance(random, 1))
        return choose_text(random, env, large_terms, sizeof large_terms / sizeof large_terms[0]);
    if (depth == 0 || kind < 7)
        return choose_text(random, env, odd_terms, sizeof odd_terms / sizeof odd_terms[0]);
    for (size_t i = 0; i < (kind == 8 ? 2 * count : count); i++)
        elements[i] = random_term(random, env, depth - 1);
    if (kind == 7)
        return th_make_tuple(env, elements, count);
    if (kind == 8)
        return th_make_map(env, elements, elements + count, count, true);
    if (th_replay_generate_chance(random, 10))
        made = random_term(random, env, 0);
    while (count-- > 0)
        made = th_make_cons(env, elements[count], made);
    return made;
}

th_term th_replay_generate_term(struct th_generate_random *random, th_env *env)
{
    return random_term(random, env, 2);
}

/* --- Records ---------------------------------------------------------------------------------- */

void th_replay_generate_add(struct th_buffer *stream, const struct th_writer_options *how,
                            const struct th_event *event)
{
    struct th_event copy = *event;
    th_env env;

    copy.source = &th_replay_part_source;
    th_env_init(&env, TH_ENV_PLAIN);
    if (th_replay_writer_encode(stream, how, &copy, &env) != TH_OK)
        th_bug("a generated event cannot be written");
    th_env_release(&env);
}
