#include "alive.h"

#include "host/base/base.h"
#include "host/process/process.h"

struct th_traceable_function alive_functions[ALIVE_FUNCTIONS];

static struct th_traceable_function *all[ALIVE_FUNCTIONS];

void alive_begin(void)
{
    char name[8];

    scene_begin_empty(NULL);
    th_trace_share(scene_tracing());
    for (unsigned i = 0; i < ALIVE_FUNCTIONS; i++) {
        snprintf(name, sizeof name, "f%u", i);
        alive_functions[i] = (struct th_traceable_function){
            .function = {.name = {th_atom("m"), th_atom(name), 1}},
        };
        all[i] = &alive_functions[i];
    }
    scene_begin_functions(all, ALIVE_FUNCTIONS);
}

void alive_end(void)
{
    scene_end_functions(all, ALIVE_FUNCTIONS);
    scene_end();
}

static uint64_t words_of(struct th_live_tracee *process)
{
    return ((struct alive *)process)->words;
}

struct alive *alive_spawn(unsigned n, struct alive *parent, bool linked)
{
    struct alive *alive = th_alloc_zero(sizeof *alive);

    alive->process.id = th_local_pid(n, TH_HOST_SERIAL);
    alive->process.words = words_of;
    th_live_process_begin(&alive->process, scene_tracing(), parent ? &parent->process : NULL,
                          linked);
    return alive;
}

void alive_exit(struct alive *process)
{
    th_live_process_end(&process->process);
    th_free(process);
}

struct th_live_requests alive_call_as(struct alive *process, unsigned i, th_term argument,
                                      const struct th_call_event *as)
{
    struct th_call_event call = *as;
    struct th_live_requests wants = {0};

    call.process = process ? &process->process : NULL;
    call.function = &alive_functions[i];
    call.site = call.function->function.site;
    call.arguments = &argument;
    if (th_live_function_is_armed(call.function))
        th_live_call(&call, &wants);
    return wants;
}

struct th_live_requests alive_call(struct alive *process, unsigned i, th_term argument)
{
    return alive_call_as(process, i, argument, &(struct th_call_event){.external = true});
}

void alive_return(struct alive *process, unsigned i, struct th_live_requests *wants,
                  const char *value)
{
    if (wants->count > 0)
        th_live_return(&process->process, &alive_functions[i], wants, th_atom(value));
}

void alive_raise(struct alive *process, unsigned i, struct th_live_requests *wants,
                 const char *value)
{
    if (wants->count > 0)
        th_live_raise(&process->process, &alive_functions[i], wants, th_atom("error"),
                      th_atom(value));
}

void alive_return_to(struct alive *process, unsigned i)
{
    struct th_caller to = {TH_CALLER_FUNCTION, alive_functions[i].function.name};

    if (th_live_is_returning(&process->process))
        th_live_return_to(&process->process, &to);
}
