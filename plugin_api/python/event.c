/* Class Event: a record of a stream. */
#include "binding.h"

struct event {
    PyObject_HEAD unsigned long long number, position, dropped;
    long long time;
    enum tracehost_time_kind time_kind;
    enum tracehost_record_kind kind;
    PyObject *tag, *tracee, *term;
};

static PyTypeObject *event_type;

PyObject *th_python_time_kind(enum tracehost_time_kind kind)
{
    static const char *const names[] = {
        [TRACEHOST_TIME_TIMESTAMP] = "timestamp",
        [TRACEHOST_TIME_CPU] = "cpu",
        [TRACEHOST_TIME_MONOTONIC] = "monotonic",
        [TRACEHOST_TIME_STRICT_MONOTONIC] = "strict_monotonic",
    };

    if (kind == TRACEHOST_TIME_NONE || kind >= sizeof names / sizeof *names)
        Py_RETURN_NONE;
    return th_python_static_atom(names[kind]);
}

PyObject *th_python_time(enum tracehost_time_kind kind, int64_t ns)
{
    if (kind == TRACEHOST_TIME_NONE)
        Py_RETURN_NONE;
    return PyLong_FromLongLong(ns);
}

PyObject *th_python_event(const struct tracehost_record *record, PyObject *term)
{
    struct event *made = term ? PyObject_GC_New(struct event, event_type) : NULL;

    if (!made) {
        Py_XDECREF(term);
        return NULL;
    }
    made->number = record->number;
    made->position = record->position;
    made->dropped = record->dropped;
    made->time = record->time;
    made->time_kind = record->time_kind;
    made->kind = record->kind;
    made->term = term;
    made->tag = record->tag ? th_python_static_atom(record->tag) : Py_NewRef(Py_None);
    made->tracee = th_python_word_value(record->tracee);
    PyObject_GC_Track(made);
    if (!made->tag || !made->tracee)
        Py_CLEAR(made);
    return (PyObject *)made;
}

static int traverse_event(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((struct event *)object)->term);
    return 0;
}

static int clear_event(PyObject *object)
{
    Py_CLEAR(((struct event *)object)->term);
    return 0;
}

static void free_event(PyObject *object)
{
    struct event *event = (struct event *)object;
    PyTypeObject *type = Py_TYPE(object);

    PyObject_GC_UnTrack(object);
    Py_XDECREF(event->term);
    Py_XDECREF(event->tag);
    Py_XDECREF(event->tracee);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

static PyObject *get_time(PyObject *object, void *closure)
{
    struct event *event = (struct event *)object;

    (void)closure;
    return th_python_time(event->time_kind, event->time);
}

static PyObject *get_time_kind(PyObject *object, void *closure)
{
    (void)closure;
    return th_python_time_kind(((struct event *)object)->time_kind);
}

static PyObject *get_kind(PyObject *object, void *closure)
{
    static const char *const names[] = {
        [TRACEHOST_RECORD_TRACE] = "trace",
        [TRACEHOST_RECORD_SEQ_TRACE] = "seq_trace",
        [TRACEHOST_RECORD_DROP] = "drop",
        [TRACEHOST_RECORD_OTHER] = "other",
    };

    (void)closure;
    return th_python_static_atom(names[((struct event *)object)->kind]);
}

static PyObject *text_of_event(PyObject *object)
{
    struct event *event = (struct event *)object;

    return PyUnicode_FromFormat("<tracehost.Event %llu: %R>", event->number, event->term);
}

static PyMemberDef members[] = {
    {"number", T_ULONGLONG, offsetof(struct event, number), READONLY,
     "Number of the record in its stream, from 1."},
    {"position", T_ULONGLONG, offsetof(struct event, position), READONLY,
     "Offset of the record's first byte in its file, from 0, in bytes."},
    {"dropped", T_ULONGLONG, offsetof(struct event, dropped), READONLY,
     "Number of events that the recorder lost here; 0 unless kind is 'drop'."},
    {"tag", T_OBJECT_EX, offsetof(struct event, tag), READONLY,
     "Tag of the trace message, as 'call'; None unless kind is 'trace'."},
    {"tracee", T_OBJECT_EX, offsetof(struct event, tracee), READONLY,
     "Pid or Port of the recorded node; None if there is none."},
    {"term", T_OBJECT_EX, offsetof(struct event, term), READONLY,
     "The whole record, as it was recorded: ('trace', Pid, 'call', (M, F, Args)); ('drop', N) for\n"
     "a drop."},
    {0},
};

static PyGetSetDef attributes[] = {
    {.name = "time",
     .get = get_time,
     .doc = "Time in nanoseconds of the clock time_kind; None if the record has none."},
    {.name = "time_kind",
     .get = get_time_kind,
     .doc = "Clock of the time: 'timestamp' (system time since 1970), 'cpu', 'monotonic',\n"
            "'strict_monotonic'; None if the record has no time."},
    {.name = "kind",
     .get = get_kind,
     .doc = "'trace', 'seq_trace', 'drop' (events that the recorder lost) or 'other'."},
    {0},
};

PyDoc_STRVAR(event_text, "A record of a stream: a trace message, a drop, or another term.");
static PyType_Slot slots[] = {
    {Py_tp_dealloc, free_event},     {Py_tp_traverse, traverse_event},
    {Py_tp_clear, clear_event},      {Py_tp_members, members},
    {Py_tp_getset, attributes},      {Py_tp_repr, text_of_event},
    {Py_tp_doc, (void *)event_text}, {0},
};
static PyType_Spec spec = {
    .name = "tracehost.Event",
    .basicsize = sizeof(struct event),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

bool th_python_add_event(PyObject *module)
{
    return th_python_add_type(module, &event_type, &spec);
}
