/* How a match specification came out, as text on stdout. */
#include "match_text.h"

#include <string.h>

static void print(struct th_buffer *out)
{
    fwrite(out->data, 1, out->size, stdout);
    th_buffer_free(out);
}

void th_cli_match_report_text(const struct th_match_report *report)
{
    struct th_buffer out = {0};

    th_match_print_report(&out, report);
    print(&out);
}

void th_cli_match_report_faults_text(const struct th_match_faults *faults)
{
    struct th_buffer out = {0};

    th_buffer_add_text(&out, "{error,[");
    for (size_t i = 0; i < faults->count; i++) {
        const char *text = faults->items[i].text;
        th_env env;
        th_env_init(&env, TH_ENV_PLAIN);
        th_buffer_add_text(&out, i ? ",{error," : "{error,");
        th_text_print(&out, th_make_latin1_string(&env, (const unsigned char *)text, strlen(text)));
        th_buffer_add_byte(&out, '}');
        th_env_release(&env);
    }
    th_buffer_add_text(&out, "]}\n");
    for (size_t i = 0; i < faults->count; i++) {
        th_match_print_place(&out, faults->items[i].place);
        if (faults->items[i].place.clause > 0)
            th_buffer_add_text(&out, ": ");
        th_buffer_printf(&out, "in %s\n",
                         faults->items[i].shown ? faults->items[i].shown : "the whole");
    }
    print(&out);
}
