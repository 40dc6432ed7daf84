# Each macro of Tracehost.Case, with calls that keep the rule and with calls that break it.
defmodule Till do
  def sell(thing), do: {:sold, ask(thing)}
  def ask(:pear), do: raise("no pears")
  def ask(_thing), do: 3
end

defmodule RulesTest do
  use ExUnit.Case
  use Tracehost.Case

  # The lines of the failure of FUN, with P for pids.
  defp broken(fun) do
    error = assert_raise(ExUnit.AssertionError, fun)
    error.message |> String.replace(~r/#PID<[0-9.]*>/, "P") |> String.split("\n    ")
  end

  test "values pass through, and so do exceptions" do
    assert {:sold, 3} == refute_called(:lists.seq/2, do: Till.sell(:plum))
    assert {:sold, 3} == assert_called(&Till.ask/1, at_least: 1, at_most: 1, do: Till.sell(:plum))
    assert {:sold, 3} == assert_called({Till, :ask, 1}, do: Till.sell(:plum))
    assert {:sold, 3} == refute_raised(Till.ask/1, do: Till.sell(:plum))
    assert_raise RuntimeError, "no pears", fn -> assert_called(Till.ask/1, do: Till.sell(:pear)) end
  end

  test "refute_called" do
    assert ["Till.ask/1: no call is allowed, 1 came", "P Till.ask(:plum), called by Till.sell/1"] ==
             broken(fn -> refute_called(Till.ask/1, do: Till.sell(:plum)) end)
  end

  test "assert_called" do
    assert ["Till.ask/1: at least 1 calls are wanted, 0 came"] == broken(fn -> assert_called(Till.ask/1, do: :nothing) end)
    twice = fn -> {Till.sell(:plum), Till.sell(<<0>>)} end

    assert ["Till.ask/1: at most 1 calls are allowed, 2 came", "P Till.ask(:plum), called by Till.sell/1", "P Till.ask(<<0>>), called by Till.sell/1"] ==
             broken(fn -> assert_called(Till.ask/1, at_least: 1, at_most: 1, do: twice.()) end)

    assert ["Till.ask/1: at least 3 calls are wanted, 2 came" | _] = broken(fn -> assert_called(Till.ask/1, at_least: 3, do: twice.()) end)
    assert "unknown calls are possible: {ended,{limit,events,1}}" ==
             List.last(broken(fn -> assert_called(Till.ask/1, at_most: 2, limits: %{events: 1}, do: twice.()) end))
  end

  test "refute_raised" do
    assert ["Till.ask/1: no exception is allowed, 1 came", "P Till.ask(:pear) ! error: %RuntimeError{message: \"no pears\"}, called by Till.sell/1"] ==
             broken(fn -> refute_raised(Till.ask/1, do: (try do Till.sell(:pear) rescue RuntimeError -> :none end)) end)
  end

  test "calls of other processes" do
    other = fn -> Task.await(Task.async(fn -> Till.sell(:plum) end)) end
    assert [_, _] = broken(fn -> refute_called(Till.ask/1, do: other.()) end)
    refute_called(Till.ask/1, processes: self(), do: other.())
  end

  test "a function that cannot be recorded" do
    assert ["the calls cannot be recorded: {:no_function, {Till, :nothing, 0}}"] == broken(fn -> refute_called(Till.nothing/0, do: 1) end)
  end
end
