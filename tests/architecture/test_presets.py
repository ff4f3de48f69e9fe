"""The presets that read like calls: values against numpy code written by hand, short forms, errors."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invman.architecture import parse_program, parse_short_form, read_architecture
from invman.architecture.presets import PRESETS
from invman.errors import OverBudgetError

erf = np.vectorize(math.erf)


def softmax(z):
    weights = np.exp(z - z.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def gelu(u):
    return u * (1 + erf(u / 2**0.5)) / 2


def silu(u):
    return u / (1 + np.exp(-u))


def layer_norm(x):
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)


def rms_norm(x):
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-5)


def rotate(q):
    """Rotary positions with complex numbers: pair p of position s is turned by s * 10000^(-2p/dk)."""
    seq, dk = q.shape
    turn = np.exp(1j * np.outer(np.arange(seq), 10000.0 ** (-np.arange(0, dk, 2) / dk)))
    turned = (q[:, 0::2] + 1j * q[:, 1::2]) * turn
    return np.stack([turned.real, turned.imag], axis=-1).reshape(seq, dk)


def head(x, wq, wk, wv, causal=False, rotary=False, biases=(0, 0, 0)):
    """One head, in the notation of Vaswani et al.: softmax(Q K^T / sqrt(dk)) V."""
    q, k, v = (x @ w.T + b for w, b in zip((wq, wk, wv), biases, strict=True))
    if rotary:
        q, k = rotate(q), rotate(k)
    scores = q @ k.T / np.sqrt(wq.shape[0])
    if causal:
        scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
    return softmax(scores) @ v


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("rotary", [False, True])
@pytest.mark.parametrize("form", ["d=3,heads=1,dk=2", "d=4,heads=2,dk=4,seq=3", "d=2,heads=3,dk=2,dv=1,seq=4"])
def test_attention(agree, form, causal, rotary):
    options = form + ",causal=yes" * causal + ",rotary=yes" * rotary

    def with_output(WQ, WK, WV, WO, x):
        heads = [head(x, WQ[h], WK[h], WV[h], causal, rotary) for h in range(len(WQ))]
        return np.concatenate(heads, axis=1) @ np.concatenate(WO.swapaxes(1, 2), axis=0)

    def without(WQ, WK, WV, x):
        return np.stack([head(x, WQ[h], WK[h], WV[h], causal, rotary) for h in range(len(WQ))])

    agree(read_architecture(f"attention({options})"), with_output)
    agree(read_architecture(f"attention({options},output=no)"), without)


def test_attention_with_bias(agree):
    def by_hand(WQ, bQ, WK, bK, WV, bV, WO, bO, x):
        return head(x, WQ[0], WK[0], WV[0], biases=(bQ[0], bK[0], bV[0])) @ WO[0].T + bO

    agree(read_architecture("attention(d=3,heads=1,dk=2,bias=yes)"), by_hand)


def test_sizes_of_attention():
    assert read_architecture("attention(d=3,heads=1,dk=2)").parameter_count == 24
    program = read_architecture("attention(d=4,heads=2,dk=2,seq=3)")
    assert program.parameter_count == 64
    assert [(t.name, t.axes) for t in program.parameters] == [
        ("WQ", ("h", "k", "d")),
        ("WK", ("h", "k", "d")),
        ("WV", ("h", "v", "d")),
        ("WO", ("h", "e", "v")),
    ]
    assert (program.input_count, program.output_count) == (12, 12)


@pytest.mark.parametrize("norm", ["none", "layer", "rms"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"gain": "no", "causal": "no", "readout": "logits"},
        {"gated": "yes", "tied": "yes"},
        {"bias": "yes", "pos": "yes", "act": "tanh"},
        {"gated": "yes", "bias": "yes", "rotary": "yes", "layers": "2"},
    ],
)
def test_transformer(agree, norm, options):
    chosen = {"norm": norm, "gain": "yes", "causal": "yes", "gated": "no", "tied": "no", "bias": "no", "pos": "no",
              "rotary": "no", "readout": "softmax", "layers": "1", **options}  # fmt: skip
    yes = {name for name, value in chosen.items() if value == "yes"}
    act = {"act": np.tanh} if "act" in options else {"act": silu if "gated" in yes else gelu}

    def by_hand(**p):
        def normal(x, label):
            y = {"none": lambda x: x, "layer": layer_norm, "rms": rms_norm}[norm](x)
            y = y * p[f"g{label}"] if norm != "none" and "gain" in yes else y
            return y + p[f"b{label}"] if norm == "layer" and "bias" in yes else y

        def bias(name):
            return p[f"b{name}"] if "bias" in yes else np.zeros(3)

        r = p["x"] @ p["E"] + (p["P"] if "pos" in yes else 0)
        for n in range(1, int(chosen["layers"]) + 1):
            x = normal(r, f"a{n}")
            for h in range(2):
                wq, wk, wv = (p[f"W{letter}{n}"][h] for letter in "QKV")
                biases = [p[f"b{letter}{n}"][h] if "bias" in yes else 0 for letter in "QKV"]
                r = r + head(x, wq, wk, wv, "causal" in yes, "rotary" in yes, biases) @ p[f"WO{n}"][h].T
            r = r + bias(f"O{n}")
            x = normal(r, f"f{n}")
            hidden = x @ p[f"WU{n}"].T + (p[f"bU{n}"] if "bias" in yes else 0)
            if "gated" in yes:
                hidden = hidden * act["act"](x @ p[f"WG{n}"].T + (p[f"bG{n}"] if "bias" in yes else 0))
            else:
                hidden = act["act"](hidden)
            r = r + hidden @ p[f"WD{n}"].T + bias(f"D{n}")
        logits = normal(r, "o") @ p["E" if "tied" in yes else "R"].T
        return softmax(logits) if chosen["readout"] == "softmax" else logits

    given = ",".join(f"{name}={value}" for name, value in {"layers": 1, "norm": norm, **options}.items())
    program = read_architecture(f"transformer(vocab=4,d=3,heads=2,dk=2,ff=4,seq=3,{given})")
    by_hand.__signature__ = _signature(program)
    agree(program, by_hand)


def _signature(program):
    import inspect

    names = [tensor.name for tensor in (*program.parameters, *program.inputs)]
    return inspect.Signature([inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names])


def test_gpt2_is_built_and_printed_at_once():
    start = time.perf_counter()
    form = "vocab=50257,d=768,heads=12,dk=64,ff=3072,layers=12,seq=1024"
    program = read_architecture(f"transformer({form},norm=layer,bias=yes,pos=yes,tied=yes)")
    assert len(program.text) < 20_000
    assert time.perf_counter() - start < 1
    assert program.parameter_count == 124_439_808  # as published for GPT-2 small
    assert repr(program) == f"transformer({form},tied=yes,bias=yes,pos=yes)"


def test_residual_mlp(agree):
    def plain(W1, V1, W2, V2, x):
        x = x + V1 @ np.tanh(W1 @ x)
        return x + V2 @ np.tanh(W2 @ x)

    agree(read_architecture("resmlp(d=3,ff=4,layers=2)"), plain)

    def normed(ga1, ba1, W1, bW1, V1, bV1, x):
        return x + V1 @ np.sin(W1 @ (ga1 * layer_norm(x) + ba1) + bW1) + bV1

    agree(read_architecture("resmlp(d=3,ff=2,act=sin,norm=layer,bias=yes)"), normed)
    agree(
        read_architecture("resmlp(d=3,ff=2,norm=rms,gain=no)"),
        lambda W1, V1, x: x + V1 @ np.tanh(W1 @ rms_norm(x)),
    )


def convolve(x, w, stride):
    """Valid convolution (correlation) of channels over one or two dimensions, by loops."""
    extents = [(n - k) // stride + 1 for n, k in zip(x.shape[1:], w.shape[2:], strict=True)]
    out = np.empty((len(w), *extents))
    for place in np.ndindex(*extents):
        window = tuple(slice(stride * p, stride * p + k) for p, k in zip(place, w.shape[2:], strict=True))
        out[(slice(None), *place)] = [(x[(slice(None), *window)] * kernel).sum() for kernel in w]
    return out


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("form", ["conv1d(length=9,", "conv2d(height=7,width=8,"])
def test_convolutions(agree, form, stride):
    def pooled(W1, W2, a, x):
        h = np.tanh(convolve(np.tanh(convolve(x, W1, stride)), W2, stride))
        return a @ h.reshape(len(h), -1).mean(axis=1)

    agree(read_architecture(f"{form}kernel=2,channels=2,input=2,layers=2,stride={stride})"), pooled)

    def flat(W1, b1, a, c, x):
        h = np.sin(convolve(x, W1, stride) + b1.reshape(-1, *[1] * (x.ndim - 1)))
        return np.tensordot(a, h, axes=h.ndim) + c

    options = f"kernel=3,channels=2,output=2,stride={stride},act=sin,pool=none,bias=yes"
    agree(read_architecture(f"{form}{options})"), flat)


def test_recurrent_cell(agree):
    def by_hand(W, b, U, a, c, x):
        h = np.zeros(3)
        for step in range(3):
            h = np.tanh(W @ x[step] + U @ h + b)
        return a @ h + c

    agree(read_architecture("rnn(input=2,hidden=3,steps=3,output=2,bias=yes)"), by_hand)
    agree(read_architecture("rnn(input=2,hidden=3,steps=1,act=sin)"), lambda W, a, x: a @ np.sin(W @ x[0]))


def test_mixture_of_experts(agree):
    def plain(G, W, V, x):
        return softmax(G @ x) @ [V[e] @ np.tanh(W[e] @ x) for e in range(3)]

    agree(read_architecture("moe(d=2,experts=3,ff=4)"), plain)

    def biased(G, bG, W, b, V, c, x):
        return softmax(G @ x + bG) @ [V[e] @ np.sin(W[e] @ x + b[e]) + c[e] for e in range(2)]

    agree(read_architecture("moe(d=2,experts=2,ff=3,output=2,act=sin,bias=yes)"), biased)


# short forms


@st.composite
def forms(draw):
    """A preset with some of its options, in any order; sizes that go together."""
    preset = PRESETS[draw(st.sampled_from(list(PRESETS)))]
    given_options = []
    for option in preset.options:
        if option.default is None or draw(st.booleans()):
            if option.words:
                value = draw(st.sampled_from(option.words))
            elif option.activation:
                value = draw(st.sampled_from(["tanh", "gelu", "silu", "custom(u + u^2)"]))
            elif option.name in ("length", "height", "width"):
                value = draw(st.integers(300, 400))
            else:
                value = 2 * draw(st.integers(1, 2))
            given_options.append(f"{option.name}={value}")
    return preset, draw(st.permutations(given_options))


@settings(max_examples=100, deadline=None)
@given(forms())
def test_round_trip(form):
    preset, options = form
    program = parse_short_form(f"{preset.name}( {' , '.join(options)} )")
    assert parse_short_form(repr(program)) == program
    assert repr(parse_short_form(repr(program))) == repr(program)
    again = parse_program(program.text)
    assert again == program
    assert again.statements == program.statements
    printed = [part.partition("=")[0] for part in repr(program)[len(preset.name) + 1 : -1].split(",")]
    order = [option.name for option in preset.options]
    assert printed == sorted(printed, key=order.index)


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("attention(d=4,heads=2,dk=2,seq=3)", None),
        ("attention(d=4,heads=2,dk=2,seq=3,output=no,causal=yes,rotary=yes)", None),
        ("attention(dk=2, heads=1, d=3, dv=2, seq=2, output=yes,)", "attention(d=3,heads=1,dk=2)"),
        ("transformer(vocab=5,d=8,heads=2,dk=4,ff=16,layers=1,seq=4,norm=rms)", None),
        ("transformer(vocab=5,d=8,heads=2,dk=4,ff=16,layers=1,seq=4,act=silu,gated=yes)",
         "transformer(vocab=5,d=8,heads=2,dk=4,ff=16,layers=1,seq=4,gated=yes)"),
        ("transformer(vocab=5,d=8,heads=2,dk=4,ff=16,layers=1,seq=4,act=gelu,gated=yes)",
         "transformer(vocab=5,d=8,heads=2,dk=4,ff=16,layers=1,seq=4,gated=yes,act=gelu)"),
        ("resmlp(d=4,ff=8,layers=2,act=tanh)", "resmlp(d=4,ff=8,layers=2)"),
        ("conv1d(length=8,kernel=3,channels=4,act=custom(u+u^2))",
         "conv1d(length=8,kernel=3,channels=4,act=custom(u + u^2))"),
        ("conv2d(height=5,width=5,kernel=3,channels=2)", None),
        ("rnn(input=2,hidden=3,steps=3,act=tanh)", "rnn(input=2,hidden=3,steps=3)"),
        ("moe(d=2,experts=3,ff=4,act=sin)", None),
    ],
)  # fmt: skip
def test_canonical_form(written, printed):
    assert repr(read_architecture(written)) == (printed or written)


BAD = [
    ("‸attenton(d=2)", "got 'attenton', expected a preset (attention, transformer,", "Did you mean 'attention'?"),
    ("‸zzz()", "got 'zzz', expected a preset (attention,"),
    ("attention(d=4,‸head=2,dk=2)", "got 'head', expected an option of attention: d, heads,", "Did you mean 'heads'?"),
    ("attention(d=4,heads=2,dk=2,‸ff=3)", "an option of attention"),
    ("attention(d=4,heads=2,‸d=4)", "got 'd', expected option d once"),
    ("attention(d=4‸)", "got ')', expected heads=..., dk=...",
     "attention(d=...,heads=...,dk=...) has no default for them."),
    ("moe(‸)", "expected d=..., experts=..., ff=..."),
    ("moe(‸3)", "the name of an option"),
    ("moe(d‸)", "'=' and a value for d"),
    ("moe(d=2 ‸experts=3)", "got 'experts', expected ',' or ')'"),
    ("moe‸(d=2", "The brackets do not balance"),
    ("moe(d=2,experts=3,ff=4)‸-1", "the end of the short form"),
    ("moe(d=‸0,experts=3,ff=4)", "got '0', expected a whole number from 1 to 1,000,000,000 for d"),
    ("moe(d=‸-2,experts=3,ff=4)", "got '-', expected a whole number from 1"),
    ("moe(d=‸2.5,experts=3,ff=4)", "got '2.5', expected a whole number"),
    ("moe(d=‸two,experts=3,ff=4)", "got 'two', expected a whole number"),
    ("moe(d=2,experts=3,ff=‸99999999999)", "got '99999999999', expected a whole number from 1 to 1,000,000,000 for ff"),
    ("moe(d=2,experts=3,ff=4,act=‸tahn)", "got 'tahn', expected an activation", "Did you mean 'tanh'?"),
    ("moe(d=2,experts=3,ff=4,act=‸3)", "an activation for act, as in act=tanh"),
    ("moe(d=2,experts=3,ff=4,act=custom(‸1/u))", "an analytic function of u"),
    ("moe(d=2,experts=3,ff=4,bias=‸true)", "got 'true', expected bias=yes or no"),
    ("moe(d=2,experts=3,ff=4,bias=‸1)", "got '1', expected bias=yes or no"),
    ("resmlp(d=2,ff=3,norm=‸layr)", "got 'layr', expected norm=none or layer or rms", "Did you mean 'layer'?"),
    ("resmlp(d=2,ff=3,layers=‸1001)", "a whole number from 1 to 1,000 for layers"),
    ("rnn(input=2,hidden=3,steps=‸1000000)", "a whole number from 1 to 1,000 for steps"),
    ("attention(d=4,heads=2,dk=‸3,rotary=yes)", "got '3', expected an even dk", "turn pairs of coordinates"),
    ("attention(d=4,heads=2,dk=64,seq=‸100000,rotary=yes)", "dk times seq of at most 2,000,000"),
    ("conv1d(length=4,kernel=‸5,channels=2)", "got '5', expected a kernel of at most 4", "layer 1 gets 4"),
    ("conv2d(height=9,width=5,kernel=‸3,channels=2,layers=3)", "got '3', expected a kernel of at most 1", "layer 3"),
]  # fmt: skip


@pytest.mark.parametrize("case", BAD, ids=lambda case: case[0])
def test_messages(problem, case):
    message = problem(read_architecture, case[0])
    for part in case[1:]:
        assert part in message


@pytest.mark.parametrize(
    "text", ["moe(d=100000,experts=100,ff=100000)", "rnn(input=1,hidden=100000,steps=2)", "resmlp(d=100000,ff=100000)"]
)
def test_too_many_parameters(text):
    with pytest.raises(OverBudgetError, match=r"parameters of the architecture: got [\d,]+, expected at most"):
        read_architecture(text)


def test_registry():
    assert list(PRESETS) == ["attention", "transformer", "resmlp", "conv1d", "conv2d", "rnn", "moe"]
    assert all(name == preset.name for name, preset in PRESETS.items())
    assert PRESETS["rnn"].usage() == "rnn(input=...,hidden=...,steps=...)"
