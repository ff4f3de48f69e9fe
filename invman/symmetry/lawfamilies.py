r"""Conservation laws of the continuous symmetry of named axes in closed form, at any size.

GL(n) on an axis k conserves, for each pair k <= l, what the covariant tensors have for a Gram matrix less what the
contravariant ones have; a scaling conserves ``sum(exponent * theta^2) / 2``, an exponential unit with a bias
``b - a^2/2``, and a translation what it shifts. O(n) conserves nothing, and neither does a translation that others undo
in proportion to a parameter.

Scalings inside a GL(n) are the diagonal of its Gram matrix and are counted there. What else two families may share is
not subtracted: narrow layers next to each other (as in ``1-3identity-3identity-1``) share laws, so that the sum of
``independent`` is an upper bound there; it is exact where each tensor has at least as many columns as the axis is long.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from invman.symmetry.axes import AxisClass, AxisClasses
from invman.symmetry.characters import Unknown, independent_forms
from invman.symmetry.continuous import ContinuousGroup, torus
from invman.symmetry.linear import LinearFactor
from invman.symmetry.shifts import ShiftFactor


@dataclass(frozen=True)
class LawFamily:
    """Laws with one formula.

    Attributes
    ----------
    name : str
        Where they come from.
    latex, text : str
        The formula with indices, in LaTeX and in index notation.
    count : int
        Number of linearly independent laws that no family before it has.
    independent : int
        How many of these are functionally independent at a generic point.
    """

    name: str
    latex: str
    text: str
    count: int
    independent: int


def law_families(group: ContinuousGroup) -> tuple[LawFamily, ...]:
    """Return the laws of degree one and two that a continuous symmetry conserves.

    The time grows with the length of the program, never with its sizes.

    Parameters
    ----------
    group : ContinuousGroup
        The symmetry.

    Returns
    -------
    tuple of LawFamily

    Examples
    --------
    >>> from invman.architecture import read_architecture
    >>> from invman.symmetry.continuous import continuous_group
    >>> for law in law_families(continuous_group(read_architecture("2-3exp-1+bias"))):
    ...     print(law.text, law.count)
    b[k] - a[k]^2/2 3
    """
    classes = AxisClasses(group.program)
    matrices = _matrices(classes, group)
    translations = [_linear(classes, factor) for factor in group.shifts if factor.pure]
    return (*matrices, *_scalings(classes, group), *translations)


@dataclass(frozen=True)
class _Factor:
    tensor: str
    indices: tuple[str, ...]
    minus: tuple[str, ...] | None = None
    power: int = 1

    def show(self, *, latex: bool) -> str:
        text = _entry(self.tensor, self.indices, latex=latex)
        if self.minus is not None:
            text = f"({text} - {_entry(self.tensor, self.minus, latex=latex)})"
        elif self.power > 1 and latex and self.indices:
            text = f"{{{text}}}"
        return text if self.power == 1 else f"{text}^{self.power}"


def _entry(tensor: str, indices: tuple[str, ...], *, latex: bool) -> str:
    if not indices:
        return tensor
    return f"{tensor}_{{{','.join(indices)}}}" if latex else f"{tensor}[{','.join(indices)}]"


@dataclass(frozen=True)
class _Part:
    """``coefficient * sum[over](factors)``."""

    coefficient: Fraction
    over: tuple[str, ...]
    factors: tuple[_Factor, ...]

    def show(self, *, latex: bool) -> str:
        body = (" " if latex else "*").join(factor.show(latex=latex) for factor in self.factors)
        names = ",".join(self.over)
        if self.over:
            body = f"\\sum_{{{names}}} {body}" if latex else f"sum[{names}]({body})"
        size = abs(self.coefficient)
        if latex:
            return body if size == 1 else f"{_fraction(size)} {body}"
        body = body if size.numerator == 1 else f"{size.numerator}*{body}"
        return body if size.denominator == 1 else f"{body}/{size.denominator}"


def _fraction(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"\\tfrac{{{value.numerator}}}{{{value.denominator}}}"


def _show(parts: list[_Part], *, latex: bool) -> str:
    text = ""
    for part in parts:
        text += (" - " if text else "-") if part.coefficient < 0 else " + " if text else ""
        text += part.show(latex=latex)
    return text


def _family(name: str, parts: list[_Part], count: int, independent: int) -> LawFamily:
    return LawFamily(name, _show(parts, latex=True), _show(parts, latex=False), count, independent)


def _carried(classes: AxisClasses, tensor: str) -> list[AxisClass]:
    rank = len(classes.program.parameter(tensor).shape)
    return [classes.of(tensor, position) for position in range(rank)]


def _fresh(name: str, used: Iterable[str]) -> str:
    """Return an index name like another that is not in use: l for k, l1 for k1."""
    taken, tail = set(used), name[1:] if name[1:].isdigit() else ""
    letters = "lmnpqruvwz" if name[0] == "k" else "mnpqruvwz"
    plain = (letter + tail for letter in letters if letter + tail not in taken)
    return next(plain, name + "'")


def _index_names(at: list[AxisClass], fixed: Mapping[int, str], avoid: Iterable[str] = ()) -> tuple[str, ...]:
    """Name the positions of a tensor: the fixed ones as given, the others after their axes, all different."""
    avoided = set(avoid)
    names = dict(fixed)
    for position, axis in enumerate(at):
        if position not in names:
            taken = avoided | set(names.values())
            names[position] = axis.name if axis.name not in taken else _fresh(axis.name, taken)
    return tuple(names[position] for position in range(len(at)))


def _matrices(classes: AxisClasses, group: ContinuousGroup) -> Iterator[LawFamily]:
    """Yield the laws of the general linear groups, less the traces that follow from those before them."""
    before = 0
    for number, factor in enumerate(group.linear, start=1):
        idle = replace(group, linear=group.linear[:number]).idle_dimension
        if factor.kind == "GL":
            yield _gram(classes, factor, idle - before)
        before = idle


def _gram(classes: AxisClasses, factor: LinearFactor, known: int) -> LawFamily:
    size, columns = factor.size - factor.ones, 0
    used = {axis.name for axis in classes.classes}
    other: dict[AxisClass, str] = {}
    for axis in factor.axes:
        other[axis] = _fresh(axis.name, used)
        used.add(other[axis])
    parts = []
    for carriers, sign in ((factor.covariant, 1), (factor.contravariant, -1)):
        for carrier in carriers:
            at = _carried(classes, carrier.tensor)
            own = [carrier.position, *(at.index(axis) for axis in factor.axes[1:])]
            local = {at.index(axis): axis.name for axis in factor.local_to}
            fixed = {**dict(zip(own, (axis.name for axis in factor.axes), strict=True)), **local}
            left = _index_names(at, fixed, other.values())
            right, last = list(left), list(left)
            for position, axis in zip(own, factor.axes, strict=True):
                right[position], last[position] = other[axis], str(axis.size - 1)
            over = tuple(left[p] for p in range(len(at)) if p not in own and p not in local)
            minus = tuple(last) if factor.ones else None
            pair = (_Factor(carrier.tensor, left, minus), _Factor(carrier.tensor, tuple(right), minus))
            parts.append(_Part(Fraction(sign), over, pair))
            columns += classes.program.parameter(carrier.tensor).size // (factor.size * factor.copies)
    count = size * (size + 1) // 2
    generic = count if size <= columns else columns * size - columns * (columns - 1) // 2
    return _family(
        _where(factor.name, factor.axes), parts, factor.copies * count - known, factor.copies * generic - known
    )


def _where(kind: str, axes: Iterable[AxisClass]) -> str:
    names = ", ".join(axis.name for axis in axes)
    return f"{kind} on {names}" if names else kind


def _scalings(classes: AxisClasses, group: ContinuousGroup) -> Iterator[LawFamily]:
    """Yield the scalings over the most axes first; those over fewer axes are often sums of them."""
    known = {factor.axes: [*group.tori(classes, factor.axes)] for factor in group.scalings}
    pure = [factor for factor in group.shifts if factor.pure]
    whole = {factor.constant_along for factor in pure}
    moved = {factor.tensor for factor in pure if factor.constant_along is None}
    for factor in group.linear:
        carriers = {c for c in (*factor.covariant, *factor.contravariant) if c.tensor not in moved}
        if factor.kind == "GL" and factor.ones and carriers <= whole:
            # the identity is what fixes the ones and, where sums along the axis are conserved, their squares
            for axes, forms in known.items():
                if not set(axes) & set(factor.axes) and (form := torus(classes, factor, axes)) is not None:
                    forms.append(form)
    for factor in sorted(group.scalings, key=lambda f: -len(f.axes)):
        plain = [_multiplied(exponents) for exponents in factor.exponents]
        for new in independent_forms(known[factor.axes], plain):
            exponents = next(e for e, form in zip(factor.exponents, plain, strict=True) if form is new)
            count = 0
            for axes, forms in known.items():
                if set(axes) <= set(factor.axes):
                    form = _project(new, factor.axes, axes)
                    if independent_forms(forms, [form]):
                        forms.append(form)
                        count += math.prod(axis.size - 1 for axis in axes)
            shifted = any(name.startswith("+") for name, _ in exponents)
            parts = list(_squares(classes, factor.axes, exponents))
            name = _where("exponential units with bias" if shifted else "scaling", factor.axes)
            yield _family(name, parts, count, count)


def _multiplied(exponents: Mapping[Unknown, Fraction]) -> dict[Unknown, Fraction]:
    """Return the part that multiplies, which tells scalings apart: what only shifts is a translation."""
    return {key: value for key, value in exponents.items() if not key[0].startswith("+")}


def _project(exponents: Mapping[Unknown, Fraction], axes: tuple[AxisClass, ...], onto: tuple[AxisClass, ...]) -> dict:
    total: dict[Unknown, Fraction] = {}
    kept = [axes.index(axis) for axis in onto]
    for (name, positions), value in exponents.items():
        key = (name, tuple(positions[n] for n in kept))
        total[key] = total.get(key, Fraction(0)) + value
    return {key: value for key, value in total.items() if value}


def _squares(
    classes: AxisClasses, axes: tuple[AxisClass, ...], exponents: Mapping[Unknown, Fraction]
) -> Iterator[_Part]:
    shifted = [value for (name, _), value in exponents.items() if name.startswith("+")]
    scale = 1 / shifted[0] if shifted else 2 / next(iter(exponents.values()))
    for (name, positions), value in sorted(exponents.items(), key=lambda item: not item[0][0].startswith("+")):
        tensor = name.lstrip("+")
        at = _carried(classes, tensor)
        indices = _index_names(at, dict(zip(positions, (axis.name for axis in axes), strict=True)))
        over = tuple(index for position, index in enumerate(indices) if position not in positions)
        linear = name.startswith("+")
        yield _Part(scale * value / (1 if linear else 2), over, (_Factor(tensor, indices, None, 1 if linear else 2),))


def _linear(classes: AxisClasses, factor: ShiftFactor) -> LawFamily:
    constant = None if factor.constant_along is None else factor.constant_along.position
    at = _carried(classes, factor.tensor)
    indices = _index_names(at, {})
    rest = tuple(index for position, index in enumerate(indices) if position != constant)
    over = () if constant is None else (indices[constant],)
    parts = [_Part(Fraction(1), over, (_Factor(factor.tensor, indices),))]
    for undo in factor.undone:
        same = dict(zip(undo.shift, rest, strict=True))
        fixed = {p: same[name] for p, name in enumerate(undo.target) if name in same}
        names = _index_names(_carried(classes, undo.tensor), fixed)
        over = tuple(name for position, name in enumerate(names) if position not in fixed)
        parts.append(_Part(-undo.coefficient, over, (_Factor(undo.tensor, names),)))
    return _family(f"translation of {', '.join(factor.tensors)}", parts, factor.dimension, factor.dimension)
