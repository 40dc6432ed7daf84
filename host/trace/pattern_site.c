/* Applies patterns to the sites of functions, and explains why a function has no breakpoint. */
#include "event.h"
#include "pattern.h"
#include "pattern_internal.h"
#include "trace_internal.h"
#include "tracing.h"

#include "host/base/buffer.h"
#include "host/base/log.h"
#include "host/breakpoint/site.h"
#include "host/trace/live/live.h"

#include <string.h>

bool th_trace_pattern_concerns(const struct th_pattern *pattern, const struct th_mfa *name)
{
    return (pattern->module == TH_NONE || pattern->module == name->module) &&
           (pattern->function == TH_NONE || pattern->function == name->function) &&
           (pattern->arity == TH_ANY_ARITY || (uint32_t)pattern->arity == name->arity);
}

/* --- possible kinds --- */

/* Kinds at the native site, if there is one. */
enum { NATIVE = TH_BP_ALL & ~TH_BP_GLOBAL };

/* Returns the kinds at the other site. */
static uint32_t kinds_at_site(const struct th_function_sites *function)
{
    if (!function->site)
        return 0;
    return th_trace_function_local_site(function) ? TH_BP_GLOBAL : TH_BP_ALL;
}

static uint32_t possible_kinds(const struct th_function_sites *function)
{
    uint32_t possible = 0;

    if (function->site)
        possible = kinds_at_site(function) & function->site->operations->kinds;
    if (th_trace_function_local_site(function))
        possible |= NATIVE & function->local->operations->kinds;
    return possible;
}

/* Returns the kinds among KINDS for a function that can have POSSIBLE. */
static uint32_t pattern_site_choose(uint32_t kinds, uint32_t possible)
{
    if ((kinds & TH_PATTERN_EITHER) == TH_PATTERN_EITHER)
        kinds &= possible & TH_BP_LOCAL ? ~(uint32_t)TH_BP_GLOBAL : ~(uint32_t)TH_BP_LOCAL;
    return kinds & possible;
}

/*
 * Returns the kinds that SETTING also clears, as in a BEAM, at a function where it sets HERE:
 * global replaces all other kinds, even at functions that cannot have it; a change of another kind
 * replaces global. A function that can have no local breakpoint may have a global one in its place
 * (TH_PATTERN_EITHER), which stays beside the other kinds.
 */
static uint32_t excluded(const struct th_bp_setting *setting, uint32_t here, uint32_t possible)
{
    uint32_t others = (setting->set | setting->pause | setting->restart) & ~(uint32_t)TH_BP_GLOBAL;

    if (setting->set == TH_BP_GLOBAL)
        return TH_BP_ALL & ~(uint32_t)TH_BP_GLOBAL;
    if (here & TH_BP_GLOBAL)
        return TH_BP_LOCAL;
    return others && possible & TH_BP_LOCAL ? TH_BP_GLOBAL : 0;
}

uint32_t th_trace_pattern_excluded(const struct th_bp_setting *setting)
{
    return excluded(setting, pattern_site_choose(setting->set, TH_BP_ALL), TH_BP_ALL);
}

/* --- setting --- */

/* Adds the part of SETTING about KINDS at SITE. */
static bool add_at(struct th_change *change, struct th_site *site,
                   const struct th_bp_setting *setting, uint32_t kinds)
{
    struct th_bp_setting here = *setting;

    here.site = site;
    here.clear &= kinds;
    here.set &= kinds;
    here.pause &= kinds;
    here.restart &= kinds;
    if (!(here.clear | here.set | here.pause | here.restart))
        return false;
    th_breakpoint_change_add(change, &here);
    return true;
}

/* Adds the effect of SETTING on breakpoints of other kinds than KINDS, which were set at SITE
 * before. New ones are set at the function's other site. */
static void add_for_strays(struct th_change *change, struct th_site *site,
                           const struct th_bp_setting *setting, uint32_t kinds)
{
    struct th_bp_setting here = {
        .clear = setting->clear | setting->set,
        .pause = setting->pause,
        .restart = setting->restart & ~setting->set,
        .session = setting->session,
    };

    if (site)
        add_at(change, site, &here, ~kinds);
}

/* Returns the kinds among KINDS that a session does not have at SITE yet; SITE NULL: all. */
static uint32_t without_there(uint32_t kinds, struct th_site *site,
                              const struct th_bp_session *session)
{
    struct th_bp_info info;

    if (site && th_breakpoint_info(site, session, &info)) {
        kinds &= ~info.kinds;
        if (info.kinds & TH_BP_GLOBAL)
            kinds &= ~(uint32_t)TH_BP_LOCAL;
        th_breakpoint_info_free(&info);
    }
    return kinds;
}

bool th_trace_pattern_set_at(struct th_change *change, const struct th_function_sites *function,
                             const struct th_bp_setting *setting, bool recorded)
{
    uint32_t possible = possible_kinds(function) & (recorded ? ~(uint32_t)TH_BP_MEMORY : TH_BP_ALL);
    uint32_t at_local = th_trace_function_local_site(function) ? NATIVE : 0;
    struct th_bp_setting here = *setting;
    bool added;

    here.set = pattern_site_choose(setting->set, possible);
    here.clear |= excluded(setting, here.set, possible);
    if (function->strays) {
        /* A global breakpoint may stand in for a local one that the session has at the other
         * site. */
        if (here.clear & TH_BP_LOCAL && function->site && function->local &&
            !without_there(TH_BP_GLOBAL, function->site, setting->session) &&
            !without_there(TH_BP_LOCAL, function->local, setting->session))
            here.clear |= TH_BP_GLOBAL;
        add_for_strays(change, function->site, &here, kinds_at_site(function));
        add_for_strays(change, function->local, &here, at_local);
    }
    here.restart &= possible;
    added = add_at(change, function->site, &here, kinds_at_site(function));
    added |= add_at(change, function->local, &here, at_local);
    return setting->set ? here.set != 0 : added;
}

void th_trace_pattern_set_at_local(struct th_change *change,
                                   const struct th_function_sites *function,
                                   const struct th_bp_setting *setting)
{
    struct th_bp_setting here = *setting;

    here.set = without_there(pattern_site_choose(setting->set, possible_kinds(function)) & NATIVE,
                             function->site, setting->session);
    if (setting->set == TH_BP_GLOBAL)
        here.clear = NATIVE;
    add_at(change, function->local, &here, NATIVE);
}

/* --- refusals --- */

/* Returns the reason why FUNCTION cannot have a breakpoint of KINDS; NULL: it can. */
static const char *refusal(const struct th_function_sites *function, uint32_t kinds)
{
    uint32_t possible = possible_kinds(function);
    bool either = (kinds & TH_PATTERN_EITHER) == TH_PATTERN_EITHER;

    if (either ? possible & TH_PATTERN_EITHER : !(kinds & ~possible))
        return NULL;
    if ((kinds & TH_BP_GLOBAL) && !either)
        return "no other modules call the function";
    return function->no_local ? function->no_local
                              : "the only breakpoint is for calls from other modules";
}

/* Functions with a common reason: those that can have no breakpoint (`kinds` 0, no `outside`), or
 * those whose newer code has no room for one. */
struct reasons {
    struct th_pattern_loss *items;
    size_t count, capacity;
};

/* Counts REASON. The list of functions has the oldest last: `first` is the oldest. */
static void pattern_site_note(struct reasons *reasons, const struct th_pattern_loss *reason)
{
    struct th_pattern_loss *item = reasons->items, *end = item + reasons->count;

    while (item < end && (item->kinds != reason->kinds || item->outside != reason->outside ||
                          strcmp(item->why, reason->why) != 0))
        item++;
    if (item == end) {
        TH_ARRAY_GROW(reasons->items, reasons->count, reasons->capacity);
        item = &reasons->items[reasons->count++];
        *item = *reason;
    }
    item->first = reason->first;
    item->functions++;
}

/* Under the lock. True if any function is not refused. */
static bool pattern_site_collect(const struct th_tracing *tracing, const struct th_pattern *pattern,
                                 uint32_t kinds, struct th_pattern_refusals *refusals)
{
    struct reasons reasons = {0};
    bool possible = false;

    *refusals = (struct th_pattern_refusals){0};
    for (const struct th_traceable_function *f = tracing->live_functions; f; f = f->next) {
        struct th_pattern_loss reason = {.first = f->function.name};
        if (!th_trace_pattern_concerns(pattern, &reason.first))
            continue;
        refusals->concerned++;
        reason.why = refusal(&f->function, kinds);
        if (reason.why)
            pattern_site_note(&reasons, &reason);
        refusals->functions += reason.why != NULL;
        possible |= !reason.why;
    }
    for (size_t i = reasons.count; i-- > 0 && refusals->count < TH_PATTERN_REFUSALS;)
        refusals->items[refusals->count++] = (struct th_pattern_refusal){
            reasons.items[i].why, reasons.items[i].first, reasons.items[i].functions};
    th_free(reasons.items);
    return possible;
}

enum th_status th_trace_pattern_check_sites(const struct th_session *session,
                                            const struct th_pattern *pattern, uint32_t kinds)
{
    const struct th_session_breakpoints *breakpoints = th_trace_session_breakpoints(session);
    const struct th_traceable_function *f = session->tracing->live_functions;
    struct th_pattern_refusals refusals;

    if (pattern->on_load || pattern_site_collect(session->tracing, pattern, kinds, &refusals) ||
        !refusals.count)
        return TH_OK;
    for (; kinds == TH_BP_GLOBAL && breakpoints && f; f = f->next)
        if (th_trace_pattern_concerns(pattern, &f->function.name) &&
            without_there(TH_BP_ALL, f->function.local, &breakpoints->base) != TH_BP_ALL)
            return TH_OK; /* others are cleared */
    th_error_clear();
    for (size_t i = refusals.count; i-- > 0;) {
        struct th_buffer text = {0};
        th_trace_pattern_refusal_print(&text, &refusals.items[i]);
        if (th_error_status() == TH_OK)
            th_error_raise(TH_USAGE, "%s", th_buffer_text(&text));
        else
            th_error_context("%s", th_buffer_text(&text));
        th_buffer_free(&text);
    }
    if ((kinds & TH_PATTERN_EITHER) == TH_PATTERN_EITHER)
        return th_error_context("no function can have a breakpoint");
    if (kinds & TH_BP_GLOBAL)
        return th_error_context("no function can have a breakpoint for calls from other modules "
                                "alone: trace all calls with a local pattern");
    return th_error_context("no function can have a breakpoint for local calls: trace calls from "
                            "other modules with a global pattern");
}

void th_trace_session_pattern_refusals(const struct th_session *session,
                                       const struct th_pattern *pattern, uint32_t kinds,
                                       struct th_pattern_refusals *refusals)
{
    th_trace_lock(session->tracing);
    pattern_site_collect(session->tracing, pattern, kinds, refusals);
    th_trace_unlock(session->tracing);
}

/* "m:f/1: ", or "m:f/1 and 3 more: " */
static void pattern_site_print_functions(struct th_buffer *out, const struct th_mfa *first,
                                         size_t functions)
{
    th_trace_function_show(out, first);
    if (functions > 1)
        th_buffer_printf(out, " and %zu more", functions - 1);
    th_buffer_add_text(out, ": ");
}

void th_trace_pattern_refusal_print(struct th_buffer *out, const struct th_pattern_refusal *refusal)
{
    pattern_site_print_functions(out, &refusal->first, refusal->functions);
    th_buffer_add_text(out, refusal->why);
}

/* --- losses: breakpoints for which newer code has no room --- */

/* Returns the kinds that BREAKPOINTS has in older code of FUNCTION, but not in the newest. */
static uint32_t kinds_lost(const struct th_session_breakpoints *breakpoints,
                           const struct th_function_sites *function)
{
    struct th_bp_info info;
    uint32_t kinds;

    if (!function->local || !function->no_local ||
        !th_breakpoint_info(function->local, &breakpoints->base, &info))
        return 0;
    kinds = info.kinds;
    th_breakpoint_info_free(&info);
    return kinds;
}

void th_trace_losses(struct th_tracing *tracing, th_term module,
                     void (*visit)(void *context, const struct th_pattern_loss *loss),
                     void *context)
{
    const struct th_traceable_function *f;
    struct th_session *session;

    th_trace_lock(tracing);
    for (size_t i = 0; (session = th_trace_next(tracing, &i));) {
        const struct th_session_breakpoints *breakpoints = th_trace_session_breakpoints(session);
        struct reasons losses = {0};
        for (f = breakpoints ? tracing->live_functions : NULL; f; f = f->next) {
            struct th_pattern_loss loss = {.session = session,
                                           .outside = f->function.site,
                                           .why = f->function.no_local,
                                           .first = f->function.name};
            if (loss.first.module == module)
                loss.kinds = kinds_lost(breakpoints, &f->function);
            if (loss.kinds)
                pattern_site_note(&losses, &loss);
        }
        for (size_t k = losses.count; k-- > 0;)
            visit(context, &losses.items[k]);
        th_free(losses.items);
    }
    th_trace_unlock(tracing);
}

void th_trace_pattern_loss_print(struct th_buffer *out, const struct th_pattern_loss *loss)
{
    const char *between = "";

    pattern_site_print_functions(out, &loss->first, loss->functions);
    for (size_t i = 0; th_trace_pattern_kind_names[i]; i++)
        if (loss->kinds & th_trace_pattern_kinds[i]) {
            th_buffer_printf(out, "%s%s", between, th_trace_pattern_kind_names[i]);
            between = ",";
        }
    th_buffer_printf(out, ": calls%s are no longer traced: %s",
                     loss->outside ? " from within the module" : "", loss->why);
}

static void pattern_site_warn(void *context, const struct th_pattern_loss *loss)
{
    struct th_buffer text = {0};

    (void)context;
    th_trace_pattern_loss_print(&text, loss);
    th_warn("tracer '%s': %s", th_trace_session_name(loss->session), th_buffer_text(&text));
    th_buffer_free(&text);
}

void th_trace_warn_of_losses(struct th_tracing *tracing, th_term module)
{
    th_trace_losses(tracing, module, pattern_site_warn, NULL);
}

/* --- The functions of recordings -------------------------------------------------------------- */

enum { ATOM_BITS = 24, ARITY_BITS = 8 };

_Static_assert(TH_ATOM_LIMIT <= 1 << ATOM_BITS, "atoms do not fit");
_Static_assert(TH_FUNCTION_ARITY_MAX < 1 << ARITY_BITS, "arities do not fit");

/* The highest bit belongs to no atom. */
uint64_t th_trace_function_key(const struct th_mfa *name)
{
    uint64_t atoms =
        (uint64_t)th_atom_index(name->module) << ATOM_BITS | th_atom_index(name->function);

    return (uint64_t)1 << 63 | atoms << ARITY_BITS | name->arity;
}

struct th_function_sites *th_trace_functions_find(const struct th_functions *functions,
                                                  const struct th_mfa *name)
{
    return th_hash_table_get(&functions->table, th_trace_function_key(name));
}
