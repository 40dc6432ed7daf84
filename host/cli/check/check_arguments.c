#include "check_arguments.h"

#include <stdbool.h>

/* A list of DEPTH lists, each the only element of the one around it; and the same of tuples. */
#define DEEP_LIST(depth) "'=(fun F(0, T) -> T; F(N, T) -> F(N - 1, [T]) end)(" #depth ", [])'"
#define DEEP_TUPLE(depth) "'=(fun F(0, T) -> T; F(N, T) -> F(N - 1, {T}) end)(" #depth ", {})'"
#define PART(size) "'=(fun(<<_, B/binary>>) -> B end)(binary:copy(<<7>>, " #size "))'"
#define A_64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* Each list ends with NULL. */
static const char *const integers[] = {
    "1",
    "0",
    "-1",
    "2",
    "127",
    "128",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "4294967295",
    "4294967296",
    "576460752303423487",
    "576460752303423488",
    "-576460752303423489",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    NULL,
};
static const char *const floats[] = {
    "1.5",
    "0.0",
    "-0.0",
    "-1.0",
    "5.0e-324",
    "9007199254740993.0",
    "9223372036854775808.0",
    "1.7976931348623157e308",
    "-1.7976931348623157e308",
    NULL,
};
static const char *const atoms[] = {
    "ok",
    "true",
    "undefined",
    "''",
    "error",
    "' '",
    "'\\x{e9}'",
    "'\\x{540d}'",
    "'\\x{1F600}'",
    A_64 A_64 A_64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    NULL,
};
static const char *const binaries[] = {
    "<<\"abc\">>",
    "<<>>",
    "<<0>>",
    "<<255>>",
    "<<\"1\">>",
    "<<0,255,254>>",
    "<<195>>",
    PART(3),
    "'=binary:copy(<<7>>, 64)'",
    "'=binary:copy(<<7>>, 65)'",
    PART(70),
    "'=binary:copy(<<7>>, 65536)'",
    "'=binary:copy(<<7>>, 1000000)'",
    NULL,
};
static const char *const bitstrings[] = {"<<1:1>>", "<<255,3:7>>", NULL};
static const char *const lists[] = {
    "[]",
    "[1]",
    "[[]]",
    "[a,b]",
    "[<<\"abc\">>]",
    "[a|b]",
    "[1,2|3]",
    "[<<>>|<<>>]",
    "[256]",
    "[-1]",
    "[{a,1}]",
    "[{<<\"a\">>,1.5}]",
    "[1.5]",
    "[9223372036854775808]",
    "[#{}]",
    "'=[self()]'",
    "'=lists:seq(1, 1000)'",
    DEEP_LIST(10000),
    "'=lists:duplicate(100000, 1)'",
    NULL,
};
static const char *const strings[] = {
    "\"abc\"",
    "\"\\x{0}\"",
    "\"\\x{e9}\"",
    "\"\\x{540d}\"",
    "[97|b]",
    "'=lists:duplicate(255, 97)'",
    "'=lists:duplicate(256, 97)'",
    "'=lists:duplicate(65536, 97)'",
    NULL,
};
static const char *const tuples[] = {
    "{a,1}",           "{}", "{ok}", "{1,2}", "{a,b,c}", "{{},[]}", "{<<\"abc\">>,<<\"abc\">>}",
    DEEP_TUPLE(10000), NULL,
};
static const char *const maps[] = {
    "#{a=>1}",
    "#{}",
    "#{<<\"a\">>=>1}",
    "#{1=>#{}}",
    "'=#{K => K || K <- lists:seq(1, 32)}'",
    "'=#{K => K || K <- lists:seq(1, 33)}'",
    "'=#{K => K || K <- lists:seq(1, 1000)}'",
    NULL,
};
static const char *const pids[] = {"'=self()'", "<0.32767.8191>", "<0.0.0>", NULL};
static const char *const ports[] = {"#Port<0.6>", NULL};
static const char *const references[] = {"'=make_ref()'", "#Ref<0.1.2.3>", NULL};
static const char *const funs[] = {"fun lists:map/2", "'=fun(A) -> A end'", NULL};
static const char *const resources[] = {NULL};

static const struct {
    const char *name;
    const char *const *values;
} types[TH_CHECK_TYPES] = {
#define TYPE(name) [TH_CHECK_TYPE_##name] = {#name, name##s}
    TYPE(integer),   TYPE(float),    TYPE(atom),   [TH_CHECK_TYPE_binary] = {"binary", binaries},
    TYPE(bitstring), TYPE(list),     TYPE(string), TYPE(tuple),
    TYPE(map),       TYPE(pid),      TYPE(port),   TYPE(reference),
    TYPE(fun),       TYPE(resource),
};

const char *th_check_type_name(enum th_check_type type)
{
    return types[type].name;
}

size_t th_check_values(enum th_check_type type)
{
    size_t count = 0;

    while (types[type].values[count])
        count++;
    return count;
}

const char *th_check_value(enum th_check_type type, size_t number)
{
    return types[type].values[number];
}
