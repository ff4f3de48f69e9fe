from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from invman.flow.table import read_table

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.lists(finite, min_size=3, max_size=3), min_size=1, max_size=5), st.booleans())
def test_what_is_written_is_read(tmp_path_factory, rows, header):
    path = tmp_path_factory.mktemp("table") / "t.csv"
    lines = ["a,b,c"] * header + [",".join(map(repr, row)) for row in rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert np.array_equal(read_table(path, 2, 1), np.array(rows))
