#include "stack_dump.h"

#include "host/base/base.h"

enum {
    MOST_FRAMES = 64,
    TERM_BYTES = 200 /* of the text of what a frame keeps */
};

static void print_offset(struct th_buffer *text, const struct th_callee *callee, uintptr_t offset)
{
    th_text_print_atom(text, th_library_name(callee->library));
    th_buffer_printf(text, "+0x%zx", (size_t)offset);
}

/* Code of CALLEE's instance at ADDRESS, which what waits keeps there; a function that ARGC says to
 * be one of that many arguments, or CALLEE itself. */
static void print_code(struct th_buffer *text, const struct th_callee *callee, uintptr_t address,
                       int argc)
{
    struct th_code_place place;
    bool known;

    th_progress_enter();
    known = th_code_place(address, &place);
    th_progress_leave();
    th_buffer_add_byte(text, '(');
    if (!known) {
        th_buffer_add_text(text, callee->name);
    } else if (address - place.inside == (uintptr_t)callee->code) {
        th_buffer_printf(text, "%s + %zu", callee->name, (size_t)place.inside);
    } else if (place.function) {
        th_text_print_atom(text, th_library_name(callee->library));
        th_buffer_printf(text, ":%s/%d + %zu", place.function, argc, (size_t)place.inside);
    } else {
        print_offset(text, callee, place.inside);
    }
    th_buffer_add_byte(text, ')');
}

static void print_source(struct th_buffer *text, const struct th_callee *callee, uintptr_t at)
{
    struct th_line line;

    if (th_library_line(callee->library, at, &line) && line.file)
        th_buffer_printf(text, " %s:%u", line.file, line.line);
}

static void print_address(struct th_buffer *text, const char *before, uintptr_t address)
{
    th_buffer_printf(text, "%s0x%016zx ", before, (size_t)address);
}

/* What waits on the C stack: its call is at WAITER->at, and one byte on it returns. */
static void print_native(struct th_buffer *text, const struct th_waiter *waiter)
{
    uintptr_t back = waiter->at ? waiter->at + 1 : 0;

    print_address(text, "", waiter->frame);
    print_address(text, "Return addr ", back);
    print_code(text, waiter->callee, back, (int)waiter->callee->function->arity);
    print_source(text, waiter->callee, waiter->at);
    th_buffer_add_byte(text, '\n');
}

static void print_kept(struct th_buffer *text, const struct th_frame_kept *frame)
{
    const struct th_continuation *then = &frame->then;
    uintptr_t code = (uintptr_t)then->code;

    print_address(text, "", (uintptr_t)then->argv);
    print_address(text, "Return addr ", code);
    print_code(text, then->callee, code, then->argc);
    print_source(text, then->callee, code);
    th_buffer_add_byte(text, '\n');
    for (int i = 1; i < then->argc; i++) { /* the first is for the result */
        th_buffer_printf(text, "y(%d)     ", i - 1);
        th_text_print_limited(text, then->argv[i], TERM_BYTES);
        th_buffer_add_byte(text, '\n');
    }
    if (!frame->catches)
        return;
    th_buffer_printf(text, "y(%d)     ", then->argc - 1);
    print_address(text, "Catch ", code);
    print_code(text, then->callee, code, then->argc);
    th_buffer_add_byte(text, '\n');
}

void th_runtime_stack_dump(const struct th_process *process, uintptr_t from, struct th_buffer *text)
{
    struct th_waiter waiters[MOST_FRAMES];
    size_t count = th_traced_callers_find(process, from, waiters, MOST_FRAMES);

    th_buffer_add_text(text, "Stack dump:\n");
    for (size_t i = 0; i < count; i++) {
        th_buffer_add_text(text, i > 0 ? "\n" : "");
        if (waiters[i].kept)
            print_kept(text, waiters[i].kept);
        else
            print_native(text, &waiters[i]);
    }
}
