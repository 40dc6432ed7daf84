/* Parts and sizes of terms, arithmetic. Each function returns TH_VALUE_RAISED if the BIF with its
 * name raises. */
#include "match_internal.h"

#include "host/term/make.h"
#include "host/term/map.h"

th_term th_match_element(struct th_match_run *run)
{
    th_term n = TH_OPERAND(run, 0), tuple = TH_OPERAND(run, 1);

    if (!th_is_small(n) || !th_is_tuple(tuple) || th_small_value(n) < 1 ||
        (uint64_t)th_small_value(n) > th_tuple_arity(tuple))
        return TH_VALUE_RAISED;
    return th_tuple_elements(tuple)[th_small_value(n) - 1];
}

/* --- Lists ------------------------------------------------------------------------------------ */

/* TH_NONE, an unknown element of a list, is the unknown value. */
th_term th_match_hd(struct th_match_run *run)
{
    return th_is_list(*run->top) ? th_cell(*run->top)[0] : TH_VALUE_RAISED;
}

th_term th_match_tl(struct th_match_run *run)
{
    return th_is_list(*run->top) ? th_cell(*run->top)[1] : TH_VALUE_RAISED;
}

th_term th_match_length(struct th_match_run *run)
{
    size_t length;

    return th_get_list_length(*run->top, &length) ? th_small((int64_t)length) : TH_VALUE_RAISED;
}

/* --- Maps ------------------------------------------------------------------------------------- */

th_term th_match_map_size(struct th_match_run *run)
{
    return th_is_map(*run->top) ? th_small((int64_t)th_map_size(*run->top)) : TH_VALUE_RAISED;
}

th_term th_match_map_get(struct th_match_run *run)
{
    th_term map = TH_OPERAND(run, 1);
    th_term value = th_is_map(map) ? th_map_get(map, TH_OPERAND(run, 0)) : TH_NONE;

    return value == TH_NONE ? TH_VALUE_RAISED : value;
}

th_term th_match_is_map_key(struct th_match_run *run)
{
    th_term map = TH_OPERAND(run, 1);

    return th_is_map(map) ? th_match_value_truth(th_map_get(map, TH_OPERAND(run, 0)) != TH_NONE)
                          : TH_VALUE_RAISED;
}

/* --- Tuples and bit strings ------------------------------------------------------------------- */

static bool bits_of(th_term t, size_t *bits)
{
    const unsigned char *data;

    return th_get_bits(t, &data, bits);
}

th_term th_match_tuple_size(struct th_match_run *run)
{
    return th_is_tuple(*run->top) ? th_small((int64_t)th_tuple_arity(*run->top)) : TH_VALUE_RAISED;
}

th_term th_match_bit_size(struct th_match_run *run)
{
    size_t bits;

    return bits_of(*run->top, &bits) ? th_small((int64_t)bits) : TH_VALUE_RAISED;
}

/* Rounded up. */
th_term th_match_byte_size(struct th_match_run *run)
{
    size_t bits;

    return bits_of(*run->top, &bits) ? th_small((int64_t)((bits + 7) / 8)) : TH_VALUE_RAISED;
}

/* Rounded down. */
th_term th_match_size(struct th_match_run *run)
{
    size_t bits;

    if (bits_of(*run->top, &bits))
        return th_small((int64_t)(bits / 8));
    return th_match_tuple_size(run);
}

/* {binary_part, Binary, Start, Length} or {binary_part, Binary, {Start, Length}}; a negative length
 * is that of the part before START. */
th_term th_match_binary_part(struct th_match_run *run)
{
    th_term whole = TH_OPERAND(run, 0), start = TH_OPERAND(run, 1);
    th_term length = TH_OPERAND(run, run->operands - 1);
    int64_t from, bytes;
    size_t bits;

    if (run->operands == 2) {
        if (!th_is_tuple(start) || th_tuple_arity(start) != 2)
            return TH_VALUE_RAISED;
        length = th_tuple_elements(start)[1];
        start = th_tuple_elements(start)[0];
    }
    if (!th_is_small(start) || !th_is_small(length) || !bits_of(whole, &bits))
        return TH_VALUE_RAISED;
    from = th_small_value(start);
    bytes = th_small_value(length);
    if (bytes < 0) {
        from += bytes;
        bytes = -bytes;
    }
    if (from < 0 || bytes > (int64_t)(bits / 8) || from > (int64_t)(bits / 8) - bytes ||
        th_small_value(start) > (int64_t)(bits / 8))
        return TH_VALUE_RAISED;
    return th_make_sub_binary(run->env, whole, (size_t)from, (size_t)bytes);
}

/* --- Nodes ------------------------------------------------------------------------------------ */

static th_term own_node(const struct th_match_run *run)
{
    return run->operations->node ? run->operations->node(run->context) : TH_VALUE_UNKNOWN;
}

/* {node}, which is the node of the tracee, or {node, Identifier} */
th_term th_match_node(struct th_match_run *run)
{
    th_term id = run->operands ? *run->top : th_match_self(run);
    struct th_pid_parts pid;
    struct th_port_parts port;
    struct th_ref_parts ref;
    th_term node = TH_NONE;

    if (th_get_pid(id, &pid))
        node = pid.node;
    else if (th_get_port(id, &port))
        node = port.node;
    else if (th_get_ref(id, &ref))
        node = ref.node;
    else if (run->operands)
        return TH_VALUE_RAISED;
    return node ? node : own_node(run);
}

/* --- Arithmetic: results that are too large for TH_NUMBER_LIMBS are unsure -------------------- */

static th_term value_of_number(th_term number)
{
    if (number == TH_NUMBER_LARGE)
        return TH_VALUE_UNSURE;
    return number == TH_NONE ? TH_VALUE_RAISED : number;
}

th_term th_match_unary(struct th_match_run *run)
{
    return value_of_number(run->function->unary(run->env, *run->top));
}

th_term th_match_binary(struct th_match_run *run)
{
    return value_of_number(run->function->binary(run->env, TH_OPERAND(run, 0), TH_OPERAND(run, 1)));
}

th_term th_match_round(struct th_match_run *run)
{
    return value_of_number(th_number_round(run->env, *run->top, run->function->rounding));
}
