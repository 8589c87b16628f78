"""The cores of a launch, and whom their cross-core sets bind; integers only.

A launch numbers its cube cores from 0 and its vector cores from ``first_vector``. In a launch of
both kinds, cube core g and vector cores ``first_vector + 2 g`` and the one after it are group g.
A set counts once every *member* has done it as often: then the counters of its *targets* go up by
one [V asc-devkit, CrossCoreSetFlag.md].
"""

from __future__ import annotations

GROUP_VECTORS = 2  # vector cores of a group [V]
MODES = 3
ALL_OF_KIND, PAIR, GROUP = range(MODES)  # what the modes of a set join [V]
CROSS_IDS = 16  # counters of each core [V]
MOST_COUNTED = 15  # what a counter holds [V]


def has_mode(core: int, mode: int, first_vector: int, cores: int) -> bool:
    """Whether a core of the launch may set with a mode."""
    if mode == ALL_OF_KIND:
        return True
    grouped = 0 < first_vector < cores
    return grouped and (mode == GROUP or (mode == PAIR and core >= first_vector))


def members(core: int, mode: int, first_vector: int, cores: int) -> tuple[int, int]:
    """The cores (first and end) that must all have set, for a set by one of them to count."""
    is_vector = core >= first_vector
    if mode == ALL_OF_KIND:
        return (first_vector, cores) if is_vector else (0, first_vector)
    if is_vector:
        low = core - (core - first_vector) % GROUP_VECTORS
        return low, low + GROUP_VECTORS
    return core, core + 1


def targets(core: int, mode: int, first_vector: int, cores: int) -> tuple[int, int]:
    """The cores (first and end) whose counters a set of a core makes go up."""
    if mode != GROUP:
        return members(core, mode, first_vector, cores)
    if core >= first_vector:
        group = (core - first_vector) // GROUP_VECTORS
        return group, group + 1
    low = first_vector + core * GROUP_VECTORS
    return low, low + GROUP_VECTORS
