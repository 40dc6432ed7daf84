#include "line_editor.h"

#include "line_key.h"
#include "line_text.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { READ = 4096, HISTORY = 1000, NARROWEST = 8, USUAL_WIDTH = 80, GAP = 2 };

struct th_line_editor {
    const char *prompt;
    const struct th_completer *completer;
    struct th_buffer read; /* that was typed and not looked at yet */
    struct th_line_text text;
    char *typed; /* the line that th_line_edit() has returned */
    char **history;
    size_t history_count, history_capacity;
    size_t shown; /* the line of the history that is edited; history_count: the new one */
    char *newest; /* that, while another is shown */
    bool tab;     /* the key before was a tab that had several answers */
};

struct th_line_editor *th_line_editor_create(const char *prompt,
                                             const struct th_completer *completer)
{
    struct th_line_editor *editor = th_alloc_zero(sizeof *editor);

    editor->prompt = prompt;
    editor->completer = completer;
    return editor;
}

void th_line_editor_free(struct th_line_editor *editor)
{
    for (size_t i = 0; i < editor->history_count; i++)
        th_free(editor->history[i]);
    th_free(editor->history);
    th_free(editor->newest);
    th_free(editor->typed);
    th_buffer_free(&editor->read);
    th_buffer_free(&editor->text.bytes);
    th_free(editor);
}

/* --- The terminal ----------------------------------------------------------------------------- */

static void put(const void *bytes, size_t size)
{
    const char *next = bytes;

    while (size > 0) {
        ssize_t written = write(STDOUT_FILENO, next, size);
        if (written < 0 && errno != EINTR)
            return; /* it is gone: reading will tell */
        if (written > 0) {
            next += written;
            size -= (size_t)written;
        }
    }
}

static void put_text(const char *text)
{
    put(text, strlen(text));
}

static size_t width(void)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return USUAL_WIDTH;
    return size.ws_col;
}

/* Keys come one by one, and are not shown by the terminal itself. Signals still do, and what is
 * written has its line ends. */
static void begin_keys(struct termios *before)
{
    struct termios keys;

    tcgetattr(STDIN_FILENO, before);
    keys = *before;
    keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
    keys.c_iflag &= ~(tcflag_t)(ICRNL | IXON);
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    keys.c_cc[VSUSP] = _POSIX_VDISABLE; /* nobody would put the terminal back */
    tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
}

/* The line, as much as fits around the cursor, and the cursor in its place. */
static void show(const struct th_line_editor *editor)
{
    const struct th_line_text *text = &editor->text;
    size_t prompt = strlen(editor->prompt), room = width(), from = 0, to = text->bytes.size;
    struct th_buffer out = {0};
    size_t left;

    room = room > prompt + NARROWEST ? room - prompt - 1 : NARROWEST;
    while (th_line_columns(text, from, text->cursor) > room)
        from = th_line_behind(text, from);
    while (th_line_columns(text, from, to) > room)
        to = th_line_before(text, to);
    th_buffer_printf(&out, "\r%s", editor->prompt);
    if (to > from)
        th_buffer_add(&out, text->bytes.data + from, to - from);
    th_buffer_add_text(&out, "\33[K");
    left = th_line_columns(text, text->cursor, to);
    if (left > 0)
        th_buffer_printf(&out, "\33[%zuD", left);
    put(out.data, out.size);
    th_buffer_free(&out);
}

/* --- History ---------------------------------------------------------------------------------- */

static void remember(struct th_line_editor *editor, const char *line)
{
    size_t count = editor->history_count;

    if (!*line || (count > 0 && strcmp(editor->history[count - 1], line) == 0))
        return;
    if (count == HISTORY) {
        th_free(editor->history[0]);
        memmove(editor->history, editor->history + 1, (HISTORY - 1) * sizeof *editor->history);
        editor->history_count--;
    }
    TH_ARRAY_GROW(editor->history, editor->history_count, editor->history_capacity);
    editor->history[editor->history_count++] = th_strdup(line);
}

/* Shows an older line or a newer one: that being typed is kept meanwhile. */
static void go_to(struct th_line_editor *editor, size_t place)
{
    if (place > editor->history_count || place == editor->shown)
        return;
    if (editor->shown == editor->history_count) {
        th_free(editor->newest);
        editor->newest = th_strdup(th_buffer_text(&editor->text.bytes));
    }
    editor->shown = place;
    th_line_set(&editor->text,
                place == editor->history_count ? editor->newest : editor->history[place]);
}

/* --- Completion ------------------------------------------------------------------------------- */

void th_completions_add(struct th_completions *completions, const char *word, const char *prefix)
{
    if (strncmp(word, prefix, strlen(prefix)) != 0)
        return;
    for (size_t i = 0; i < completions->count; i++)
        if (strcmp(completions->words[i], word) == 0)
            return;
    TH_ARRAY_GROW(completions->words, completions->count, completions->capacity);
    completions->words[completions->count++] = th_strdup(word);
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* How many bytes all have in common. */
static size_t common(const struct th_completions *completions)
{
    const char *first = completions->words[0];
    size_t length = strlen(first);

    for (size_t i = 1; i < completions->count; i++) {
        size_t same = 0;
        while (same < length && completions->words[i][same] == first[same])
            same++;
        length = same;
    }
    while (length > 0 && ((unsigned char)first[length] & 0xC0) == 0x80)
        length--;
    return length;
}

/* In columns, below the line. */
static void list(const struct th_completions *completions)
{
    struct th_buffer out = {0};
    size_t widest = 0, columns;

    for (size_t i = 0; i < completions->count; i++)
        if (strlen(completions->words[i]) > widest)
            widest = strlen(completions->words[i]);
    columns = width() / (widest + GAP);
    for (size_t i = 0; i < completions->count; i++) {
        bool last = columns < 2 || (i + 1) % columns == 0 || i + 1 == completions->count;
        if (i == 0)
            th_buffer_add_byte(&out, '\n');
        th_buffer_printf(&out, "%-*s%s", last ? 0 : (int)(widest + GAP), completions->words[i],
                         last ? "\n" : "");
    }
    put(out.data, out.size);
    th_buffer_free(&out);
}

/* What can go on behind a word of this sort is no new word. */
static bool is_whole(const char *word)
{
    char end = word[strlen(word) - 1];

    return end != '=' && end != ':' && end != ',';
}

static void use(struct th_line_editor *editor, struct th_completions *completions)
{
    struct th_line_text *text = &editor->text;
    size_t typed = text->cursor - completions->from, length = common(completions);
    bool only = completions->count == 1;

    if (length > typed)
        th_line_insert(text, completions->words[0] + typed, length - typed);
    if (only && is_whole(completions->words[0]))
        th_line_insert(text, " ", 1);
    if (!only && length == typed && editor->tab) {
        qsort(completions->words, completions->count, sizeof *completions->words, compare);
        list(completions);
    }
    editor->tab = !only && length == typed;
}

/* A first tab goes on as far as all answers agree; a second one lists them. */
static void complete(struct th_line_editor *editor)
{
    struct th_line_text *text = &editor->text;
    struct th_completions completions = {0};
    char *before = th_printf("%.*s", (int)text->cursor, th_buffer_text(&text->bytes));

    editor->completer->complete(editor->completer->context, before, &completions);
    if (completions.count > 0)
        use(editor, &completions);
    for (size_t i = 0; i < completions.count; i++)
        th_free(completions.words[i]);
    th_free(completions.words);
    th_free(before);
}

/* --- Keys ------------------------------------------------------------------------------------- */

static void move(struct th_line_editor *editor, enum th_key key)
{
    struct th_line_text *text = &editor->text;

    switch (key) {
    case TH_KEY_LEFT:
        text->cursor = th_line_before(text, text->cursor);
        break;
    case TH_KEY_RIGHT:
        text->cursor = th_line_behind(text, text->cursor);
        break;
    case TH_KEY_WORD_LEFT:
        text->cursor = th_line_word_before(text, text->cursor);
        break;
    case TH_KEY_WORD_RIGHT:
        text->cursor = th_line_word_behind(text, text->cursor);
        break;
    case TH_KEY_HOME:
        text->cursor = 0;
        break;
    case TH_KEY_END:
        text->cursor = text->bytes.size;
        break;
    case TH_KEY_UP:
        go_to(editor, editor->shown - 1); /* before the first one: beyond the last */
        break;
    case TH_KEY_DOWN:
        go_to(editor, editor->shown + 1);
        break;
    default:
        break;
    }
}

static void change(struct th_line_editor *editor, enum th_key key)
{
    struct th_line_text *text = &editor->text;
    size_t at = text->cursor;

    switch (key) {
    case TH_KEY_BACKSPACE:
        th_line_cut(text, th_line_before(text, at), at);
        break;
    case TH_KEY_END_OF_INPUT: /* on a line that is not empty */
    case TH_KEY_DELETE:
        th_line_cut(text, at, th_line_behind(text, at));
        break;
    case TH_KEY_KILL_TO_END:
        th_line_cut(text, at, text->bytes.size);
        break;
    case TH_KEY_KILL_TO_BEGIN:
        th_line_cut(text, 0, at);
        break;
    case TH_KEY_KILL_WORD_BEFORE:
        th_line_cut(text, th_line_word_before(text, at), at);
        break;
    case TH_KEY_KILL_WORD_BEHIND:
        th_line_cut(text, at, th_line_word_behind(text, at));
        break;
    case TH_KEY_CLEAR:
        put_text("\33[H\33[2J");
        break;
    default:
        move(editor, key);
    }
}

/* True: the line is at its end, which is *END. */
static bool obey(struct th_line_editor *editor, enum th_key key, const unsigned char *bytes,
                 size_t size, enum th_line_end *end)
{
    bool over = key == TH_KEY_END_OF_INPUT && editor->text.bytes.size == 0;

    if (key == TH_KEY_TAB) {
        complete(editor);
        return false;
    }
    editor->tab = false;
    if (key == TH_KEY_ENTER || over) {
        *end = over ? TH_LINE_OVER : TH_LINE_TYPED;
        return true;
    }
    if (key == TH_KEY_TEXT)
        th_line_insert(&editor->text, (const char *)bytes, size);
    else
        change(editor, key);
    return false;
}

/* Takes what has come, key by key. True as above; what is behind that waits for the next line. */
static bool take_keys(struct th_line_editor *editor, enum th_line_end *end)
{
    struct th_buffer *read = &editor->read;
    size_t taken = 0, used;
    bool ended = false;

    while (taken < read->size && !ended) {
        enum th_key key = th_key_read(read->data + taken, read->size - taken, &used);
        if (key == TH_KEY_PART)
            break;
        ended = obey(editor, key, read->data + taken, used, end);
        taken += used;
    }
    read->size -= taken;
    memmove(read->data, read->data + taken, read->size);
    return ended;
}

/* --- Reading ---------------------------------------------------------------------------------- */

/* Waits for keys. True: the line is at its end before they came. */
static bool wait_for_keys(int descriptor, enum th_line_end *end)
{
    struct pollfd waits[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                             {.fd = descriptor, .events = POLLRDHUP}};
    sigset_t open;

    sigprocmask(SIG_BLOCK, NULL, &open);
    sigdelset(&open, SIGINT);
    sigdelset(&open, SIGTERM);
    sigdelset(&open, SIGHUP);
    if (ppoll(waits, 2, NULL, &open) < 0) { /* by a signal */
        *end = TH_LINE_INTERRUPTED;
        return true;
    }
    *end = TH_LINE_NEWS;
    return waits[1].revents && !waits[0].revents;
}

static enum th_line_end read_line(struct th_line_editor *editor, int descriptor)
{
    enum th_line_end end;

    for (;;) {
        ssize_t got;
        if (editor->read.size > 0 && take_keys(editor, &end))
            return end;
        show(editor);
        if (wait_for_keys(descriptor, &end))
            return end;
        got = read(STDIN_FILENO, th_buffer_reserve(&editor->read, READ), READ);
        if (got <= 0)
            return TH_LINE_OVER;
        editor->read.size += (size_t)got;
    }
}

enum th_line_end th_line_edit(struct th_line_editor *editor, int descriptor, const char **line)
{
    struct termios before;
    enum th_line_end end;

    th_line_set(&editor->text, "");
    editor->shown = editor->history_count;
    editor->tab = false;
    begin_keys(&before);
    end = read_line(editor, descriptor);
    editor->text.cursor = editor->text.bytes.size;
    show(editor);
    put_text(end == TH_LINE_INTERRUPTED ? "^C\n" : "\n");
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
    th_free(editor->typed);
    editor->typed = th_strdup(th_buffer_text(&editor->text.bytes));
    if (end == TH_LINE_TYPED)
        remember(editor, editor->typed);
    *line = editor->typed;
    return end;
}
