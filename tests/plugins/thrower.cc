// Functions that C++ exceptions leave.
#include <nif_module.h>

namespace {

TH_FUNCTION(throws, 1)(ErlNifEnv *env, ERL_NIF_TERM depth)
{
    int n;

    if (!enif_get_int(env, depth, &n) || n <= 0)
        throw n;
    // Not a jump, as something is to be done afterwards.
    return enif_make_tuple1(env, throws(env, enif_make_int(env, n - 1)));
}

// Destructors call traced functions, too.
TH_FUNCTION(destroyed, 0)(ErlNifEnv *env)
{
    return enif_make_atom(env, "destroyed");
}

struct Destroyed {
    ErlNifEnv *env;
    ~Destroyed() { destroyed(env); }
};

TH_FUNCTION(passes, 1)(ErlNifEnv *env, ERL_NIF_TERM depth)
{
    Destroyed object{env};

    return enif_make_tuple1(env, throws(env, depth));
}

ERL_NIF_TERM catches(ErlNifEnv *env, int, const ERL_NIF_TERM argv[])
{
    try {
        return enif_make_tuple1(env, passes(env, argv[0]));
    } catch (int) {
        return enif_make_atom(env, "caught");
    }
}

ErlNifFunc functions[] = {{"catches", 1, catches, 0}};

} // namespace

ERL_NIF_INIT(thrower, functions, nullptr, nullptr, nullptr, nullptr)
