%% @doc The libraries of tracehost's tracers, in the folder `priv'. Each tracer has a module of its own, such as
%% `tracehost_count', which loads the library and is named in `{tracer, tracehost_count, Settings}'.
-module(tracehost_tracers).
-export([names/0, library/1]).

%% @doc Returns the names of the tracers; the module of `count' is `tracehost_count'.
-spec names() -> [string()].
names() ->
    lists:sort([filename:basename(File, ".so") || File <- filelib:wildcard(library("*.so"))]).

%% @doc Returns the path of the library of a tracer, without the suffix.
-spec library(string()) -> file:filename().
library(Name) ->
    case code:priv_dir(tracehost_tracers) of
        {error, bad_name} ->
            error({not_in_the_code_path, "the folder of the application tracehost_tracers has another name"});
        Folder ->
            filename:join(Folder, Name)
    end.
