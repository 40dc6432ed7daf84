#include "sited.h"

#include "host/base/base.h"
#include "host/breakpoint/breakpoint.h"

struct sited sited_functions[SITED_FUNCTIONS];

static bool begun;

/* The operations of a virtual site, with the kinds of a native one. */
static const struct th_site_operations *native_operations(void)
{
    static struct th_site_operations operations;

    if (!operations.kind) {
        operations = th_breakpoint_site_virtual;
        operations.kind = "stand-in";
        operations.kinds = th_native_site_native.kinds;
    }
    return &operations;
}

void sited_init(struct sited *sited, th_term module, const char *name, bool exported, bool native)
{
    struct th_function_sites *function = &sited->live.function;

    *sited = (struct sited){.live.function.name = {module, th_atom(name), 1}};
    if (exported)
        function->site =
            th_breakpoint_site_create(&th_breakpoint_site_export, function, &sited->entry);
    if (native)
        function->local = th_breakpoint_site_create(native_operations(), function, NULL);
    else if (exported)
        function->no_local = "it stands in stone";
}

void sited_release(struct sited *sited)
{
    if (sited->live.function.site && !sited->live.own_site)
        th_breakpoint_site_drop(sited->live.function.site);
    if (sited->live.function.local)
        th_breakpoint_site_drop(sited->live.function.local);
}

static void get_all(struct th_traceable_function *functions[SITED_FUNCTIONS])
{
    for (int i = 0; i < SITED_FUNCTIONS; i++)
        functions[i] = &sited_functions[i].live;
}

void sited_begin(void)
{
    struct th_traceable_function *functions[SITED_FUNCTIONS];

    sited_init(&sited_functions[BOTH], th_atom("m"), "both", true, true);
    sited_init(&sited_functions[SHOWN], th_atom("m"), "shown", true, false);
    sited_init(&sited_functions[HIDDEN], th_atom("m"), "hidden", false, true);
    get_all(functions);
    scene_begin_functions(functions, SITED_FUNCTIONS);
    begun = true;
}

void sited_end(void)
{
    struct th_traceable_function *functions[SITED_FUNCTIONS];

    if (!begun)
        return;
    begun = false;
    get_all(functions);
    scene_end_functions(functions, SITED_FUNCTIONS);
    for (int i = 0; i < SITED_FUNCTIONS; i++)
        sited_release(&sited_functions[i]);
}

static bool site_is_armed(const struct sited *sited)
{
    return sited->live.own_site ? th_live_function_is_armed(&sited->live)
                                : th_code_export_word(&sited->entry) & TH_EXPORT_ARMED;
}

static bool native_is_armed(const struct sited *sited)
{
    return sited->live.function.local && th_breakpoint_site_is_armed(sited->live.function.local);
}

uint32_t sited_armed(const struct sited *sited)
{
    bool local = sited->live.own_site ? site_is_armed(sited) : native_is_armed(sited);

    return (site_is_armed(sited) ? TH_BP_GLOBAL : 0) | (local ? TH_BP_LOCAL : 0);
}

void sited_call(struct th_live_tracee *process, const struct sited *sited, th_term argument,
                bool external, struct sited_wants *wants)
{
    struct th_call_event call = {.process = process,
                                 .function = &sited->live,
                                 .site = sited->live.function.site,
                                 .arguments = &argument,
                                 .external = external};

    wants->exported.count = wants->local.count = 0;
    if ((external || sited->live.own_site) && site_is_armed(sited))
        th_live_call(&call, &wants->exported);
    call.site = sited->live.function.local;
    call.external = false;
    if (native_is_armed(sited))
        th_live_call(&call, &wants->local);
}

void sited_return(struct th_live_tracee *process, const struct sited *sited,
                  struct sited_wants *wants, th_term value)
{
    if (wants->local.count > 0)
        th_live_return(process, &sited->live, &wants->local, value);
    if (wants->exported.count > 0)
        th_live_return(process, &sited->live, &wants->exported, value);
}
