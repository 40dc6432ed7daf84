%% @private The application, and the supervisor of the running recordings.
-module(tracehost_tracers_app).
-behaviour(application).
-behaviour(supervisor).
-export([start/2, stop/1, init/1, start_recording/0, recordings/0]).

-spec start(application:start_type(), term()) -> {ok, pid()} | {error, term()}.
start(_, _) ->
    case supervisor:start_link({local, ?MODULE}, ?MODULE, []) of
        {ok, Pid} -> {ok, Pid};
        {error, Reason} -> {error, Reason}
    end.

-spec stop(term()) -> ok.
stop(_) ->
    ok.

-spec init([]) -> {ok, {supervisor:sup_flags(), [supervisor:child_spec()]}}.
init([]) ->
    {ok, {#{strategy => simple_one_for_one},
          [#{id => recording, restart => temporary, start => {tracehost_record, start_link, []}}]}}.

-spec start_recording() -> {ok, pid()} | {error, term()}.
start_recording() ->
    case application:ensure_all_started(tracehost_tracers) of
        {ok, _} ->
            {ok, Pid} = supervisor:start_child(?MODULE, []),
            {ok, Pid};
        {error, Reason} ->
            {error, {not_started, Reason}}
    end.

-spec recordings() -> [pid()].
recordings() ->
    case whereis(?MODULE) of
        undefined -> [];
        _ -> [Pid || {_, Pid, _, _} <- supervisor:which_children(?MODULE), is_pid(Pid)]
    end.
