/* Match specifications that have a name in dbg. */
#include "match.h"

#include <string.h>

static const struct {
    const char *letter, *name, *text;
} shorts[] = {
    {"x", "exception_trace", "[{'_',[],[{exception_trace}]}]"},
    {"c", "caller_trace", "[{'_',[],[{message,{caller}}]}]"},
    {"cx", "caller_exception_trace", "[{'_',[],[{exception_trace},{message,{caller}}]}]"},
    {"r", "return_trace", "[{'_',[],[{return_trace}]}]"},
};

th_term th_match_short(th_env *env, const char *name)
{
    th_term spec = TH_NONE;

    for (size_t i = 0; i < sizeof shorts / sizeof shorts[0]; i++)
        if (strcmp(name, shorts[i].letter) == 0 || strcmp(name, shorts[i].name) == 0)
            if (th_text_parse(env, shorts[i].text, strlen(shorts[i].text), &spec) != TH_OK)
                th_bug("a match specification that cannot be read: %s", shorts[i].text);
    return spec;
}
