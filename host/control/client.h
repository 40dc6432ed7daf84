/* The client's end of a control socket. */
#ifndef TH_CONTROL_CLIENT_H
#define TH_CONTROL_CLIENT_H

#include "host/base/base.h"

#include <jansson.h>

struct th_control_client;

/* Connects, and reads the greeting, which is the client's own. TH_USAGE if nobody is there, another
 * user is, or it speaks another protocol; TH_MALFORMED if it is no tracehost. */
enum th_status th_control_connect(const char *path, struct th_control_client **client,
                                  const json_t **greeting);
void th_control_disconnect(struct th_control_client *client);

/* Readable at its end, POLLRDHUP, when the host is gone. */
int th_control_descriptor(const struct th_control_client *client);

/* Asks, and waits for the answer, which is the caller's: all of it, whether "ok" or not. TH_FAILED
 * if the host is gone. A signal that comes does not end the wait, but where *STOP is not 0 (NULL:
 * never): TH_END. */
enum th_status th_control_ask(struct th_control_client *client, const char *command, int count,
                              char *const arguments[], const volatile int *stop, json_t **answer);

#endif
