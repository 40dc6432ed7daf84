#include "check_page.h"

#include "host/base/hash.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

static struct th_check_page *page;

struct th_check_page *th_check_page_clear(void)
{
    if (!page) {
        void *memory =
            mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            th_error_raise(TH_FAILED, "cannot map memory: %s", strerror(errno));
            return NULL;
        }
        page = memory;
    }
    memset(page, 0, sizeof *page);
    return page;
}

const struct th_check_page *th_check_trial_results(void)
{
    return page;
}

/* --- Findings --------------------------------------------------------------------------------- */

static uint64_t key_of(enum th_check_rule rule, const char *where, const char *kind)
{
    uint64_t key = th_hash_bytes(where, strlen(where));

    return th_hash_mix(key ^ th_hash_bytes(kind, strlen(kind)) ^ rule) | 1;
}

void th_check_page_add(enum th_check_rule rule, const char *where, const char *kind,
                       const char *text)
{
    uint64_t key = key_of(rule, where, kind);
    struct th_check_found *found;

    if (th_check_trial_find(page, key) || page->count == TH_CHECK_FINDINGS)
        return;
    found = &page->found[page->count++];
    *found = (struct th_check_found){.key = key, .rule = rule};
    snprintf(found->where, sizeof found->where, "%s", where);
    snprintf(found->text, sizeof found->text, "%s", text);
}

/* A place is "trace_call of tracer './x.so'": the tracer is known. */
void th_check_page_note(const struct th_check_finding *finding)
{
    const char *of = strstr(finding->where, " of tracer '");
    char where[TH_CHECK_WHERE], text[TH_CHECK_TEXT];
    size_t length = of ? (size_t)(of - finding->where) : strlen(finding->where);

    snprintf(where, sizeof where, "%.*s", (int)length, finding->where);
    snprintf(text, sizeof text, "%s: %s", finding->who, finding->message);
    while (atomic_flag_test_and_set(&page->lock))
        ;
    th_check_page_add(finding->rule, where, finding->kind, text);
    atomic_flag_clear(&page->lock);
}

const struct th_check_found *th_check_trial_find(const struct th_check_page *results, uint64_t key)
{
    for (unsigned i = 0; i < results->count; i++)
        if (results->found[i].key == key)
            return &results->found[i];
    return NULL;
}

/* --- Refusals --------------------------------------------------------------------------------- */

void th_check_page_note_refusal(enum th_status status)
{
    page->refused = status;
    for (; status != TH_OK && page->links < TH_CHECK_CAUSES && th_error_link(page->links);
         page->links++)
        snprintf(page->causes[page->links], sizeof page->causes[0], "%s",
                 th_error_link(page->links));
}

enum th_status th_check_trial_raise(const struct th_check_page *results)
{
    enum th_status status = results->refused;

    for (unsigned i = results->links; i > 0; i--)
        if (i == results->links)
            th_error_raise(status, "%s", results->causes[i - 1]);
        else
            th_error_context("%s", results->causes[i - 1]);
    return status;
}

/* --- Deaths ----------------------------------------------------------------------------------- */

void th_check_page_add_death(const struct th_check_death *death)
{
    const struct th_crash_signature *crash = &page->crash;
    const int status = death->status;
    enum th_check_rule rule =
        death->fails && page->allocation_failed ? TH_RULE_MEMORY : TH_RULE_CRASH;
    char kind[64], text[TH_CHECK_TEXT];
    struct th_check_found *found;

    if (!death->in_time || crash->kind == TH_CRASH_HANG) {
        rule = TH_RULE_HANG;
        snprintf(kind, sizeof kind, "does not return");
    } else if (crash->kind == TH_CRASH_SIGNAL) {
        snprintf(kind, sizeof kind, "ends by SIG%s", sigabbrev_np(crash->number));
    } else if (crash->kind == TH_CRASH_EXIT) {
        snprintf(kind, sizeof kind, "calls exit()");
    } else if (crash->kind == TH_CRASH_IMMEDIATE) {
        snprintf(kind, sizeof kind, "calls _exit(%d)", crash->number);
    } else if (WIFSIGNALED(status)) {
        snprintf(kind, sizeof kind, "ends by SIG%s", sigabbrev_np(WTERMSIG(status)));
    } else {
        snprintf(kind, sizeof kind, "ends with status %d", WEXITSTATUS(status));
    }
    snprintf(text, sizeof text, "%s: %s", death->who, kind);
    if (page->count == TH_CHECK_FINDINGS)
        page->count--;
    th_check_page_add(rule, death->where, kind, text);
    found = &page->found[page->count - 1];
    found->frame = crash->frame;
    snprintf(found->file, sizeof found->file, "%s", crash->file);
}
