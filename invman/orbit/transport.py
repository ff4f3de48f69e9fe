r"""Formal transport: the size of an orbit from power series along one curve.

Let a generic control drive a curve, ``theta' = grad G_t(theta)`` with ``G_t = sum_i c_i(t) F(.)(x_i)``, and carry the
fields of the family back to its start: ``w(t) = Psi(t) grad F(theta(t))(x)`` with ``Psi' = -Psi A``, ``A = Hess G_t``.
All Taylor coefficients of all ``w`` lie in ``Lie(V)(theta)``, so their rank is a lower bound of the dimension of the
orbit; order n holds the brackets of length n + 1.

At a point where theta, the x_i and the c_i are generic the first order that adds nothing ends the search for good:
the coefficients up to n span a space over the field of functions that ``L = d/dt + [X_t, .]`` maps to itself, and since
the (n+1)-st power of L holds the n-th derivative of ``c_i`` times ``[X_i, .]`` only, the space is closed under every
``[X_i, .]``. At a special point the rank may stand still and rise again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

STAGES = (1, 2, 3, 5, 8, 12, 17, 23, 30)
"""Numbers of coefficients after which series are prolonged."""


class Family(Protocol):
    """The gradient family along a curve through one point, in one arithmetic."""

    def prolong(self, length: int) -> tuple[list[Any], list[Any]]:
        """Return the coefficients of the fields, ``length`` matrices (D, K), and of A, one fewer of shape (D, D)."""
        ...

    def add(self, left: Any, right: Any) -> Any:
        """Add matrices."""
        ...

    def product(self, left: Any, right: Any) -> Any:
        """Multiply matrices."""
        ...

    def divide(self, matrix: Any, divisor: int) -> Any:
        """Divide a matrix by a whole number that is not zero."""
        ...


def transport(family: Family, order: int) -> Iterator[Any]:
    """Yield the Taylor coefficients of the transported fields, order by order.

    Parameters
    ----------
    family : Family
        The fields along a curve.
    order : int
        The last order.

    Yields
    ------
    matrix of shape (D, K)
        Coefficient 0, 1, ... of all K fields.
    """
    backward: list[Any] = []  # coefficients 1, 2, ... of Psi; coefficient 0 is the identity
    done = 0
    for stage in (*STAGES, order + 1):
        length = min(stage, order + 1)
        if length <= done:
            continue
        fields, bends = family.prolong(length)
        for n in range(done, length):
            if n:
                total = bends[n - 1]
                for k, psi in enumerate(backward, 1):
                    total = family.add(total, family.product(psi, bends[n - 1 - k]))
                backward.append(family.divide(total, -n))
            moved = fields[n]
            for k, psi in enumerate(backward[:n], 1):
                moved = family.add(moved, family.product(psi, fields[n - k]))
            yield moved
        done = length
