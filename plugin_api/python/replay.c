/* Replays of streams. */
#include "binding.h"

enum { TURN_RECORDS = 8192 }; /* records between two looks for signals */

struct played {
    PyObject
        *damaged; /* None: the first damage is raised at the end; False: counted; else called */
    struct th_python_chain first;
    bool has_first;
};

/* Gives out the damage of a record. Returns false with an exception if the replay ends. Needs the lock. */
static bool give_damage(struct played *played, struct th_python_chain *chain)
{
    PyObject *exception, *answer;

    if (played->damaged == Py_None && !played->has_first) {
        played->has_first = true;
        played->first = *chain;
        return true;
    }
    exception = th_python_chain_exception(chain);
    if (!exception)
        return false;
    if (played->damaged == Py_None || played->damaged == Py_False) {
        Py_DECREF(exception);
        return true;
    }
    answer = PyObject_CallFunctionObjArgs(played->damaged, exception, NULL);
    Py_DECREF(exception);
    Py_XDECREF(answer);
    return answer != NULL;
}

/* Plays records until a callback has failed or the stream has an answer. Without the lock. */
static enum tracehost_status play_some(tracehost_replay *replay, struct th_python_chain *chain)
{
    enum tracehost_status status = TRACEHOST_OK;

    for (int i = 0; i < TURN_RECORDS && status == TRACEHOST_OK && !th_python_host_has_failed(); i++)
        status = tracehost_replay_step(replay, NULL);
    if (status != TRACEHOST_OK && status != TRACEHOST_END)
        th_python_chain_take(chain, status);
    return status;
}

/* Plays the stream. Returns false with an exception. */
static bool play(tracehost_replay *replay, struct played *played)
{
    for (;;) {
        struct th_python_chain chain;
        enum tracehost_status status;

        TH_PYTHON_UNLOCKED(status, play_some(replay, &chain));
        if (status == TRACEHOST_MALFORMED || status == TRACEHOST_PARTIAL) {
            if (!give_damage(played, &chain))
                return false;
        } else if (status != TRACEHOST_OK && status != TRACEHOST_END) {
            th_python_chain_raise(&chain);
            return false;
        }
        if (th_python_host_failed() || PyErr_CheckSignals() < 0)
            return false;
        if (status == TRACEHOST_END)
            return true;
    }
}

static PyObject *counts_of(tracehost_replay *replay)
{
    static const struct th_python_count members[] = {
        {"records", offsetof(struct tracehost_replay_counts, records)},
        {"played", offsetof(struct tracehost_replay_counts, played)},
        {"skipped", offsetof(struct tracehost_replay_counts, skipped)},
        {"drops", offsetof(struct tracehost_replay_counts, drops)},
        {"lost", offsetof(struct tracehost_replay_counts, lost)},
        {"malformed", offsetof(struct tracehost_replay_counts, malformed)},
        {"damages", offsetof(struct tracehost_replay_counts, damages)},
        {"short_calls", offsetof(struct tracehost_replay_counts, short_calls)},
        {"deep_calls", offsetof(struct tracehost_replay_counts, deep_calls)},
        {"left_ends", offsetof(struct tracehost_replay_counts, left_ends)},
        {"unended", offsetof(struct tracehost_replay_counts, unended)},
        {"shallow", offsetof(struct tracehost_replay_counts, shallow)},
        {"untimed", offsetof(struct tracehost_replay_counts, untimed)},
        {"held_most", offsetof(struct tracehost_replay_counts, held_most)},
        {"doubtful", offsetof(struct tracehost_replay_counts, doubtful)},
        {"unmatched", offsetof(struct tracehost_replay_counts, unmatched)},
        {0},
    };
    struct tracehost_replay_counts counts = {.size = sizeof counts};
    enum tracehost_status status = tracehost_replay_get_counts(replay, &counts);

    return status == TRACEHOST_OK ? th_python_counts(&counts, members) : th_python_raise(status);
}

/* Returns (counts, exception): the exception of the first damage, or None. */
static PyObject *play_to_end(tracehost_replay *replay, PyObject *damaged)
{
    struct played played = {.damaged = damaged};
    bool good = play(replay, &played);
    PyObject *counts = good ? counts_of(replay) : NULL, *damage, *kept[3];

    PyErr_Fetch(&kept[0], &kept[1], &kept[2]);
    damage = played.has_first ? th_python_chain_exception(&played.first) : Py_NewRef(Py_None);
    if (counts && damage)
        return Py_BuildValue("NN", counts, damage);
    Py_XDECREF(counts);
    Py_XDECREF(damage);
    if (kept[0])
        PyErr_Restore(kept[0], kept[1], kept[2]);
    return NULL;
}

static PyObject *replay_stream(tracehost_host *host, tracehost_stream *stream,
                               const struct tracehost_replay_options *options, PyObject *damaged)
{
    tracehost_replay *replay;
    enum tracehost_status status;
    PyObject *answer;

    TH_PYTHON_UNLOCKED(status, tracehost_replay_begin(host, stream, options, &replay));
    if (status != TRACEHOST_OK)
        return th_python_raise(status);
    answer = play_to_end(replay, damaged);
    TH_PYTHON_UNLOCKED(status, tracehost_replay_end(replay));
    if (status == TRACEHOST_OK || !answer)
        return answer;
    Py_DECREF(answer);
    return th_python_raise(status);
}

static bool take_bound(PyObject *given, int absolute, struct tracehost_bound *bound)
{
    if (given == Py_None)
        return true;
    bound->kind = absolute ? TRACEHOST_BOUND_ABSOLUTE : TRACEHOST_BOUND_RELATIVE;
    bound->time = PyLong_AsLongLong(given);
    return bound->time != -1 || !PyErr_Occurred();
}

static PyObject *replay(PyObject *module, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"stream", "start",        "end",   "absolute", "max_events",
                            "verify", "min_duration", "depth", "damaged",  NULL};
    struct tracehost_replay_options options = {.size = sizeof options};
    PyObject *object, *start, *end, *damaged, *answer = NULL;
    unsigned long long max_events;
    long long min_duration;
    unsigned depth;
    int absolute, verify;
    tracehost_stream *stream;
    tracehost_host *host;

    (void)module;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOOpKpLIO:replay", names, &object,
                                     &start, &end, &absolute, &max_events, &verify, &min_duration,
                                     &depth, &damaged) ||
        !take_bound(start, absolute, &options.from) || !take_bound(end, absolute, &options.to))
        return NULL;
    options.max_events = max_events;
    options.verify = verify;
    options.min_duration = min_duration;
    options.depth = depth;
    host = th_python_host_enter();
    if (!host)
        return NULL;
    stream = th_python_stream_use(object);
    if (stream) {
        answer = replay_stream(host, stream, &options, damaged);
        th_python_stream_leave(object);
    }
    th_python_host_leave();
    return answer;
}

static PyMethodDef functions[] = {
    TH_PYTHON_KEYWORDS("replay", replay, NULL),
    {0},
};

bool th_python_add_replay(PyObject *module)
{
    return PyModule_AddFunctions(module, functions) == 0;
}
