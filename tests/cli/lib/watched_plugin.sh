# Sourced by tests of --watch: a tracer that prints a word for each event, and a plugin whose function returns the
# word. With the option -DPRINTS the plugin also prints the word.
folder=$work/made
mkdir "$folder"

cat >"$work/tracer.c" <<'EOF'
#include <erl_nif.h>

#include <stdio.h>

static ERL_NIF_TERM enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc, (void)argv;
    return enif_make_atom(env, "trace");
}

static ERL_NIF_TERM trace(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc, (void)argv;
    dprintf(1, "%s\n", WORD);
    return enif_make_atom(env, "ok");
}

/* As most libraries have: what lies behind the first page is read when it is needed. */
const char much[1 << 16] = WORD;

static ErlNifFunc functions[] = {{"enabled", 3, enabled, 0}, {"trace", 5, trace, 0}};
ERL_NIF_INIT(tracer, functions, NULL, NULL, NULL, NULL)
EOF

cat >"$work/plugin.c" <<'EOF'
#include <erl_nif.h>

#include <stdio.h>

static ERL_NIF_TERM word(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc, (void)argv;
#ifdef PRINTS
    dprintf(1, "plugin %s\n", WORD);
#endif
    return enif_make_atom(env, WORD);
}

static int upgrade(ErlNifEnv *env, void **private_data, void **old_private_data, ERL_NIF_TERM info)
{
    (void)env, (void)private_data, (void)old_private_data, (void)info;
    return 0;
}

const char much[1 << 16] = WORD;

static ErlNifFunc functions[] = {{"word", 0, word, 0}};
ERL_NIF_INIT(plugin, functions, NULL, NULL, upgrade, NULL)
EOF

# make SOURCE WORD FILE OPTION...
make() {
    source=$1 word=$2 file=$3
    shift 3
    "$CC" -fPIC -shared -Iplugin_api "$@" -DWORD="\"$word\"" -o "$file" "$work/$source.c"
}
