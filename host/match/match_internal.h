/*
 * Programs, values, runs, functions and the compiler, shared by the files of match/.
 *
 * A match specification is compiled to a program.
 *
 * The head is straight-line code that takes the arguments apart. One value is current; the tuples,
 * lists and maps that are open are kept in levels, one for each depth. Guards and body are code for
 * a stack of values. The code of a clause:
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
 * lists from the first on, of maps the values before the keys: actions among them make this order
 * visible.
 */
#ifndef TH_MATCH_INTERNAL_H
#define TH_MATCH_INTERNAL_H

#include "match.h"

#include "host/base/buffer.h"
#include "host/term/atom.h"
#include "host/term/number.h"

enum th_match_code {
    /* Test: the number of arguments is OPERAND; is at least OPERAND. */
    TH_CODE_ARITY,
    TH_CODE_ARITY_LEAST,
    /* Argument LEVEL becomes current; an unknown argument causes a jump to OPERAND. */
    TH_CODE_ARGUMENT,
    /* Stores argument LEVEL as variable OPERAND. */
    TH_CODE_BIND_ARGUMENT,
    /* Test: the current value is a tuple of OPERAND elements; a list cell; a map of at least
     * OPERAND keys. Opens the value at LEVEL. */
    TH_CODE_TUPLE,
    TH_CODE_CELL,
    TH_CODE_MAP,
    /* A part of the value that is open at LEVEL becomes current: element OPERAND (from 0); the head
     * of the list, its tail; the value of the key that is constant OPERAND. */
    TH_CODE_ELEMENT,
    TH_CODE_LIST_HEAD,
    TH_CODE_LIST_TAIL,
    TH_CODE_KEY,
    /* Test: the current value is identical to constant OPERAND. Store the current value as variable
     * OPERAND. Test: the current value is identical to variable OPERAND. */
    TH_CODE_IDENTICAL,
    TH_CODE_BIND,
    TH_CODE_SAME,
    TH_CODE_HEAD_DONE,

    /* Push: constant OPERAND; variable OPERAND; the whole target. */
    TH_CODE_CONSTANT,
    TH_CODE_VARIABLE,
    TH_CODE_TARGET,
    /* Pop parts and push the term made of them: OPERAND elements, the first on top; OPERAND
     * elements, the last below the tail, which is on top; OPERAND keys, the first on top, and as
     * many values below. */
    TH_CODE_MAKE_TUPLE,
    TH_CODE_MAKE_LIST,
    TH_CODE_MAKE_MAP,
    /* Pops LEVEL operands, the first on top; pushes the result of function OPERAND. */
    TH_CODE_CALL,
    /* The left side is on top and stays; a left side that decides causes a jump behind the JOIN at
     * OPERAND. The JOIN pops both sides and pushes the result. */
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

/* Place of the code from PC up to the next mark: ITEM of PART. */
struct th_match_mark {
    uint32_t pc;
    enum th_match_part part;
    uint32_t item;
};

struct th_match_clause {
    uint32_t pc;
    size_t marks; /* index of the clause's first mark */
};

/* Test of an argument: its relation to CONSTANT must be among ACCEPTED. Compares words, which order
 * terms with immediate tags. */
struct th_match_screen_test {
    th_term constant;  /* immediate */
    uint32_t argument; /* exists, if there are at least the screen's `least` */
    uint8_t accepted;  /* enum th_match_relation */
    bool by_value;     /* CONSTANT is a small integer; no answer for other arguments */
};

/* Parts of a clause that need no run (match_screen.c). */
struct th_match_screen {
    size_t first_test, test_count; /* in `tests` */
    uint32_t least, most;          /* number of arguments */
    bool whole;                    /* the tests decide all, and RESULT is the result of a match */
    struct th_match_result result;
};

struct th_match_spec {
    struct th_match_range range; /* first member */
    th_env env;                  /* of source and constants */
    th_term source;
    enum th_match_kind kind;
    bool changes;                    /* see th_match_changes() */
    struct th_match_screen *screens; /* by clause */
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

    /* Largest need of any clause: words of the thread's stack in a run. */
    size_t arguments; /* that are used */
    size_t variables;
    size_t levels;
    size_t stack;
    size_t frames; /* nested andalso and orelse */
};

/* --- Values ----------------------------------------------------------------------------------- */

/*
 * Values of guards and bodies: terms, and words that are no terms for unknown values.
 *
 *   UNKNOWN    a term
 *   MAYBE      true or false
 *   UNSURE     a term, or an exception
 *   NOT_TRUE   a term but not true, or an exception: a guard with this value certainly fails
 *   RAISED     an exception, certainly
 */
#define TH_VALUE_UNKNOWN TH_NONE
#define TH_VALUE_MAYBE ((th_term)0x40)
#define TH_VALUE_NOT_TRUE ((th_term)0x80)
#define TH_VALUE_RAISED TH_MATCH_RAISED
#define TH_VALUE_UNSURE ((th_term)0x100)

/* True if VALUE is a term. All words that are no terms look like headers. */
static inline bool th_match_value_known(th_term value)
{
    return (value & 3) != TH_TAG_HEADER;
}

/* True if VALUE may be an exception. */
static inline bool th_match_value_may_raise(th_term value)
{
    return value == TH_VALUE_UNSURE || value == TH_VALUE_NOT_TRUE;
}

static inline th_term th_match_value_truth(bool b)
{
    return b ? TH_AM(true) : TH_AM(false);
}

static inline bool th_match_value_is_boolean(th_term value)
{
    return value == TH_AM(true) || value == TH_AM(false);
}

/* True for true, false and MAYBE. */
static inline bool th_match_value_is_truth(th_term value)
{
    return th_match_value_is_boolean(value) || value == TH_VALUE_MAYBE;
}

/* Return the value of `left andalso right` and `left orelse right`.
 * Order: only if LEFT alone does not decide the value. RIGHT may be RAISED if LEFT is unknown. */
th_term th_match_value_andalso(th_term left, th_term right);
th_term th_match_value_orelse(th_term left, th_term right);

/* --- A run ------------------------------------------------------------------------------------ */

struct th_match_run {
    const struct th_match_spec *spec;
    const struct th_match_operations *operations; /* never NULL */
    void *context;
    th_env *env;
    struct th_match_result *result;

    const th_term *arguments; /* the first `spec->arguments`, or all if there are fewer */
    size_t count;             /* of all arguments */
    bool unknown;             /* all are unknown; ARGUMENTS is NULL */
    th_term target;           /* TH_NONE: not made yet */
    /* Cells of the target, if some of its elements are unknown: those are TH_NONE there, and no
     * function may read them. Else both are NULL. */
    const th_term *partial, *partial_end;

    th_term *variables, *levels, *stack;
    th_term *top;                             /* the last value on the stack */
    const struct th_match_function *function; /* the current call's */
    size_t operands;                          /* number of its operands */
    uint64_t *frames;
    size_t depth; /* of frames: nested right sides that may be unnecessary */
    bool body;

    bool undecided;
    size_t doubtful;                  /* the instruction that made the clause undecided */
    struct th_match_attempt *attempt; /* of the current clause; NULL: not wanted */
};

/* True for a list with unknown elements. */
static inline bool th_match_is_partial(const struct th_match_run *run, th_term t)
{
    return run->partial && th_is_list(t) && th_cell(t) >= run->partial &&
           th_cell(t) < run->partial_end;
}

/* --- Functions -------------------------------------------------------------------------------- */

enum { TH_MATCH_ANY_COUNT = 255 };

enum th_match_trait {
    TH_TRAIT_SPECIAL = 1,        /* OTP calls it a special form */
    TH_TRAIT_BODY = 2,           /* not allowed in guards */
    TH_TRAIT_NO_SEND = 4,        /* not allowed in specifications for send */
    TH_TRAIT_NO_RECEIVE = 8,     /* not allowed in those for receive */
    TH_TRAIT_TRUTH = 16,         /* returns true or false for all operands */
    TH_TRAIT_SHALLOW = 32,       /* does not read inside operands that are lists */
    TH_TRAIT_TAKES_UNKNOWN = 64, /* other functions have an unknown result if an operand is
                                    unknown */
    TH_TRAIT_CHANGES = 128       /* changes what later events are traced, or how */
};

/* Operand I (from 0) of the function that RUN calls: the first is on top of the stack. */
#define TH_OPERAND(run, i) ((run)->top[-(ptrdiff_t)(i)])

/* Computes a value from the operands of RUN; TH_VALUE_RAISED: an exception. */
typedef th_term th_match_implementation(struct th_match_run *run);

/* Order of two terms. */
enum th_match_relation { TH_MATCH_LESS = 1, TH_MATCH_EQUAL = 2, TH_MATCH_GREATER = 4 };

struct th_match_function {
    const char *name;
    unsigned least, most;          /* number of operands */
    unsigned traits;               /* enum th_match_trait */
    th_match_implementation *call; /* NULL: compiled by code of the compiler */

    /* For implementations that several functions share. */
    union {
        bool (*test)(th_term t);                  /* th_match_is_type */
        th_term (*unary)(th_env *env, th_term a); /* th_match_unary */
        th_term (*binary)(th_env *env, th_term a, th_term b);
        bool enable;               /* th_match_change_flag */
        enum th_rounding rounding; /* th_match_round */
        struct {
            uint8_t accepts; /* enum th_match_relation: th_match_compare, th_match_either */
            bool exactly;    /* as =:=, else numbers of one value are equal */
        };
    };
};

extern const struct th_match_function th_match_functions[];

/* Finds the function NAME with COUNT operands; NULL: none. *NAMED is then a function of that name
 * with other operands, or NULL. */
const struct th_match_function *th_match_function_find(th_term name, size_t count,
                                                       const struct th_match_function **named);

/* Calls FUNCTION with the operands of RUN, unless an operand is unknown that FUNCTION cannot
 * take. */
th_term th_match_function_call(const struct th_match_function *function, struct th_match_run *run);

/* Implementations: match_guard.c. Tests of types, truth values, comparisons; the larger or smaller
 * of two terms, the first if they are equal. */
th_match_implementation th_match_is_type, th_match_is_function_of, th_match_is_record, th_match_and,
    th_match_or, th_match_not, th_match_xor, th_match_compare, th_match_either;
/* match_data.c: parts and sizes of terms, arithmetic. */
th_match_implementation th_match_binary_part, th_match_bit_size, th_match_byte_size,
    th_match_element, th_match_hd, th_match_is_map_key, th_match_length, th_match_map_get,
    th_match_map_size, th_match_node, th_match_size, th_match_tl, th_match_tuple_size,
    th_match_unary, th_match_binary, th_match_round;
/* match_action.c: queries of the surroundings, actions on them or on the trace message. */
th_match_implementation th_match_caller, th_match_caller_line, th_match_current_stacktrace,
    th_match_change_flag, th_match_display, th_match_exception_trace, th_match_get_seq_token,
    th_match_get_tcw, th_match_is_seq_trace, th_match_message, th_match_process_dump,
    th_match_return_trace, th_match_self, th_match_set_seq_token, th_match_set_tcw,
    th_match_set_tcw_fake, th_match_silent, th_match_trace;

/* --- Compiling -------------------------------------------------------------------------------- */

/* A variable of the clause that is being compiled. */
struct th_match_variable {
    uint32_t number;
    uint32_t slot; /* TH_MATCH_WHOLE_TARGET: the variable is the whole head */
};

#define TH_MATCH_WHOLE_TARGET UINT32_MAX

struct th_match_compiler {
    struct th_match_spec *spec;
    struct th_match_faults faults;
    struct th_match_place place;
    struct th_match_variable *variables; /* of this clause, by rising numbers */
    size_t variable_count, variable_capacity;
    size_t slots; /* number of slots for variables in this clause */
    size_t depth; /* depth of the term that is being compiled */
    struct th_buffer shown;
};

/* Appends an instruction, and returns its index. */
size_t th_match_emit(struct th_match_compiler *c, enum th_match_code code, size_t level,
                     size_t operand);

/* Returns the index of a constant, which must live as long as the specification. */
size_t th_match_constant(struct th_match_compiler *c, th_term t);

/* Marks the code from here on with this place. */
void th_match_mark(struct th_match_compiler *c, enum th_match_part part, size_t item);

/* Adds a fault, about T (TH_NONE: the whole), at the place that is being compiled. */
void th_match_add_fault(struct th_match_compiler *c, th_term t, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds fault I once more. */
void th_match_repeat_fault(struct th_match_compiler *c, size_t i);

/* Returns T as a BEAM's faults print it; valid until the next call. */
const char *th_match_shown(struct th_match_compiler *c, th_term t);

/* Reads the number of a variable '$N'; false for any other term. */
bool th_match_variable_number(th_term t, uint32_t *number);

/* Find and add a variable; NULL: not bound. */
const struct th_match_variable *th_match_find_variable(const struct th_match_compiler *c,
                                                       uint32_t number);
void th_match_add_variable(struct th_match_compiler *c, uint32_t number, uint32_t slot);

/* Goes one level deeper; false, with a fault, if that is too deep. */
bool th_match_descend(struct th_match_compiler *c, th_term t);

/* Compile the parts of a clause. */
void th_match_compile_head(struct th_match_compiler *c, th_term head);
void th_match_compile_expression(struct th_match_compiler *c, th_term t, bool body);

/* Makes the screens of SPEC, which is complete (match_screen.c). */
void th_match_make_screens(struct th_match_spec *spec);

#endif
