#include "activity.h"

static void begin(const struct activity *activity, struct doing *doing, ERL_NIF_TERM who,
                  bool running, const struct moment *now)
{
    doing->open = !activity->closed;
    doing->sent = activity->sent;
    doing->now = (struct interval){.who = who, .running = running, .from = *now};
}

static bool make_room(struct activity *activity)
{
    uint32_t size = activity->size ? 2 * activity->size : 256;
    struct interval *all;

    if (activity->count < activity->size)
        return true;
    if (activity->count == INTERVALS_MOST) {
        activity->more++;
        return false;
    }
    all = realloc(activity->all, size * sizeof *all);
    if (!all) {
        activity->lost++;
        return false;
    }
    activity->all = all;
    activity->size = size;
    return true;
}

static void end(struct activity *activity, struct doing *doing, const struct moment *now)
{
    if (!doing->open)
        return;
    doing->open = false;
    doing->now.to = *now;
    doing->now.known = doing->now.running;
    doing->now.before = doing->last;
    if (!make_room(activity))
        return;
    doing->last = activity->count;
    activity->all[activity->count++] = doing->now;
}

/* The outermost call has ended. */
static void end_outermost(struct activity *activity, struct doing *doing, const struct moment *now)
{
    end(activity, doing, now);
    for (uint32_t i = doing->last; i != UINT32_MAX; i = activity->all[i].before)
        activity->all[i].known = !doing->doubtful;
    doing->last = UINT32_MAX;
    doing->doubtful = false;
}

static void doubted(void *of, const struct frame *frame)
{
    struct doing *doing = of;

    (void)frame;
    doing->doubtful = true;
}

static void count_call(struct interval *now, const struct mfa *mfa)
{
    if (!now->calls++)
        now->first = *mfa;
}

void activity_call(ErlNifEnv *env, struct activity *activity, struct doing *doing, ERL_NIF_TERM who,
                   ERL_NIF_TERM tag, const struct mfa *mfa, ERL_NIF_TERM opts)
{
    struct moment now = moment_take(env, opts, ERL_NIF_NSEC);
    bool call = tag == TH_TRACER_ATOM(env, call);

    if (!doing->scheduled) {
        doing->stack.repairs = &activity->repairs;
        doing->stack.doubted = doubted;
        doing->stack.of = doing;
        if (!doing->stack.shown)
            doing->last = UINT32_MAX;
        stack_event(env, &doing->stack, tag, mfa, opts);
        if (!doing->stack.shown)
            end_outermost(activity, doing, &now);
    }
    if (!call)
        return;
    if (doing->open && doing->sent != activity->sent) {
        end(activity, doing, &now);
        begin(activity, doing, who, doing->scheduled, &now);
    } else if (!doing->open && !doing->scheduled) {
        begin(activity, doing, who, false, &now);
    }
    if (doing->open)
        count_call(&doing->now, mfa);
}

void activity_schedule(struct activity *activity, struct doing *doing, ERL_NIF_TERM who, bool in,
                       const struct moment *now)
{
    if (!doing->scheduled) {
        doing->scheduled = true;
        doing->open = false;
        stack_free(&doing->stack);
        doing->stack = (struct stack){0};
    }
    if (in)
        begin(activity, doing, who, true, now);
    else
        end(activity, doing, now);
}
