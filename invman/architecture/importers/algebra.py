"""Sums, products and powers put together so that what was taken apart is recognised again.

Frameworks write ``silu`` as ``u*sigmoid(u)``, ``gelu`` with ``erfc``, a mean as a sum and a division. The
constructors here fold numbers, flatten sums and products, and give back the registered activation, the mean or the
softmax when the pattern is exactly that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from invman.architecture.activations import PRIMITIVES, REGISTERED
from invman.architecture.importers.nodes import Maximum, plain, substitute
from invman.architecture.program import Add, Apply, Expr, Mul, Number, Power, Ref, Softmax, Sum, free_axes

ZERO, ONE, MINUS = Number(Fraction(0)), Number(Fraction(1)), Number(Fraction(-1))


def number(value: object) -> Number:
    """Return the exact rational value of an integer or a float."""
    return Number(Fraction(float(value) if not isinstance(value, int | Fraction) else value))  # type: ignore[arg-type]


def add(*terms: Expr) -> Expr:
    """Add terms: nested sums flattened, numbers folded, log-softmax and log-sum-exp recognised."""
    flat: list[Expr] = []
    total = Fraction(0)
    for term in terms:
        for part in term.terms if type(term) is Add else (term,):
            if isinstance(part, Number):
                total += part.value
            else:
                flat.append(part)
    flat = _log_of_sum(flat)
    if total or not flat:
        flat.append(Number(total))
    return flat[0] if len(flat) == 1 else Add(tuple(flat))


def mul(*factors: Expr, sizes: Mapping[str, int] | None = None) -> Expr:
    """Multiply factors: products flattened, numbers folded, mean, silu, gelu and softmax recognised."""
    flat: list[Expr] = []
    coefficient = Fraction(1)
    for factor in factors:
        for part in factor.factors if type(factor) is Mul else (factor,):
            if isinstance(part, Number):
                coefficient *= part.value
            elif part in flat and isinstance(part, Ref):
                flat[flat.index(part)] = Power(part, Fraction(2))
            else:
                flat.append(part)
    if not coefficient:
        return ZERO
    flat = _softmax(_silu(flat))
    flat, coefficient = _gelu(flat, coefficient)
    if sizes is not None and coefficient != 1:
        flat, coefficient = _mean(flat, coefficient, sizes)
    if coefficient != 1 or not flat:
        flat.insert(0, Number(coefficient))
    return flat[0] if len(flat) == 1 else Mul(tuple(flat))


def minus(expr: Expr) -> Expr:
    """Return minus the expression."""
    return mul(MINUS, expr)


def power(base: Expr, exponent: Fraction) -> Expr:
    """Raise to a rational power; ``1/(1 + exp(-u))`` is the sigmoid."""
    if exponent == 1:
        return base
    if exponent == 0:
        return ONE
    if isinstance(base, Number) and exponent.denominator == 1 and (base.value or exponent > 0):
        return Number(base.value ** int(exponent))
    if exponent == -1 and (inner := _one_plus(base, "exp")) is not None:
        return apply("sigmoid", minus(inner))
    return Power(base, exponent)


def apply(name: str, argument: Expr) -> Expr:
    """Apply a registered or primitive function; ``log(1 + exp(u))`` and ``exp(-u^2)`` have names of their own."""
    if name == "log" and (inner := _one_plus(argument, "exp")) is not None:
        return apply("softplus", inner)
    if name == "exp":
        if argument == ZERO:
            return ONE
        match argument:
            case Mul((Number(value), Power(base, exponent))) if value == -1 and exponent == 2:
                return apply("gaussian", base)
    if name == "erf" and isinstance(argument, Mul) and isinstance(argument.factors[0], Number):
        first = argument.factors[0].value
        if first < 0:
            return minus(apply("erf", minus(argument)))
    return Apply(REGISTERED.get(name) or PRIMITIVES[name], argument)


def is_apply(expr: Expr, name: str) -> bool:
    """Tell whether a node applies the function of this name."""
    return isinstance(expr, Apply) and expr.function.name == name


def _one_plus(expr: Expr, name: str) -> Expr | None:
    """Return u when the expression is ``1 + name(u)``."""
    if type(expr) is Add and len(expr.terms) == 2:
        for one, other in (expr.terms, expr.terms[::-1]):
            if one == ONE and isinstance(other, Apply) and other.function.name == name:
                return other.argument
    return None


def _without(items: list[Expr], *gone: Expr) -> list[Expr]:
    left = list(items)
    for item in gone:
        left.remove(item)
    return left


def _silu(factors: list[Expr]) -> list[Expr]:
    for factor in factors:
        if isinstance(factor, Apply) and factor.function.name == "sigmoid" and factor.argument in factors:
            return [*_without(factors, factor, factor.argument), apply("silu", factor.argument)]
    return factors


def _gelu(factors: list[Expr], coefficient: Fraction) -> tuple[list[Expr], Fraction]:
    for factor in factors:
        inner = _one_plus(factor, "erf")
        match inner:
            case Mul((Number(value), *rest)) if abs(float(value) * math.sqrt(2) - 1) < 1e-6:
                u = rest[0] if len(rest) == 1 else Mul(tuple(rest))
                if u in factors:
                    return [*_without(factors, factor, u), apply("gelu", u)], coefficient * 2
    return factors, coefficient


def _mean(factors: list[Expr], coefficient: Fraction, sizes: Mapping[str, int]) -> tuple[list[Expr], Fraction]:
    for place, factor in enumerate(factors):
        if type(factor) is Sum and not factor.mean and coefficient * math.prod(sizes[a] for a in factor.axes) == 1:
            return [*factors[:place], Sum(factor.axes, factor.body, mean=True), *factors[place + 1 :]], Fraction(1)
    return factors, coefficient


def _softmax(factors: list[Expr]) -> list[Expr]:
    """Recognise ``exp(a) / sum exp(a)``."""
    for factor in factors:
        if not isinstance(factor, Power) or factor.exponent != -1 or type(factor.base) is not Sum:
            continue
        for other in factors:
            if is_apply(other, "exp") and (axes := _same_over(factor.base, other)):
                assert isinstance(other, Apply)  # noqa: S101 - for the type checker
                return [*_without(factors, factor, other), softmax(axes, other.argument)]
    return factors


def _same_over(total: Sum, term: Expr) -> tuple[str, ...] | None:
    """Return the axes of the term over which ``total`` sums it, or None when it sums something else."""
    candidates = [axis for axis in free_axes(term) if axis not in free_axes(total)]
    if len(candidates) != len(total.axes) or total.mean:
        return None
    candidates.sort(key=lambda axis: _first(term, axis))
    bound = sorted(total.axes, key=lambda axis: _first(total.body, axis))
    renaming = {old: plain(new) for old, new in zip(bound, candidates, strict=True)}
    return tuple(candidates) if substitute(total.body, renaming) == term else None


def _first(expr: Expr, axis: str) -> int:
    names = free_axes(expr)
    return names.index(axis) if axis in names else len(names)


def softmax(axes: tuple[str, ...], argument: Expr) -> Expr:
    """Return the softmax over axes, without the maximum that was subtracted for the numbers' sake."""
    terms = argument.terms if type(argument) is Add else (argument,)
    body = add(*(term for term in terms if not _is_shift(term)))
    from invman.architecture.importers.masking import masked_softmax

    if (masked := masked_softmax(axes, body)) is not None:
        return masked
    if len(axes) == 1:
        return Softmax(axes[0], body)
    return quotient(axes, apply("exp", body))


def quotient(axes: tuple[str, ...], weight: Expr) -> Expr:
    """Return the weight divided by its sum over axes."""
    bound = {axis: plain(f"{axis}.sum") for axis in axes}
    total = Sum(tuple(f"{axis}.sum" for axis in axes), substitute(weight, bound))
    return Mul((weight, Power(total, Fraction(-1))))


def _is_shift(term: Expr) -> bool:
    match term:
        case Mul((Number(value), Maximum())):
            return value == -1
        case _:
            return False


def _log_of_sum(terms: list[Expr]) -> list[Expr]:
    """Recognise ``a - log(sum exp(a))`` as the logarithm of a softmax, and ``log(sum exp(a - m)) + m``."""
    for term in terms:
        match term:
            case Mul((Number(value), Apply(function, Sum() as total))) if value == -1 and function.name == "log":
                rest = add(*_without(terms, term)) if len(terms) > 1 else ZERO
                if axes := _same_over(total, apply("exp", rest)):
                    return [apply("log", softmax(axes, rest))]
            case Apply(function, Sum(axes, Apply(inner, Add(parts)))) if function.name == "log" and inner.name == "exp":
                shift = next((part for part in parts if _is_shift(part)), None)
                if isinstance(shift, Mul) and shift.factors[1] in terms:
                    body = apply("exp", add(*(part for part in parts if part is not shift)))
                    return [*_without(terms, term, shift.factors[1]), apply("log", Sum(axes, body))]
    return terms
