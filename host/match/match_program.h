/*
 * What a match specification is compiled to.
 *
 * The head is straight-line code that takes the arguments apart. There is one value at hand; the
 * tuples, lists and maps that are open wait in levels, one for each depth. Guards and body are code
 * for a stack of values. Code of a clause:
 *
 *   ARITY n
 *   { ARGUMENT i ... | BIND_ARGUMENT i }       for each element that is not '_'
 *   HEAD_DONE
 *   { expression; TEST }                       for each guard
 *   GUARDS_DONE
 *   { expression; DROP }                       for each expression of the body
 *   END
 *
 * Operands of functions and elements of tuples are computed from the last to the first, elements of
 * lists from the first on, of maps the values before the keys: actions among them show the order.
 */
#ifndef TH_MATCH_PROGRAM_H
#define TH_MATCH_PROGRAM_H

#include "match.h"

enum th_match_code {
    /* The number of arguments is OPERAND; is at least OPERAND. */
    TH_CODE_ARITY,
    TH_CODE_ARITY_LEAST,
    /* Argument LEVEL is at hand; if it is unknown, go on at OPERAND. */
    TH_CODE_ARGUMENT,
    /* Argument LEVEL becomes variable OPERAND. */
    TH_CODE_BIND_ARGUMENT,
    /* What is at hand is a tuple of OPERAND elements; a list cell; a map of at least OPERAND keys:
     * open it at LEVEL. */
    TH_CODE_TUPLE,
    TH_CODE_CELL,
    TH_CODE_MAP,
    /* At hand is now, of what is open at LEVEL: element OPERAND (from 0); the list's head, its
     * tail; the value of the key that is constant OPERAND. */
    TH_CODE_ELEMENT,
    TH_CODE_LIST_HEAD,
    TH_CODE_LIST_TAIL,
    TH_CODE_KEY,
    /* What is at hand is identical to constant OPERAND; is variable OPERAND from now on; is
     * identical to it. */
    TH_CODE_IDENTICAL,
    TH_CODE_BIND,
    TH_CODE_SAME,
    TH_CODE_HEAD_DONE,

    /* Pushes: constant OPERAND; variable OPERAND; the whole target. */
    TH_CODE_CONSTANT,
    TH_CODE_VARIABLE,
    TH_CODE_TARGET,
    /* Takes OPERAND elements, the first on top; OPERAND elements, the last below the tail, which is
     * on top; OPERAND keys, the first on top, and as many values below: pushes what is made of
     * them. */
    TH_CODE_MAKE_TUPLE,
    TH_CODE_MAKE_LIST,
    TH_CODE_MAKE_MAP,
    /* Takes LEVEL operands, the first on top; pushes what function OPERAND gives. */
    TH_CODE_CALL,
    /* The left side is on top and stays; where it decides, go on behind the JOIN at OPERAND. The
     * JOIN takes both sides and pushes the result. */
    TH_CODE_ANDALSO,
    TH_CODE_ORELSE,
    TH_CODE_JOIN_ANDALSO,
    TH_CODE_JOIN_ORELSE,
    TH_CODE_TEST,
    TH_CODE_GUARDS_DONE,
    TH_CODE_DROP,
    TH_CODE_END
};

struct th_match_instruction {
    uint16_t code;
    uint16_t level;
    uint32_t operand;
};

/* The code from PC on, up to the next mark, is of ITEM of PART. */
struct th_match_mark {
    uint32_t pc;
    enum th_match_part part;
    uint32_t item;
};

struct th_match_clause {
    uint32_t pc;
    size_t marks; /* index of the first of its marks */
};

/* An argument that has one of these relations to CONSTANT, as words, which is what terms with
 * immediate tags have; or fails. */
enum { TH_SCREEN_LESS = 1, TH_SCREEN_EQUAL = 2, TH_SCREEN_GREATER = 4 };
struct th_match_screen_test {
    th_term constant;  /* immediate */
    uint32_t argument; /* one that there is, if there are as many as the screen says */
    uint8_t accepted;
    bool by_value; /* CONSTANT is a small integer, and nothing is known of other arguments */
};

/* What can be told of a clause at once (match_screen.c). */
struct th_match_screen {
    size_t first_test, test_count; /* in `tests` */
    uint32_t least, most;          /* arguments */
    bool whole;                    /* nothing else decides, and what it says is RESULT */
    struct th_match_result result;
};

struct th_match_spec {
    th_env env; /* holds the source and the constants */
    th_term source;
    enum th_match_kind kind;
    struct th_match_screen *screens;      /* of the clauses */
    const struct th_match_result *always; /* what all calls give; NULL: they differ */
    struct th_match_screen_test *tests;
    size_t test_count, test_capacity;

    struct th_match_instruction *code;
    size_t code_count, code_capacity;
    th_term *constants;
    size_t constant_count, constant_capacity;
    struct th_match_clause *clauses;
    size_t clause_count, clause_capacity;
    struct th_match_mark *marks;
    size_t mark_count, mark_capacity;

    /* What any clause needs: words that a run takes of its thread's stack. */
    size_t arguments; /* that are looked at */
    size_t variables;
    size_t levels;
    size_t stack;
    size_t frames; /* of andalso and orelse inside each other */
};

#endif
