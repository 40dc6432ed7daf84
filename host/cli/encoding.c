#include "encoding.h"

#include "command.h"
#include "option_table.h"

#include "host/term/term.h"

#include <langinfo.h>
#include <string.h>

void th_encoding_from_locale(void)
{
    th_text_show_in(strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? TH_TEXT_UNICODE : TH_TEXT_LATIN1);
}

static const struct argp_option options[] = {
    {"encoding", TH_OPTION_ENCODING, "ENCODING", 0,
     "Which characters of atoms, strings and binaries are shown as they are, as with `erl +pc`: "
     "unicode (the default where the locale is UTF-8) or latin1",
     8},
    {0},
};

static const struct th_choices choices[] = {
    {TH_OPTION_ENCODING, "--encoding", TH_WORDS("latin1", "unicode"), 0}, {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    static const enum th_text_encoding encodings[] = {TH_TEXT_LATIN1, TH_TEXT_UNICODE};

    switch (key) {
    case TH_KEY_ABOUT:
        ((struct th_about *)state->hook)->choices = choices;
        return 0;
    case TH_OPTION_ENCODING:
        th_text_show_in(encodings[th_option_choice(choices, key, value, state)]);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp th_encoding_argp = {.options = options, .parser = parse};
