"""A mixture of experts: small nets side by side, weighted by a softmax gate."""

from __future__ import annotations

from invman.architecture.presets.options import Chosen, Option, Preset, bracket, function, sizes_line, switch


def _build(chosen: Chosen) -> str:
    out = ["o"] if chosen.size("output") > 1 else []
    sizes = {"d": chosen.size("d"), "e": chosen.size("experts"), "m": chosen.size("ff")}
    if out:
        sizes["o"] = chosen.size("output")
    bias = chosen.on("bias")
    lines = [
        "input x[d]",
        "p[e] = softmax[e](G[e,d]*x[d]" + " + bG[e]" * bias + ")",
        f"h[e,m] = {chosen.word('act')}(W[e,m,d]*x[d]" + " + b[e,m]" * bias + ")",
        f"f{bracket(out)} = p[e]*V{bracket(['e', *out, 'm'])}*h[e,m]",
    ]
    if bias:
        lines[-1] += f" + p[e]*c{bracket(['e', *out])}"
    return "\n".join([*lines, sizes_line(sizes)])


MOE = Preset(
    "moe",
    (
        Option("d"),
        Option("experts"),
        Option("ff"),
        Option("output", default=1),
        function("act", "tanh"),
        switch("bias"),
    ),
    _build,
)
"""``moe(d=2,experts=3,ff=4)``: input x[d], gate ``p[e] = softmax(G[e,d] x[d])``, output
``p[e] V[e,m] act(W[e,m,d] x[d])`` (``V[e,o,m]`` with several outputs)."""
