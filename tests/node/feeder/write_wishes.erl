%% Writes wishes for tracehost_agent:start/2 in external format, NAME.wish each, into the current folder.
-module(write_wishes).
-export([main/0]).

main() ->
    Sell = {shop, sell, 1, true, [local]},
    Wishes = [
        {sell, #{patterns => [Sell]}},
        {flood, #{patterns => [Sell], max_rate => 100000}},
        {impatient, #{patterns => [Sell], dead_ms => 1500}},
        {not_loaded, #{patterns => [{ftp, open, 1, true, [local]}]}},
        {bad_match_spec, #{patterns => [Sell, {shop, sell, 1, [{['_'], [], [{foo}]}], [local]}]}},
        {bad_flag, #{tracees => [{processes, [call, sometimes]}]}},
        {no_process, #{tracees => [{{pid, <<"<0.99999.0>">>}, [call]}]}},
        {no_name, #{tracees => [{{name, nobody}, [call]}]}},
        {traced_by, #{tracees => [{{name, traced}, [call]}]}},
        {pattern_of_other, #{patterns => [{shop, work, 1, true, [local]}]}}],
    [ok = file:write_file(atom_to_list(Name) ++ ".wish", term_to_binary(maps:merge(usual(), Wish))) ||
        {Name, Wish} <- Wishes],
    halt().

usual() ->
    #{tracees => [{processes, [call, timestamp]}], patterns => [], messages => [], load => false,
        max_rate => infinity, max_bytes => infinity, sample => 0, window => 524288, backlog => 16777216,
        dead_ms => 5000, names => false}.
