"""Convolutional nets in one and two dimensions: valid convolutions, then a linear read-out."""

from __future__ import annotations

from functools import partial

from invman.architecture.presets.options import Chosen, Option, Preset, bracket, function, sizes_line, switch


def _build(extents: tuple[str, ...], chosen: Chosen) -> str:
    kernel, stride, bias = chosen.size("kernel"), chosen.size("stride"), chosen.on("bias")
    letters = "tz"[: len(extents)]
    lengths = [chosen.size(extent) for extent in extents]
    sizes = {"c0": chosen.size("input")} | {f"{a}0": n for a, n in zip(letters, lengths, strict=True)}
    lines, below = [f"input x{bracket(['c0', *(f'{a}0' for a in letters)])}"], "x"
    taps = [f"{'u' if a == 't' else 'w'}" for a in letters]
    sizes |= dict.fromkeys(taps, kernel)
    for n in range(1, chosen.size("layers") + 1):
        if min(lengths) < kernel:
            hint = f"Valid convolutions shrink the signal; layer {n} gets {min(lengths)}."
            chosen.fail("kernel", f"a kernel of at most {min(lengths)}", hint)
        lengths = [(length - kernel) // stride + 1 for length in lengths]
        here = [f"{a}{n}" for a in letters]
        sizes |= {f"c{n}": chosen.size("channels")} | dict(zip(here, lengths, strict=True))
        places = [f"{'' if stride == 1 else f'{stride}*'}{a}+{u}" for a, u in zip(here, taps, strict=True)]
        inner = f"W{n}{bracket([f'c{n}', f'c{n - 1}', *taps])}*{below}{bracket([f'c{n - 1}', *places])}"
        inner += f" + b{n}[c{n}]" * bias
        lines.append(f"h{n}{bracket([f'c{n}', *here])} = {chosen.word('act')}({inner})")
        below = f"h{n}"
    lines += _read_out(chosen, below, [f"{a}{chosen.size('layers')}" for a in letters], sizes)
    return "\n".join([*lines, sizes_line(sizes)])


def _read_out(chosen: Chosen, below: str, places: list[str], sizes: dict[str, int]) -> list[str]:
    channel = f"c{chosen.size('layers')}"
    out = ["o"] if chosen.size("output") > 1 else []
    if out:
        sizes["o"] = chosen.size("output")
    lines = []
    if chosen.word("pool") == "mean":
        lines.append(f"g[{channel}] = mean{bracket(places)}({below}{bracket([channel, *places])})")
        below, places = "g", []
    lines.append(f"f{bracket(out)} = a{bracket([*out, channel, *places])}*{below}{bracket([channel, *places])}")
    if chosen.on("bias"):
        lines[-1] += f" + c{bracket(out)}"
    return lines


def _preset(name: str, extents: tuple[str, ...]) -> Preset:
    options = (
        *(Option(extent) for extent in extents),
        Option("kernel"),
        Option("channels"),
        Option("input", default=1),
        Option("output", default=1),
        Option("layers", default=1, largest=1000),
        Option("stride", default=1),
        function("act", "tanh"),
        Option("pool", ("mean", "none"), "mean"),
        switch("bias"),
    )
    return Preset(name, options, partial(_build, extents))


CONV1D = _preset("conv1d", ("length",))
"""``conv1d(length=8,kernel=3,channels=4)``: input x[c0,t0], layer n ``hn[c,t] = act(Wn[c,b,u] x[b,stride*t+u])``, mean
over positions (``pool=none`` leaves it out), read-out ``a[c]``, or ``a[o,c]`` with several outputs."""

CONV2D = _preset("conv2d", ("height", "width"))
"""``conv2d(height=5,width=5,kernel=3,channels=2)``: the same with input x[c0,t0,z0] and ``Wn[c,b,u,w]``."""
