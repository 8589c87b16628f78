"""A matrix read four times by all cores: [asc-devkit] 04_memory_access/data_copy.

The whole matrix is larger than L2; a quarter of its columns, read four times in a row, is not.
"""

from __future__ import annotations

from benchmarks.silicon.copy import SQUARE, measure
from benchmarks.silicon.family import Family

L2 = Family(
    name="l2",
    summary="reads of a matrix several times, whole or in slices of columns",
    settings=SQUARE | {"times": 4, "tile_rows": 64, "tile_columns": 1024, "to": "ub"},
    measure=measure,
    rows={
        "V14_ub_whole": {},
        "V14_ub_slices": {"slices": 4},
        "V14_l1_whole": {"to": "l1"},
        "V14_l1_slices": {"to": "l1", "slices": 4},
    },
)
