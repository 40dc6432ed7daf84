#include "line_editor.h"

#include "interrupt.h"

#include "host/base/buffer.h"

#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

enum { READ = 4096, HISTORY = 1000, GAP = 2, END_OF_INPUT = 'D' - 64, TO_END_OF_LINE = 'E' - 64 };

struct th_line_editor {
    EditLine *edit;
    History *history;
    FILE *out;
    th_completer *complete; /* NULL: no completion */
    void *context;
    locale_t utf8;         /* input is UTF-8 in any locale; 0: in the locale's encoding */
    bool plain;            /* the terminal itself edits the line */
    const char *prompt;    /* this and the following members: of the current line */
    int descriptor;        /* descriptor whose hang-up ends the line; -1: none */
    enum th_line_end end;  /* reason for the line's end */
    bool leaving;          /* the line is ending: no more keys are read */
    bool tab;              /* the key before was a tab with several answers */
    struct th_buffer read; /* bytes typed and not yet decoded */
    char *typed;           /* the line that th_cli_line_edit() returned */
};

/* --- Completion ------------------------------------------------------------------------------- */

void th_cli_completions_add(struct th_completions *completions, const char *word,
                            const char *prefix)
{
    if (strncmp(word, prefix, strlen(prefix)) == 0 &&
        !th_library_names_contain(&completions->words, word))
        th_library_names_add(&completions->words, word);
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Prints WORDS in columns below the line, and then the line again. */
static void list_words(struct th_line_editor *editor, const struct th_names *words)
{
    size_t widest = 0, columns;
    int width = 0;

    el_get(editor->edit, EL_GETTC, "co", &width);
    for (size_t i = 0; i < words->count; i++)
        if (strlen(words->items[i]) > widest)
            widest = strlen(words->items[i]);
    columns = (size_t)width / (widest + GAP);
    fputc('\n', editor->out);
    for (size_t i = 0; i < words->count; i++) {
        bool last = columns < 2 || (i + 1) % columns == 0 || i + 1 == words->count;
        fprintf(editor->out, "%-*s%s", last ? 0 : (int)(widest + GAP), words->items[i],
                last ? "\n" : "");
    }
    el_set(editor->edit, EL_REFRESH);
}

/* Inserts the common part of WORDS. The first TYPED bytes of each word are already in the line. */
static void use_words(struct th_line_editor *editor, const struct th_names *words, size_t typed)
{
    const char *first = words->items[0];
    size_t length = strlen(first); /* length of the common prefix, in whole characters */
    bool only = words->count == 1;
    char *rest;

    for (size_t i = 1; i < words->count; i++) {
        size_t same = 0;
        while (same < length && words->items[i][same] == first[same])
            same++;
        length = same;
    }
    while (length > 0 && ((unsigned char)first[length] & 0xC0) == 0x80)
        length--;

    /* A word that ends in one of these characters can go on: no blank is added. */
    rest = th_printf("%.*s%s", length > typed ? (int)(length - typed) : 0, first + typed,
                     only && !strchr("=:,", first[strlen(first) - 1]) ? " " : "");
    el_insertstr(editor->edit, rest);
    th_free(rest);
    if (!only && length == typed && editor->tab) {
        qsort(words->items, words->count, sizeof *words->items, compare_words);
        list_words(editor, words);
    }
    editor->tab = !only && length == typed;
}

/* Handles a tab: the first one inserts the common prefix of all answers, the second one lists the
 * answers. */
static unsigned char complete_line(EditLine *edit, int unused)
{
    struct th_line_editor *editor;
    struct th_completions completions = {0};
    const LineInfo *info = el_line(edit);
    int size = (int)(info->cursor - info->buffer);
    char *before = th_printf("%.*s", size, info->buffer);

    (void)unused;
    el_get(edit, EL_CLIENTDATA, &editor);
    editor->complete(editor->context, before, &completions);
    if (completions.words.count > 0)
        use_words(editor, &completions.words, (size_t)size - completions.from);
    th_library_names_free(&completions.words);
    th_free(before);
    return CC_REFRESH;
}

/* --- The terminal ----------------------------------------------------------------------------- */

/* The terminal's settings before the current line, and whether a line is being edited. Written by
 * the editor (release); read by the handler of a crash (acquire). */
static struct termios before;
static atomic_bool editing;

void th_cli_line_editor_restore(void)
{
    if (atomic_load_explicit(&editing, memory_order_acquire))
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

/* Set by a signal handler in any thread, cleared by the editor; relaxed, as no other data depends
 * on them. */
static atomic_bool changed, stopping;

static void on_terminal(int number, siginfo_t *info, void *context)
{
    (void)info, (void)context;
    atomic_store_explicit(number == SIGTSTP ? &stopping : &changed, true, memory_order_relaxed);
}

static const int terminal_signals[] = {SIGTSTP, SIGCONT, SIGWINCH};
enum { TERMINAL_SIGNALS = sizeof terminal_signals / sizeof terminal_signals[0] };

/* Shows the line again: the width has changed, or another program has used the terminal. */
static void show_again(struct th_line_editor *editor)
{
    bool stops = atomic_exchange_explicit(&stopping, false, memory_order_relaxed);

    if (!editor->plain)
        el_set(editor->edit, EL_PREP_TERM, 0);
    if (stops)
        th_cli_interrupt_stop_program();
    if (editor->plain)
        return;
    el_set(editor->edit, EL_PREP_TERM, 1);
    el_resize(editor->edit);
    fputc('\r', editor->out);
    el_set(editor->edit, EL_REFRESH);
}

/* --- Keys ------------------------------------------------------------------------------------- */

/* Waits for input. Returns true if there is input; false if the line ends. */
static bool wait_for_keys(struct th_line_editor *editor)
{
    struct pollfd waits[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                             {.fd = editor->descriptor, .events = POLLRDHUP}};
    sigset_t open;

    pthread_sigmask(SIG_BLOCK, NULL, &open);
    for (size_t i = 0; i < TH_INTERRUPT_SIGNALS; i++)
        sigdelset(&open, th_cli_interrupt_signals[i]);
    for (size_t i = 0; i < TERMINAL_SIGNALS; i++)
        sigdelset(&open, terminal_signals[i]);
    while (!th_cli_interrupt_came() && ppoll(waits, 2, NULL, &open) < 0 &&
           (atomic_exchange_explicit(&changed, false, memory_order_relaxed) ||
            atomic_load_explicit(&stopping, memory_order_relaxed)))
        show_again(editor);
    if (waits[0].revents)
        return true;
    editor->end = waits[1].revents ? TH_LINE_NEWS : TH_LINE_INTERRUPTED;
    return false;
}

/* Decodes and removes the first character of the input; skips invalid bytes. Returns false if no
 * complete character is there. */
static bool line_editor_take_character(struct th_line_editor *editor, wchar_t *key)
{
    struct th_buffer *read = &editor->read;
    size_t used = (size_t)-1, taken = 0;

    while (used == (size_t)-1 && taken < read->size) {
        mbstate_t state = {0};
        used = mbrtowc(key, (char *)read->data + taken, read->size - taken, &state);
        if (used != (size_t)-2)
            taken += used == 0 || used == (size_t)-1 ? 1 : used;
    }
    if (taken > 0) {
        read->size -= taken;
        memmove(read->data, read->data + taken, read->size);
    }
    return used < (size_t)-2;
}

/* Reads one key for libedit (EL_GETCFN). Returns 1, or 0 at the end of the line. Before the editor
 * leaves a line, the cursor moves to the line's end, so that later output begins below. */
static int read_key(EditLine *edit, wchar_t *key)
{
    struct th_line_editor *editor;
    const LineInfo *line;
    bool had_tab;

    el_get(edit, EL_CLIENTDATA, &editor);
    had_tab = editor->tab;
    *key = 0;
    while (!editor->leaving && !line_editor_take_character(editor, key)) {
        ssize_t got;
        if (!wait_for_keys(editor)) {
            editor->leaving = true;
            *key = TO_END_OF_LINE;
            return 1;
        }
        got = read(STDIN_FILENO, th_buffer_reserve(&editor->read, READ), READ);
        if (got <= 0)
            editor->leaving = true;
        else
            editor->read.size += (size_t)got;
    }
    editor->tab = had_tab && *key == '\t';
    line = el_line(edit);
    return !editor->leaving &&
           (editor->plain || *key != END_OF_INPUT || line->lastchar != line->buffer);
}

/* --- Lines ------------------------------------------------------------------------------------ */

static char *prompt_of(EditLine *edit)
{
    struct th_line_editor *editor;

    el_get(edit, EL_CLIENTDATA, &editor);
    return (char *)editor->prompt;
}

static bool can_move_cursor(void)
{
    const char *kind = getenv("TERM");

    return kind && *kind && strcmp(kind, "dumb") != 0;
}

bool th_cli_line_terminal(void)
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && can_move_cursor();
}

struct th_line_editor *th_cli_line_editor_create(FILE *out, th_completer *complete, void *context)
{
    /* Keys beyond those of libedit's Emacs mode. */
    static const char *const bound[][2] = {
        {"^U", "vi-kill-line-prev"},       {"^W", "ed-delete-prev-word"},
        {"\\e[1~", "ed-move-to-beg"},      {"\\e[7~", "ed-move-to-beg"},
        {"\\e[4~", "ed-move-to-end"},      {"\\e[8~", "ed-move-to-end"},
        {"\\e[3~", "ed-delete-next-char"}, {"\\e[1;5C", "em-next-word"},
        {"\\e[1;5D", "ed-prev-word"},
    };
    struct th_line_editor *editor = th_alloc_zero(sizeof *editor);
    EditLine *edit;
    HistEvent event;
    locale_t locale;

    editor->out = out;
    editor->complete = complete;
    editor->context = context;
    editor->plain = !can_move_cursor();
    editor->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", 0);
    locale = uselocale(editor->utf8);
    editor->history = history_init();
    editor->edit = edit = el_init("tracehost", stdin, out, stderr);
    if (!edit || !editor->history) {
        uselocale(locale);
        th_cli_line_editor_free(editor);
        return NULL;
    }
    history(editor->history, &event, H_SETSIZE, HISTORY);
    history(editor->history, &event, H_SETUNIQUE, 1);
    el_set(edit, EL_CLIENTDATA, editor);
    el_set(edit, EL_EDITOR, "emacs");
    el_set(edit, EL_PROMPT, prompt_of);
    el_set(edit, EL_HIST, history, editor->history);
    el_set(edit, EL_GETCFN, read_key);
    el_set(edit, EL_SETTY, "-d", "-ixon", NULL);
    for (size_t i = 0; i < sizeof bound / sizeof bound[0]; i++)
        el_set(edit, EL_BIND, bound[i][0], bound[i][1], NULL);
    if (complete) {
        el_wset(edit, EL_ADDFN, L"complete-line", L"complete the word before the cursor",
                complete_line); /* el_set() would copy both texts and never free them */
        el_set(edit, EL_BIND, "^I", "complete-line", NULL);
    }
    if (editor->plain)
        el_set(edit, EL_EDITMODE, 0);
    uselocale(locale);
    return editor;
}

void th_cli_line_editor_free(struct th_line_editor *editor)
{
    if (editor->edit)
        el_set(editor->edit, EL_EDITMODE, 1); /* only in this mode el_end() restores the terminal */
    el_end(editor->edit);
    if (editor->history)
        history_end(editor->history);
    if (editor->utf8)
        freelocale(editor->utf8);
    th_buffer_free(&editor->read);
    th_free(editor->typed);
    th_free(editor);
}

enum th_line_end th_cli_line_edit(struct th_line_editor *editor, const char *prompt, int descriptor,
                                  const char **line)
{
    struct sigaction old[TERMINAL_SIGNALS];
    sigset_t held, mask;
    locale_t locale = uselocale(editor->utf8);
    const char *typed;
    HistEvent event;
    int count;

    editor->prompt = prompt;
    editor->descriptor = descriptor;
    editor->end = TH_LINE_OVER;
    editor->leaving = editor->tab = false;

    /* Signals are unblocked only while the editor waits for keys. */
    sigemptyset(&held);
    for (size_t i = 0; i < TERMINAL_SIGNALS; i++)
        sigaddset(&held, terminal_signals[i]);
    pthread_sigmask(SIG_BLOCK, &held, &mask);
    for (size_t i = 0; i < TERMINAL_SIGNALS; i++)
        th_cli_interrupt_handle(terminal_signals[i], on_terminal, &old[i]);
    tcgetattr(STDIN_FILENO, &before);
    atomic_store_explicit(&editing, true, memory_order_release);
    typed = el_gets(editor->edit, &count);
    atomic_store_explicit(&editing, false, memory_order_release);
    for (size_t i = 0; i < TERMINAL_SIGNALS; i++)
        sigaction(terminal_signals[i], &old[i], NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);

    if (typed && count > 0 && !editor->leaving)
        editor->end = TH_LINE_TYPED;
    else
        fputs(editor->end == TH_LINE_INTERRUPTED && !editor->plain ? "^C\n" : "\n", editor->out);
    fflush(editor->out);
    th_free(editor->typed);
    editor->typed =
        th_printf("%.*s", editor->end == TH_LINE_TYPED ? count - 1 : 0, typed ? typed : "");
    if (*editor->typed)
        history(editor->history, &event, H_ENTER, editor->typed);
    uselocale(locale);
    *line = editor->typed;
    return editor->end;
}
