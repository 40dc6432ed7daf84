/*
 * Assertions of CMocka that print in words. A failed assertion prints the expression, the expected
 * value and the value: numbers in decimal, enumerators, errno values and signals by name, terms as
 * Erlang text, strings as they are. After a status or a condition, the thread's error chain follows.
 *
 * The names of enumerators are read from the program's debug information. The text of an argument
 * decides which enumeration is meant: in assert_int_equal(f(), TH_OK) the one of TH_OK. If no
 * argument names an enumerator, assert_enum_equal() names the enumeration.
 */
#ifndef TESTS_ASSERTIONS_H
#define TESTS_ASSERTIONS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct assertion_number {
    uintmax_t value;
    bool is_signed;
    const char *text; /* the expression */
};

#define ASSERTION_IS_SIGNED(x) ((__typeof__((x) | 0))-1 < 1) /* X is an integer */
#define ASSERTION_HERE __FILE__, __LINE__

void assertion_numbers(bool equal, struct assertion_number got, struct assertion_number expected,
                       const char *enumeration, const char *file, int line);
void assertion_order(struct assertion_number got, const char *relation,
                     struct assertion_number limit, const char *file, int line);
void assertion_range(struct assertion_number got, uintmax_t least, uintmax_t most, const char *file,
                     int line);
void assertion_condition(bool holds, const char *expected, const char *text, const char *file,
                         int line);
void assertion_pointers(bool equal, const void *got, const void *expected, const char *got_text,
                        const char *expected_text, const char *file, int line);
void assertion_strings(bool equal, const char *got, const char *expected, const char *text,
                       const char *file, int line);
void assertion_bytes(const void *got, const void *expected, size_t size, const char *text,
                     const char *file, int line);
void assertion_terms(bool same_word, uint64_t got, uint64_t expected, const char *text,
                     const char *file, int line);

#undef assert_true
#define assert_true(c) \
    assertion_condition(cast_to_largest_integral_type(c) != 0, "true", #c, ASSERTION_HERE)

#undef assert_false
#define assert_false(c) \
    assertion_condition(cast_to_largest_integral_type(c) == 0, "false", #c, ASSERTION_HERE)

#undef assert_non_null
#define assert_non_null(c) \
    assertion_condition(cast_ptr_to_largest_integral_type(c) != 0, "not NULL", #c, ASSERTION_HERE)

#undef assert_null
#define assert_null(c) \
    assertion_condition(cast_ptr_to_largest_integral_type(c) == 0, "NULL", #c, ASSERTION_HERE)

#undef assert_int_equal
#define assert_int_equal(got, expected)                                                    \
    assertion_numbers(true,                                                                \
                      (struct assertion_number){cast_to_largest_integral_type(got),        \
                                                ASSERTION_IS_SIGNED(got), #got},           \
                      (struct assertion_number){cast_to_largest_integral_type(expected),   \
                                                ASSERTION_IS_SIGNED(expected), #expected}, \
                      NULL, ASSERTION_HERE)

#undef assert_int_not_equal
#define assert_int_not_equal(got, other)                                              \
    assertion_numbers(false,                                                          \
                      (struct assertion_number){cast_to_largest_integral_type(got),   \
                                                ASSERTION_IS_SIGNED(got), #got},      \
                      (struct assertion_number){cast_to_largest_integral_type(other), \
                                                ASSERTION_IS_SIGNED(other), #other},  \
                      NULL, ASSERTION_HERE)

/* Both are of enum ENUMERATION. */
#define assert_enum_equal(enumeration, got, expected)                                        \
    assertion_numbers(                                                                       \
        true, (struct assertion_number){(uintmax_t)(enum enumeration)(got), true, #got},     \
        (struct assertion_number){(uintmax_t)(enum enumeration)(expected), true, #expected}, \
        #enumeration, ASSERTION_HERE)

/* An order of integers: assert_order(count, >=, 5). */
#define assert_order(got, relation, limit)                                                        \
    do {                                                                                          \
        __auto_type got_ = (got);                                                                 \
        if (!(got_ relation(limit)))                                                              \
            assertion_order((struct assertion_number){cast_to_largest_integral_type(got_ | 0),    \
                                                      ASSERTION_IS_SIGNED(got_), #got},           \
                            #relation,                                                            \
                            (struct assertion_number){cast_to_largest_integral_type((limit) | 0), \
                                                      ASSERTION_IS_SIGNED(limit), #limit},        \
                            ASSERTION_HERE);                                                      \
    } while (0)

#undef assert_in_range
#define assert_in_range(got, least, most)                                                      \
    assertion_range((struct assertion_number){cast_to_largest_integral_type(got),              \
                                              ASSERTION_IS_SIGNED(got), #got},                 \
                    cast_to_largest_integral_type(least), cast_to_largest_integral_type(most), \
                    ASSERTION_HERE)

#undef assert_ptr_equal
#define assert_ptr_equal(got, expected)                                                      \
    assertion_pointers(true, (const void *)(got), (const void *)(expected), #got, #expected, \
                       ASSERTION_HERE)

#undef assert_ptr_not_equal
#define assert_ptr_not_equal(got, other)                                                \
    assertion_pointers(false, (const void *)(got), (const void *)(other), #got, #other, \
                       ASSERTION_HERE)

#undef assert_string_equal
#define assert_string_equal(got, expected) \
    assertion_strings(true, (const char *)(got), (const char *)(expected), #got, ASSERTION_HERE)

#undef assert_string_not_equal
#define assert_string_not_equal(got, other) \
    assertion_strings(false, (const char *)(got), (const char *)(other), #got, ASSERTION_HERE)

#undef assert_memory_equal
#define assert_memory_equal(got, expected, size) \
    assertion_bytes((got), (expected), (size), #got, ASSERTION_HERE)

/* The terms are the same word: atoms, small integers, local identifiers, TH_NONE, shared terms. */
#define assert_term_equal(got, expected) \
    assertion_terms(true, (got), (expected), #got, ASSERTION_HERE)

/* The terms are identical (=:=). */
#define assert_term_identical(got, expected) \
    assertion_terms(false, (got), (expected), #got, ASSERTION_HERE)

#endif
