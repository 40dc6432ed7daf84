/*
 * The Python module `tracehost`: the C part, _tracehost.abi3.so, with the stable ABI of Python 3.11.
 *
 * A recording's terms become Python values in two steps. flatten.c, without the interpreter's lock,
 * lays the terms of a batch out as a tape of items. build.c, with the lock, makes Python values of
 * the tape. So other threads run while a stream is read and decoded, and the lock is changed once a
 * batch. encode.c makes terms of Python values.
 *
 * Threads: "lock" in this folder is the interpreter's lock (GIL). Functions need the lock, unless
 * their comment says "without the lock". The module works in the main interpreter alone, so its
 * types and caches are variables of this library, which the lock protects.
 *
 * Errors: a function that returns PyObject * returns NULL with a Python exception set. Other
 * functions say what they return.
 */
#ifndef TH_PYTHON_BINDING_H
#define TH_PYTHON_BINDING_H

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <tracehost.h>

/* Method of a class or module with keyword arguments, as an element of a PyMethodDef table. */
#define TH_PYTHON_KEYWORDS(name, function, text)                                          \
    {                                                                                     \
        name, (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS, text \
    }

/* --- module.c --------------------------------------------------------------------------------- */

/* Makes *TYPE of SPEC, unless it is made already, and adds it to MODULE. Returns false with an
 * exception. */
bool th_python_add_type(PyObject *module, PyTypeObject **type, PyType_Spec *spec);

/* --- errors.c --------------------------------------------------------------------------------- */

/* A copy of a thread's chain of causes. */
struct th_python_chain {
    enum tracehost_status status;
    char *links; /* each with its 0, an empty one behind the last; NULL: no memory for the copy */
};

/* Copies the chain of the calling thread, whose latest call returned STATUS. Without the lock.
 * Owner: th_python_chain_raise() or th_python_chain_exception() frees the copy. */
void th_python_chain_take(struct th_python_chain *chain, enum tracehost_status status);

/* Makes a chain of one LINK. Without the lock. */
void th_python_chain_set(struct th_python_chain *chain, enum tracehost_status status,
                         const char *link);

/* Makes the exception of a chain, and frees the copy. */
PyObject *th_python_chain_exception(struct th_python_chain *chain);

/* Set the exception of CHAIN, or of the calling thread's chain for STATUS; return NULL. */
PyObject *th_python_chain_raise(struct th_python_chain *chain);
PyObject *th_python_raise(enum tracehost_status status);

/* Sets a UsageError with TEXT; returns NULL. */
PyObject *th_python_misused(const char *text);

/* --- flatten.c: terms as a tape --------------------------------------------------------------- */

enum th_python_item_kind {
    TH_PYTHON_ATOM,       /* word */
    TH_PYTHON_INTEGER,    /* integer */
    TH_PYTHON_BIG,        /* bytes: external format */
    TH_PYTHON_FLOAT,      /* number */
    TH_PYTHON_BINARY,     /* bytes */
    TH_PYTHON_BITSTRING,  /* bytes: external format */
    TH_PYTHON_LOCAL,      /* word of a pid or port of the recorded node */
    TH_PYTHON_IDENTIFIER, /* bytes: external format of another pid or port, a reference or a fun */
    TH_PYTHON_TUPLE,      /* count elements follow */
    TH_PYTHON_LIST,       /* count elements follow */
    TH_PYTHON_IMPROPER,   /* count elements follow, the last one is the tail */
    TH_PYTHON_MAP         /* count elements follow: key, value, key, value, ... */
};

struct th_python_item {
    enum th_python_item_kind kind;
    size_t count; /* of elements, or bytes */
    union {
        ERL_NIF_TERM word;
        int64_t integer;
        double number;
        const unsigned char *bytes; /* valid as long as the environment of the term */
    };
};

/* Terms in the order in which they are written: a container, then its elements. */
struct th_python_tape {
    struct th_python_item *items;
    size_t count, room;
    size_t bytes; /* of binaries and external formats on the tape */
    struct th_python_frame *frames;
    size_t frame_room;
};

/* Appends TERM of ENV to the tape. Without the lock. Returns false if memory runs out; the tape is
 * then as before. */
bool th_python_flatten(struct th_python_tape *tape, ErlNifEnv *env, ERL_NIF_TERM term);

void th_python_tape_free(struct th_python_tape *tape);

/* --- build.c: values of a tape ---------------------------------------------------------------- */

/* Makes the value of the term that begins at item *AT, and sets *AT behind its items. */
PyObject *th_python_build(const struct th_python_tape *tape, size_t *at);

/* Makes the value of TERM of ENV. */
PyObject *th_python_value(ErlNifEnv *env, ERL_NIF_TERM term);

/* Makes the value of an atom, or of a pid or port of the recorded node; None if WORD is 0. */
PyObject *th_python_word_value(ERL_NIF_TERM word);

/* Returns the class NAME of tracehost.values; the module owns it. */
PyObject *th_python_value_class(const char *name);

/* --- encode.c: terms of values ---------------------------------------------------------------- */

/* Makes the term of VALUE in ENV. Returns false with an exception. */
bool th_python_encode(ErlNifEnv *env, PyObject *value, ERL_NIF_TERM *term);

/* --- atom.c, identifier.c --------------------------------------------------------------------- */

/* A table of Python objects by words that stay valid: atoms, local pids and ports, addresses of tags. */
struct th_python_table {
    struct th_python_entry *entries;
    size_t room, used;
};

/* Returns the object of KEY, borrowed, or NULL without an exception. */
PyObject *th_python_table_get(const struct th_python_table *table, uintptr_t key);

/* Adds VALUE, a new reference that the table takes, which is returned borrowed. Returns NULL with
 * an exception if there is no memory. */
PyObject *th_python_table_put(struct th_python_table *table, uintptr_t key, PyObject *value);

/* Drops all objects. */
void th_python_table_clear(struct th_python_table *table);

extern PyTypeObject *th_python_atom_type, *th_python_identifier_type;

/* Returns the Atom of an atom's word, or of a text that is valid for ever. */
PyObject *th_python_atom(ERL_NIF_TERM word);
PyObject *th_python_static_atom(const char *text);

/* Gets the word of an Atom, or of a text that is taken for an atom's name. Returns false with an exception. */
bool th_python_atom_word(PyObject *text, ERL_NIF_TERM *word);

/* Makes the Pid, Port, Reference or Fun of SIZE bytes of external format. WORD is its word if the
 * word is valid for ever, or 0. */
PyObject *th_python_identifier(const unsigned char *external, size_t size, ERL_NIF_TERM word);

/* Returns the Pid or Port of a local word. */
PyObject *th_python_local(ERL_NIF_TERM word);

/* Makes the term of an Identifier in ENV. Returns false with an exception. */
bool th_python_identifier_term(ErlNifEnv *env, PyObject *identifier, ERL_NIF_TERM *term);

bool th_python_add_atom(PyObject *module);
bool th_python_add_identifiers(PyObject *module);

/* --- stream.c, batch.c ------------------------------------------------------------------------ */

/* A record of a batch. */
struct th_python_recorded {
    struct tracehost_record record;
    size_t at; /* first item of its term */
};

/* Records that were read together. */
struct th_python_batch {
    ErlNifEnv *env;
    struct th_python_recorded *records;
    size_t count, next, most; /* of records: read, first that was not taken, limit */
    struct th_python_tape tape;
    struct th_python_chain fault; /* damage behind the records */
    bool faulty;                  /* `fault` is set */
    bool ended;                   /* no record is left behind the batch */
};

/* Reads the next batch. Without the lock. Bounds: `most` records, and no record begins behind 64 Ki
 * items or 1 MiB of binaries. */
void th_python_batch_read(struct th_python_batch *batch, tracehost_stream *stream);

void th_python_batch_free(struct th_python_batch *batch);

bool th_python_add_stream(PyObject *module);

/* Begin and end a use of STREAM by a replay. th_python_stream_use() returns NULL with an exception
 * if STREAM is no open Stream, is in use, or if events of it were read. */
tracehost_stream *th_python_stream_use(PyObject *stream);
void th_python_stream_leave(PyObject *stream);

/* Make the values of a time: its kind, the Atom of a name, and its nanoseconds; None without a time. */
PyObject *th_python_time_kind(enum tracehost_time_kind kind);
PyObject *th_python_time(enum tracehost_time_kind kind, int64_t ns);
bool th_python_add_event(PyObject *module);

/* Makes the Event of a record, whose TERM it takes over; NULL for TERM is a failure before. */
PyObject *th_python_event(const struct tracehost_record *record, PyObject *term);

/* --- host.c, session.c, tracer.c, replay.c, match.c----------------------------------------------- */

/*
 * Begin and end a use of the host by the calling thread. Calls of the library that wait or call
 * tracers run without the lock, so other threads may come: th_python_host_enter() refuses them.
 * Callbacks in the same thread may enter again. th_python_host_enter() returns NULL with an
 * exception if no host runs or another thread uses it.
 */
tracehost_host *th_python_host_enter(void);
void th_python_host_leave(void);

/* Makes a CALL of the library, without the lock, and sets STATUS. */
#define TH_PYTHON_UNLOCKED(status, call)        \
    do {                                        \
        Py_BEGIN_ALLOW_THREADS status = (call); \
        Py_END_ALLOW_THREADS                    \
    } while (0)

/* Keeps the exception of a callback, with its traceback, until th_python_host_failed(). The first
 * one is kept; sys.unraisablehook reports later ones, with the name of WHERE. */
void th_python_host_keep_exception(PyObject *where);

/* Sets the kept exception, if there is one; th_python_host_has_failed() only returns whether there
 * is one, without the lock. */
bool th_python_host_failed(void);
bool th_python_host_has_failed(void);

/* Returns None for TRACEHOST_OK, else NULL with the thread's chain as exception; an exception of a
 * callback comes first. */
PyObject *th_python_answer(enum tracehost_status status);

/* Counts of a structure of the library as a dict. */
struct th_python_count {
    const char *name;
    size_t offset; /* of a uint64_t */
};
PyObject *th_python_counts(const void *structure, const struct th_python_count *counts);

/* Makes a tracer of (enabled, trace, end, functions_only), and its table of callbacks.
 * Owner: the session, which frees the tracer when it ends; th_python_tracer_free() if no session was created. */
struct th_python_tracer *th_python_tracer_make(PyObject *functions,
                                               struct tracehost_callbacks *callbacks);
void th_python_tracer_free(struct th_python_tracer *tracer);

bool th_python_add_tracer(PyObject *module);
bool th_python_add_host(PyObject *module);
bool th_python_add_session(PyObject *module);
bool th_python_add_replay(PyObject *module);
bool th_python_add_match(PyObject *module);

#endif
