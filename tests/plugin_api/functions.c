/*
 * Holds the list of functions against declarations that were made from something else: OTP's
 * header. Compiled as C, where an enum and an int may pass for each other, and as C++, where they
 * may not. Compiling is the test.
 *
 * The command line defines SINCE_xxx(type, name, parameters) for each version in the list: either
 * SAME, or NEWER for functions that the header does not have yet. The 64-bit integer functions are
 * macros here, for the functions on long; these then are compared twice.
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
