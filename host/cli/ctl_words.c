/* A line's words, as a shell parts them, without anything that a shell puts in their place; and
 * what of them is for the host to find. */
#include "ctl.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

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

/* --- Paths ------------------------------------------------------------------------------------ */

/* An option whose value is the next word. */
static bool wants_value(const char *word)
{
    return strcmp(word, "--purge") == 0 || strcmp(word, "--load-info") == 0;
}

static bool is_path_from_here(int i, char *const words[])
{
    const char *word = words[i];

    return i > 0 && word[0] != '/' && word[0] != '-' && strchr(word, '/') &&
           !wants_value(words[i - 1]);
}

char **th_ctl_paths(int count, char *const words[])
{
    char here[PATH_MAX];
    bool known = strcmp(words[0], "load") == 0 && getcwd(here, sizeof here);
    size_t room = ((size_t)count + 1) * sizeof(char *), used = room;
    char **paths;

    for (int i = 0; i < count; i++)
        room += (known ? strlen(here) + 1 : 0) + strlen(words[i]) + 1;
    paths = th_alloc(room);
    for (int i = 0; i < count; i++) {
        const char *word = words[i], *before = "", *slash = "";
        if (known && is_path_from_here(i, words)) {
            word += strncmp(word, "./", 2) == 0 ? 2 : 0;
            before = here;
            slash = "/";
        }
        paths[i] = (char *)paths + used;
        used += (size_t)snprintf(paths[i], room - used, "%s%s%s", before, slash, word) + 1;
    }
    paths[count] = NULL;
    return paths;
}
