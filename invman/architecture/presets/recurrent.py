"""A recurrent cell, unrolled over its steps, read out after the last one."""

from __future__ import annotations

from invman.architecture.presets.options import Chosen, Option, Preset, bracket, function, sizes_line, switch


def _build(chosen: Chosen) -> str:
    hidden, steps, output = chosen.size("hidden"), chosen.size("steps"), chosen.size("output")
    bias = " + b[k]" if chosen.on("bias") else ""
    sizes = {"t": steps, "i": chosen.size("input"), "k": hidden}
    lines = ["input x[t,i]"]
    for step in range(steps):
        before = f" + U[k,l]*h{step}[l]" if step else ""
        lines.append(f"h{step + 1}[k] = {chosen.word('act')}(W[k,i]*x[{step},i]{before}{bias})")
    if steps > 1:
        sizes["l"] = hidden
    out = ["o"] if output > 1 else []
    lines.append(f"f{bracket(out)} = a{bracket([*out, 'k'])}*h{steps}[k]")
    if chosen.on("bias"):
        lines[-1] += f" + c{bracket(out)}"
    if out:
        sizes["o"] = output
    return "\n".join([*lines, sizes_line(sizes)])


RNN = Preset(
    "rnn",
    (
        Option("input"),
        Option("hidden"),
        Option("steps", largest=1000),
        Option("output", default=1),
        function("act", "tanh"),
        switch("bias"),
    ),
    _build,
)
"""``rnn(input=2,hidden=3,steps=3)``: input x[t,i], hidden state ``act(W[k,i] x[t,i] + U[k,l] h[l])`` from zero, output
``a[k] h[k]`` after the last step (``a[o,k]`` with several outputs)."""
