/* Helpers for the tests of external terms: conversions from bytes to a term and back; an
 * environment for each test. */
#ifndef ETF_BYTES_H
#define ETF_BYTES_H

#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <stddef.h>
#include <string.h>

#define AB "d\0\3a@b" /* the atom a@b, as node of identifiers */

static const struct th_etf_options plain;
static th_env env;

static inline int open_env(void **state)
{
    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    return 0;
}

static inline int close_env(void **state)
{
    (void)state;
    th_env_release(&env);
    th_error_clear();
    return 0;
}

/* Decodes from memory of exactly SIZE bytes, so that the address sanitizer detects reads beyond. */
static inline enum th_status decode(const void *data, size_t size,
                                    const struct th_etf_options *options, th_term *t, size_t *used)
{
    unsigned char *copy = th_alloc(size + (size == 0));
    enum th_status status;

    memcpy(copy, data, size);
    status = th_etf_decode(&env, copy, size, false, options, t, used);
    th_free(copy);
    return status;
}

static inline th_term decoded(const void *data, size_t size)
{
    th_term t = TH_NONE;
    size_t used = 0;

    if (decode(data, size, &plain, &t, &used) != TH_OK)
        fail_msg("%s", th_error_link(0));
    assert_int_equal(used, size);
    return t;
}

#define DECODED(literal) decoded(literal, sizeof(literal) - 1)

static inline bool is_encoded(th_term t, const struct th_etf_options *options, const void *data,
                              size_t size)
{
    struct th_buffer out = {0};
    bool same = th_etf_encode(&out, t, false, options) == TH_OK && out.size == size &&
                memcmp(out.data, data, size) == 0;

    th_buffer_free(&out);
    return same;
}

static inline void assert_encoded(th_term t, const struct th_etf_options *options, const void *data,
                                  size_t size)
{
    assert_true(is_encoded(t, options, data, size));
}

/* Defines a test with an environment of its own. */
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_env, close_env)

#endif
