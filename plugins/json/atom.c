/*
 * Names of atoms as UTF-8.
 *
 * enif_get_atom() supports UTF-8 only from NIF 2.17 on. In older versions names beyond Latin-1 are
 * available only in the external term format, which has them as UTF-8.
 */
#include "parts.h"

#include <string.h>

enum { SMALL_ATOM_UTF8 = 119, MOST_CHARACTERS = 255 };

static size_t from_latin1(const char *latin1, size_t size, char *to)
{
    char *begin = to;

    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)latin1[i];
        if (c >= 0x80)
            *to++ = (char)(0xC0 | c >> 6);
        *to++ = (char)(c >= 0x80 ? 0x80 | (c & 0x3F) : c);
    }
    return (size_t)(to - begin);
}

static size_t from_external(ErlNifEnv *env, ERL_NIF_TERM atom, char *to)
{
    ErlNifBinary external;
    size_t head, size;

    if (!enif_term_to_binary(env, atom, &external))
        return 0;
    head = external.data[1] == SMALL_ATOM_UTF8 ? 3 : 4;
    size = external.size - head;
    memcpy(to, external.data + head, size);
    enif_release_binary(&external);
    return size;
}

char *atom_write(ErlNifEnv *env, ERL_NIF_TERM atom, size_t *size)
{
    char latin1[MOST_CHARACTERS + 1], *name = enif_alloc(4 * MOST_CHARACTERS);
    int got = enif_get_atom(env, atom, latin1, sizeof latin1, ERL_NIF_LATIN1);

    if (!name)
        return NULL;
    *size = got ? from_latin1(latin1, (size_t)got - 1, name) : from_external(env, atom, name);
    return name;
}
