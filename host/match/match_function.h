/* The functions of match specifications: their table, and what they are called with. */
#ifndef TH_MATCH_FUNCTION_H
#define TH_MATCH_FUNCTION_H

#include "match_run.h"
#include "match_value.h"

enum { TH_MATCH_ANY_COUNT = 255 };

enum th_match_trait {
    TH_TRAIT_SPECIAL = 1,       /* OTP calls it a special form */
    TH_TRAIT_BODY = 2,          /* not allowed in guards */
    TH_TRAIT_NO_SEND = 4,       /* not allowed in specifications for send */
    TH_TRAIT_NO_RECEIVE = 8,    /* nor for receive */
    TH_TRAIT_TRUTH = 16,        /* gives true or false for all operands */
    TH_TRAIT_SHALLOW = 32,      /* does not look into its operands where they are lists */
    TH_TRAIT_TAKES_UNKNOWN = 64 /* for others, an unknown operand makes the result unknown */
};

/* Operand I (from 0) of the function that RUN calls: the first is on top of the stack. */
#define TH_OPERAND(run, i) ((run)->top[-(ptrdiff_t)(i)])

/* Computes a value from the operands of RUN; TH_VALUE_RAISED for an exception. */
typedef th_term th_match_implementation(struct th_match_run *run);

struct th_match_function {
    const char *name;
    unsigned least, most;                    /* operands */
    unsigned traits;                         /* enum th_match_trait */
    th_match_implementation *implementation; /* NULL: the compiler's own */
};

extern const struct th_match_function th_match_functions[];

/* The function of that name that takes COUNT operands; if there is none, *NAMED is one of that name
 * or NULL. */
const struct th_match_function *th_match_function_find(th_term name, size_t count,
                                                       const struct th_match_function **named);

/* Calls FUNCTION with the operands of RUN, unless one that FUNCTION cannot take is unknown. */
th_term th_match_function_call(const struct th_match_function *function, struct th_match_run *run);

/* The implementations. Tests of types, comparisons, truth values: match_test.c */
th_match_implementation th_match_is_atom, th_match_is_binary, th_match_is_bitstring,
    th_match_is_boolean, th_match_is_float, th_match_is_function, th_match_is_function_of,
    th_match_is_integer, th_match_is_list, th_match_is_map, th_match_is_number, th_match_is_pid,
    th_match_is_port, th_match_is_record, th_match_is_reference, th_match_is_tuple;
th_match_implementation th_match_and, th_match_or, th_match_not, th_match_xor;
/* match_compare.c */
th_match_implementation th_match_equal, th_match_unequal, th_match_identical, th_match_different,
    th_match_less, th_match_at_most, th_match_greater, th_match_at_least, th_match_max,
    th_match_min;
/* Parts and sizes of terms: match_data.c */
th_match_implementation th_match_binary_part, th_match_bit_size, th_match_byte_size,
    th_match_element, th_match_hd, th_match_is_map_key, th_match_length, th_match_map_get,
    th_match_map_size, th_match_node, th_match_size, th_match_tl, th_match_tuple_size;
/* Arithmetic: match_number.c */
th_match_implementation th_match_abs, th_match_band, th_match_bnot, th_match_bor, th_match_bsl,
    th_match_bsr, th_match_bxor, th_match_ceil, th_match_div, th_match_divide, th_match_float,
    th_match_floor, th_match_minus, th_match_plus, th_match_rem, th_match_round, th_match_times,
    th_match_trunc;
/* What asks the surroundings or acts on them: match_action.c */
th_match_implementation th_match_caller, th_match_caller_line, th_match_current_stacktrace,
    th_match_disable_trace, th_match_display, th_match_enable_trace, th_match_exception_trace,
    th_match_get_seq_token, th_match_get_tcw, th_match_is_seq_trace, th_match_message,
    th_match_process_dump, th_match_return_trace, th_match_self, th_match_set_seq_token,
    th_match_set_tcw, th_match_set_tcw_fake, th_match_silent, th_match_trace;

#endif
