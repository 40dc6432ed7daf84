/*
 * Compares the list of functions with declarations from another source, OTP's header. Compiling is
 * the test: as C, where an enum is compatible with an int, and as C++, where it is not.
 * // The command line defines SINCE_xxx(type, name, parameters) for each version in the list:
 * either SAME, or NEWER for functions that the header lacks. The 64-bit integer functions are
 * macros here, for the functions on long, which are compared twice therefore.
 */
#include <erl_nif.h>

#include "nif_functions.h"

#ifdef __cplusplus
#include <type_traits>
#define SAME(type, name, parameters) \
    static_assert(std::is_same<decltype(&name), type(*) parameters>::value, #name);
#else
#define SAME(type, name, parameters) \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), type parameters), #name);
#endif
#define NEWER(type, name, parameters)

#define COMPARE(group, type, name, parameters, since) SINCE_##since(type, name, parameters)
TH_NIF_FUNCTIONS(COMPARE)
