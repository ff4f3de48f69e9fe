"""The residual multilayer perceptron: x + V act(W x), a few times over."""

from __future__ import annotations

from invman.architecture.presets import normalisation
from invman.architecture.presets.normalisation import normalise
from invman.architecture.presets.options import Chosen, Option, Preset, function, sizes_line, switch


def _build(chosen: Chosen) -> str:
    sizes, bias = {"d": chosen.size("d")}, chosen.on("bias")
    lines, stream = ["input x[d]"], "x"
    for n in range(1, chosen.size("layers") + 1):
        sizes[f"m{n}"] = chosen.size("ff")
        more, normal = normalise(chosen.word("norm"), stream, f"a{n}", gain=chosen.on("gain"), bias=bias)
        lines += [*more, f"h{n}[m{n}] = {chosen.word('act')}(W{n}[m{n},d]*{normal}[d]" + f" + bW{n}[m{n}]" * bias + ")"]
        lines.append(f"r{n}[d] = {stream}[d] + V{n}[d,m{n}]*h{n}[m{n}]" + f" + bV{n}[d]" * bias)
        stream = f"r{n}"
    return "\n".join([*lines, sizes_line(sizes)])


RESMLP = Preset(
    "resmlp",
    (
        Option("d"),
        Option("ff"),
        Option("layers", default=1, largest=1000),
        function("act", "tanh"),
        *normalisation.OPTIONS,
        switch("bias"),
    ),
    _build,
)
"""``resmlp(d=4,ff=8,layers=2)``: input x[d], output of the last block; block n has ``Wn[m,d]`` and ``Vn[d,m]``."""
