/* Atoms. */
#include "host/term/atom.h"
#include "plugin_api/erl_nif.h"

int enif_is_atom(ErlNifEnv *env, ERL_NIF_TERM term)
{
    (void)env;
    return th_is_atom(term);
}

ERL_NIF_TERM enif_make_atom_len(ErlNifEnv *env, const char *name, size_t len)
{
    th_term atom = th_atom_latin1(name, len);

    return __builtin_expect(atom == TH_NONE, 0) ? enif_make_badarg(env) : atom;
}

ERL_NIF_TERM enif_make_atom(ErlNifEnv *env, const char *name)
{
    return enif_make_atom_len(env, name, strlen(name));
}

/* Stores ATOM in *RESULT, and returns 1; returns 0 if ATOM is TH_NONE. */
static int found(th_term atom, ERL_NIF_TERM *result)
{
    if (atom == TH_NONE)
        return 0;
    *result = atom;
    return 1;
}

int enif_make_new_atom_len(ErlNifEnv *env, const char *name, size_t len, ERL_NIF_TERM *atom,
                           ErlNifCharEncoding encoding)
{
    (void)env;
    if (encoding == ERL_NIF_LATIN1)
        return found(th_atom_latin1(name, len), atom);
    return encoding == ERL_NIF_UTF8 && found(th_atom_utf8(name, len), atom);
}

int enif_make_new_atom(ErlNifEnv *env, const char *name, ERL_NIF_TERM *atom,
                       ErlNifCharEncoding encoding)
{
    return enif_make_new_atom_len(env, name, strlen(name), atom, encoding);
}

int enif_make_existing_atom_len(ErlNifEnv *env, const char *name, size_t len, ERL_NIF_TERM *atom,
                                ErlNifCharEncoding encoding)
{
    (void)env;
    if (encoding == ERL_NIF_LATIN1)
        return found(th_atom_existing_latin1(name, len), atom);
    return encoding == ERL_NIF_UTF8 && found(th_atom_existing_utf8(name, len), atom);
}

int enif_make_existing_atom(ErlNifEnv *env, const char *name, ERL_NIF_TERM *atom,
                            ErlNifCharEncoding encoding)
{
    return enif_make_existing_atom_len(env, name, strlen(name), atom, encoding);
}

/* Sets LENGTH to the number of bytes of an atom's name in ENCODING. Returns false if the name
 * cannot be encoded. */
static bool encoded_length(const struct th_atom_name *name, ErlNifCharEncoding encoding,
                           size_t *length)
{
    if (encoding == ERL_NIF_UTF8)
        *length = name->bytes;
    else if (encoding == ERL_NIF_LATIN1 && name->latin1)
        *length = name->characters;
    else
        return false;
    return true;
}

int enif_get_atom_length(ErlNifEnv *env, ERL_NIF_TERM atom, unsigned *len,
                         ErlNifCharEncoding encoding)
{
    const struct th_atom_name *name = th_atom_name(atom);
    size_t length;

    (void)env;
    if (!name || !encoded_length(name, encoding, &length))
        return 0;
    *len = (unsigned)length;
    return 1;
}

int enif_get_atom(ErlNifEnv *env, ERL_NIF_TERM atom, char *buf, unsigned len,
                  ErlNifCharEncoding encoding)
{
    const struct th_atom_name *name = th_atom_name(atom);
    const unsigned char *text;
    size_t length;

    (void)env;
    if (!name || !encoded_length(name, encoding, &length) || length >= len)
        return 0;
    text = (const unsigned char *)name->text;
    if (length == name->bytes)
        memcpy(buf, text, length);
    else /* characters up to 255 take one or two bytes in UTF-8 */
        for (size_t i = 0, used = 0; i < name->bytes; i += text[i] < 0x80 ? 1 : 2)
            buf[used++] = (char)(text[i] < 0x80 ? text[i] : text[i] << 6 | (text[i + 1] & 0x3F));
    buf[length] = 0;
    return (int)length + 1;
}

/* --- The cache index -------------------------------------------------------------------------- */

/* Slots of the cache that a BEAM uses to shorten messages to other nodes: a prime. */
enum { CACHE_SLOTS = 2039 };

int enif_get_atom_cache_index(ErlNifEnv *env, ERL_NIF_TERM atom, unsigned *index)
{
    (void)env;
    if (!th_is_atom(atom))
        return 0;
    *index = th_atom_index(atom) % CACHE_SLOTS;
    return 1;
}

unsigned enif_max_atom_cache_index(void)
{
    return CACHE_SLOTS - 1;
}
