/* Prints the outcome of a match specification. */
#include "match.h"

#include "host/base/buffer.h"
#include "host/term/text.h"

enum { SHOWN = 200 /* bytes of a term */ };

static void report_term(struct th_buffer *out, th_term t)
{
    th_text_show_limited(out, t, SHOWN);
}

/* {ok,Message,Flags,[]} */
static void report_result(struct th_buffer *out, const struct th_match_result *result)
{
    if (result->end == TH_MATCH_UNKNOWN) {
        th_buffer_add_text(out, "unknown\n");
        return;
    }
    th_buffer_add_text(out, "{ok,");
    if (result->end == TH_MATCH_NO)
        th_buffer_add_text(out, "false");
    else if (result->message == TH_NONE)
        th_buffer_add_byte(out, '_');
    else
        th_text_show(out, result->message);
    th_buffer_printf(out, ",[%s%s%s],[]}\n", result->return_trace ? "return_trace" : "",
                     result->return_trace && result->exception_trace ? "," : "",
                     result->exception_trace ? "exception_trace" : "");
}

/* Returns argument I (from 1) of the subject; TH_NONE: unknown. */
static th_term subject_argument(const struct th_match_subject *subject, size_t i)
{
    th_term t = subject->target;

    if (t == TH_NONE)
        return subject->arguments ? subject->arguments[i - 1] : TH_NONE;
    for (; i > 1; i--)
        t = th_cell(t)[1];
    return th_cell(t)[0];
}

static void add_attempt(struct th_buffer *out, const struct th_match_report *report,
                        const struct th_match_attempt *attempt)
{
    bool head = attempt->place.part == TH_MATCH_HEAD && attempt->end != TH_MATCH_UNKNOWN;

    th_match_print_place(out, attempt->place);
    if (attempt->end == TH_MATCH_YES) {
        th_buffer_add_text(out, " matches\n");
        return;
    }
    th_buffer_add_text(out, ": ");
    if (head && attempt->place.item > 0) {
        report_term(out, subject_argument(&report->subject, attempt->place.item));
        th_buffer_add_text(out, " does not match ");
    }
    report_term(out, th_match_part(report->spec, attempt->place));
    if (attempt->end == TH_MATCH_UNKNOWN) {
        th_buffer_add_text(out, " depends on what is unknown");
    } else if (head && attempt->place.item == 0) {
        th_buffer_add_text(out, " is for another number of elements");
    } else if (!head && attempt->value == TH_MATCH_RAISED) {
        th_buffer_add_text(out, " raises an exception");
    } else if (!head && attempt->value == TH_NONE) {
        th_buffer_add_text(out, " cannot be true");
    } else if (!head) {
        th_buffer_add_text(out, " gives ");
        report_term(out, attempt->value);
    }
    th_buffer_add_byte(out, '\n');
}

void th_match_print_report(struct th_buffer *out, const struct th_match_report *report)
{
    const struct th_match_result *result = &report->result;

    report_result(out, result);
    for (size_t i = 0; i < report->count; i++)
        add_attempt(out, report, &report->attempts[i]);
    th_buffer_add(out, report->doings->data, report->doings->size);
    if (result->end == TH_MATCH_YES && result->message == TH_NONE)
        th_buffer_add_text(out, "the message depends on what is unknown\n");
    if (result->callers_unknown)
        th_buffer_printf(out, "callers unknown: %u\n", result->callers_unknown);
    if (result->unsure)
        th_buffer_printf(out, "actions left out, as they depend on what is unknown: %u\n",
                         result->unsure);
}
