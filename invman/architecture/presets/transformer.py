"""The pre-norm transformer: embedding, blocks of attention and feed-forward layers, read-out."""

from __future__ import annotations

from invman.architecture.activations import REGISTERED
from invman.architecture.presets.attention import check_rotary, heads, rotations
from invman.architecture.presets.normalisation import normalise
from invman.architecture.presets.options import Chosen, Option, Preset, sizes_line, switch


def _build(chosen: Chosen) -> str:
    dk, seq, bias, rotary = chosen.size("dk"), chosen.size("seq"), chosen.on("bias"), chosen.on("rotary")
    sizes = {"s": seq, "t": seq, "c": chosen.size("vocab"), "d": chosen.size("d")}
    lines = ["input x[s,c]"]
    if rotary:
        check_rotary(chosen)
        sizes["p"] = dk // 2
        lines += rotations(seq, dk)
    lines.append("e[s,d] = E[c,d]*x[s,c]" + (" + P[s,d]" if chosen.on("pos") else ""))
    stream = "e"
    for number in range(1, chosen.size("layers") + 1):
        n = str(number)
        sizes |= {f"h{n}": chosen.size("heads"), f"k{n}": dk, f"v{n}": chosen.size("dv"), f"m{n}": chosen.size("ff")}
        more, normal = _norm(chosen, stream, f"a{n}")
        lines += [*more, *heads(normal, dk, layer=n, bias=bias, causal=chosen.on("causal"), rotary=rotary)]
        lines.append(f"y{n}[s,d] = {stream}[s,d] + WO{n}[h{n},d,v{n}]*Z{n}[h{n},s,v{n}]" + f" + bO{n}[d]" * bias)
        more, normal = _norm(chosen, f"y{n}", f"f{n}")
        lines += [*more, *feed_forward(normal, n, act=chosen.word("act"), gated=chosen.on("gated"), bias=bias)]
        lines.append(f"r{n}[s,d] = y{n}[s,d] + WD{n}[d,m{n}]*H{n}[s,m{n}]" + f" + bD{n}[d]" * bias)
        stream = f"r{n}"
    more, normal = _norm(chosen, stream, "o")
    logits = f"{'E' if chosen.on('tied') else 'R'}[c,d]*{normal}[s,d]"
    lines += [*more, f"f[s,c] = softmax[c]({logits})" if chosen.word("readout") == "softmax" else f"f[s,c] = {logits}"]
    return "\n".join([*lines, sizes_line(sizes)])


def _norm(chosen: Chosen, source: str, label: str) -> tuple[list[str], str]:
    return normalise(chosen.word("norm"), source, label, over="s", gain=chosen.on("gain"), bias=chosen.on("bias"))


def feed_forward(source: str, n: str, *, act: str, gated: bool, bias: bool) -> list[str]:
    """Write the statements of the hidden layer ``H[s,m]``, gated as in SwiGLU (Shazeer, 2020) if wanted."""
    up, gate = (f"W{w}{n}[m{n},d]*{source}[s,d]" + f" + b{w}{n}[m{n}]" * bias for w in "UG")
    if not gated:
        return [f"H{n}[s,m{n}] = {act}({up})"]
    return [
        f"U{n}[s,m{n}] = {up}",
        f"G{n}[s,m{n}] = {act}({gate})",
        f"H{n}[s,m{n}] = G{n}[s,m{n}]*U{n}[s,m{n}]",
    ]


TRANSFORMER = Preset(
    "transformer",
    (
        Option("vocab"),
        Option("d"),
        Option("heads"),
        Option("dk"),
        Option("dv", default=lambda values: values["dk"]),
        Option("ff"),
        Option("layers", largest=1000),
        Option("seq"),
        Option("norm", ("none", "layer", "rms"), "layer"),
        switch("gain", "yes"),
        switch("gated"),
        Option(
            "act", default=lambda values: REGISTERED["silu" if values["gated"] == "yes" else "gelu"], activation=True
        ),
        switch("causal", "yes"),
        switch("tied"),
        switch("bias"),
        switch("pos"),
        switch("rotary"),
        Option("readout", ("softmax", "logits"), "softmax"),
    ),
    _build,
)
"""``transformer(vocab=5,d=8,heads=2,dk=4,ff=16,layers=1,seq=4)``: input x[s,c] one-hot, output f[s,c] at each position.

Layer n has ``WQn[h,k,d]``, ``WKn``, ``WVn[h,v,d]``, ``WOn[h,d,v]``, ``WUn[m,d]``, ``WDn[d,m]`` and, when gated,
``WGn[m,d]``; embedding ``E[c,d]``, learned positions ``P[s,d]`` (``pos=yes``), read-out ``R[c,d]``,
or E again (``tied=yes``). GPT-2 is ``norm=layer,bias=yes,pos=yes,tied=yes``, with the exact gelu instead of its tanh
approximation.
"""
