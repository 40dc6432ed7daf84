/*
 * Calls each of the 18 callbacks of a tracer, load, upgrade and unload: each is reached under its
 * name, with its arguments in place. The program contains the tracer and stand-ins for the few API
 * functions that it uses.
 */
#include <erl_tracer.h>

#include <assert.h>
#include <string.h>

/* The arguments of the last callback. */
static struct {
    enum th_tracer_slot slot;
    ErlNifEnv *env;
    ERL_NIF_TERM arguments[5];
} got;

static void note(enum th_tracer_slot slot, ErlNifEnv *env, ERL_NIF_TERM tag, ERL_NIF_TERM state,
                 ERL_NIF_TERM tracee, ERL_NIF_TERM term, ERL_NIF_TERM opts)
{
    const ERL_NIF_TERM arguments[] = {tag, state, tracee, term, opts};
    got.slot = slot;
    got.env = env;
    memcpy(got.arguments, arguments, sizeof arguments);
}

static ERL_NIF_TERM answer(ErlNifEnv *env)
{
    return TH_TRACER_ATOM(env, discard);
}

#define BOTH(group)                                                                          \
    TH_TRACER_ENABLED(group)                                                                 \
    {                                                                                        \
        note((enum th_tracer_slot)(2 * TH_GROUP_##group), env, tag, state, tracee, 0, 0);    \
        return answer(env);                                                                  \
    }                                                                                        \
    TH_TRACER_TRACE(group)                                                                   \
    {                                                                                        \
        note((enum th_tracer_slot)(2 * TH_GROUP_##group + 1), env, tag, state, tracee, term, \
             opts);                                                                          \
    }
#define GROUP(group, self) BOTH(group)
TH_TRACER_GROUPS(GROUP)

TH_TRACER_LOAD()
{
    *priv_data = env;
    return load_info == 7 ? 0 : 1;
}

TH_TRACER_UPGRADE()
{
    *priv_data = *old_priv_data;
    return load_info == 8 && env != NULL ? 0 : 1;
}

TH_TRACER_UNLOAD()
{
    note(TH_SLOTS, env, (ERL_NIF_TERM)priv_data, 0, 0, 0, 0);
}

static int atoms_made;

ERL_NIF_TERM enif_make_atom(ErlNifEnv *env, const char *name)
{
    (void)env;
    atoms_made++;
    return (ERL_NIF_TERM)name[0];
}

static char world;
static ErlNifEnv *const here = (ErlNifEnv *)&world;

/* Calls one callback as a host does and checks its arguments. */
static void call(enum th_tracer_slot slot, const char *name, int arity,
                 ERL_NIF_TERM (*callback)(ErlNifEnv *, int, const ERL_NIF_TERM[]))
{
    const ERL_NIF_TERM argv[] = {101, 102, 103, 104, 105};
    const ERL_NIF_TERM result = callback(here, arity, argv);
    assert(got.slot == slot && got.env == here);
    assert(memcmp(got.arguments, argv, (size_t)arity * sizeof *argv) == 0);
    assert(arity == 5 || result == 'd');
    printf("%s/%d\n", name, arity);
}

/* Checks the rules that erl_tracer.h states about its tables. */
static void check_tables(void)
{
    static const struct {
        int arity;
        enum th_tracer_group group;
    } slots[] = {
#define SLOT(name, arity, group) {arity, TH_GROUP_##group},
        TH_TRACER_SLOTS(SLOT)
#undef SLOT
    };
    static const struct {
        enum th_tracer_group process, port;
        enum th_tracer_calls calls;
        const char *term;
    } tags[] = {
#define TAG(tag, process, port, calls, term, extra) \
    {TH_GROUP_##process, TH_GROUP_##port, TH_CALLS_##calls, term},
        TH_TRACER_TAGS(TAG)
#undef TAG
    };
    static_assert(TH_GROUPS == 9 && TH_SLOTS == 18 && TH_TAGS == 30, "as many as the manual has");
    for (int i = 0; i < TH_SLOTS; i++)
        assert((int)slots[i].group == i / 2 && slots[i].arity == (i % 2 ? 5 : 3));
    for (int i = 0; i < TH_TAGS; i++) {
        assert(tags[i].process != TH_GROUP_none || tags[i].port != TH_GROUP_none);
        assert((tags[i].calls == TH_CALLS_enabled) == (tags[i].term[0] == 0));
    }
    assert(tags[TH_TAG_link].process == TH_GROUP_procs && tags[TH_TAG_link].port == TH_GROUP_ports);
    assert(tags[TH_TAG_in].port == TH_GROUP_running_ports);
    assert(tags[TH_TAG_return_to].calls == TH_CALLS_trace);
}

int main(void)
{
    void *old = &atoms_made, *data = NULL;
    check_tables();
    assert(load(here, &data, 7) == 0 && data == here);
    assert(upgrade(here, &data, &old, 8) == 0 && data == old);
#define CALL(name, arity, group) call(TH_SLOT_##name, #name, arity, name);
    TH_TRACER_SLOTS(CALL)
    TH_TRACER_SLOTS(CALL)
    unload(here, data);
    assert(got.slot == TH_SLOTS && got.arguments[0] == (ERL_NIF_TERM)old);
    assert(atoms_made == 1);
    return 0;
}
