"""How well a numerical gradient flow conserves the laws of an architecture."""

from __future__ import annotations

from collections.abc import Sequence

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from invman.architecture.evaluate import jax_map
from invman.architecture.program import Program
from invman.symmetry.infinitesimal import Law


def law_drift(
    program: Program, laws: Sequence[Law], *, seed: int = 0, horizon: float = 2.0, samples: int = 16
) -> list[float]:
    """Follow gradient flow of a squared loss on random data in float64 and return how much each law has changed.

    Parameters
    ----------
    program : Program
        The architecture.
    laws : sequence of Law
        What should be conserved.
    seed : int
        Of the start and the data.
    horizon : float
        Time along the field ``-g / (1 + |g|)``, whose orbits are those of gradient flow.
    samples : int
        Rows of random data.

    Returns
    -------
    list of float
        For each law the largest ``|Q(t) - Q(0)|`` over the path, relative to the sum of the sizes of its terms.
    """
    if not laws:
        return []
    with jax.enable_x64(True):
        rng = np.random.default_rng(seed)
        forward = jax_map(program)
        x = jnp.asarray(rng.normal(size=(samples, program.input_count)))
        y = jnp.asarray(rng.normal(size=(samples, program.output_count)))

        def loss(theta: Float[Array, " D"]) -> Float[Array, ""]:
            return jnp.mean(jnp.sum((jax.vmap(forward, in_axes=(None, 0))(theta, x) - y) ** 2, axis=1)) / 2

        def field(_time: object, theta: Float[Array, " D"], _args: object) -> Float[Array, " D"]:
            g = jax.grad(loss)(theta)
            return -g / (1 + jnp.linalg.norm(g))

        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(field),
            diffrax.Tsit5(),
            t0=0.0,
            t1=horizon,
            dt0=None,
            y0=jnp.asarray(rng.normal(size=program.parameter_count) / 2),
            saveat=diffrax.SaveAt(ts=jnp.linspace(0.0, horizon, 9)),
            stepsize_controller=diffrax.PIDController(rtol=1e-10, atol=1e-12),
            max_steps=100_000,
        )
        path = np.asarray(solution.ys)
    drifts = []
    for law in laws:
        values = [float(law.value(point.tolist())) for point in path]
        size = sum(abs(float(Law((term,)).value(path[0].tolist()))) for term in law.terms)
        drifts.append(max(abs(value - values[0]) for value in values) / max(size, 1e-300))
    return drifts
