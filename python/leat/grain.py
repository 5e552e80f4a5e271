"""leat for Grain: rows as a random-access source, batches as an iterator with Grain's checkpoints.

    grain.MapDataset.source(ProbeRowSource("probes")).shuffle(seed=0).map(...)   # rows, one by one
    iter(BatchDataset("probes", batch=8, length=1024))                           # leat's batches

The batches are leat.Loader's: no worker processes, packed, and exact after a restart at any step
and on any number of hosts.
"""
from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, SupportsIndex

import grain
import grain.experimental
import numpy as np
import numpy.typing as npt

from leat._handle import Path
from leat.dataset import ProbeDataset
from leat.loader import Arrays, Loader


class ProbeRowSource:
    """The rows of a data set, or of one split, as a Grain RandomAccessDataSource.

    Element i is a dict of new arrays: "src_id" int64 [], and of shape [n] "event_time"
    datetime64[us], "src_addr", "dst_addr" str, "ip_version" int8, "rtt" float32 (-1: failed). Any
    thread may read; worker processes reopen the data set by its paths. Raises the same errors as
    ProbeRow.
    """

    def __init__(self, data: ProbeDataset | Path, *, split: str | None = None) -> None:
        self._data = data if isinstance(data, ProbeDataset) else ProbeDataset(data)
        self._split = split
        self._rows: Sequence[int] = (range(len(self._data)) if split is None
                                     else self._data.rows(split))

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, record_key: SupportsIndex) -> dict[str, npt.NDArray[Any]]:
        row = self._data[self._rows[operator.index(record_key)]]
        return {"src_id": np.asarray(row.src_id, np.int64), **row.measurements()}

    def _getitems(self, indices: Sequence[int]) -> list[dict[str, npt.NDArray[Any]]]:
        """Many elements at once, read in file order."""
        places = sorted(range(len(indices)), key=indices.__getitem__)
        found = {place: self[indices[place]] for place in places}
        return [found[place] for place in range(len(indices))]

    def __repr__(self) -> str:
        """The same in every process and after every restart: Grain compares it when restoring."""
        return (f"ProbeRowSource(fingerprint={self._data.fingerprint}, split={self._split}, "
                f"rows={len(self)})")


class _Batches:
    """Shared by the two iterators: Grain's method names for those of leat.Loader.

    A state is the loader's: a dict of the same numbers and texts at every step, JSON of at most 256
    bytes, valid before the first batch, and refused if data, options or seed differ, naming which
    of these; it holds a hash of the options, so not which option.
    """
    _parent = None  # MaxText's clean-up reads it; Grain's own property asserts without a parent
    _loader: Loader

    @property
    def loader(self) -> Loader:
        """The loader: explain(), counters(), step."""
        return self._loader

    def __next__(self) -> Arrays:
        """The next batch, as returned by leat.Loader: read-only, kept alive by its arrays."""
        return next(self._loader)

    def get_state(self) -> dict[str, Any]:
        """The current state."""
        return self._loader.state()

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Restores a state; InputError if it belongs to a different loader."""
        self._loader.seek(state)

    def start_prefetch(self) -> None:
        """Does nothing: a loader builds its first batches as soon as it is created."""

    def close(self) -> None:
        """Ends the loader; batches still held stay valid."""
        self._loader.close()


class BatchIterator(_Batches, grain.DatasetIterator[Arrays]):
    """A loader as a Grain DatasetIterator, which owns the loader from then on.

    Grain and Orbax save one state per process, so a run must resume with the same number.
    ElasticBatchIterator does not have this limit.
    """

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        grain.DatasetIterator.__init__(self)


class ElasticBatchIterator(_Batches, grain.experimental.ElasticIterator):
    """A loader as a Grain ElasticIterator: one state for all processes, so that a run can resume
    with any number of them. iter() returns the same object, at its current place."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        grain.IterDataset.__init__(self)  # not ElasticIterator's: it slices a MapDataset

    def __iter__(self) -> ElasticBatchIterator:
        return self


class BatchDataset(grain.IterDataset[Arrays]):
    """The batches of a leat.Loader as a Grain IterDataset: every iter() starts at step 0.

    Takes the arguments of leat.Loader. What Grain does to batches afterwards (map, ...) works;
    slicing does not: select the part of a host with `host` and `hosts`, or `rows`.
    """

    def __init__(self, data: ProbeDataset | Path, **options: Any) -> None:
        super().__init__()
        self._data = data if isinstance(data, ProbeDataset) else ProbeDataset(data)
        self._options = options

    def __iter__(self) -> BatchIterator:
        return BatchIterator(Loader(self._data, **self._options))

    def __repr__(self) -> str:
        return f"BatchDataset(fingerprint={self._data.fingerprint}, {self._options})"
