/* Declares settings, and prints its state. */
#include <erl_tracer.h>

const struct th_tracer_setting th_tracer_settings[] = {
    {"level", TH_SETTING_NUMBER, NULL, "1", "how much is shown"},
    {"format", TH_SETTING_WORD, "text json", "text", "how it is shown"},
    {"name", TH_SETTING_TEXT, NULL, NULL, NULL},
    {0}};

TH_TRACER_ENABLED(generic)
{
    enif_fprintf(stdout, "state %#T\n", state);
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(generic)
{
}

static ErlNifFunc callbacks[] = {{"enabled", 3, enabled, 0}, {"trace", 5, trace, 0}};
ERL_NIF_INIT(declaring, callbacks, NULL, NULL, NULL, NULL)
