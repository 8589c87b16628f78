"""Tries drawn problems until it is stopped: ``make fuzz``, or ``python -m tests.fuzz SEED``.

Prints one line per failing case, with what is needed to run it again.
"""

from __future__ import annotations

import itertools
import sys

import numpy as np

from pypto.errors import PyptoError
from pypto.target.soc import SOC_NAMES
from tests.kernels.cases import FAMILIES, LEVELS, PRODUCTS, Case, is_known
from tests.kernels.test_kernels import check

LARGEST_EXTENT = 700


def drawn_case(generator: np.random.Generator) -> Case:
    """A kernel on a problem of any extents up to the largest, small ones more often."""
    family = FAMILIES[generator.integers(len(FAMILIES))]
    sample = family.problems[generator.integers(len(family.problems))]
    least = 1 if family.problems is PRODUCTS else 0
    problem = tuple(
        int(LARGEST_EXTENT ** generator.random()) if generator.random() < 0.95 else least
        for _ in sample
    )
    soc = SOC_NAMES[generator.integers(len(SOC_NAMES))]
    dtypes = [dtype for dtype in family.dtypes if is_known(family, dtype, soc)]
    dtype = dtypes[generator.integers(len(dtypes))]
    return Case(family, problem, dtype, LEVELS[generator.integers(len(LEVELS))], soc)


def main() -> None:
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    failures = 0
    for seed in itertools.count(first):
        case = drawn_case(np.random.default_rng(seed))
        try:
            check(case)
        except (AssertionError, PyptoError) as error:
            failures += 1
            print(f"seed {seed}: {case}: {error}", flush=True)
        if sys.stderr.isatty():
            print(f"\r{seed - first + 1} cases, {failures} failures", end="", file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(0)
