"""LayerNorm and RMSNorm over the axis d."""

from __future__ import annotations

from invman.architecture.presets.options import Option, bracket, switch

OPTIONS = (Option("norm", ("none", "layer", "rms"), "none"), switch("gain", "yes"))
EPSILON = "1/100000"
"""Added to the variance, as in PyTorch's LayerNorm."""


def normalise(kind: str, source: str, label: str, *, over: str = "", gain: bool, bias: bool) -> tuple[list[str], str]:
    """Write the statements that normalise a tensor over its last axis d.

    Parameters
    ----------
    kind : {"none", "layer", "rms"}
        LayerNorm subtracts the mean and divides by the standard deviation; RMSNorm divides by the root mean square.
    source, label : str
        Name of the tensor, and what the names of the new tensors end in.
    over : str
        The other axis of the tensor, if it has one.
    gain, bias : bool
        A trained gain ``gLABEL[d]`` and, for LayerNorm, a trained bias ``bLABEL[d]``.

    Returns
    -------
    lines : list of str
        The statements.
    name : str
        The normalised tensor.
    """
    if kind == "none":
        return [], source
    one, full = bracket([over] if over else []), bracket([over, "d"] if over else ["d"])
    lines, centred = [], source
    if kind == "layer":
        centred = f"c{label}"
        lines += [
            f"m{label}{one} = mean[d]({source}{full})",
            f"{centred}{full} = {source}{full} - m{label}{one}",
        ]
    lines.append(f"v{label}{one} = mean[d]({centred}{full}^2)")
    scaled = f"{f'g{label}[d]*' if gain else ''}{centred}{full}/sqrt(v{label}{one} + {EPSILON})"
    lines.append(f"n{label}{full} = {scaled}" + (f" + b{label}[d]" if bias and kind == "layer" else ""))
    return lines, f"n{label}"
