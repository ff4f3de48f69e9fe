"""What is checked, as one hashable value: the model, its fields and the gradients of its losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from invman.errors import ArchitectureError
from invman.flow.losses import mean_loss

Forward = Callable[[Float[Array, " D"], Float[Array, " d"]], Float[Array, " o"]]


class Examples(NamedTuple):
    """Training data as arrays: inputs (n, d), targets (n, o), and the targets as +1 and -1."""

    x: Float[Array, "*b n d"]
    y: Float[Array, "*b n o"]
    signs: Float[Array, "*b n o"]


@dataclass(frozen=True)
class Problem:
    """A model with everything that shapes the compiled code; equal values share it.

    Attributes
    ----------
    forward : callable
        ``F(theta, x)`` from (D,) and (d,) to (o,), a pure function that JAX can trace; compared by identity.
    inputs, outputs, parameters : int
        d, o and D.
    dtype : str
        Of all arithmetic.
    losses : tuple of str
        Names of losses.
    fields, samples : int
        Fields a point, and size of random data.
    """

    forward: Forward
    inputs: int
    outputs: int
    parameters: int
    dtype: str
    losses: tuple[str, ...]
    fields: int
    samples: int

    def validate(self) -> None:
        """Raise ArchitectureError unless the function maps (D,) and (d,) to (o,) in the dtype of its arguments."""
        dtype = jnp.dtype(self.dtype)
        theta, x = (jax.ShapeDtypeStruct((size,), dtype) for size in (self.parameters, self.inputs))
        found = jax.eval_shape(self.forward, theta, x)
        if found.shape != (self.outputs,) or found.dtype != dtype:
            msg = (
                f"forward: got an output of shape {found.shape} and dtype {found.dtype} for parameters "
                f"({self.parameters},) and input ({self.inputs},), expected shape ({self.outputs},) and dtype "
                f"{dtype}. Return one flat array and let its dtype follow the parameters."
            )
            raise ArchitectureError(msg)

    def field(self, theta: Float[Array, " D"], x: Float[Array, " d"], c: Float[Array, " o"]) -> Float[Array, " D"]:
        """Return ``grad_theta <c, F(theta)(x)>``, one field of the gradient family."""
        return jax.grad(lambda t: jnp.vdot(c, self.forward(t, x)))(theta)

    def loss_gradient(self, theta: Float[Array, " D"], loss: Array, data: Examples) -> Float[Array, " D"]:
        """Return the gradient of the mean of loss number ``loss`` over the examples."""

        def mean(t: Float[Array, " D"]) -> Float[Array, ""]:
            predictions = jax.vmap(self.forward, in_axes=(None, 0))(t, data.x)
            return mean_loss(loss, self.losses, predictions, data.y, data.signs)

        return jax.grad(mean)(theta)
