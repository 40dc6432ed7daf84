/*
 * A client of NATS JetStream, for logs of recordings (log/log_stream.h): the face of tracehost_nats.so.
 *
 * Few users need libnats, so its client is a shared object of its own, beside tracehost_node.so. It
 * needs no symbol of the host, and exports one table of operations: another engine is another shared
 * object with such a table. The client knows no trace port: it moves messages, each with a subject,
 * headers and bytes. libnats has threads; a caller that forks opens its client after the fork.
 *
 * Operations end within wait_ms, or 2 s where there is no such argument. A connection that is lost
 * is made again by itself; operations return TRACEHOST_LOG_AGAIN meanwhile.
 *
 * Thread: one at a time uses a client. The client's threads have the signal mask of open()'s caller.
 */
#ifndef HOST_REPLAY_NATS_NATS_H
#define HOST_REPLAY_NATS_NATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tracehost_log_result {
    TRACEHOST_LOG_DONE,
    TRACEHOST_LOG_NONE,    /* there is no such message */
    TRACEHOST_LOG_AGAIN,   /* no answer: the act may have happened; it may succeed later */
    TRACEHOST_LOG_FULL,    /* the stream takes no more at present */
    TRACEHOST_LOG_CHANGED, /* the latest message of the subject is not the expected one */
    TRACEHOST_LOG_GONE,    /* there is no such stream */
    TRACEHOST_LOG_REFUSED  /* any other reason */
};

enum { TRACEHOST_LOG_WHY = 400, TRACEHOST_LOG_SUBJECTS = 2, TRACEHOST_LOG_HEADERS = 16 };

struct tracehost_log_client {
    struct tracehost_log *log;   /* of the shared object */
    size_t most;                 /* bytes of a message that the server takes at most */
    char why[TRACEHOST_LOG_WHY]; /* the reason of the latest result above TRACEHOST_LOG_NONE */
};

struct tracehost_log_server {
    const char *url, *host; /* host: the name that the server's certificate must have */
    bool tls;               /* nothing is sent without TLS */
    const char *creds, *ca, *cert, *key; /* files; NULL: none */
};

struct tracehost_log_header {
    const char *name;
    char value[128];
};

struct tracehost_log_publication {
    const char *stream, *subject;
    const char *id; /* a message whose id the stream has is not stored again */
    const struct tracehost_log_header *headers;
    size_t count; /* of headers */
    const void *data;
    size_t size;
    int64_t wait_ms;
    /* NULL, or the sequence that the latest message of the subject must have; 0: there must be none. Gets
     * the sequence of the message that was stored. */
    uint64_t *expected;
};

struct tracehost_log_message {
    void *held;
    uint64_t sequence; /* in its stream, from 1 */
    const void *data;
    size_t size;
};

typedef void tracehost_log_visitor(void *context, const char *name, uint64_t messages);

struct tracehost_log_engine {
    /* Connects. CLIENT is zeros; its `log` is NULL unless the result is DONE. */
    enum tracehost_log_result (*open)(struct tracehost_log_client *client,
                                      const struct tracehost_log_server *server);
    void (*close)(struct tracehost_log_client *client);

    /* Finds STREAM, which must have SUBJECTS and direct gets. MAKE: makes it if there is none; a full
     * stream then refuses messages, rather than forget others. */
    enum tracehost_log_result (*find)(struct tracehost_log_client *client, const char *stream,
                                      const char *const subjects[TRACEHOST_LOG_SUBJECTS],
                                      bool make);

    /* Finds the key-value bucket BUCKET, by NATS's convention, or makes it (MAKE), with as many
     * replicas as STREAM has. A bucket is a stream KV_BUCKET with subjects $KV.BUCKET.KEY, which
     * has the latest message of each. */
    enum tracehost_log_result (*find_bucket)(struct tracehost_log_client *client,
                                             const char *bucket, const char *stream, bool make);

    /* Removes the messages of SUBJECT, which may have stars, from STREAM. */
    enum tracehost_log_result (*purge)(struct tracehost_log_client *client, const char *stream,
                                       const char *subject);

    /* Stores a message, and waits for the server's word that it is stored. */
    enum tracehost_log_result (*publish)(struct tracehost_log_client *client,
                                         const struct tracehost_log_publication *publication);

    /* Gets the first message of SUBJECT whose sequence is at least SEQUENCE; 0: the last one.
     * Owner: release(). */
    enum tracehost_log_result (*get)(struct tracehost_log_client *client, const char *stream,
                                     const char *subject, uint64_t sequence,
                                     struct tracehost_log_message *message);
    /* Returns the value of a header, which is valid until release(); NULL: there is none. */
    const char *(*header)(const struct tracehost_log_message *message, const char *name);
    void (*release)(struct tracehost_log_message *message);

    /* Visits the streams, or, if STREAM is not NULL, its subjects that match PATTERN. */
    enum tracehost_log_result (*list)(struct tracehost_log_client *client, const char *stream,
                                      const char *pattern, tracehost_log_visitor *visit,
                                      void *context);
};

extern __attribute__((visibility("default"))) const struct tracehost_log_engine tracehost_nats;

#endif
