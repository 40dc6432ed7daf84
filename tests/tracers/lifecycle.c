/* Notes each call by the host other than callbacks. */
#include <erl_nif.h>

#include "journal.h"

#include <string.h>

static struct journal *journal; /* of this instance; NULL before load() */

static void note(struct journal *to, const char *word)
{
    if (to->text[0])
        strcat(to->text, " ");
    strcat(to->text, word);
}

static void destructor(ErlNifEnv *env, void *object)
{
    (void)object;
    note(journal, enif_priv_data(env) == journal ? "gone" : "gone-elsewhere");
}

static int start(ErlNifEnv *env, void **private_data, ERL_NIF_TERM info, const char *word)
{
    unsigned long address;

    if (!enif_get_ulong(env, info, &address))
        return -1;
    journal = (struct journal *)(address * 16);
    note(journal, word);
    *private_data = journal;
    if (journal->flags)
        journal->type = enif_open_resource_type(
            env, NULL, "thing", journal->destructor ? destructor : journal->counting,
            journal->flags, &journal->tried);
    return journal->answer;
}

static int load(ErlNifEnv *env, void **private_data, ERL_NIF_TERM info)
{
    return start(env, private_data, info, "load");
}

static int upgrade(ErlNifEnv *env, void **private_data, void **old_private_data, ERL_NIF_TERM info)
{
    void *old = *old_private_data;

    *old_private_data = NULL; /* taken over, as upgrades do */
    int answer = start(env, private_data, info, "upgrade");
    journal->old_private_data = old;
    return answer;
}

static void unload(ErlNifEnv *env, void *private_data)
{
    note(journal, enif_priv_data(env) != private_data ? "unload-elsewhere"
                  : private_data                      ? "unload"
                                                      : "unload-empty");
}

static ERL_NIF_TERM enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)env, (void)argc;
    return argv[0];
}

static ErlNifFunc functions[] = {{"enabled", 3, enabled, 0}, {"trace", 5, enabled, 0}};
ERL_NIF_INIT(lifecycle, functions, load, NULL, upgrade, unload)
