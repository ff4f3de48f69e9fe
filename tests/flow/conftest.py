"""Small hand-written nets, shared by the tests so that each is compiled once."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from invman.flow import CheckOptions, CheckReport, DataSet, check
from invman.manifold.subspace import LinearEquations, Polydiagonal


def two_layers(activation):
    """A 2-2-1 net without bias; theta is w[0,0], w[0,1], w[1,0], w[1,1], a[0], a[1]."""

    def forward(theta, x):
        return jnp.dot(theta[4:], activation(theta[:4].reshape(2, 2) @ x))[None]

    return forward


NETS = {
    "tanh": two_layers(jnp.tanh),
    "sigmoid": two_layers(jax.nn.sigmoid),
    "silu": two_layers(jax.nn.silu),
    "cos": two_layers(jnp.cos),
}
NAMES = ["w[0,0]", "w[0,1]", "w[1,0]", "w[1,1]", "a[0]", "a[1]"]
QUICK = CheckOptions(steps=50, horizon=5.0, batch=4)


def polydiagonal(classes, signs=None) -> Polydiagonal:
    """Classes with -1 for zero; all signs + unless given."""
    classes = np.array(classes, dtype=np.int32)
    signs = np.where(classes < 0, 0, 1) if signs is None else signs
    return Polydiagonal(classes, np.array(signs, dtype=np.int8))


@pytest.fixture
def poly():
    return polydiagonal


@pytest.fixture
def run():
    """Check manifolds of one of the nets."""

    def go(
        net: str, manifolds: list[Polydiagonal] | LinearEquations, options: CheckOptions = QUICK,
        data: DataSet | None = None, progress=None,
    ) -> CheckReport:  # fmt: skip
        return check(
            NETS[net], manifolds, inputs=2, outputs=1, parameters=6, options=options, data=data,
            label=NAMES.__getitem__, progress=progress,
        )  # fmt: skip

    return go
