"""Attention: heads with W_Q, W_K, W_V and, usually, an output matrix W_O each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from invman.architecture.presets.options import Chosen, Option, Preset, sizes_line, switch

ROTARY_LIMIT = 2_000_000


def heads(
    source: str, dk: int, *, layer: str = "", bias: bool = False, causal: bool = False, rotary: bool = False
) -> list[str]:
    """Write the statements of the heads, from a tensor over [s,d] to the values ``Z[h,s,v]``.

    ``W_Q[h,k,d]`` and ``W_K[h,k,d]`` share the contracted axis k, ``W_V[h,v,d]`` has an axis v of its own. Scores
    are divided by sqrt(dk).

    Parameters
    ----------
    source : str
        Name of the tensor that is attended to.
    dk : int
        Size of the axis k.
    layer : str
        Number put behind the names of tensors and of the axes h, k, v.
    bias, causal, rotary : bool
        Biases in the three projections, a causal mask, rotary positions (see :func:`rotations`).
    """
    h, k, v = (f"{axis}{layer}" for axis in "hkv")
    lines = []
    for letter, axis in (("Q", k), ("K", k), ("V", v)):
        added = f" + b{letter}{layer}[{h},{axis}]" if bias else ""
        lines.append(f"{letter}{layer}[{h},s,{axis}] = W{letter}{layer}[{h},{axis},d]*{source}[s,d]{added}")
    scores = f"Q{layer}[{h},s,{k}]*K{layer}[{h},t,{k}]"
    if rotary:
        for letter in "QK":
            even, odd = f"{letter}{layer}[{h},s,2*p]", f"{letter}{layer}[{h},s,2*p+1]"
            lines.append(f"{letter}E{layer}[{h},s,p] = RC[s,p]*{even} - RS[s,p]*{odd}")
            lines.append(f"{letter}O{layer}[{h},s,p] = RS[s,p]*{even} + RC[s,p]*{odd}")
        scores = " + ".join(f"Q{part}{layer}[{h},s,p]*K{part}{layer}[{h},t,p]" for part in "EO")
        scores = f"({scores})"
    root = math.isqrt(dk)
    scale = "" if dk == 1 else f"/{root}" if root * root == dk else f"/sqrt({dk})"
    lines.append(f"A{layer}[{h},s,t] = softmax[t{'<=s' if causal else ''}]({scores}{scale})")
    lines.append(f"Z{layer}[{h},s,{v}] = A{layer}[{h},s,t]*V{layer}[{h},t,{v}]")
    return lines


def rotations(seq: int, dk: int) -> list[str]:
    """Write the constants of rotary positions: cosine ``RC[s,p]`` and sine ``RS[s,p]`` of position s, pair p.

    The angle is s * 10000^(-2p/dk) (Su et al., RoFormer, 2021), and coordinates 2p and 2p+1 make pair p. Cosines and
    sines are rounded to the nearest double, and that decimal number is the exact constant of the program.
    """
    angles = [[s * 10000.0 ** (-2 * p / dk) for p in range(dk // 2)] for s in range(seq)]
    return [f"constant RC[s,p] = {_table(angles, math.cos)}", f"constant RS[s,p] = {_table(angles, math.sin)}"]


def _table(angles: Sequence[Sequence[float]], of: Callable[[float], float]) -> str:
    rows = (",".join(repr(of(angle)) for angle in row) for row in angles)
    return f"[{','.join(f'[{row}]' for row in rows)}]"


def check_rotary(chosen: Chosen) -> None:
    """Reject rotary positions on an odd number of coordinates, or on too long a sequence."""
    dk, seq = chosen.size("dk"), chosen.size("seq")
    if dk % 2:
        chosen.fail("dk", "an even dk", "Rotary positions turn pairs of coordinates.")
    if dk * seq > ROTARY_LIMIT:
        chosen.fail(
            "seq", f"dk times seq of at most {ROTARY_LIMIT:,}", "Rotary positions are written out as constants."
        )


def _build(chosen: Chosen) -> str:
    dk, seq, rotary = chosen.size("dk"), chosen.size("seq"), chosen.on("rotary")
    sizes = {"d": chosen.size("d"), "h": chosen.size("heads"), "k": dk, "v": chosen.size("dv"), "s": seq, "t": seq}
    lines = ["input x[s,d]"]
    if rotary:
        check_rotary(chosen)
        sizes["p"] = dk // 2
        lines += rotations(seq, dk)
    bias = chosen.on("bias")
    lines += heads("x", dk, bias=bias, causal=chosen.on("causal"), rotary=rotary)
    if chosen.on("output"):
        sizes["e"] = sizes["d"]
        lines.append("f[s,e] = WO[h,e,v]*Z[h,s,v]" + (" + bO[e]" if bias else ""))
    return "\n".join([*lines, sizes_line(sizes)])


ATTENTION = Preset(
    "attention",
    (
        Option("d"),
        Option("heads"),
        Option("dk"),
        Option("dv", default=lambda values: values["dk"]),
        Option("seq", default=2),
        switch("output", "yes"),
        switch("causal"),
        switch("rotary"),
        switch("bias"),
    ),
    _build,
)
"""``attention(d=4,heads=2,dk=2,seq=3)``: input x[s,d], output f[s,e] at all positions s.

Without the output matrix (``output=no``) the output is ``Z[h,s,v]``, the values of the heads side by side.
"""
