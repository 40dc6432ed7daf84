%% The functions that `tracehost call` has in addition to Erlang's own.
-module(tracehost).
-export([open_port/1]).

open_port(File) -> erlang:open_port({spawn, "cat >" ++ File}, [stream, out]).
