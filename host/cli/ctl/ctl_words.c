/* A line's words, as a shell parts them, without anything that a shell puts in their place. */
#include "ctl.h"

#include <string.h>

struct splitting {
    const char *next; /* of the line */
    char *to;         /* where the next byte of a word goes */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* In a quote, QUOTE. In single ones a backslash is itself, as in a shell. False: it does not end.
 */
static bool take_quoted(struct splitting *s, char quote)
{
    for (; *s->next && *s->next != quote; s->next++) {
        bool escapes =
            quote == '"' && *s->next == '\\' && (s->next[1] == '"' || s->next[1] == '\\');
        s->next += escapes;
        *s->to++ = *s->next;
    }
    return *s->next && *s->next++ == quote;
}

/* One word, with a 0 behind it. */
static bool take_word(struct splitting *s)
{
    bool good = true;

    while (good && *s->next && !is_blank(*s->next)) {
        char c = *s->next++;
        if (c == '\'' || c == '"')
            good = take_quoted(s, c);
        else if (c == '\\' && *s->next)
            *s->to++ = *s->next++;
        else
            *s->to++ = c;
    }
    *s->to++ = '\0';
    return good;
}

/* A word takes two bytes of the line at least, but for the last one. */
enum th_status th_ctl_split(const char *line, int *count, char ***result)
{
    size_t most = strlen(line) / 2 + 2;
    char **words = th_alloc(most * sizeof *words + strlen(line) + 1);
    struct splitting s = {line, (char *)(words + most)};

    *count = 0;
    for (;;) {
        while (is_blank(*s.next))
            s.next++;
        if (!*s.next || (*s.next == '#' && *count == 0))
            break;
        words[(*count)++] = s.to;
        if (!take_word(&s)) {
            th_free(words);
            return th_error_raise(TH_USAGE, "a quote does not end");
        }
    }
    words[*count] = NULL;
    *result = words;
    return TH_OK;
}
