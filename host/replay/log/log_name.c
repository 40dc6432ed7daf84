#include "log_stream.h"

#include "host/base/memory.h"

#include <erl_tracer.h>

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char scheme[] = "nats://";
#define SHAPE "nats://HOST[:PORT]/NAME"

bool th_replay_log_is_name(const char *name)
{
    return strncasecmp(name, scheme, strlen(scheme)) == 0;
}

void th_replay_log_name_free(struct th_log_name *name)
{
    th_free(name->url);
    th_free(name->host);
    th_free(name->stream);
    th_free(name->copy);
    *name = (struct th_log_name){0};
}

/* --- The parts of a query: each takes VALUE, and returns false if it is wrong ------------------ */

static bool take_recording(struct th_log_name *name, const char *value)
{
    name->recording = value;
    return *value && !strpbrk(value, ".*> ");
}

static bool take_from(struct th_log_name *name, const char *value)
{
    ErlNifTime ns;

    name->from.set = true;
    name->from.relative = *value != '@';
    if (!th_setting_time(value + !name->from.relative, &ns))
        return false;
    name->from.ns = ns;
    return true;
}

/* A number of bytes, or of KiB. */
static bool take_batch(struct th_log_name *name, const char *value)
{
    char *end;
    unsigned long bytes = strtoul(value, &end, 10);

    if (strcmp(end, "KiB") == 0)
        bytes *= bytes < TH_LOG_BATCH ? 1024 : 1;
    else if (*end || end == value || *value == '-')
        return false;
    name->batch = (int64_t)bytes;
    return bytes > 0 && bytes <= 2 * TH_LOG_BATCH;
}

/* A place in a recording, in bytes from 1 on. */
static bool take_position(const char *value, int64_t *place)
{
    char *end;

    errno = 0;
    *place = strtoll(value, &end, 10);
    return *value >= '0' && *value <= '9' && !*end && !errno && *place > 0;
}

static bool take_begin(struct th_log_name *name, const char *value)
{
    return take_position(value, &name->begin);
}

static bool take_end(struct th_log_name *name, const char *value)
{
    return take_position(value, &name->end);
}

static bool take_past(struct th_log_name *name, const char *value)
{
    static const char *const values[] = {"no", "yes", "none", "between"};

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        name->past = (enum th_log_past)i;
        if (strcmp(value, values[i]) == 0)
            return true;
    }
    return false;
}

static bool take_follow(struct th_log_name *name, const char *value)
{
    name->ends = strcmp(value, "no") == 0;
    return name->ends || strcmp(value, "yes") == 0;
}

static bool take_full(struct th_log_name *name, const char *value)
{
    name->drops = strcmp(value, "drop") == 0;
    return name->drops || strcmp(value, "wait") == 0;
}

static bool take_tls(struct th_log_name *name, const char *value)
{
    name->tls = strcmp(value, "yes") == 0;
    name->unencrypted = strcmp(value, "no") == 0;
    return name->tls || name->unencrypted;
}

/* TAKE: NULL for a part that is a file; `file` is then the offset of its member in the name. */
static const struct {
    const char *key, *wanted;
    bool (*take)(struct th_log_name *name, const char *value);
    size_t file;
} parts[] = {
    {"recording", "an id", take_recording, 0},
    {"from", "a time such as 250ms, 1.5s or @CLOCK", take_from, 0},
    {"begin", "a number of bytes above 0", take_begin, 0},
    {"end", "a number of bytes above 0", take_end, 0},
    {"past", "no, yes, none or between", take_past, 0},
    {"follow", "yes or no", take_follow, 0},
    {"full", "wait or drop", take_full, 0},
    {"batch", "a size of at most 256KiB", take_batch, 0},
    {"creds", "a file", NULL, offsetof(struct th_log_name, creds)},
    {"ca", "a file", NULL, offsetof(struct th_log_name, ca)},
    {"cert", "a file", NULL, offsetof(struct th_log_name, cert)},
    {"key", "a file", NULL, offsetof(struct th_log_name, key)},
    {"tls", "yes or no", take_tls, 0},
};

/* Keeps VALUE in the member of NAME at OFFSET. */
static bool take_file(struct th_log_name *name, size_t offset, const char *value)
{
    *(const char **)((char *)name + offset) = value;
    return *value;
}

static enum th_status take_query_part(struct th_log_name *name, const char *key, const char *value)
{
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strcmp(parts[i].key, key) != 0)
            continue;
        if (parts[i].take ? parts[i].take(name, value) : take_file(name, parts[i].file, value))
            return TH_OK;
        return th_error_raise(TH_MALFORMED, "%s= must be %s, not '%s'", key, parts[i].wanted,
                              value);
    }
    return th_error_raise(TH_MALFORMED,
                          "there is no part '%s=' of a query: the parts are recording, from, "
                          "begin, end, past, follow, full, batch, creds, ca, cert, key and tls",
                          key);
}

/* Takes the parts KEY=VALUE of QUERY, which ampersands divide. */
static enum th_status take_query(struct th_log_name *name, const char *query)
{
    char *rest, *value;
    enum th_status status = TH_OK;

    rest = name->copy = th_strdup(query);
    while (rest && *rest && status == TH_OK) {
        char *part = strsep(&rest, "&");
        value = strchr(part, '=');
        if (!value)
            return th_error_raise(TH_MALFORMED, "a part of a query must be KEY=VALUE, not '%s'",
                                  part);
        *value = 0;
        status = take_query_part(name, part, value + 1);
    }
    return status;
}

/* Returns whether HOST is this machine by its name: nothing is asked of a name server. */
static bool is_this_host(const char *host)
{
    return strcasecmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
           (strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == strlen(host));
}

static enum th_status check_security(struct th_log_name *name)
{
    if (!name->cert != !name->key)
        return th_error_raise(TH_MALFORMED, "cert= and key= need each other");
    if (name->unencrypted && (name->ca || name->cert))
        return th_error_raise(TH_MALFORMED, "tls=no contradicts ca= and cert=");
    name->tls |= name->ca || name->cert;
    if (!name->tls && !name->unencrypted && !is_this_host(name->host))
        return th_error_raise(TH_MALFORMED,
                              "%s is another host, to which nothing is sent without TLS: give "
                              "ca=FILE or tls=yes; or tls=no, by which everybody on the way can "
                              "read and change the recording",
                              name->host);
    return TH_OK;
}

/* Takes HOST[:PORT], of LENGTH bytes at TEXT. */
static enum th_status take_server(struct th_log_name *name, const char *text, size_t length)
{
    char *server = th_printf("%.*s", (int)length, text);
    bool bracket = *server == '[';
    char *end = bracket ? strchr(server, ']') : server + strcspn(server, ":");
    char *port = end ? end + bracket : NULL;
    size_t digits = port && *port == ':' ? strspn(port + 1, "0123456789") : 0;
    bool right = port && end > server + bracket && !strchr(server, '@') &&
                 (!*port || (digits > 0 && digits <= 5 && !port[1 + digits] && atoi(port + 1) > 0 &&
                             atoi(port + 1) <= 65535));

    if (right) {
        name->host = th_printf("%.*s", (int)(end - server) - bracket, server + bracket);
        name->url = th_printf("nats://%s", server);
    }
    th_free(server);
    return right ? TH_OK
                 : th_error_raise(TH_MALFORMED, "a log must be named " SHAPE "[?KEY=VALUE&...]");
}

enum th_status th_replay_log_name_parse(const char *name, struct th_log_name *parsed)
{
    const char *server = name + strlen(scheme);
    size_t length = strcspn(server, "/?");
    const char *stream = server + length + (server[length] == '/');
    size_t stream_length = strcspn(stream, "?");
    enum th_status status;

    *parsed = (struct th_log_name){0};
    status = take_server(parsed, server, length);
    if (status == TH_OK && stream_length > 0)
        parsed->stream = th_printf("%.*s", (int)stream_length, stream);
    if (status == TH_OK && parsed->stream && strpbrk(parsed->stream, ".*>/\\ \t"))
        return th_error_raise(TH_MALFORMED, "the name of a stream must not have '%c', as in '%s'",
                              *strpbrk(parsed->stream, ".*>/\\ \t"), parsed->stream);
    if (status == TH_OK)
        status = take_query(parsed, stream + stream_length + (stream[stream_length] == '?'));
    if (status == TH_OK && parsed->from.set && parsed->begin)
        return th_error_raise(TH_MALFORMED, "from= and begin= exclude each other");
    return status == TH_OK ? check_security(parsed) : status;
}
