#include "encoding.h"

#include "host/term/term.h"

#include <langinfo.h>
#include <string.h>

void th_cli_encoding_from_locale(void)
{
    th_text_show_in(strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? TH_TEXT_UNICODE : TH_TEXT_LATIN1);
}

static enum th_status take_encoding(const struct th_argument *argument, const char *value,
                                    void *input)
{
    static const enum th_text_encoding encodings[] = {TH_TEXT_LATIN1, TH_TEXT_UNICODE};
    int64_t number;
    enum th_status status = th_control_argument_number(argument, value, &number);

    (void)input;
    if (status == TH_OK)
        th_text_show_in(encodings[number]);
    return status;
}

const struct th_argument th_cli_encoding_arguments[] = {
    TH_OPTION("encoding", "ENCODING", CHOICE, 8,
              "Which characters of atoms, strings and binaries are shown as they are, as with `erl "
              "+pc`: unicode (the default where the locale is UTF-8) or latin1",
              .words = TH_WORDS("latin1", "unicode"), .take = take_encoding),
    {0},
};
