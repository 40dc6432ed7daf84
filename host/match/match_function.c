/* Table of functions: names, numbers of operands, where each is allowed; and their calls. */
#include "match_internal.h"

#include "host/term/make.h"

#include <string.h>

/* Combinations of traits. */
enum {
    SPECIAL = TH_TRAIT_SPECIAL,
    ACTION = TH_TRAIT_SPECIAL | TH_TRAIT_BODY | TH_TRAIT_TAKES_UNKNOWN,
    CHANGES = ACTION | TH_TRAIT_NO_RECEIVE | TH_TRAIT_CHANGES,
    NO_RECEIVE = TH_TRAIT_NO_RECEIVE,
    CALL_ONLY = TH_TRAIT_NO_SEND | TH_TRAIT_NO_RECEIVE,
    TYPE_TEST = TH_TRAIT_TRUTH | TH_TRAIT_SHALLOW,
    SHALLOW = TH_TRAIT_SHALLOW,
    LAZY = TH_TRAIT_TAKES_UNKNOWN,
    ANY = TH_MATCH_ANY_COUNT
};

static bool is_list(th_term t)
{
    return th_is_list(t) || t == TH_NIL;
}

static bool match_function_is_binary(th_term t)
{
    const unsigned char *data;
    size_t bytes;

    return th_get_bytes(t, &data, &bytes);
}

/* {'+', A} */
static th_term same_number(th_env *env, th_term a)
{
    (void)env;
    return th_is_number(a) ? a : TH_NONE;
}

/* If a name stands twice, the numbers of operands differ. */
const struct th_match_function th_match_functions[] = {
    {"is_atom", 1, 1, TYPE_TEST, .call = th_match_is_type, .test = th_is_atom},
    {"is_boolean", 1, 1, TYPE_TEST, .call = th_match_is_type, .test = th_match_value_is_boolean},
    {"is_float", 1, 1, TYPE_TEST, .call = th_match_is_type, .test = th_is_float},
    {"is_integer", 1, 1, TYPE_TEST, .call = th_match_is_type, .test = th_is_integer},
    {"is_list", 1, 1, TYPE_TEST, .call = th_match_is_type, .test = is_list},
    {"is_number", 1, 1, TYPE_TEST, .call = th_match_is_type, .test = th_is_number},
    {"is_pid", 1, 1, TYPE_TEST, .call = th_match_is_type, .test = th_is_pid},
    {"is_port", 1, 1, TYPE_TEST, .call = th_match_is_type, .test = th_is_port},
    {"is_reference", 1, 1, TYPE_TEST, .call = th_match_is_type, .test = th_is_ref},
    {"is_tuple", 1, 1, TYPE_TEST, .call = th_match_is_type, .test = th_is_tuple},
    {"is_map", 1, 1, TYPE_TEST, .call = th_match_is_type, .test = th_is_map},
    {"is_binary", 1, 1, TYPE_TEST, .call = th_match_is_type, .test = match_function_is_binary},
    {"is_bitstring", 1, 1, TYPE_TEST, .call = th_match_is_type, .test = th_is_bitstring},
    {"is_function", 1, 1, TYPE_TEST, .call = th_match_is_type, .test = th_is_fun},
    {"is_function", 2, 2, LAZY, .call = th_match_is_function_of},
    {"is_record", 3, 3, LAZY, .call = th_match_is_record},
    {"is_map_key", 2, 2, 0, .call = th_match_is_map_key},

    {"and", 1, ANY, SPECIAL | LAZY, .call = th_match_and},
    {"or", 1, ANY, SPECIAL | LAZY, .call = th_match_or},
    {"andalso", 1, ANY, SPECIAL, .call = NULL},
    {"andthen", 1, ANY, SPECIAL, .call = NULL},
    {"orelse", 1, ANY, SPECIAL, .call = NULL},
    {"const", 1, 1, SPECIAL, .call = NULL},
    {"not", 1, 1, LAZY, .call = th_match_not},
    {"xor", 2, 2, LAZY, .call = th_match_xor},

    {">", 2, 2, TH_TRAIT_TRUTH, .call = th_match_compare, .accepts = TH_MATCH_GREATER},
    {">=", 2, 2, TH_TRAIT_TRUTH, .call = th_match_compare,
     .accepts = TH_MATCH_GREATER | TH_MATCH_EQUAL},
    {"<", 2, 2, TH_TRAIT_TRUTH, .call = th_match_compare, .accepts = TH_MATCH_LESS},
    {"=<", 2, 2, TH_TRAIT_TRUTH, .call = th_match_compare,
     .accepts = TH_MATCH_LESS | TH_MATCH_EQUAL},
    {"=:=", 2, 2, TYPE_TEST, .call = th_match_compare, .accepts = TH_MATCH_EQUAL, .exactly = true},
    {"==", 2, 2, TYPE_TEST, .call = th_match_compare, .accepts = TH_MATCH_EQUAL},
    {"=/=", 2, 2, TYPE_TEST, .call = th_match_compare, .accepts = TH_MATCH_LESS | TH_MATCH_GREATER,
     .exactly = true},
    {"/=", 2, 2, TYPE_TEST, .call = th_match_compare, .accepts = TH_MATCH_LESS | TH_MATCH_GREATER},
    {"max", 2, 2, 0, .call = th_match_either, .accepts = TH_MATCH_GREATER | TH_MATCH_EQUAL},
    {"min", 2, 2, 0, .call = th_match_either, .accepts = TH_MATCH_LESS | TH_MATCH_EQUAL},

    {"element", 2, 2, 0, .call = th_match_element},
    {"hd", 1, 1, SHALLOW, .call = th_match_hd},
    {"tl", 1, 1, SHALLOW, .call = th_match_tl},
    {"length", 1, 1, SHALLOW, .call = th_match_length},
    {"node", 0, 1, SHALLOW, .call = th_match_node},
    {"size", 1, 1, SHALLOW, .call = th_match_size},
    {"tuple_size", 1, 1, SHALLOW, .call = th_match_tuple_size},
    {"map_size", 1, 1, SHALLOW, .call = th_match_map_size},
    {"map_get", 2, 2, 0, .call = th_match_map_get},
    {"bit_size", 1, 1, SHALLOW, .call = th_match_bit_size},
    {"byte_size", 1, 1, SHALLOW, .call = th_match_byte_size},
    {"binary_part", 2, 3, 0, .call = th_match_binary_part},

    {"abs", 1, 1, SHALLOW, .call = th_match_unary, .unary = th_number_absolute},
    {"float", 1, 1, SHALLOW, .call = th_match_unary, .unary = th_number_float},
    {"round", 1, 1, SHALLOW, .call = th_match_round, .rounding = TH_ROUND_NEAREST},
    {"trunc", 1, 1, SHALLOW, .call = th_match_round, .rounding = TH_ROUND_TOWARDS_ZERO},
    {"floor", 1, 1, SHALLOW, .call = th_match_round, .rounding = TH_ROUND_DOWN},
    {"ceil", 1, 1, SHALLOW, .call = th_match_round, .rounding = TH_ROUND_UP},
    {"+", 1, 1, SHALLOW, .call = th_match_unary, .unary = same_number},
    {"+", 2, 2, SHALLOW, .call = th_match_binary, .binary = th_number_add},
    {"-", 1, 1, SHALLOW, .call = th_match_unary, .unary = th_number_negate},
    {"-", 2, 2, SHALLOW, .call = th_match_binary, .binary = th_number_subtract},
    {"*", 2, 2, SHALLOW, .call = th_match_binary, .binary = th_number_multiply},
    {"/", 2, 2, SHALLOW, .call = th_match_binary, .binary = th_number_divide},
    {"div", 2, 2, SHALLOW, .call = th_match_binary, .binary = th_number_quotient},
    {"rem", 2, 2, SHALLOW, .call = th_match_binary, .binary = th_number_remainder},
    {"band", 2, 2, SHALLOW, .call = th_match_binary, .binary = th_number_and},
    {"bor", 2, 2, SHALLOW, .call = th_match_binary, .binary = th_number_or},
    {"bxor", 2, 2, SHALLOW, .call = th_match_binary, .binary = th_number_xor},
    {"bnot", 1, 1, SHALLOW, .call = th_match_unary, .unary = th_number_not},
    {"bsl", 2, 2, SHALLOW, .call = th_match_binary, .binary = th_number_shift_left},
    {"bsr", 2, 2, SHALLOW, .call = th_match_binary, .binary = th_number_shift_right},

    {"self", 0, 0, SPECIAL, .call = th_match_self},
    {"is_seq_trace", 0, 0, SPECIAL | NO_RECEIVE, .call = th_match_is_seq_trace},
    {"get_tcw", 0, 0, 0, .call = th_match_get_tcw},
    {"silent", 0, 0, SPECIAL | NO_RECEIVE, .call = th_match_silent},

    {"message", 1, 1, ACTION, .call = th_match_message},
    {"return_trace", 0, 0, ACTION, .call = th_match_return_trace},
    {"exception_trace", 0, 0, ACTION, .call = th_match_exception_trace},
    {"display", 1, 1, ACTION, .call = th_match_display},
    {"silent", 1, 1, CHANGES, .call = th_match_silent},
    {"trace", 2, 3, CHANGES, .call = th_match_trace},
    {"enable_trace", 1, 2, CHANGES, .call = th_match_change_flag, .enable = true},
    {"disable_trace", 1, 2, CHANGES, .call = th_match_change_flag, .enable = false},
    {"process_dump", 0, 0, ACTION | NO_RECEIVE, .call = th_match_process_dump},
    {"get_seq_token", 0, 0, ACTION | NO_RECEIVE, .call = th_match_get_seq_token},
    {"set_seq_token", 2, 2, CHANGES, .call = th_match_set_seq_token},
    {"set_tcw", 1, 1, TH_TRAIT_BODY | LAZY | TH_TRAIT_CHANGES, .call = th_match_set_tcw},
    {"set_tcw_fake", 1, 1, TH_TRAIT_BODY | LAZY, .call = th_match_set_tcw_fake},
    {"caller", 0, 0, ACTION | CALL_ONLY, .call = th_match_caller},
    {"caller_line", 0, 0, ACTION | CALL_ONLY, .call = th_match_caller_line},
    {"current_stacktrace", 0, 1, ACTION | CALL_ONLY, .call = th_match_current_stacktrace},
};

enum { FUNCTIONS = sizeof th_match_functions / sizeof th_match_functions[0] };

const struct th_match_function *th_match_function_find(th_term name, size_t count,
                                                       const struct th_match_function **named)
{
    const char *text = th_atom_name(name)->text;

    *named = NULL;
    for (size_t i = 0; i < FUNCTIONS; i++) {
        const struct th_match_function *f = &th_match_functions[i];
        if (strcmp(f->name, text) != 0)
            continue;
        if (count >= f->least && (count <= f->most || f->most == ANY))
            return f;
        *named = f;
    }
    return NULL;
}

/* Returns the result that an unknown OPERAND enforces; TH_VALUE_RAISED: none. */
static th_term hindrance(const struct th_match_function *f, const struct th_match_run *run,
                         th_term operand)
{
    bool looks_into = !(f->traits & TH_TRAIT_SHALLOW);

    if (th_match_value_known(operand) && !(looks_into && th_match_is_partial(run, operand)))
        return TH_VALUE_RAISED;
    return f->traits & TH_TRAIT_TRUTH && !th_match_value_may_raise(operand) ? TH_VALUE_MAYBE
                                                                            : TH_VALUE_UNSURE;
}

th_term th_match_function_call(const struct th_match_function *f, struct th_match_run *run)
{
    th_term result = TH_VALUE_RAISED;

    run->function = f;
    if (run->operands == 2 && th_is_immediate(run->top[0] & run->top[-1]))
        return f->call(run); /* neither operand is unknown or a list */
    for (size_t i = 0; i < run->operands && !(f->traits & TH_TRAIT_TAKES_UNKNOWN); i++) {
        th_term because = hindrance(f, run, TH_OPERAND(run, i));
        if (because == TH_VALUE_UNSURE)
            return because;
        if (because != TH_VALUE_RAISED)
            result = because;
    }
    return result == TH_VALUE_RAISED ? f->call(run) : result;
}
