"""Who is ordered before whom among the cores of a launch, by sets and waits between cores.

What a core learns of others comes in through its scalar unit alone: a wait holds all later
dispatch. The n-th wait of a counter learns what the n-th set of every member released, which is
sound although sets may overtake one another: of n completed sets of one pipe one is the n-th or
later [V asc-devkit, CrossCoreSetFlag.md: the order of sets is not promised]. That needs one mode
and one pipe for each id of a core.
"""

from __future__ import annotations

from typing import NamedTuple

from pypto.target.clocks import SetVerdict
from pypto.target.groups import CROSS_IDS, MODES, MOST_COUNTED, has_mode, targets

# Per core: instructions 1…m of each pipe have ended. Never changed, only replaced.
Known = dict[int, tuple[int, ...]]


class Release(NamedTuple):
    """What a set hands over: ends of instructions of all cores, and waits that are over."""

    ended: Known
    waits: Known


class CrossClock:
    """The counters between the cores of one launch.

    ``ended[c]`` and ``waits[c]`` is what core c knows: of which instructions the end, and how many
    waits of each id, are before anything it dispatches later.
    """

    def __init__(self, first_vector: int, cores: int) -> None:
        self.first_vector = first_vector
        self.cores = cores
        self.ended: list[Known] = [{} for _ in range(cores)]
        self.waits: list[Known] = [{core: (0,) * CROSS_IDS} for core in range(cores)]
        self.releases: dict[tuple[int, int, int], list[Release]] = {}
        self.taken: dict[tuple[int, int, int], int] = {}
        self.queued_on: dict[tuple[int, int], tuple[int, int]] = {}

    def set(
        self, core: int, pipe: int, mode: int, number: int, ended: tuple[int, ...], known: Release
    ) -> SetVerdict:
        """A set of a core takes effect; whether its targets' counters have room for certain.

        ``ended`` is what of its own core is before the effect, ``known`` what the core knew of
        others when it dispatched the set.
        """
        releases = self.releases.setdefault((core, mode, number), [])
        releases.append(Release({**known.ended, core: ended}, known.waits))
        verdict = SetVerdict.SAFE
        needed = len(releases) - MOST_COUNTED
        for target in range(*targets(core, mode, self.first_vector, self.cores)):
            if needed > self.waits[target][target][number]:
                return SetVerdict.HAPPENED
            if needed > known.waits.get(target, (0,) * CROSS_IDS)[number]:
                verdict = SetVerdict.LATENT
        return verdict

    def is_mixed(self, core: int, pipe: int, mode: int, number: int) -> bool:
        """Whether a core sets an id by two modes or from two pipes, so that waits know nothing."""
        return self.queued_on.setdefault((core, number), (pipe, mode)) != (pipe, mode)

    def known(self, core: int) -> Release:
        """What a core knows now: hand it to what it dispatches."""
        return Release(self.ended[core], self.waits[core])

    def wait(self, core: int, number: int) -> bool:
        """Wait for a set of every member and learn what they released; False: it must wait."""
        for mode in range(MODES):
            sources = self.sources(core, mode)
            index = self.taken.get((core, mode, number), 0)
            if not sources or index >= self._least(sources, mode, number):
                continue
            self.taken[core, mode, number] = index + 1
            for source in sources:
                self._learn(core, self.releases[source, mode, number][index])
            own = list(self.waits[core][core])
            own[number] += 1
            self.waits[core] = {**self.waits[core], core: tuple(own)}
            return True
        return False

    def missing(self, core: int, number: int) -> list[int]:
        """The cores that have set an id less often than another member, for a core that waits."""
        behind: list[int] = []
        for mode in range(MODES):
            counts = {s: self._count(s, mode, number) for s in self.sources(core, mode)}
            most = max(counts.values(), default=0)
            behind += [source for source, count in counts.items() if count < most]
        return behind

    def unbalanced(self) -> list[tuple[int, int, int]]:
        """(core, mode, id) of sets that a target of theirs has not waited for."""
        return [
            (core, mode, number)
            for (core, mode, number), releases in self.releases.items()
            if any(
                len(releases) > self.taken.get((target, mode, number), 0)
                for target in range(*targets(core, mode, self.first_vector, self.cores))
            )
        ]

    def sources(self, core: int, mode: int) -> list[int]:
        """The cores whose sets of a mode reach a core."""
        first, cores = self.first_vector, self.cores
        return [
            one
            for one in range(cores)
            if has_mode(one, mode, first, cores)
            and core in range(*targets(one, mode, first, cores))
        ]

    def _count(self, core: int, mode: int, number: int) -> int:
        return len(self.releases.get((core, mode, number), ()))

    def _least(self, sources: list[int], mode: int, number: int) -> int:
        return min(self._count(source, mode, number) for source in sources)

    def _learn(self, core: int, release: Release) -> None:
        self.ended[core] = _joined(self.ended[core], release.ended)
        self.waits[core] = _joined(self.waits[core], release.waits)


def _joined(one: Known, other: Known) -> Known:
    """The later of what two know of each core."""
    joined = dict(one)
    for core, numbers in other.items():
        mine = joined.get(core)
        joined[core] = numbers if mine is None else tuple(map(max, mine, numbers))
    return joined
