/* Tests addresses tcp://HOST:PORT, and servers that refuse connections. */
#include "tests/support/assertions.h"
#include "tests/support/server.h"
#include "tests/support/stream.h"

#include "host/replay/replay_internal.h"

#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static volatile int stop;

static void on_alarm(int number)
{
    stop = number;
}

/* Sets `stop` after a moment. */
static void stop_soon(void)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct itimerval moment = {.it_value.tv_usec = 200000};

    stop = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &moment, NULL);
}

/* --- Addresses -------------------------------------------------------------------------------- */

static void addresses_are_parsed(void **state)
{
    static const char form[] =
        "an address must be tcp://HOST:PORT, or tcp://[ADDRESS]:PORT for IPv6";
    static const struct {
        const char *name, *host, *port, *causes;
    } cases[] = {
        {"tcp://localhost:4711", "localhost", "4711", ""},
        {"TCP://10.0.0.1:1", "10.0.0.1", "1", ""},
        {"tcp://[::1]:65535", "::1", "65535", ""},
        {"tcp://", NULL, NULL, form},
        {"tcp://:80", NULL, NULL, form},
        {"tcp://host", NULL, NULL, form},
        {"tcp://[]:80", NULL, NULL, form},
        {"tcp://[::1]", NULL, NULL, form},
        {"tcp://[::1]80", NULL, NULL, form},
        {"tcp://[::1:80", NULL, NULL, form},
        {"tcp://::1:80", NULL, NULL, form},
        {"tcp://host:", NULL, NULL, "the port must be a number from 1 to 65535, not ''"},
        {"tcp://host:0", NULL, NULL, "the port must be a number from 1 to 65535, not '0'"},
        {"tcp://host:65536", NULL, NULL, "the port must be a number from 1 to 65535, not '65536'"},
        {"tcp://host:-1", NULL, NULL, "the port must be a number from 1 to 65535, not '-1'"},
        {"tcp://host:80/", NULL, NULL, "the port must be a number from 1 to 65535, not '80/'"},
        {"tcp://host:184467440737095516170", NULL, NULL,
         "the port must be a number from 1 to 65535, not '184467440737095516170'"},
    };
    struct th_tcp_address address;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(th_replay_tcp_is_address(cases[i].name));
        assert_int_equal(th_replay_tcp_parse(cases[i].name, &address),
                         cases[i].host ? TH_OK : TH_MALFORMED);
        assert_string_equal(stream_causes(), cases[i].causes);
        if (cases[i].host) {
            assert_string_equal(address.host, cases[i].host);
            assert_string_equal(address.port, cases[i].port);
        }
        th_replay_tcp_free(&address);
    }
    assert_false(th_replay_tcp_is_address("tcp:/host:80"));
    assert_false(th_replay_tcp_is_address("folder/tcp://host:80"));
}

/* --- Connections ------------------------------------------------------------------------------ */

/* Opens NAME, which must fail, and returns the causes. */
static const char *refusal(const char *name, const struct th_reader_options *options)
{
    struct th_reader *reader;

    assert_int_equal(th_replay_reader_open(name, options, &reader), TH_MALFORMED);
    assert_null(reader);
    return stream_causes();
}

static void connects(const char *host)
{
    struct th_buffer stream = {0};
    struct server_act act = {0};
    struct th_reader *reader;
    struct server *server;

    stream_add_message(&stream, "{trace,<0.1.0>,exit,normal}");
    act.data = stream.data;
    act.size = stream.size;
    server = server_start(host, &act, 1);
    assert_int_equal(th_replay_reader_open(server_name(server), NULL, &reader), TH_OK);
    assert_true(th_replay_reader_info(reader)->live);
    assert_string_equal(th_replay_reader_info(reader)->format, "trace-port");
    assert_string_equal(stream_tell(reader), "1@0 {trace,<0.1.0>,exit,normal}\n");
    assert_int_equal(th_replay_reader_info(reader)->bytes, stream.size);
    th_replay_reader_close(reader);
    server_end(server);
    th_buffer_free(&stream);
}

static void ipv4_and_ipv6_addresses_are_connected(void **state)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM, 0);

    (void)state;
    connects("127.0.0.1");
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0)
        connects("::1");
    close(fd);
}

static void a_host_name_is_looked_up(void **state)
{
    struct server_act act = {0};
    struct th_reader *reader;
    struct server *server = server_start("127.0.0.1", &act, 1);
    char *name = th_printf("tcp://localhost%s", strrchr(server_name(server), ':'));

    (void)state;
    assert_int_equal(th_replay_reader_open(name, NULL, &reader), TH_OK);
    th_replay_reader_close(reader);
    server_end(server);
    th_free(name);
}

/* Returns the address of a port of this machine without a listener. */
static char *deserted(void)
{
    struct server_act act = {0};
    struct server *server = server_start("127.0.0.1", &act, 1);
    char *name = th_strdup(server_name(server));
    struct th_reader *reader;

    assert_int_equal(th_replay_reader_open(name, NULL, &reader), TH_OK);
    th_replay_reader_close(reader);
    server_end(server);
    return name;
}

static void a_refused_connection_is_reported(void **state)
{
    char *name = deserted();
    char *expected =
        th_printf("cannot read %s: cannot connect to 127.0.0.1: Connection refused: no node "
                  "listens there; dbg:tracer(port, dbg:trace_port(ip, %s)) makes a node listen",
                  name, strrchr(name, ':') + 1);

    (void)state;
    assert_string_equal(refusal(name, NULL), expected);
    th_free(name);
    th_free(expected);
}

/* Without a network, name servers do not answer. */
static void an_unknown_host_is_reported(void **state)
{
    const struct th_reader_options options = {.connect_ms = 3000};

    (void)state;
    assert_non_null(strstr(
        refusal("tcp://nobody.invalid:80", &options),
        "cannot read tcp://nobody.invalid:80: cannot look up the address of nobody.invalid: "));
}

/* A listener with a full queue, so the kernel keeps further clients waiting. */
struct busy {
    int listener, clients[4];
    char *name;
};

static void busy_begin(struct busy *busy)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;

    busy->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(busy->listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(busy->listener, 0), 0);
    getsockname(busy->listener, (struct sockaddr *)&address, &size);
    for (size_t i = 0; i < sizeof busy->clients / sizeof busy->clients[0]; i++) {
        busy->clients[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(busy->clients[i], (struct sockaddr *)&address, size);
    }
    busy->name = th_printf("tcp://127.0.0.1:%d", ntohs(address.sin_port));
}

static void busy_end(struct busy *busy)
{
    for (size_t i = 0; i < sizeof busy->clients / sizeof busy->clients[0]; i++)
        close(busy->clients[i]);
    close(busy->listener);
    th_free(busy->name);
}

static void a_connection_that_takes_too_long_is_reported(void **state)
{
    const struct th_reader_options options = {.connect_ms = 300};
    struct busy busy;

    (void)state;
    busy_begin(&busy);
    assert_non_null(strstr(refusal(busy.name, &options),
                           ": cannot connect to 127.0.0.1: Connection timed out"));
    busy_end(&busy);
}

/* The result is no error, but a stream that has ended. */
static void a_stop_ends_the_wait_for_a_connection(void **state)
{
    const struct th_reader_options options = {.stop = &stop, .reconnect_ns = 3000000000};
    struct th_reader *reader;
    struct busy busy;

    (void)state;
    busy_begin(&busy);
    stop_soon();
    assert_int_equal(th_replay_reader_open(busy.name, &options, &reader), TH_OK);
    assert_string_equal(stream_tell(reader), "");
    th_replay_reader_close(reader);
    busy_end(&busy);
}

static void a_stop_ends_the_wait_for_data(void **state)
{
    const struct th_reader_options options = {.stop = &stop};
    struct server_act act = {.await = true};
    struct server *server = server_start("127.0.0.1", &act, 1);
    struct th_reader *reader;

    (void)state;
    assert_int_equal(th_replay_reader_open(server_name(server), &options, &reader), TH_OK);
    stop_soon();
    assert_string_equal(stream_tell(reader), "");
    th_replay_reader_close(reader);
    server_end(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_parsed),
        cmocka_unit_test(ipv4_and_ipv6_addresses_are_connected),
        cmocka_unit_test(a_host_name_is_looked_up),
        cmocka_unit_test(a_refused_connection_is_reported),
        cmocka_unit_test(an_unknown_host_is_reported),
        cmocka_unit_test(a_connection_that_takes_too_long_is_reported),
        cmocka_unit_test(a_stop_ends_the_wait_for_a_connection),
        cmocka_unit_test(a_stop_ends_the_wait_for_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
