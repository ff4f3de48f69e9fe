"""The scalar level against brute force over all signed permutations, on random small programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from invman.architecture import parse_program
from invman.architecture.activations import Activation
from invman.architecture.program import Program
from invman.architecture.scalars import custom_body, expand, substitute
from invman.errors import InvmanError
from invman.symmetry.scalar import prove, scalar_symmetry
from invman.symmetry.signed import SignedPermutation

TABLE = {
    "tanh": np.tanh, "sin": np.sin, "cos": np.cos, "exp": np.exp, "cosh": np.cosh, "sinh": np.sinh,
    "arctan": np.arctan, "identity": lambda u: u, "square": np.square, "cube": lambda u: u**3,
    "gaussian": lambda u: np.exp(-u * u), "sigmoid": lambda u: 1 / (1 + np.exp(-u)),
    "softplus": lambda u: np.logaddexp(0, u), "silu": lambda u: u / (1 + np.exp(-u)),
    "gelu": lambda u: u * (1 + np.vectorize(math.erf)(u / math.sqrt(2))) / 2,
    "relu": lambda u: np.maximum(u, 0), "abs": np.abs,
}  # fmt: skip


class Floats:
    """Scalars that are arrays of numbers, one for each candidate."""

    def number(self, value: Fraction) -> np.ndarray:
        return np.array(float(value))

    def add(self, terms: Sequence[np.ndarray]) -> np.ndarray:
        return sum(terms[1:], terms[0])

    def multiply(self, factors: Sequence[np.ndarray]) -> np.ndarray:
        return math.prod(factors[1:], start=factors[0])

    def power(self, base: np.ndarray, exponent: Fraction) -> np.ndarray:
        return base ** float(exponent)

    def apply(self, function: Activation, argument: np.ndarray) -> np.ndarray:
        if function.name.startswith("custom("):
            return substitute(custom_body(function), self, argument)
        return TABLE[function.name](argument)


def values(program: Program, theta: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the outputs, shape (N, o), at parameters of shape (N, D) and one input."""
    columns = [np.asarray(value) for value in x]
    outputs = expand(program, Floats(), list(theta.T), columns)
    return np.stack([np.broadcast_to(output, len(theta)) for output in outputs], axis=1)


def brute_force(program: Program, seed: int = 0) -> list[SignedPermutation]:
    """Return all symmetries: images of one unit vector after the other, tested at points of their span."""
    count, rng = program.parameter_count, np.random.default_rng(seed)
    # small numbers: what saturates looks symmetric to floats
    t = rng.uniform(0.3, 0.9, size=(4, count)) * rng.choice([-1, 1], size=(4, count))
    points = rng.uniform(0.3, 1.0, size=(4, program.input_count)) * rng.choice([-1, 1], size=(4, program.input_count))
    places, signs = np.zeros((1, 0), dtype=int), np.zeros((1, 0), dtype=int)
    for level in range(count):
        grown = []
        for place in range(count):
            free = ~(places == place).any(axis=1)
            for sign in (1, -1):
                new = np.full((free.sum(), 1), 1)
                grown.append((np.hstack([places[free], place * new]), np.hstack([signs[free], sign * new])))
        places, signs = (np.concatenate(parts) for parts in zip(*grown, strict=True))
        for coordinates, x in zip(t, points, strict=True):
            moved = np.zeros((len(places), count))
            for column in range(level + 1):
                moved[np.arange(len(places)), places[:, column]] = signs[:, column] * coordinates[column]
            still = np.where(np.arange(count) <= level, coordinates, 0.0)[None]
            with np.errstate(all="ignore"):
                difference = np.abs(values(program, moved, x) - values(program, still, x))
            keep = ~(difference > 1e-11).any(axis=1)
            places, signs = places[keep], signs[keep]
    found = []
    for place, sign in zip(places, signs, strict=True):
        images, own = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int8)
        images[place], own[place] = np.arange(count), sign
        found.append(SignedPermutation(images, own))
    return found


FUNCTIONS = [
    "tanh", "tanh", "sin", "cos", "sigmoid", "silu", "gelu", "softplus", "square", "cube", "identity", "gaussian",
    "exp", "custom(u+u^2)", "custom(u+u^3)", "custom(u-tanh(u))", "custom(u*tanh(u)+u)",
]  # fmt: skip


def constant(rng: np.random.Generator, shape: tuple[int, ...]) -> str:
    """Write a constant tensor; equal entries are likely."""
    if not shape:
        return str(rng.choice(["1", "2", "1/2", "-1"]))
    return "[" + ",".join(constant(rng, shape[1:]) for _ in range(shape[0])) + "]"


def random_text(rng: np.random.Generator) -> str:
    """Write a program of one to three hidden layers, with shared tensors, residuals and constants now and then."""
    depth = int(rng.choice([1, 1, 2, 2, 3]))
    inputs = int(rng.integers(1, 3))
    lines, sizes, extra = ["input x[i]"], {"i": inputs}, []
    previous, below = "x", "i"
    shared: dict[tuple[int, int], str] = {}
    for layer in range(1, depth + 1):
        axis = f"k{layer}"
        sizes[axis] = int(rng.integers(1, 4 - (depth > 1)))
        shape = (sizes[axis], sizes[below])
        weight = f"w{layer}"
        if shape in shared and rng.random() < 0.6:
            weight = shared[shape]
        shared[shape] = weight
        product = f"{weight}[{axis},{below}]*{previous}[{below}]"
        if rng.random() < 0.15:
            extra.append(f"constant m{layer}[{axis},{below}] = {constant(rng, shape)}")
            product = f"({weight}[{axis},{below}] + m{layer}[{axis},{below}])*{previous}[{below}]"
        argument = product
        if rng.random() < 0.25:
            bias = rng.choice([f"b{layer}[{axis}]", f"b[{axis}]" if layer == 1 else "b0", "b0", "1/2"])
            argument += f" + {bias}"
        name = f"h{layer}"
        body = f"{rng.choice(FUNCTIONS)}({argument})"
        if sizes[axis] == sizes[below] and layer > 1 and rng.random() < 0.4:
            axis_names = (axis, below)
            body = body.replace(f"{axis},", "@,").replace(f"[{axis}]", "[@]")
            body = body.replace(below, "j" + below).replace("@", axis_names[1])
            sizes["j" + below] = sizes[below]
            body, axis = f"{previous}[{below}] + {body}", below
            extra = [line.replace(f"[k{layer},", f"[{below},").replace(f",{below}]", f",j{below}]") for line in extra]
        lines.append(f"{name}[{axis}] = {body}")
        previous, below = name, axis
    readout = str(rng.choice([f"a[{below}]", f"a[{below}]", "a0", "w1[0,0]"])) if depth else "a0"
    last = f"f = {readout}*{previous}[{below}]" if rng.random() < 0.8 else f"f[o] = c[o,{below}]*{previous}[{below}]"
    if "[o]" in last:
        sizes["o"] = int(rng.integers(1, 3))
    if rng.random() < 0.15:
        last += " + d*x[0]"
    size = "size " + ", ".join(f"{name}={value}" for name, value in sizes.items())
    return "\n".join([*extra, *lines, last, size])


def random_programs(count: int, largest: int, seed: int) -> list[str]:
    """Return texts of random programs with at most so many parameters; those that do not read are drawn again."""
    rng, texts, refused = np.random.default_rng(seed), [], 0
    while len(texts) < count:
        text = random_text(rng)
        try:
            program = parse_program(text)
        except InvmanError:
            refused += 1
            continue
        if 2 <= program.parameter_count <= largest:
            texts.append(text)
    assert refused < count * 3
    return texts


def compare(text: str) -> None:
    program = parse_program(text)
    everything = brute_force(program)
    found = scalar_symmetry(program)
    assert found.order == len(everything), text
    for generator in found.generators:
        assert prove(program, generator), text
    for move in everything[:: max(1, len(everything) // 5)]:
        assert prove(program, move), text


@pytest.mark.parametrize("text", random_programs(150, 7, 1))
def test_random_programs(text: str):
    compare(text)


@pytest.mark.slow
@pytest.mark.parametrize("text", random_programs(60, 8, 3))
def test_larger_random_programs(text: str):
    compare(text)


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("input x; f=(a+b)*x+c*x", 6),
        ("input x; f=(a+b)^2/(1+(c-d)^2)*x", 16),
        ("input x; f=a*sigmoid(w*x)-a*sigmoid(-w*x)", 2),  # twice an odd function
        ("input x; f=a*(softplus(w*x)-softplus(-w*x))", 4),  # a*w*x
        ("input x; f=a*exp(w*x)+a*exp(-w*x)", 2),
        ("input x; f=a*tanh(cos(w*x)-cos(v*x))+b*tanh(cos(u*x)-1)", 16),  # a swap that changes a sign
        ("input x; f=tanh(a*x)+tanh(b*x)-tanh(c*x)", 6),  # S_3 on (a, b, -c)
        ("input x; f=sqrt(1+a^2*x^2)*b*sqrt(1+c^2*x^2)", 8),
        ("input x; f=a*sin(w*x)^2+b*sin(v*x)^3", 4),
        ("input x[i]; p[k]=softmax[k](w[k,i]*x[i]); f=a[k]*p[k]; size i=1,k=3", 6),
        ("input x[i]; h[k]=w[k,i]*x[i]; f=a[k]*h[k]/sqrt(mean[j](h[j]^2)+1); size i=2,k=2,j=2", 8),
        ("input x[i]; h[k]=w[k,i]*x[i]; g[j]=v[j,k]*h[k]; f=a[j]*g[j]; size i=1,k=2,j=2", 128),  # transposition too
    ],
)
def test_hand_made(text: str, order: int):
    program = parse_program(text)
    assert scalar_symmetry(program).order == order == len(brute_force(program))


@pytest.mark.parametrize("constants", ["[[1],[2]]", "[[1],[-3]]"])
def test_an_asymmetric_constant_leaves_nothing(constants: str):
    text = f"constant m[k,i]={constants}; input x[i]; h[k]=tanh((w[k,i]+m[k,i])*x[i]); f=a[k]*h[k]; size k=2,i=1"
    program = parse_program(text)
    assert scalar_symmetry(program).order == 1 == len(brute_force(program))
