#include "nats.h"

#include <nats/nats.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAIT_MS = 2000, CONNECT_MS = 5000, RECONNECT_MS = 100, REFUSAL = 300 };

struct tracehost_log {
    natsConnection *connection;
    jsCtx *js;
    /* Set by a thread of libnats when the server forbids a subject; REFUSAL is written before. */
    atomic_bool forbidden;
    char refusal[REFUSAL];
};

static __attribute__((format(printf, 3, 4))) enum tracehost_log_result
fails(struct tracehost_log_client *client, enum tracehost_log_result result, const char *format,
      ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(client->why, sizeof client->why, format, arguments);
    va_end(arguments);
    return result;
}

/* Returns the text of libnats for STATUS, the latest of this thread, without the line of its source. */
static const char *text_of(natsStatus status)
{
    const char *text = nats_GetLastError(NULL);
    const char *end = text && *text == '(' ? strstr(text, "): ") : NULL;

    if (end)
        text = end + strlen("): ");
    return text && *text ? text : natsStatus_GetText(status);
}

/* Returns the result for STATUS and CODE of an operation on STREAM. */
static enum tracehost_log_result result_of(struct tracehost_log_client *client, const char *stream,
                                           natsStatus status, jsErrCode code)
{
    /* Acquire: the text was written before. */
    if (status != NATS_OK && atomic_load_explicit(&client->log->forbidden, memory_order_acquire))
        return fails(client, TRACEHOST_LOG_REFUSED, "the server does not permit this: %s",
                     client->log->refusal);
    if (status == NATS_OK)
        return TRACEHOST_LOG_DONE;
    if (code == JSStreamNotFoundErr)
        return fails(client, TRACEHOST_LOG_GONE, "the server has no stream %s", stream);
    if (code == JSStreamWrongLastSequenceErr)
        return fails(client, TRACEHOST_LOG_CHANGED, "another program has written meanwhile");
    if (code == JSNotEnabledErr || code == JSNotEnabledForAccountErr)
        return fails(client, TRACEHOST_LOG_REFUSED,
                     "the server has no JetStream: start it with --jetstream");
    if (code == JSStreamStoreFailedErr || code == JSInsufficientResourcesErr ||
        code == JSStorageResourcesExceededErr || code == JSAccountResourcesExceededErr)
        return fails(client, TRACEHOST_LOG_FULL, "the stream %s is full: %s", stream,
                     text_of(status));
    switch (status) {
    case NATS_TIMEOUT:
    case NATS_NO_RESPONDERS: /* also while a server that was started restores its streams */
    case NATS_CONNECTION_DISCONNECTED:
    case NATS_NO_SERVER:
    case NATS_STALE_CONNECTION:
    case NATS_IO_ERROR:
    case NATS_INSUFFICIENT_BUFFER:
        return fails(client, TRACEHOST_LOG_AGAIN, "the server does not answer");
    default:
        return fails(client,
                     code == JSClusterNotAvailErr || code == JSClusterNotLeaderErr
                         ? TRACEHOST_LOG_AGAIN
                         : TRACEHOST_LOG_REFUSED,
                     "%s", text_of(status));
    }
}

/* Returns whether a request can be sent now, without being kept for a later connection. */
static bool is_connected(struct tracehost_log_client *client)
{
    if (natsConnection_Status(client->log->connection) == NATS_CONN_STATUS_CONNECTED)
        return true;
    fails(client, TRACEHOST_LOG_AGAIN, "there is no connection to the server");
    return false;
}

/* --- The connection --------------------------------------------------------------------------- */

/* Called by a thread of libnats; without a handler, libnats writes to stderr. */
static void on_error(natsConnection *connection, natsSubscription *subscription, natsStatus status,
                     void *closure)
{
    struct tracehost_log *log = closure;
    const char *text = NULL;

    (void)subscription;
    if (status != NATS_NOT_PERMITTED || atomic_load_explicit(&log->forbidden, memory_order_relaxed))
        return;
    natsConnection_GetLastError(connection, &text);
    snprintf(log->refusal, sizeof log->refusal, "%s", text ? text : natsStatus_GetText(status));
    atomic_store_explicit(&log->forbidden, true, memory_order_release); /* REFUSAL is written */
}

static natsStatus set_security(natsOptions *options, const struct tracehost_log_server *server)
{
    natsStatus status = NATS_OK;

    if (server->creds)
        status = natsOptions_SetUserCredentialsFromFiles(options, server->creds, NULL);
    if (status == NATS_OK && server->tls)
        status = natsOptions_SetSecure(options, true);
    if (status == NATS_OK && server->tls)
        status = natsOptions_SetExpectedHostname(options, server->host);
    if (status == NATS_OK && server->ca)
        status = natsOptions_LoadCATrustedCertificates(options, server->ca);
    if (status == NATS_OK && server->cert)
        status = natsOptions_LoadCertificatesChain(options, server->cert, server->key);
    return status;
}

static natsStatus set_options(natsOptions *options, const struct tracehost_log_server *server,
                              struct tracehost_log *log)
{
    natsStatus status = natsOptions_SetURL(options, server->url);

    if (status == NATS_OK)
        status = natsOptions_SetName(options, "tracehost");
    if (status == NATS_OK)
        status = natsOptions_SetTimeout(options, CONNECT_MS);
    if (status == NATS_OK)
        status = natsOptions_SetMaxReconnect(options, -1);
    if (status == NATS_OK)
        status = natsOptions_SetReconnectWait(options, RECONNECT_MS);
    if (status == NATS_OK)
        status = natsOptions_SetReconnectJitter(options, RECONNECT_MS, RECONNECT_MS);
    if (status == NATS_OK)
        status = natsOptions_SetFailRequestsOnDisconnect(options, true);
    if (status == NATS_OK)
        status = natsOptions_SetErrorHandler(options, on_error, log);
    return status == NATS_OK ? set_security(options, server) : status;
}

static void nats_close(struct tracehost_log_client *client)
{
    if (!client->log)
        return;
    jsCtx_Destroy(client->log->js);
    natsConnection_Destroy(client->log->connection); /* on_error() is not called any more */
    free(client->log);
    client->log = NULL;
}

static enum tracehost_log_result nats_open(struct tracehost_log_client *client,
                                           const struct tracehost_log_server *server)
{
    jsOptions waits;
    natsOptions *options = NULL;
    natsStatus status = NATS_NO_MEMORY;

    client->log = calloc(1, sizeof *client->log);
    if (client->log)
        status = natsOptions_Create(&options);
    if (status == NATS_OK)
        status = set_options(options, server, client->log);
    if (status == NATS_OK)
        status = natsConnection_Connect(&client->log->connection, options);
    natsOptions_Destroy(options);
    if (status == NATS_OK)
        status = jsOptions_Init(&waits);
    if (status == NATS_OK) {
        waits.Wait = WAIT_MS;
        status = natsConnection_JetStream(&client->log->js, client->log->connection, &waits);
    }
    if (status == NATS_OK) {
        client->most = (size_t)natsConnection_GetMaxPayload(client->log->connection);
        return TRACEHOST_LOG_DONE;
    }
    fails(client, TRACEHOST_LOG_REFUSED, "%s",
          status == NATS_NO_SERVER ? "no server answers there" : text_of(status));
    nats_close(client);
    switch (status) {
    case NATS_NO_SERVER:
    case NATS_TIMEOUT:
    case NATS_IO_ERROR: /* the server has ended meanwhile: these three */
    case NATS_PROTOCOL_ERROR:
    case NATS_CONNECTION_CLOSED:
        return TRACEHOST_LOG_AGAIN;
    default:
        return TRACEHOST_LOG_REFUSED;
    }
}

/* --- Streams ---------------------------------------------------------------------------------- */

static bool has_subject(const jsStreamConfig *config, const char *subject)
{
    for (int i = 0; i < config->SubjectsLen; i++)
        if (strcmp(config->Subjects[i], subject) == 0)
            return true;
    return false;
}

static natsStatus make_stream(struct tracehost_log_client *client, const char *stream,
                              const char *const subjects[TRACEHOST_LOG_SUBJECTS],
                              jsStreamInfo **info, jsErrCode *code)
{
    const char *copies[TRACEHOST_LOG_SUBJECTS];
    jsStreamConfig config;

    memcpy(copies, subjects, sizeof copies);
    jsStreamConfig_Init(&config);
    config.Name = stream;
    config.Subjects = copies;
    config.SubjectsLen = TRACEHOST_LOG_SUBJECTS;
    config.Discard = js_DiscardNew;
    config.AllowDirect = true;
    return js_AddStream(info, client->log->js, &config, NULL, code);
}

static enum tracehost_log_result nats_find(struct tracehost_log_client *client, const char *stream,
                                           const char *const subjects[TRACEHOST_LOG_SUBJECTS],
                                           bool make)
{
    jsStreamInfo *info = NULL;
    jsErrCode code = 0;
    natsStatus status;
    enum tracehost_log_result result;

    if (!is_connected(client))
        return TRACEHOST_LOG_AGAIN;
    status = js_GetStreamInfo(&info, client->log->js, stream, NULL, &code);
    if (code == JSStreamNotFoundErr && make) {
        code = 0;
        status = make_stream(client, stream, subjects, &info, &code);
        if (code == JSStreamNameExistErr) /* another program was faster */
            status = js_GetStreamInfo(&info, client->log->js, stream, NULL, &code);
    }
    result = result_of(client, stream, status, code);
    for (int i = 0; i < TRACEHOST_LOG_SUBJECTS && result == TRACEHOST_LOG_DONE; i++)
        if (!has_subject(info->Config, subjects[i]))
            result = fails(client, TRACEHOST_LOG_REFUSED,
                           "the stream %s is no log of recordings: it does not have the subject %s",
                           stream, subjects[i]);
    if (result == TRACEHOST_LOG_DONE && !info->Config->AllowDirect)
        result = fails(client, TRACEHOST_LOG_REFUSED,
                       "the stream %s does not allow direct gets (allow_direct)", stream);
    jsStreamInfo_Destroy(info);
    return result;
}

static natsStatus make_bucket(struct tracehost_log_client *client, const char *bucket,
                              const char *stream, int64_t replicas, jsErrCode *code)
{
    char subject[REFUSAL];
    const char *subjects[] = {subject};
    jsStreamConfig config;

    snprintf(subject, sizeof subject, "$KV.%s.>", bucket);
    jsStreamConfig_Init(&config);
    config.Name = stream;
    config.Subjects = subjects;
    config.SubjectsLen = 1;
    config.MaxMsgsPerSubject = 1;
    config.Discard = js_DiscardNew;
    config.DenyDelete = true;
    config.AllowRollup = true;
    config.AllowDirect = true;
    config.Replicas = replicas;
    return js_AddStream(NULL, client->log->js, &config, NULL, code);
}

static enum tracehost_log_result nats_find_bucket(struct tracehost_log_client *client,
                                                  const char *bucket, const char *stream, bool make)
{
    jsStreamInfo *info = NULL;
    jsErrCode code = 0;
    natsStatus status;
    int64_t replicas;
    char name[REFUSAL];

    if (!is_connected(client))
        return TRACEHOST_LOG_AGAIN;
    snprintf(name, sizeof name, "KV_%s", bucket);
    status = js_GetStreamInfo(&info, client->log->js, name, NULL, &code);
    jsStreamInfo_Destroy(info);
    if (code != JSStreamNotFoundErr || !make)
        return result_of(client, name, status, code);
    code = 0;
    status = js_GetStreamInfo(&info, client->log->js, stream, NULL, &code);
    if (status != NATS_OK)
        return result_of(client, stream, status, code);
    replicas = info->Config->Replicas;
    jsStreamInfo_Destroy(info);
    status = make_bucket(client, bucket, name, replicas, &code);
    return code == JSStreamNameExistErr /* another program was faster */
               ? TRACEHOST_LOG_DONE
               : result_of(client, name, status, code);
}

static enum tracehost_log_result nats_purge(struct tracehost_log_client *client, const char *stream,
                                            const char *subject)
{
    jsErrCode code = 0;
    jsOptions options;
    natsStatus status;

    if (!is_connected(client))
        return TRACEHOST_LOG_AGAIN;
    jsOptions_Init(&options);
    options.Stream.Purge.Subject = subject;
    status = js_PurgeStream(client->log->js, stream, &options, &code);
    return result_of(client, stream, status, code);
}

static enum tracehost_log_result list_subjects(struct tracehost_log_client *client,
                                               const char *stream, const char *pattern,
                                               tracehost_log_visitor *visit, void *context)
{
    jsStreamInfo *info = NULL;
    jsErrCode code = 0;
    jsOptions options;
    natsStatus status;

    jsOptions_Init(&options);
    options.Stream.Info.SubjectsFilter = pattern;
    status = js_GetStreamInfo(&info, client->log->js, stream, &options, &code);
    for (int i = 0; status == NATS_OK && info->State.Subjects && i < info->State.Subjects->Count;
         i++)
        visit(context, info->State.Subjects->List[i].Subject, info->State.Subjects->List[i].Msgs);
    jsStreamInfo_Destroy(info);
    return result_of(client, stream, status, code);
}

static enum tracehost_log_result nats_list(struct tracehost_log_client *client, const char *stream,
                                           const char *pattern, tracehost_log_visitor *visit,
                                           void *context)
{
    jsStreamNamesList *names = NULL;
    jsErrCode code = 0;
    natsStatus status;

    if (!is_connected(client))
        return TRACEHOST_LOG_AGAIN;
    if (stream)
        return list_subjects(client, stream, pattern, visit, context);
    status = js_StreamNames(&names, client->log->js, NULL, &code);
    if (status == NATS_NOT_FOUND) /* there is no stream at all */
        return TRACEHOST_LOG_DONE;
    for (int i = 0; status == NATS_OK && i < names->Count; i++)
        visit(context, names->List[i], 0);
    jsStreamNamesList_Destroy(names);
    return result_of(client, "", status, code);
}

/* Returns the result for STATUS of a request about messages of STREAM. If nobody answers, the server may be
 * starting, or the stream was deleted. */
static enum tracehost_log_result result_of_message(struct tracehost_log_client *client,
                                                   const char *stream, natsStatus status,
                                                   jsErrCode code)
{
    enum tracehost_log_result result =
        result_of(client, stream, status, status == NATS_NO_RESPONDERS ? 0 : code);
    jsStreamInfo *info = NULL;

    if (result != TRACEHOST_LOG_AGAIN)
        return result;
    code = 0;
    js_GetStreamInfo(&info, client->log->js, stream, NULL, &code);
    jsStreamInfo_Destroy(info);
    return code == JSStreamNotFoundErr ? result_of(client, stream, NATS_NOT_FOUND, code) : result;
}

/* --- Messages --------------------------------------------------------------------------------- */

static enum tracehost_log_result nats_publish(struct tracehost_log_client *client,
                                              const struct tracehost_log_publication *publication)
{
    jsPubOptions options;
    jsPubAck *stored = NULL;
    jsErrCode code = 0;
    natsMsg *message = NULL;
    natsStatus status;

    if (!is_connected(client))
        return TRACEHOST_LOG_AGAIN;
    status = natsMsg_Create(&message, publication->subject, NULL, publication->data,
                            (int)publication->size);
    for (size_t i = 0; i < publication->count && status == NATS_OK; i++)
        status =
            natsMsgHeader_Set(message, publication->headers[i].name, publication->headers[i].value);
    jsPubOptions_Init(&options);
    options.MsgId = publication->id;
    options.ExpectStream = publication->stream;
    options.MaxWait = publication->wait_ms;
    options.ExpectLastSubjectSeq = publication->expected ? *publication->expected : 0;
    options.ExpectNoMessage = publication->expected && *publication->expected == 0;
    if (status == NATS_OK)
        status = js_PublishMsg(&stored, client->log->js, message, &options, &code);
    if (status == NATS_OK && publication->expected)
        *publication->expected = stored->Sequence;
    jsPubAck_Destroy(stored);
    natsMsg_Destroy(message);
    return result_of_message(client, publication->stream, status, code);
}

static void nats_release(struct tracehost_log_message *message)
{
    natsMsg_Destroy(message->held);
    *message = (struct tracehost_log_message){0};
}

static enum tracehost_log_result nats_get(struct tracehost_log_client *client, const char *stream,
                                          const char *subject, uint64_t sequence,
                                          struct tracehost_log_message *message)
{
    jsDirectGetMsgOptions which;
    natsMsg *got = NULL;
    natsStatus status;
    enum tracehost_log_result result;

    *message = (struct tracehost_log_message){0};
    if (!is_connected(client))
        return TRACEHOST_LOG_AGAIN;
    jsDirectGetMsgOptions_Init(&which);
    which.Sequence = sequence;
    if (sequence)
        which.NextBySubject = subject;
    else
        which.LastBySubject = subject;
    status = js_DirectGetMsg(&got, client->log->js, stream, NULL, &which);
    if (status == NATS_NOT_FOUND)
        return TRACEHOST_LOG_NONE;
    result = result_of_message(client, stream, status, 0);
    if (result != TRACEHOST_LOG_DONE)
        return result;
    *message = (struct tracehost_log_message){.held = got,
                                              .sequence = natsMsg_GetSequence(got),
                                              .data = natsMsg_GetData(got),
                                              .size = (size_t)natsMsg_GetDataLength(got)};
    return TRACEHOST_LOG_DONE;
}

static const char *nats_header(const struct tracehost_log_message *message, const char *name)
{
    const char *value = NULL;

    return natsMsgHeader_Get(message->held, name, &value) == NATS_OK ? value : NULL;
}

const struct tracehost_log_engine tracehost_nats = {
    .open = nats_open,
    .close = nats_close,
    .find = nats_find,
    .find_bucket = nats_find_bucket,
    .purge = nats_purge,
    .publish = nats_publish,
    .get = nats_get,
    .header = nats_header,
    .release = nats_release,
    .list = nats_list,
};
