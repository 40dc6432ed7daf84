defmodule TracehostTracers.MixProject do
  use Mix.Project

  def project do
    [app: :tracehost_tracers, version: "@VERSION@", elixir: "~> 1.14", erlc_paths: ["src"], deps: []]
  end

  def application do
    [mod: {:tracehost_tracers_app, []}, registered: [:tracehost_tracers_app]]
  end
end
