/* Fuzzes Erlang text: any term that was parsed, or decoded from the external format, can be
 * printed, and the printed text is parsed to the same term if text can represent the term. */
#include "host/base/base.h"
#include "host/term/term.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT = 40, MUCH = 1 << 20 };

static void check(bool good)
{
    if (!good)
        abort();
}

/* A limited text ends soon, and is the whole text if that is short enough. */
static void print_limited(th_term t, const struct th_buffer *whole)
{
    struct th_buffer part = {0};

    th_text_print_limited(&part, t, SHORT);
    check(part.size < 20 * SHORT || part.size <= whole->size);
    if (whole->size < SHORT)
        check(part.size == whole->size && memcmp(part.data, whole->data, whole->size) == 0);
    th_buffer_free(&part);
}

static void print_and_read(th_env *env, th_term t)
{
    struct th_buffer text = {0};
    struct th_buffer exact = {0};
    struct th_buffer second = {0};
    th_term again;

    th_text_print(&text, t);
    print_limited(t, &text);
    if (th_text_print_exact(&exact, t)) {
        check(th_text_parse(env, (char *)text.data, text.size, &again) == TH_OK);
        check(th_identical(t, again));
        th_text_print(&second, again);
        check(second.size == text.size && memcmp(second.data, text.data, text.size) == 0);
    }
    th_buffer_free(&text);
    th_buffer_free(&exact);
    th_buffer_free(&second);
}

static void read_text(th_env *env, const char *text, size_t size)
{
    th_term whole, first;
    size_t used;
    bool good = th_text_parse(env, text, size, &whole) == TH_OK;

    if (th_text_parse_prefix(env, text, size, &first, &used) == TH_OK)
        check(used <= size && (!good || th_identical(whole, first)));
    else
        check(!good);
    if (good && th_env_footprint(env) < MUCH)
        print_and_read(env, whole);
}

static void read_external(th_env *env, const uint8_t *data, size_t size)
{
    const struct th_etf_options options = {.inflate_limit = 1 << 16};
    size_t used;
    th_term t;

    if (th_etf_decode(env, data, size, true, &options, &t, &used) == TH_OK)
        print_and_read(env, t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    if (size > 0 && data[0] == 131)
        read_external(&env, data, size);
    else
        read_text(&env, (const char *)data, size);
    th_env_release(&env);
    return 0;
}
