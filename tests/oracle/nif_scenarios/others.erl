%% Other processes and code in a BEAM; others.c has the same for tracehost.
-module(others).
-export([main/1, start/0, watch/2, link_and_exit/2, signal/2, load/2, purge/0, delete/0]).

%% Evaluates the forms of a file in a process of its own, as `tracehost call` does.
main([File]) ->
    ok = journal:load("../journal"),
    {Pid, Monitor} = spawn_monitor(fun() -> calls:evaluate(File) end),
    normal = receive {'DOWN', Monitor, process, Pid, Reason} -> Reason end,
    halt(0, [{flush, true}]).

start() -> spawn(fun() -> obey(nothing) end).

obey(Kept) ->
    receive
        return -> Kept;
        {exit, Reason} -> exit(Reason);
        {keep, From, Term} -> From ! {self(), kept}, obey(Term);
        {give, From, To} -> To ! {keep, From, Kept}, obey(Kept);
        {hold, From, Module, Function, Arguments} ->
            Term = apply(Module, Function, Arguments),
            From ! {self(), held},
            obey(Term);
        {call, From, Module, Function, Arguments} ->
            From ! {self(), apply(Module, Function, Arguments)},
            obey(Kept);
        _ -> error(failed)
    end.

%% A process that monitors Pid, and sends the reason of its end.
watch(Kind, Pid) ->
    To = self(),
    spawn(fun() ->
        process_flag(trap_exit, true),
        case Kind of
            monitor -> monitor(process, Pid);
            link -> link(Pid)
        end,
        To ! watches,
        receive
            {'DOWN', _, process, Pid, Reason} -> To ! {Kind, Reason};
            {'EXIT', Pid, Reason} -> To ! {Kind, Reason}
        end
    end),
    receive watches -> true end.

%% A process that links with Pid and ends.
link_and_exit(Pid, Reason) -> spawn(fun() -> link(Pid), exit(Reason) end), true.

signal(Pid, Reason) -> exit(Pid, Reason).

%% The code has another name than the code server would look for, so that no call loads it. Code whose on_load fails
%% does not replace the code before.
load(File, Info) ->
    persistent_term:put(scenarios, {filename:rootname(File), Info}),
    {ok, Code} = file:read_file("../scenarios.code"),
    case code:load_binary(scenarios, "scenarios.code", Code) of
        {module, scenarios} -> loaded;
        {error, on_load_failure} -> refused
    end.

purge() -> erlang:check_old_code(scenarios) andalso code:soft_purge(scenarios).

delete() -> code:delete(scenarios).
