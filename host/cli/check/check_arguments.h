/* Arguments with which `tracehost check` calls the functions of a NIF library: terms of each type, and
 * terms at the limits of their types. They are texts as check_calls.h describes. */
#ifndef TH_CHECK_ARGUMENTS_H
#define TH_CHECK_ARGUMENTS_H

#include <stddef.h>

/* Types of arguments. A list of characters and improper lists are types of their own: libraries
 * accept them in different places. */
enum th_check_type {
    TH_CHECK_TYPE_integer,
    TH_CHECK_TYPE_float,
    TH_CHECK_TYPE_atom,
    TH_CHECK_TYPE_binary,
    TH_CHECK_TYPE_bitstring,
    TH_CHECK_TYPE_list,
    TH_CHECK_TYPE_string,
    TH_CHECK_TYPE_tuple,
    TH_CHECK_TYPE_map,
    TH_CHECK_TYPE_pid,
    TH_CHECK_TYPE_port,
    TH_CHECK_TYPE_reference,
    TH_CHECK_TYPE_fun,
    TH_CHECK_TYPE_resource, /* of the library: '=R1', '=R2', ... */
    TH_CHECK_TYPES
};

/* Returns the name of TYPE. */
const char *th_check_type_name(enum th_check_type type);

/* Returns the number of values of TYPE, at least 1 for all types but resources; and the value NUMBER.
 * The first one is the most usual one, the later ones are at limits, in ascending order of size. */
size_t th_check_values(enum th_check_type type);
const char *th_check_value(enum th_check_type type, size_t number);

#endif
