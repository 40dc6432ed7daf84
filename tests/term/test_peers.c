/*
 * Tests pids and ports of peers: they are immediates, and all but the word is as for any other node.
 * The boxed terms that the same parts gave before their nodes became peers are the model.
 */
#include "host/base/base.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { NODES = TH_PEERS_MAX + 2, NUMBERS = 15, MOST = 2 * NODES * NUMBERS };

static const uint32_t numbers[NUMBERS] = {
    0,          1,          12,         0x7FFF,     0x8000,     0x12345,    0xABCDEF1, 0xFFFFFFF,
    0x10000000, 0x20000000, 0x40000000, 0x80000000, 0x9ABCDEF0, 0xF0000000, UINT32_MAX};

static const struct th_etf_options here = {.here = {.creation = 4}};
static th_env env;

/* A pid or a port, made before its node became a peer and after. */
struct identifier {
    bool port;
    th_term node; /* TH_NONE: this node, which is no peer */
    uint32_t creation, number, serial;
    unsigned peer;
    th_term before, after;
};
static struct identifier all[MOST];
static size_t count;

/* Two peers have one name, another has the name of this node. */
static th_term node_at(unsigned peer)
{
    char name[24];

    if (peer == 0 || peer == 7)
        return peer ? th_atom("here@home") : TH_NONE;
    snprintf(name, sizeof name, "n%u@home", peer == 9 ? 3 : peer);
    return th_atom(name);
}

static uint32_t creation_at(unsigned peer)
{
    return peer == 0 ? 0 : peer == 7 ? 5 : 0x80000000u + peer;
}

static th_term make(const struct identifier *of)
{
    uint64_t id = (uint64_t)of->serial << 32 | of->number;

    return of->port ? th_make_port(&env, of->node, of->creation, id)
                    : th_make_pid(&env, of->node, of->creation, of->number, of->serial);
}

static bool fits(const struct identifier *of)
{
    return of->peer <= TH_PEERS_MAX &&
           (of->port ? of->serial < 1u << 24 : of->number < 1u << 28 && of->serial < 1u << 28);
}

static void add_identifier(unsigned node, bool port, size_t number)
{
    struct identifier *new = &all[count++];

    *new = (struct identifier){.port = port,
                               .node = node_at(node),
                               .creation = creation_at(node),
                               .number = numbers[number],
                               .serial = numbers[(number * 4 + node) % NUMBERS],
                               .peer = node};
    new->before = make(new);
}

/* No text names a peer before it is added. */
static void add_peer(unsigned peer)
{
    char text[24];
    th_term t;

    snprintf(text, sizeof text, "<%u.1.0>", peer);
    assert_int_equal(th_text_parse(&env, text, strlen(text), &t), TH_MALFORMED);
    th_error_clear();
    assert_false(th_peer_is_known(peer));
    assert_int_equal(th_peer_add(node_at(peer), creation_at(peer)), peer);
    assert_int_equal(th_text_parse(&env, text, strlen(text), &t), TH_OK);
    assert_int_equal(th_peer_of(t), peer);
}

/* Makes the terms, and the peers in between; the last node becomes none. */
static int begin_all(void **state)
{
    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    for (unsigned node = 0; node < NODES; node++)
        for (size_t i = 0; i < NUMBERS; i++) {
            add_identifier(node, false, i);
            add_identifier(node, true, i);
        }
    for (unsigned peer = 1; peer <= TH_PEERS_MAX; peer++)
        add_peer(peer);
    for (size_t i = 0; i < count; i++)
        all[i].after = make(&all[i]);
    return 0;
}

static int end_all(void **state)
{
    (void)state;
    th_env_release(&env);
    return 0;
}

static void a_full_table_refuses_another_peer(void **state)
{
    (void)state;
    assert_int_equal(th_peer_add(node_at(16), creation_at(16)), 0);
    assert_int_equal(th_peer_add(node_at(4), creation_at(4)), 4);
    assert_int_equal(th_peer_add(node_at(9), creation_at(3)), 3);
    assert_int_equal(th_peer_find(node_at(9), creation_at(9)), 9);
    assert_int_equal(th_peer_find(node_at(9), 1), 0);
    assert_true(th_peer_is_known(0) && th_peer_is_known(TH_PEERS_MAX));
    assert_false(th_peer_is_known(TH_PEERS_MAX + 1));
}

static void assert_parts(const struct identifier *of)
{
    struct th_port_parts port;
    struct th_pid_parts pid;

    if (of->port) {
        assert_true(th_get_port(of->after, &port) && !th_get_pid(of->after, &pid));
        assert_true(port.node == of->node && port.creation == of->creation);
        assert_int_equal(port.id, (uint64_t)of->serial << 32 | of->number);
    } else {
        assert_true(th_get_pid(of->after, &pid) && !th_get_port(of->after, &port));
        assert_true(pid.node == of->node && pid.creation == of->creation);
        assert_int_equal(pid.number, of->number);
        assert_int_equal(pid.serial, of->serial);
    }
}

static void identifiers_of_peers_are_words_with_their_parts(void **state)
{
    size_t words = 0;

    (void)state;
    for (size_t i = 0; i < count; i++) {
        const struct identifier *of = &all[i];
        assert_int_equal(th_is_immediate(of->before), fits(of) && of->peer == 0);
        assert_int_equal(th_is_immediate(of->after), fits(of));
        assert_true(of->port ? th_is_port(of->after) : th_is_pid(of->after));
        if (fits(of)) {
            words++;
            assert_int_equal(th_is_local_port(of->after), of->port);
            assert_int_equal(th_is_local_pid(of->after), !of->port);
            assert_int_equal(th_peer_of(of->after), of->peer);
            assert_false(th_is_small(of->after) || th_is_atom(of->after));
        }
        assert_parts(of);
    }
    assert_order(words, >, 150);
    assert_int_equal(th_peer_of(th_small(-1)), 0);
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

static void order_and_identity_are_those_of_other_nodes(void **state)
{
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            int order = sign(th_compare(all[i].before, all[j].before));
            assert_int_equal(sign(th_compare(all[i].after, all[j].after)), order);
            assert_int_equal(sign(th_compare(all[i].before, all[j].after)), order);
            assert_int_equal(sign(th_compare_exact(all[i].after, all[j].after)), order);
            assert_int_equal(th_identical(all[i].after, all[j].after), i == j);
            assert_true((order == 0) == (i == j));
        }
}

static void encode(struct th_buffer *out, th_term t, bool utf8_atoms)
{
    struct th_etf_options options = here;

    options.utf8_atoms = utf8_atoms;
    out->size = 0;
    assert_int_equal(th_etf_encode(out, t, false, &options), TH_OK);
}

static void hashes_and_encodings_are_those_of_other_nodes(void **state)
{
    struct th_buffer before = {0}, after = {0};
    th_term back;
    size_t used;

    (void)state;
    for (size_t i = 0; i < 2 * count; i++) {
        const struct identifier *of = &all[i / 2];
        assert_int_equal(th_phash2(of->after), th_phash2(of->before));
        encode(&before, of->before, i % 2);
        encode(&after, of->after, i % 2);
        assert_int_equal(after.size, before.size);
        assert_memory_equal(after.data, before.data, after.size);
        assert_int_equal(th_etf_decode(&env, after.data, after.size, false, &here, &back, &used),
                         TH_OK);
        assert_term_identical(back, of->after);
        assert_true(th_is_immediate(back) == fits(of));
    }
    th_buffer_free(&before);
    th_buffer_free(&after);
}

/* The last node is no peer: its identifiers are not sound. */
static void identifiers_of_peers_are_skipped_as_local_ones(void **state)
{
    struct th_buffer bytes = {0};
    uint32_t words[3] = {1, 2, 3};

    (void)state;
    for (unsigned peer = 0; peer < NODES; peer++) {
        const th_term ids[] = {
            th_make_pid(&env, node_at(peer), creation_at(peer), 12, 0),
            th_make_port(&env, node_at(peer), creation_at(peer), 12),
            th_make_reference(&env, node_at(peer), creation_at(peer), words, 3),
        };
        for (size_t i = 0; i < 3; i++) {
            bytes.size = 0;
            assert_int_equal(th_etf_encode(&bytes, ids[i], false, &here), TH_OK);
            assert_int_equal(th_etf_skip_sound(bytes.data, bytes.size, 1, &here),
                             peer <= TH_PEERS_MAX ? bytes.size : 0);
        }
    }
    th_buffer_free(&bytes);
}

static th_term parsed(const char *text)
{
    th_term t = TH_NONE;

    if (th_text_parse(&env, text, strlen(text), &t) != TH_OK)
        fail_msg("%s", th_error_link(0));
    return t;
}

static void the_text_begins_with_the_index(void **state)
{
    const uint32_t words[3] = {1, 2, 3};
    const th_term terms[] = {
        th_make_pid(&env, node_at(1), creation_at(1), 12, 0),
        th_make_pid(&env, node_at(9), creation_at(9), 12, 5),
        th_make_pid(&env, node_at(15), creation_at(15), UINT32_MAX, 0),
        th_make_port(&env, node_at(8), creation_at(8), 3),
        th_make_reference(&env, node_at(2), creation_at(2), words, 3),
    };
    static const char *const texts[] = {"<1.12.0>", "<9.12.5>", "<15.4294967295.0>", "#Port<8.3>",
                                        "#Ref<2.3.2.1>"};
    struct th_buffer out = {0};
    th_term t;

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        out.size = 0;
        th_text_print(&out, terms[i]);
        assert_int_equal(out.size, strlen(texts[i]));
        assert_memory_equal(out.data, texts[i], out.size);
        assert_term_identical(parsed(texts[i]), terms[i]);
        assert_true(th_is_boxed(terms[i]) || parsed(texts[i]) == terms[i]);
        out.size = 0;
        assert_false(th_text_print_exact(&out, terms[i]));
        assert_int_equal(out.size, 0);
    }
    assert_term_equal(parsed("<0.12.0>"), th_local_pid(12, 0));
    assert_int_equal(th_text_parse(&env, "<16.12.0>", 9, &t), TH_MALFORMED);
    assert_int_equal(th_text_parse(&env, "#Port<99999999999.1>", 20, &t), TH_MALFORMED);
    th_error_clear();
    th_buffer_free(&out);
}

/* In a list, too, where a printer looks at each element. */
static void json_holds_the_external_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * count; i++) {
        const struct identifier *of = &all[i / 2];
        th_term t = i % 2 ? th_make_cons(&env, of->after, TH_NIL) : of->after, back;
        struct th_buffer out = {0};
        json_t *value;

        assert_int_equal(th_json_add_term(&out, t, &here.here), TH_OK);
        assert_int_equal(out.data[0] == '{', of->peer > 0);
        value = th_json_read((const char *)out.data, out.size, JSON_DECODE_ANY);
        assert_non_null(value);
        assert_int_equal(th_json_to_term(&env, value, &here.here, &back), TH_OK);
        assert_term_identical(back, t);
        json_decref(value);
        th_buffer_free(&out);
    }
}

static void tables_find_the_identifiers(void **state)
{
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            if (th_is_immediate(all[i].after) && th_is_immediate(all[j].after))
                assert_int_equal(
                    th_internal_hash(all[i].after, 1) == th_internal_hash(all[j].after, 1), i == j);
}

/* For example because a former replay had this node as a peer. */
static void this_node_may_be_a_peer_of_others(void **state)
{
    struct th_etf_options options = {.here = {node_at(7), creation_at(7)}};
    struct th_buffer bytes = {0};
    th_term t;
    size_t used;

    (void)state;
    assert_int_equal(th_etf_encode(&bytes, th_local_pid(12, 3), false, &options), TH_OK);
    assert_int_equal(th_etf_decode(&env, bytes.data, bytes.size, false, &options, &t, &used),
                     TH_OK);
    assert_term_equal(t, th_local_pid(12, 3));
    th_buffer_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_table_refuses_another_peer),
        cmocka_unit_test(identifiers_of_peers_are_words_with_their_parts),
        cmocka_unit_test(order_and_identity_are_those_of_other_nodes),
        cmocka_unit_test(hashes_and_encodings_are_those_of_other_nodes),
        cmocka_unit_test(identifiers_of_peers_are_skipped_as_local_ones),
        cmocka_unit_test(the_text_begins_with_the_index),
        cmocka_unit_test(json_holds_the_external_form),
        cmocka_unit_test(tables_find_the_identifiers),
        cmocka_unit_test(this_node_may_be_a_peer_of_others),
    };

    return cmocka_run_group_tests(tests, begin_all, end_all);
}
