/* Strings: lists of characters. */
#include "host/check/check.h"
#include "host/term/make.h"
#include "host/term/utf8.h"
#include "plugin_api/erl_nif.h"

/* Encodes the next character of LIST in ENCODING. Returns the number of bytes; 0 if the next
 * element is no such character. */
static inline size_t next_character_bytes(th_term *list, ErlNifCharEncoding encoding,
                                          char bytes[TH_UTF8_MAX])
{
    int64_t most = encoding == ERL_NIF_UTF8 ? 0x10FFFF : 0xFF, c;
    th_term head;

    if (!th_is_list(*list))
        return 0;
    head = th_cell(*list)[0];
    c = th_small_value(head);
    if (!th_is_small(head) || c < 0 || c > most)
        return 0;
    *list = th_cell(*list)[1];
    if (encoding == ERL_NIF_UTF8 && c >= 0x80)
        return th_utf8_valid((uint32_t)c) ? th_utf8_put((uint32_t)c, bytes) : 0;
    bytes[0] = (char)c;
    return 1;
}

static bool is_known(ErlNifCharEncoding encoding)
{
    return encoding == ERL_NIF_LATIN1 || encoding == ERL_NIF_UTF8;
}

/* As enif_get_string(), for a list of characters of one byte each. Whether there is a next cell is
 * not tested by th_is_list(): the address of the next cell would wait for the test's difference. */
static int get_bytes(th_term list, char *buf, unsigned len)
{
    unsigned used = 0;

    for (; (list & 3) == TH_TAG_LIST; list = th_cell(list)[1], used++) {
        th_term head = th_cell(list)[0];

        if ((head & ~(th_term)0xFF0) != TH_TAG_SMALL)
            break;
        if (used + 1 == len) {
            buf[used] = 0;
            return -(int)len;
        }
        buf[used] = (char)th_small_value(head);
    }
    buf[used] = 0;
    if (list != TH_NIL)
        return th_check_misread(list, "enif_get_string");
    return (int)used + 1;
}

static __attribute__((noinline)) int get_utf8(th_term list, char *buf, unsigned len)
{
    char bytes[TH_UTF8_MAX];
    size_t used = 0;
    size_t size;

    while (list != TH_NIL) {
        size = next_character_bytes(&list, ERL_NIF_UTF8, bytes);
        buf[size == 0 ? 0 : used] = 0; /* as in a BEAM */
        if (size == 0)
            return th_check_misread(list, "enif_get_string");
        if (used + size >= len)
            return -(int)(used + 1); /* not -len, if a long character had no room */
        buf[used] = bytes[0];
        for (size_t i = 1; i < size; i++)
            buf[used + i] = bytes[i];
        used += size;
    }
    buf[used] = 0;
    return (int)used + 1;
}

/* The buffer is null-terminated even if the list is no string. */
int enif_get_string(ErlNifEnv *env, ERL_NIF_TERM list, char *buf, unsigned len,
                    ErlNifCharEncoding encoding)
{
    (void)env;
    if (len < 1 || !is_known(encoding))
        return 0;
    return encoding == ERL_NIF_LATIN1 ? get_bytes(list, buf, len) : get_utf8(list, buf, len);
}

int enif_get_string_length(ErlNifEnv *env, ERL_NIF_TERM list, unsigned *len,
                           ErlNifCharEncoding encoding)
{
    char bytes[TH_UTF8_MAX];
    size_t used = 0;
    size_t size;

    (void)env;
    if (!is_known(encoding))
        return 0;
    for (; list != TH_NIL; used += size) {
        size = next_character_bytes(&list, encoding, bytes);
        if (size == 0)
            return th_check_misread(list, "enif_get_string_length");
    }
    *len = (unsigned)used;
    return 1;
}

static ERL_NIF_TERM make_utf8_string(ErlNifEnv *env, const char *string, size_t len)
{
    size_t characters;
    th_term *cells;
    uint32_t c;

    if (!th_utf8_count(string, len, &characters))
        return enif_make_badarg(env);
    if (characters == 0)
        return TH_NIL;
    cells = th_env_take(env, 2 * characters);
    for (size_t i = 0; i < characters; i++) {
        size_t used = th_utf8_get(string, len, &c);
        string += used;
        len -= used;
        cells[2 * i] = th_small(c);
        cells[2 * i + 1] = i + 1 < characters ? th_listed(&cells[2 * i + 2]) : TH_NIL;
    }
    return th_listed(cells);
}

ERL_NIF_TERM enif_make_string_len(ErlNifEnv *env, const char *string, size_t len,
                                  ErlNifCharEncoding encoding)
{
    if (encoding == ERL_NIF_LATIN1)
        return th_make_latin1_string(env, (const unsigned char *)string, len);
    if (encoding == ERL_NIF_UTF8)
        return make_utf8_string(env, string, len);
    return enif_make_badarg(env);
}

ERL_NIF_TERM enif_make_string(ErlNifEnv *env, const char *string, ErlNifCharEncoding encoding)
{
    return enif_make_string_len(env, string, strlen(string), encoding);
}
