/* Tracers in Python: functions that the library calls for each event, with a TraceEvent. */
#include "binding.h"

#include <stdlib.h>

struct th_python_tracer {
    PyObject *enabled, *trace, *end; /* functions; NULL: not called */
    struct th_python_tape tape;      /* terms of the current event */
};

/* --- Events ----------------------------------------------------------------------------------- */

enum part { TRACEE, TERM, EXTRA, RESULT, SCHEDULER, PARTS };

struct trace_event {
    PyObject_HEAD unsigned long long number, session;
    long long time;
    enum tracehost_time_kind time_kind;
    PyObject *tag, *parts[PARTS];
};

static PyTypeObject *event_type;

static int traverse_event(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    for (int i = 0; i < PARTS; i++)
        Py_VISIT(((struct trace_event *)object)->parts[i]);
    return 0;
}

static int clear_event(PyObject *object)
{
    for (int i = 0; i < PARTS; i++)
        Py_CLEAR(((struct trace_event *)object)->parts[i]);
    return 0;
}

static void free_event(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    PyObject_GC_UnTrack(object);
    clear_event(object);
    Py_XDECREF(((struct trace_event *)object)->tag);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

static PyObject *get_time(PyObject *object, void *closure)
{
    struct trace_event *event = (struct trace_event *)object;

    (void)closure;
    return th_python_time(event->time_kind, event->time);
}

static PyObject *get_time_kind(PyObject *object, void *closure)
{
    (void)closure;
    return th_python_time_kind(((struct trace_event *)object)->time_kind);
}

static PyObject *text_of_event(PyObject *object)
{
    struct trace_event *event = (struct trace_event *)object;

    return PyUnicode_FromFormat("<tracehost.TraceEvent %llu: %R %S %R>", event->number,
                                event->parts[TRACEE], event->tag, event->parts[TERM]);
}

/* Lays the terms of an event on the tape. Without the lock. Bit I of the result is set for part I. */
static bool flatten_event(struct th_python_tape *tape, const struct tracehost_event *event,
                          unsigned *given)
{
    const ERL_NIF_TERM terms[PARTS] = {event->tracee, event->term, event->extra,
                                       event->match_spec_result, event->scheduler_id};

    tape->count = tape->bytes = 0;
    *given = 0;
    for (int i = 0; i < PARTS; i++) {
        if (!terms[i])
            continue;
        if (!th_python_flatten(tape, event->env, terms[i]))
            return false;
        *given |= 1U << i;
    }
    return true;
}

static PyObject *build_event(const struct th_python_tape *tape, const struct tracehost_event *event,
                             unsigned given)
{
    struct trace_event *made = PyObject_GC_New(struct trace_event, event_type);
    size_t at = 0;
    bool good = made != NULL;

    if (!good)
        return NULL;
    made->number = event->number;
    made->session = event->session;
    made->time = event->time;
    made->time_kind = event->time_kind;
    made->tag = th_python_static_atom(event->tag);
    for (int i = 0; i < PARTS; i++) {
        made->parts[i] = !good             ? NULL
                         : given & 1U << i ? th_python_build(tape, &at)
                                           : Py_NewRef(Py_None);
        good = good && made->parts[i];
    }
    PyObject_GC_Track(made);
    if (!good || !made->tag)
        Py_CLEAR(made);
    return (PyObject *)made;
}

/* --- Callbacks -------------------------------------------------------------------------------- */

/* Calls FUNCTION with the event. Returns NULL with an exception. */
static PyObject *call_with_event(struct th_python_tracer *tracer, PyObject *function,
                                 const struct tracehost_event *event, bool flat, unsigned given)
{
    PyObject *argument = flat ? build_event(&tracer->tape, event, given) : PyErr_NoMemory();
    PyObject *answer = argument ? PyObject_CallFunctionObjArgs(function, argument, NULL) : NULL;

    Py_XDECREF(argument);
    if (!answer)
        th_python_host_keep_exception(function);
    return answer;
}

static void trace(void *context, const struct tracehost_event *event)
{
    struct th_python_tracer *tracer = context;
    unsigned given;
    bool flat = flatten_event(&tracer->tape, event, &given);
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *answer = call_with_event(tracer, tracer->trace, event, flat, given);

    Py_XDECREF(answer);
    PyGILState_Release(state);
}

/* Reads the answer of a tracer: True or 'trace', False or 'discard', 'remove'. */
static enum tracehost_answer read_answer(PyObject *answer)
{
    if (answer == Py_True)
        return TRACEHOST_ANSWER_TRACE;
    if (answer == Py_False)
        return TRACEHOST_ANSWER_DISCARD;
    if (PyUnicode_Check(answer)) {
        if (PyUnicode_CompareWithASCIIString(answer, "trace") == 0)
            return TRACEHOST_ANSWER_TRACE;
        if (PyUnicode_CompareWithASCIIString(answer, "discard") == 0)
            return TRACEHOST_ANSWER_DISCARD;
        if (PyUnicode_CompareWithASCIIString(answer, "remove") == 0)
            return TRACEHOST_ANSWER_REMOVE;
    }
    PyErr_Format(PyExc_TypeError,
                 "enabled() must return True, False, 'trace', 'discard' or 'remove', not %R",
                 answer);
    th_python_host_keep_exception(answer);
    return TRACEHOST_ANSWER_DISCARD;
}

static enum tracehost_answer enabled(void *context, const struct tracehost_event *event)
{
    struct th_python_tracer *tracer = context;
    enum tracehost_answer read = TRACEHOST_ANSWER_DISCARD;
    unsigned given;
    bool flat = flatten_event(&tracer->tape, event, &given);
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *answer = call_with_event(tracer, tracer->enabled, event, flat, given);

    if (answer)
        read = read_answer(answer);
    Py_XDECREF(answer);
    PyGILState_Release(state);
    return read;
}

static void end(void *context)
{
    struct th_python_tracer *tracer = context;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *answer =
        tracer->end ? PyObject_CallFunctionObjArgs(tracer->end, NULL) : Py_NewRef(Py_None);

    if (!answer)
        th_python_host_keep_exception(tracer->end);
    Py_XDECREF(answer);
    th_python_tracer_free(tracer);
    PyGILState_Release(state);
}

/* --- Life ------------------------------------------------------------------------------------- */

static PyObject *function_of(PyObject *given)
{
    return given == Py_None ? NULL : Py_NewRef(given);
}

struct th_python_tracer *th_python_tracer_make(PyObject *given,
                                               struct tracehost_callbacks *callbacks)
{
    PyObject *asked, *traced, *ended;
    int functions_only;
    struct th_python_tracer *tracer;

    if (!PyArg_ParseTuple(given, "OOOp:callbacks", &asked, &traced, &ended, &functions_only))
        return NULL;
    tracer = calloc(1, sizeof *tracer);
    if (!tracer)
        return (struct th_python_tracer *)PyErr_NoMemory();
    tracer->enabled = function_of(asked);
    tracer->trace = Py_NewRef(traced);
    tracer->end = function_of(ended);
    *callbacks = (struct tracehost_callbacks){
        .size = sizeof *callbacks,
        .context = tracer,
        .enabled = tracer->enabled ? enabled : NULL,
        .trace = trace,
        .end = end,
        .functions_only = functions_only,
    };
    return tracer;
}

void th_python_tracer_free(struct th_python_tracer *tracer)
{
    if (!tracer)
        return;
    Py_XDECREF(tracer->enabled);
    Py_XDECREF(tracer->trace);
    Py_XDECREF(tracer->end);
    th_python_tape_free(&tracer->tape);
    free(tracer);
}

#define PART(part) (offsetof(struct trace_event, parts) + (part) * sizeof(PyObject *))

static PyMemberDef members[] = {
    {"number", T_ULONGLONG, offsetof(struct trace_event, number), READONLY,
     "Number of the record in its stream, from 1; 0: no recorded event."},
    {"session", T_ULONGLONG, offsetof(struct trace_event, session), READONLY,
     "Number of the session."},
    {"tag", T_OBJECT_EX, offsetof(struct trace_event, tag), READONLY,
     "Tag of the trace message, as 'call'."},
    {"tracee", T_OBJECT_EX, PART(TRACEE), READONLY, "Pid or Port; seq_trace: the label."},
    {"term", T_OBJECT_EX, PART(TERM), READONLY,
     "call: (M, F, Args), or (M, F, Arity) if only the arity is known; return_from, "
     "exception_from:\n"
     "(M, F, Arity); send, receive: the message. None in enabled()."},
    {"extra", T_OBJECT_EX, PART(EXTRA), READONLY,
     "return_from: the value; exception_from: (Class, Reason); send: the receiver. None in\n"
     "enabled(), and for tags that have none."},
    {"result", T_OBJECT_EX, PART(RESULT), READONLY,
     "Message of the match specification; None if there is none, and in enabled()."},
    {"scheduler_id", T_OBJECT_EX, PART(SCHEDULER), READONLY,
     "Number of the scheduler; None if it was not recorded, and in enabled()."},
    {0},
};

static PyGetSetDef attributes[] = {
    {.name = "time",
     .get = get_time,
     .doc = "Time in nanoseconds of the clock time_kind; None if the record has none, and in "
            "enabled()."},
    {.name = "time_kind",
     .get = get_time_kind,
     .doc =
         "'timestamp' (system time since 1970), 'cpu', 'monotonic', 'strict_monotonic', or None."},
    {0},
};

PyDoc_STRVAR(event_text, "An event, as a tracer in Python gets it.");
static PyType_Slot slots[] = {
    {Py_tp_dealloc, free_event},     {Py_tp_traverse, traverse_event},
    {Py_tp_clear, clear_event},      {Py_tp_members, members},
    {Py_tp_getset, attributes},      {Py_tp_repr, text_of_event},
    {Py_tp_doc, (void *)event_text}, {0},
};
static PyType_Spec spec = {
    .name = "tracehost.TraceEvent",
    .basicsize = sizeof(struct trace_event),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

bool th_python_add_tracer(PyObject *module)
{
    return th_python_add_type(module, &event_type, &spec);
}
