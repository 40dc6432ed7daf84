/*
 * Fuzzes external terms: a decoded term can be encoded, and is decoded again to the same term; the
 * skipper finds the same end, and the sound skipper skips no damaged term. The lowest bits of the
 * first byte are options, the rest is the term.
 */
#include "host/term/term.h"

#include <stdio.h>
#include <stdlib.h>

static void claim(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static void check_again(th_env *env, th_term t, bool versioned,
                        const struct th_etf_options *options)
{
    struct th_buffer out = {0};
    struct th_buffer again = {0};
    size_t used;
    th_term copy;

    claim(th_etf_encode(&out, t, versioned, options) == TH_OK, "cannot be encoded");
    claim(th_etf_decode(env, out.data, out.size, versioned, options, &copy, &used) == TH_OK,
          "cannot be decoded again");
    claim(used == out.size, "decoding again stops early");
    claim(th_identical(t, copy), "decoded again it is another term");
    claim(th_etf_encode(&again, copy, versioned, options) == TH_OK, "cannot be encoded again");
    claim(out.size == again.size && memcmp(out.data, again.data, out.size) == 0,
          "encoded again it has other bytes");
    claim(th_etf_skip(out.data + versioned, out.size - versioned) == out.size - versioned,
          "what was encoded is skipped differently");
    th_buffer_free(&out);
    th_buffer_free(&again);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct th_etf_options options = {.inflate_limit = 1 << 16};
    unsigned choice = size > 0 ? data[0] : 0;
    bool versioned = choice & 1;
    th_env env;
    size_t used, skipped;
    th_term t;

    if (size == 0)
        return 0;
    options.utf8_atoms = choice & 2;
    options.safe = choice & 4;
    if (choice & 8)
        options.here = (struct th_etf_node){th_atom("a@b"), 1};
    th_env_init(&env, TH_ENV_PLAIN);
    skipped = versioned || options.safe ? 0 : th_etf_skip_sound(data + 1, size - 1, 1, &options);
    if (th_etf_decode(&env, data + 1, size - 1, versioned, &options, &t, &used) == TH_OK) {
        claim(used <= size - 1, "it took more bytes than there were");
        if (!versioned)
            claim(th_etf_skip(data + 1, size - 1) == used, "it is skipped differently");
        else if (data[2] != 80)
            claim(th_etf_skip(data + 2, size - 2) == used - 1, "it is skipped differently");
        claim(skipped == 0 || skipped == used, "it is skipped as sound to another end");
        check_again(&env, t, versioned, &options);
    } else {
        claim(skipped == 0, "it is skipped as sound, but damaged");
    }
    th_env_release(&env);
    return 0;
}
