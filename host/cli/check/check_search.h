/*
 * The smallest stream for a finding of `tracehost check`: trials in the same circumstances, of fewer
 * records and smaller terms, as long as the finding is met (replay/minimize.h, replay/shrink.h).
 */
#ifndef TH_CHECK_SEARCH_H
#define TH_CHECK_SEARCH_H

#include "check_trial.h"

#include "host/base/buffer.h"

/* Room for the text of th_check_setting_print(). */
enum { TH_CHECK_SETTING_TEXT = 256 };

struct th_check_result {
    struct th_check_found found; /* as in the smallest stream */
    struct th_check_setting setting;
    struct th_buffer stream; /* the smallest one: trace-port format */
    size_t records;          /* in it */
    bool confirmed;          /* the finding was met twice more in it */
    uint64_t trials;
};

/* Cuts STREAM for RESULT, whose `found` and `setting` are those of a trial of STREAM; fills the other
 * members. Makes at most TH_CHECK_SEARCH_TRIALS trials (check_seek.h), and none once *STOP is not 0.
 * Errors: TH_FAILED if STREAM cannot be read, or trials cannot be made. */
enum th_status th_check_search(struct th_check_result *result, const struct th_buffer *stream,
                               const volatile int *stop);

/* Reads the number behind WORD in TEXT, from 1 to MOST; 0: there is none. */
uint64_t th_check_number_behind(const char *word, const char *text, uint64_t most);

/* Print the circumstances of SETTING beyond the command line, in a word, and read them:
 * "plain", "state=TERM", "threads=4", "allocation=2", "replace", "twice". The text that is read must
 * stay valid.
 * Errors: TH_USAGE if TEXT is none of these. */
void th_check_setting_print(const struct th_check_setting *setting,
                            char text[TH_CHECK_SETTING_TEXT]);
enum th_status th_check_setting_read(const char *text, struct th_check_setting *setting);

#endif
