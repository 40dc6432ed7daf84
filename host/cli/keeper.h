/*
 * The keeper: the process of a worker, or of merge, that has the connection to the server (workers.h).
 * One request at a time goes to it, each with one answer. While the keeper has a claim it also answers
 * TH_KEEPER_LOST, once, if another worker has taken the segment.
 */
#ifndef TH_KEEPER_H
#define TH_KEEPER_H

#include "host/base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct th_buffer;
struct th_log_job_options;

enum th_keeper_request {
    TH_KEEPER_CLAIM,
    TH_KEEPER_MARK,    /* the claim's segment, whose state is DATA */
    TH_KEEPER_UNSOUND, /* the claim's segment cannot be merged */
    TH_KEEPER_SURVEY,
    TH_KEEPER_GET /* NUMBER is a segment; the answer has data */
};

enum th_keeper_result { TH_KEEPER_DONE, TH_KEEPER_END, TH_KEEPER_LOST, TH_KEEPER_FAILED };

struct th_keeper_answer {
    enum th_keeper_result result;
    char recording[64];
    uint64_t segment;                        /* claimed */
    uint64_t segments, first_bytes, records; /* of a survey */
    bool sound;
    uint64_t size;               /* of the data that follow */
    struct th_error_chain chain; /* of a failure */
};

struct th_keeper {
    pid_t pid;  /* 0: none */
    int socket; /* readable when there is an answer; -1: none */
};

/* Starts a keeper for the job of OPTIONS. ANSWER gets the recording.
 * Owner: th_cli_keeper_end(). OPTIONS must stay valid. Errors: TH_FAILED. */
enum th_status th_cli_keeper_begin(struct th_log_job_options *options, struct th_keeper *keeper,
                                   struct th_keeper_answer *answer);

/* Sends a request, with DATA if that is not NULL. Errors: TH_FAILED if the keeper has ended. */
enum th_status th_cli_keeper_ask(const struct th_keeper *keeper, enum th_keeper_request request,
                                 uint64_t number, const struct th_buffer *data);

/* Waits for an answer, whose data are appended to DATA. Errors: the keeper's, or TH_FAILED if it has ended. */
enum th_status th_cli_keeper_hear(const struct th_keeper *keeper, struct th_keeper_answer *answer,
                                  struct th_buffer *data);

/* Ends the keeper, and waits until it has given back its claim. */
void th_cli_keeper_end(struct th_keeper *keeper);

#endif
