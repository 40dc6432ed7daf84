%% @doc Records what happens in this node to a file for tracehost, with limits.
%%
%% The tracer `trace_port' writes the events in the processes where they happen: no process collects messages. Each
%% recording ends by {@link stop/1} or at its first limit; then no process is traced any more. From OTP 27 on a recording
%% has a trace session of its own.
-module(tracehost_record).
-behaviour(gen_server).
-export([start/1, stop/0, stop/1, info/1, run/2]).
-export([start_link/0, init/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2]).
-export_type([options/0, pattern/0, limits/0, report/0, ended/0]).

-type pattern() :: module() | mfa_pattern() | {mfa_pattern(), x | c | cx | true | [tuple()]}.
%% A module, a function, or a function with a match specification; as in `dbg', `x' adds results and exceptions, `c'
%% callers, `cx' both. Local calls are recorded, too.
-type mfa_pattern() :: {module() | '_', atom(), arity() | '_'}.
-type limits() :: #{events => limit(), bytes => limit(), ms => limit(), queue => limit()}.
%% The most events, bytes of the file, milliseconds, and messages in the queue of a process that may be traced. Without
%% one: 1000000 events, 100000000 bytes, 60000 ms, 10000 messages.
-type limit() :: pos_integer() | infinity.
-type options() :: #{file := file:name_all(), patterns => [pattern()], flags => [atom()],
                     processes => all | new | existing | pid() | atom() | [pid() | atom()],
                     limits => limits(), overwrite => boolean()}.
%% `flags' are those of `erlang:trace/3'; `call' without them. A time stamp, `monotonic_timestamp', is added if there is none.
%% `processes' is `all' without them.
-type ended() :: running | stopped | {limit, events | bytes | ms, pos_integer()} | {limit, queue, pos_integer(), pid()}
               | {failed, string()}.
-type report() :: #{file := file:name_all(), events := non_neg_integer(), bytes := non_neg_integer(),
                    left_out := non_neg_integer(), traced_by_others := non_neg_integer(),
                    ms := non_neg_integer(), ended := ended()}.
%% `left_out' is the number of events that came when a limit was reached already, and `traced_by_others' the number of
%% processes that were not traced because they have another tracer, which is possible before OTP 27.

-define(TRACER, tracehost_trace_port).
-define(STATUS_MS, 20). % time between two looks at the file
-define(QUEUES_MS, 200). % least time between two looks at the queues
-define(QUEUES_SHARE, 20). % the time for looking at the queues is at most this part of all
-define(NUMBER, 16#ffffffff). % the largest number of the tracer's settings

%% @doc Starts a recording. An existing file is refused, unless `overwrite' is true.
-spec start(options()) -> {ok, pid()} | {error, term()}.
start(Options) ->
    case tracehost_record_options:check(Options) of
        {ok, Checked} ->
            case tracehost_tracers_app:start_recording() of
                {ok, Pid} -> begin_recording(Pid, Checked);
                {error, Reason} -> {error, Reason}
            end;
        {error, Reason} -> {error, Reason}
    end.

%% @doc Stops the only recording.
-spec stop() -> {ok, report()} | {error, not_running | {several, [pid()]}}.
stop() ->
    case tracehost_tracers_app:recordings() of
        [] -> {error, not_running};
        [Pid] -> stop(Pid);
        Pids -> {error, {several, Pids}}
    end.

%% @doc Stops a recording, completes its file, and returns what is in it. Also of a recording that a limit has ended.
-spec stop(pid()) -> {ok, report()} | {error, not_running}.
stop(Pid) ->
    call(Pid, stop).

%% @doc Returns what a recording has written so far, and whether a limit has ended it.
-spec info(pid()) -> {ok, report()} | {error, not_running}.
info(Pid) ->
    call(Pid, info).

%% @doc Records while Fun runs. If Fun fails, the recording is stopped, and the exception goes on.
-spec run(options(), fun(() -> Value)) -> {ok, Value, report()} | {error, term()}.
run(Options, Fun) ->
    case start(Options) of
        {ok, Pid} ->
            try Fun() of
                Value ->
                    {ok, Report} = stop(Pid),
                    {ok, Value, Report}
            catch
                Class:Reason:Stack ->
                    _ = stop(Pid),
                    erlang:raise(Class, Reason, Stack)
            end;
        {error, Reason} -> {error, Reason}
    end.

begin_recording(Pid, Options) ->
    case call(Pid, {begin_recording, Options}) of
        ok -> {ok, Pid};
        {error, Reason} ->
            _ = stop(Pid),
            {error, Reason}
    end.

call(Pid, Request) ->
    try gen_server:call(Pid, Request, infinity)
    catch exit:{Reason, _} when Reason =:= noproc; Reason =:= normal; Reason =:= killed; Reason =:= shutdown ->
        {error, not_running}
    end.

%% --- The process of a recording ---------------------------------------------------------------------

%% Keys of its state, a map, once it has begun: options; tracing, see tracehost_tracing; settings, the tracer's state; guard;
%% began and queues_at, milliseconds; ended.

%% @private
-spec start_link() -> gen_server:start_ret().
start_link() ->
    gen_server:start_link(?MODULE, [], []).

%% @private
-spec init([]) -> {ok, map()}.
init([]) ->
    _ = process_flag(trap_exit, true),
    _ = process_flag(priority, high), % limits hold while the node is busy
    {ok, #{}}.

%% @private
-spec handle_call(term(), gen_server:from(), map()) -> {reply, term(), map()} | {stop, normal, term(), map()}.
handle_call({begin_recording, Options}, _, State) ->
    case begin_tracing(Options) of
        {ok, Begun} ->
            _ = erlang:send_after(?STATUS_MS, self(), look),
            {reply, ok, Begun};
        {error, Reason} ->
            {reply, {error, Reason}, State}
    end;
handle_call(stop, _, #{ended := _} = State) ->
    Ended = end_tracing(stopped, State),
    {stop, normal, {ok, report(Ended)}, Ended};
handle_call(info, _, #{ended := _} = State) ->
    {reply, {ok, report(State)}, State};
handle_call(_, _, State) ->
    {stop, normal, {error, not_running}, State}.

%% @private
-spec handle_cast(term(), map()) -> {noreply, map()}.
handle_cast(_, State) ->
    {noreply, State}.

%% @private
-spec handle_info(term(), map()) -> {noreply, map()}.
handle_info(look, #{ended := running} = State) ->
    case reached(State) of
        {running, Looked} ->
            _ = erlang:send_after(?STATUS_MS, self(), look),
            {noreply, Looked};
        {Why, Looked} ->
            Ended = end_tracing(Why, Looked),
            logger:warning("tracehost_record: the recording ~ts has ended: ~ts",
                           [maps:get(file, report(Ended)), why(Why)]),
            {noreply, Ended}
    end;
handle_info(_, State) ->
    {noreply, State}.

%% @private
-spec terminate(term(), map()) -> term().
terminate(_, State) ->
    end_tracing(stopped, State).

begin_tracing(#{processes := Processes, limits := #{queue := Longest}} = Options) ->
    case longer_queue(Processes, Longest) of
        {Pid, Length} ->
            {error, {queue, Length, Pid}};
        none ->
            case ?TRACER:load() of
                ok -> begin_file(Options);
                {error, Reason} -> {error, {not_loaded, Reason}}
            end
    end.

settings(#{file := File, limits := #{events := Events, bytes := Bytes}}) ->
    #{output => unicode:characters_to_binary(File), max_events => number(Events), max_bytes => number(Bytes),
      recording => erlang:unique_integer([positive]) band ?NUMBER}.

number(infinity) -> 0;
number(N) -> N.

begin_file(#{file := File} = Options) ->
    case make_file(File, Options) of
        {error, Reason} ->
            {error, {file, File, Reason}};
        Made ->
            case set_tracing(Options, settings(Options)) of
                {ok, Begun} ->
                    {ok, Begun};
                {error, Reason} ->
                    _ = Made =:= new andalso file:delete(File),
                    {error, Reason}
            end
    end.

%% Creates the file, so that of two recordings to one file only one begins. Returns new, or old for one that is there already.
make_file(File, #{overwrite := Overwrite}) ->
    case opens(File, [write, exclusive, raw]) of
        ok -> new;
        {error, eexist} when Overwrite ->
            case opens(File, [append, raw]) of
                ok -> old;
                Error -> Error
            end;
        Error -> Error
    end.

opens(File, Modes) ->
    case file:open(File, Modes) of
        {ok, Device} -> file:close(Device);
        Error -> Error
    end.

set_tracing(#{limits := #{ms := Ms}} = Options, Settings) ->
    case tracehost_tracing:prepare(Options, Settings) of
        {ok, Tracing} ->
            Guard = guard(Tracing, Settings),
            case tracehost_tracing:set(Tracing, Options) of
                {ok, Others} ->
                    Now = now_ms(),
                    Until = case Ms of infinity -> infinity; _ -> Now + Ms end,
                    {ok, #{options => Options, tracing => Tracing, settings => Settings, guard => Guard, began => Now,
                           until => Until, queues_at => Now + ?QUEUES_MS, traced_by_others => Others, ended => running}};
                {error, Reason} ->
                    Guard ! {leave, self()},
                    _ = close(Settings),
                    {error, Reason}
            end;
        {error, Reason} ->
            {error, Reason}
    end.

%% The tracer has no file yet if the tracing has not begun.
close(Settings) ->
    try ?TRACER:close(Settings)
    catch error:badarg -> none
    end.

%% A process that ends the tracing if this one is killed.
guard(Tracing, Settings) ->
    Recorder = self(),
    spawn(fun() ->
        Monitor = monitor(process, Recorder),
        receive
            {leave, Recorder} ->
                ok;
            {'DOWN', Monitor, process, Recorder, _} ->
                ok = tracehost_tracing:clear(Tracing),
                close(Settings)
        end
    end).

%% Ends the tracing, if it runs, and keeps the figures.
end_tracing(Why, #{ended := running, tracing := Tracing, settings := Settings, guard := Guard, began := Began} = State) ->
    ok = tracehost_tracing:clear(Tracing),
    {_, _, _, End} = Figures = ?TRACER:close(Settings),
    Guard ! {leave, self()},
    Ended = State#{figures => in_file(Figures, State), ms => now_ms() - Began, ended => Why},
    case {Why, of_file(End, State)} of
        {stopped, running} -> Ended;
        {stopped, Found} -> Ended#{ended => Found}; % since the last look
        _ -> Ended
    end;
end_tracing(_, State) ->
    State.

%% If writing failed, the tracer's figures include events that are not in the file. A device cannot be read again.
in_file({_, _, LeftOut, {failed, _} = End} = Figures, #{options := #{file := File}}) ->
    case filelib:is_regular(File) of
        true ->
            {Events, Bytes} = tracehost_recording:size(File),
            {Events, Bytes, LeftOut, End};
        false -> Figures
    end;
in_file(Figures, _) ->
    Figures.

report(#{options := #{file := File}, settings := Settings, traced_by_others := Others, began := Began, ended := Why} = State) ->
    {Events, Bytes, LeftOut, _} = case State of
        #{figures := Figures} -> Figures;
        _ -> ?TRACER:status(Settings)
    end,
    #{file => File, events => Events, bytes => Bytes, left_out => LeftOut, traced_by_others => Others,
      ms => maps:get(ms, State, now_ms() - Began), ended => Why}.

%% --- Limits -----------------------------------------------------------------------------------------

reached(#{settings := Settings, until := Until} = State) ->
    {_, _, _, End} = ?TRACER:status(Settings),
    case of_file(End, State) of
        running ->
            case now_ms() >= Until of
                true -> {limit(ms, State), State};
                false -> queues(State)
            end;
        Why ->
            {Why, State}
    end.

of_file(open, _) -> running;
of_file({failed, Text}, _) -> {failed, Text};
of_file(Kind, State) -> limit(Kind, State).

limit(Kind, #{options := #{limits := Limits}}) ->
    {limit, Kind, maps:get(Kind, Limits)}.

queues(#{options := #{processes := Processes, limits := #{queue := Longest}}, queues_at := At} = State) ->
    Before = now_ms(),
    case Before >= At andalso longer_queue(Processes, Longest) of
        false ->
            {running, State};
        none ->
            Now = now_ms(),
            {running, State#{queues_at => Now + max(?QUEUES_MS, ?QUEUES_SHARE * (Now - Before))}};
        {Pid, _} ->
            {{limit, queue, Longest, Pid}, State}
    end.

longer_queue(_, infinity) ->
    none;
longer_queue(Processes, Longest) when is_list(Processes) ->
    first_longer(Processes, Longest);
longer_queue(_, Longest) ->
    first_longer(processes(), Longest).

first_longer([], _) ->
    none;
first_longer([Pid | Pids], Longest) ->
    case process_info(Pid, message_queue_len) of
        {_, Length} when Length > Longest -> {Pid, Length};
        _ -> first_longer(Pids, Longest)
    end.

why({limit, queue, Longest, Pid}) -> io_lib:format("process ~w has more than ~w messages in its queue", [Pid, Longest]);
why({limit, events, N}) -> io_lib:format("~w events are recorded", [N]);
why({limit, bytes, N}) -> io_lib:format("the next event does not fit in ~w bytes", [N]);
why({limit, ms, N}) -> io_lib:format("~w ms have passed", [N]);
why({failed, Text}) -> ["the file cannot be written: ", Text].

now_ms() ->
    erlang:monotonic_time(millisecond).
