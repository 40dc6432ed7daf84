// The plugin as C++, and what C++ is stricter about.
#include "plugin.c"

#include <type_traits>

static_assert(std::is_same<decltype(&nif_init), ErlNifEntry *(*)()>::value, "entry");
static_assert(std::is_same<ErlNifUInt64, unsigned long>::value, "mangles as with OTP's header");
