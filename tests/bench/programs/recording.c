/*
 * Writes a recording as a node's trace port does, with timestamps, to stdout: a record each 10 us.
 *
 *   recording RECORDS [WANTED] | tracehost convert --index - OUT.trace.zst
 *
 * BUSY processes act all the time, and half of the records are theirs; RARE processes act in one second of RARE each; PROCESSES
 * others live two minutes on average, and others follow. All have an open call since they were spawned; they take a message,
 * call functions with other arguments each time, and answer. The file WANTED gets a line for each of some choices: its name,
 * the frames of 1 MiB that have what it wants, the number of the events that it wants, and the options.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RATE = 100 * 1000, /* records a second */
    MICROSECONDS = 1000 * 1000 / RATE,
    BUSY = 8,
    RARE = 16,
    PROCESSES = 2000,
    FIRST_PID = 100,
    PIDS = 1 << 15, /* then the serial of a pid grows */
    LIFE = 400,     /* acts of an ordinary process before it ends, on average */
    MODULES = 20,
    FUNCTIONS = 10, /* of each module */
    FRAME = 1 << 20,
    FLUSH_AT = 1 << 20,
    RECORD_MOST = 2048,
    BEGIN_S = 1795233757
};

static unsigned char out[FLUSH_AT + RECORD_MOST], *at = out;
static uint64_t records, record_count, frame, frame_bytes;
static uint64_t dice = UINT64_C(0x9E3779B97F4A7C15);
static uint32_t pids[BUSY + RARE + PROCESSES], next_pid = FIRST_PID;

/* --- Wishes of some choices -------------------------------------------------------------------- */

enum { ALL_FUNCTIONS = -1, RARE_FUNCTION = MODULES * FUNCTIONS };

static struct choice {
    const char *name;
    int process;       /* index of `pids`; -1: all */
    int function;      /* of which calls are wanted; ALL_FUNCTIONS: all events */
    uint64_t from, to; /* seconds; `to` excluded */
    uint64_t frames, events, last_frame;
} choices[] = {{.name = "busy", .process = 0, .function = ALL_FUNCTIONS},
               {.name = "rare", .function = ALL_FUNCTIONS},
               {.name = "function", .process = -1, .function = 34},
               {.name = "rare function", .process = -1, .function = RARE_FUNCTION},
               {.name = "rare, at all times", .function = ALL_FUNCTIONS}};
enum { CHOICES = sizeof choices / sizeof choices[0] };

/* The choices are of the second in the middle. */
static void begin_choices(void)
{
    uint64_t second = record_count / RATE / 2;

    for (int i = 0; i < CHOICES; i++) {
        choices[i].from = i + 1 < CHOICES ? second : 0;
        choices[i].to = i + 1 < CHOICES ? second + 1 : UINT64_MAX;
        choices[i].last_frame = UINT64_MAX;
        if (choices[i].process == 0 && i > 0)
            choices[i].process = BUSY + (int)(second % RARE);
    }
}

/* Counts the next record, of the process, for the choices; FUNCTION is the called one or -2. */
static void count_wanted(int process, int function)
{
    uint64_t second = records / RATE;

    for (struct choice *choice = choices; choice < choices + CHOICES; choice++) {
        if (second < choice->from || second >= choice->to ||
            (choice->process >= 0 && choice->process != process) ||
            (choice->function != ALL_FUNCTIONS && choice->function != function))
            continue;
        choice->events++;
        choice->frames += choice->last_frame != frame;
        choice->last_frame = frame;
    }
}

static void print_function(FILE *file, int function)
{
    if (function == RARE_FUNCTION)
        fprintf(file, " -p audit:check/2");
    else if (function != ALL_FUNCTIONS)
        fprintf(file, " -p server_%d:handle_%d/2", function / FUNCTIONS, function % FUNCTIONS);
}

static int write_wanted(const char *name)
{
    FILE *file = fopen(name, "w");

    if (!file)
        return 1;
    for (const struct choice *choice = choices; choice < choices + CHOICES; choice++) {
        fprintf(file, "%s\t%" PRIu64 "\t%" PRIu64 "\t", choice->name, choice->frames,
                choice->events);
        if (choice->to != UINT64_MAX)
            fprintf(file, "--from=%" PRIu64 " --to=%" PRIu64 ".999999", choice->from, choice->from);
        if (choice->process >= 0)
            fprintf(file, " --processes=<0.%d.0>", FIRST_PID + choice->process);
        print_function(file, choice->function);
        fputc('\n', file);
    }
    return fclose(file) != 0;
}

/* --- Terms (the external term format) ----------------------------------------------------------- */

static uint64_t throw_dice(uint64_t sides)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return dice % sides;
}

static void put(uint64_t x, int bytes)
{
    while (bytes-- > 0)
        *at++ = (unsigned char)(x >> 8 * bytes);
}

static void put_atom(const char *name)
{
    size_t size = strlen(name);

    put(100, 1);
    put(size, 2);
    memcpy(at, name, size);
    at += size;
}

static void put_numbered(const char *name, int number)
{
    char text[32];

    snprintf(text, sizeof text, "%s%d", name, number);
    put_atom(text);
}

static void put_int(uint32_t x)
{
    put(x < 256 ? 97 : 98, 1);
    put(x, x < 256 ? 1 : 4);
}

static void put_tuple(int arity)
{
    put(104, 1);
    put((unsigned)arity, 1);
}

static void put_list(int size)
{
    put(108, 1);
    put((unsigned)size, 4);
}

static void put_pid(int process)
{
    put(88, 1);
    put_atom("nonode@nohost");
    put(pids[process] % PIDS, 4);
    put(pids[process] / PIDS, 4);
    put(0, 4);
}

/* One of many texts. */
static void put_binary(void)
{
    uint64_t text = throw_dice(throw_dice(4) ? 16 : 4096), size = 8 + text % 13;

    put(109, 1);
    put(size, 4);
    for (uint64_t i = 0; i < size; i++, text = text * 31 + 7)
        put('a' + text / 8 % 26, 1);
}

static void put_value(void)
{
    put_tuple(3);
    put_atom(throw_dice(4) ? "ok" : "error");
    put_int((uint32_t)throw_dice(throw_dice(4) ? 100 : 1000000));
    put_binary();
}

static void put_function(int function)
{
    if (function == RARE_FUNCTION) {
        put_atom("audit");
        put_atom("check");
        return;
    }
    put_numbered("server_", function / FUNCTIONS);
    put_numbered("handle_", function % FUNCTIONS);
}

/* --- Records ------------------------------------------------------------------------------------ */

static unsigned char *record; /* the head of the one that is being written */

static void begin_record(int process, const char *tag, int arity, int function)
{
    count_wanted(process, function);
    record = at;
    put(0, 5);
    put(131, 1);
    put_tuple(arity);
    put_atom("trace_ts");
    put_pid(process);
    put_atom(tag);
}

static void end_record(void)
{
    uint64_t us = records * MICROSECONDS;
    unsigned char *end;

    put_tuple(3);
    put_int((uint32_t)((BEGIN_S + us / 1000000) / 1000000));
    put_int((uint32_t)((BEGIN_S + us / 1000000) % 1000000));
    put_int((uint32_t)(us % 1000000));
    end = at;
    at = record + 1;
    put((uint64_t)(end - record) - 5, 4);
    at = end;
    records++;
    frame_bytes += (uint64_t)(end - record);
    frame += frame_bytes >= FRAME;
    frame_bytes = frame_bytes >= FRAME ? 0 : frame_bytes;
    if (at - out >= FLUSH_AT) {
        if (fwrite(out, 1, (size_t)(at - out), stdout) != (size_t)(at - out))
            exit(1);
        at = out;
    }
}

static void call(int process, int function)
{
    begin_record(process, "call", 5, function);
    put_tuple(3);
    put_function(function);
    put_list(2);
    put_value();
    put_int((uint32_t)throw_dice(1000));
    put(106, 1);
    end_record();
}

static void return_from(int process, int function)
{
    begin_record(process, "return_from", 6, -2);
    put_tuple(3);
    put_function(function);
    put_int(2);
    put_value();
    end_record();
}

static void receive_message(int process)
{
    begin_record(process, "receive", 5, -2);
    put_value();
    end_record();
}

static void send_message(int process, int to)
{
    begin_record(process, "send", 6, -2);
    put_value();
    put_pid(to);
    end_record();
}

static void put_start(void)
{
    put_tuple(3);
    put_atom("server_0");
    put_atom("loop");
    put_list(1);
    put_atom("start");
    put(106, 1);
}

/* A process with the next pid takes the place of PROCESS. The first one has no parent. */
static void spawn_process(int process)
{
    pids[process] = next_pid++;
    if (process > 0) {
        begin_record(0, "spawn", 6, -2);
        put_pid(process);
        put_start();
        end_record();
        begin_record(process, "spawned", 6, -2);
        put_pid(0);
        put_start();
        end_record();
    }
    begin_record(process, "call", 5, -2);
    put_start();
    end_record();
}

static void end_process(int process)
{
    begin_record(process, "exit", 5, -2);
    put_atom("normal");
    end_record();
}

static int function_of(int process)
{
    return (process * 7 + (int)throw_dice(12)) % (MODULES * FUNCTIONS);
}

/* Takes a message, calls functions, one of another, and answers. */
static void act(int process, int function)
{
    int depth = (int)throw_dice(4), called[3];

    receive_message(process);
    call(process, function);
    for (int i = 0; i < depth && i < 3; i++) {
        called[i] = function_of(process);
        call(process, called[i]);
    }
    for (int i = depth < 3 ? depth : 3; i-- > 0;)
        return_from(process, called[i]);
    send_message(process, (int)throw_dice(BUSY + RARE + PROCESSES));
    return_from(process, function);
}

int main(int argc, char **argv)
{
    uint64_t second = 0;

    if (argc < 2 || argc > 3)
        return 2;
    record_count = strtoull(argv[1], NULL, 10);
    begin_choices();
    for (int i = 0; i < BUSY + RARE + PROCESSES; i++)
        spawn_process(i);
    while (records < record_count) {
        int process = BUSY + RARE + (int)throw_dice(PROCESSES);
        if (records / RATE >= second && records % RATE > RATE / 3) {
            act(BUSY + (int)(second++ % RARE), RARE_FUNCTION);
        }
        act((int)throw_dice(BUSY), function_of((int)throw_dice(BUSY)));
        act(process, function_of(process));
        if (throw_dice(LIFE) == 0) {
            end_process(process);
            spawn_process(process);
        }
    }
    if (fwrite(out, 1, (size_t)(at - out), stdout) != (size_t)(at - out) || fflush(stdout) != 0)
        return 1;
    return argc == 3 ? write_wanted(argv[2]) : 0;
}
