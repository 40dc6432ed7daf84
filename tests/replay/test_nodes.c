/*
 * Tests reconnections: knowledge of processes and names stays if the node is known to be the same,
 * and is dropped if it may be another. If it is known to be another, the stream ends.
 */
#include "host/process/process.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"
#include "tests/support/scene.h"
#include "tests/support/server.h"
#include "tests/support/stream.h"

#include <stddef.h>
#include <string.h>

enum { FIRST = 3 /* records of the first connection */, TRACEES = 3 };

static struct th_buffer stream;

static void add(const char *message, const char *node, uint32_t creation)
{
    const struct th_etf_options options = {.here = {th_atom_utf8(node, strlen(node)), creation}};
    struct th_buffer payload = {0};
    th_env env;
    th_term t;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, message, strlen(message), &t), TH_OK);
    assert_int_equal(th_etf_encode(&payload, t, true, &options), TH_OK);
    stream_add_record(&stream, 0, (uint32_t)payload.size, payload.data, payload.size);
    th_buffer_free(&payload);
    th_env_release(&env);
}

/* The knowledge after a connection to NODE was closed and then continued by AFTER. */
struct known {
    bool ended, named; /* <0.1.0> has ended; <0.2.0> is `me` */
    th_term node;
    uint32_t creation;
    struct th_player_counts counts;
};

static struct known play(const char *before, uint32_t creation, const char *after,
                         uint32_t creation_after)
{
    const struct th_reader_options again = {.reconnect_ns = 500000000};
    const struct th_player_options options = {0};
    struct server_act acts[2] = {{0}};
    struct known known = {0};
    struct server *server;
    struct th_reader *reader;
    size_t size;

    stream.size = 0;
    add("{trace,<0.1.0>,exit,normal}", before, creation);
    add("{trace,<0.2.0>,register,me}", before, creation);
    add("{trace,<0.2.0>,in,{m,f,1}}", before, creation);
    size = stream.size;
    add("{trace,<0.3.0>,in,{m,f,1}}", after, creation_after);
    acts[0] = (struct server_act){.data = stream.data, .size = size};
    acts[1] = (struct server_act){.data = stream.data + size, .size = stream.size - size};
    scene_begin(NULL);
    server = server_start("127.0.0.1", acts, 2);
    assert_int_equal(th_replay_reader_open(server_name(server), &again, &reader), TH_OK);
    th_replay_play(scene_tracing(), reader, &options, NULL, NULL, NULL, &known.counts);
    known.ended = !th_process_alive(th_local_pid(1, 0));
    known.named = th_process_whereis(th_atom("me")) != TH_NONE;
    known.node = th_process_world_node().node;
    known.creation = th_process_world_node().creation;
    th_replay_reader_close(reader);
    server_end(server);
    scene_end();
    return known;
}

static void check_counts(const struct th_player_counts *counts)
{
    assert_int_equal(counts->records, FIRST + 2); /* with the drop of 0 */
    assert_int_equal(counts->played, FIRST + 1);
    assert_int_equal(counts->drops, 1);
    assert_int_equal(counts->gaps, 1);
    assert_int_equal(counts->lost, 0);
    assert_int_equal(counts->damages, 1);
    assert_int_equal(counts->tracees, TRACEES);
}

static void the_same_node_continues_its_world(void **state)
{
    struct known known = play("a@b", 5, "a@b", 5);

    (void)state;
    check_counts(&known.counts);
    assert_true(known.ended && known.named);
}

static void a_possibly_different_node_drops_the_world(void **state)
{
    struct known known = play("nonode@nohost", 0, "nonode@nohost", 0);

    (void)state;
    check_counts(&known.counts);
    assert_false(known.ended || known.named);
}

static void another_node_drops_the_world_and_ends_the_stream(void **state)
{
    static const struct {
        const char *before, *after;
        uint32_t creation, creation_after;
    } cases[] = {
        {"a@b", "a@b", 5, 6},           /* the node was restarted */
        {"a@b", "c@b", 5, 5},           /* another node uses the port */
        {"a@b", "nonode@nohost", 5, 0}, /* no name any more, so restarted */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct known known =
            play(cases[i].before, cases[i].creation, cases[i].after, cases[i].creation_after);
        assert_int_equal(known.counts.records, FIRST + 1); /* with the drop of 0 */
        assert_int_equal(known.counts.played, FIRST);
        assert_int_equal(known.counts.gaps, 1);
        assert_int_equal(known.counts.damages, 2); /* the connection's end, and the stream's */
        assert_int_equal(known.counts.tracees, TRACEES - 1);
        assert_term_equal(known.node, th_atom(cases[i].before));
    }
    th_buffer_free(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_node_continues_its_world),
        cmocka_unit_test(a_possibly_different_node_drops_the_world),
        cmocka_unit_test(another_node_drops_the_world_and_ends_the_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
