"""Training batches: the iterator, its state, and the contents of a row of a batch."""
from __future__ import annotations

import ctypes as c
import os
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leat import _abi, _ring
from leat._handle import Path, copy_of
from leat._library import call, encoded, held, integer, lib, set_options, whole
from leat._ring import choice, integers
from leat.dataset import SPLITS, ProbeDataset

Arrays = dict[str, npt.NDArray[np.int32]]

KEYS = ("inputs", "targets", "inputs_position", "targets_position", "inputs_segmentation",
        "targets_segmentation")
_NUMPY = tuple(int(part) for part in np.__version__.split(".")[:2])


class _Open(_ring.Open):
    """A leat_loader."""
    destroy = lib.leat_loader_destroy


class _Held(_ring.Held):
    """A leat_batch."""
    __slots__ = ()
    release = held.leat_batch_release


def _arrays(found: Any) -> Arrays:
    """The six arrays of a leat_batch, which this function now owns; nothing is copied."""
    holder = _Held(found)
    shape = (found.row_count, found.length)
    return {key: holder.array(getattr(found, key), shape, "<i4") for key in KEYS}


class DLPack:
    """An array of a batch, for consumers of DLPack that do not support read-only memory.

    NumPy exports a read-only array only to consumers that request DLPack 1.0, which has a flag for
    it; JAX 0.10 and older do not. `jax.dlpack.from_dlpack(leat.DLPack(array))` shares the memory
    with those too; they must not write to it (JAX never does).
    """

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self._array = array
        self.__array_interface__ = {
            **array.__array_interface__, "data": (array.__array_interface__["data"][0], False)}

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # kDLCPU

    def __dlpack__(self, *, max_version: tuple[int, int] | None = None, **options: Any) -> Any:
        """A capsule that holds the array: with the read-only flag if max_version allows it."""
        if max_version is not None and max_version >= (1, 0) and _NUMPY >= (2, 1):
            return self._array.__dlpack__(max_version=max_version, **options)
        return np.asarray(self).__dlpack__()


class Measurement(NamedTuple):
    """A measurement in a sequence."""
    number: int     #: in its row of the data set
    time_us: int    #: microseconds since 1970 UTC
    stamped: bool   #: has a timestamp in the sequence
    cut: bool       #: truncated by the end of the sequence


class Segment(NamedTuple):
    """A context in a sequence: measurements of one row."""
    row: int                #: of the data set
    shard: str
    record_index: int       #: in the shard
    src_id: int
    row_measurements: int   #: measurements in the row
    context: int            #: index of the context in the row
    time_mode: str          #: "full", "partial", "none", "mixed"
    window_first: int       #: it was drawn from window_count measurements of the row,
    window_count: int
    window_stride: int      #: taking every window_stride-th (plan2: up to the last one drawn)
    token_first: int        #: its position in the sequence
    token_count: int
    drawn: int              #: measurements drawn, including those that did not fit
    measurements: tuple[Measurement, ...]  #: in the order of the tokens


class Explanation(NamedTuple):
    """The contents of a row of a batch; str() gives it in words."""
    step: int
    row: int                #: in the global batch
    sequence: int           #: step * batch + row
    epoch: int              #: -1 by client
    position: int           #: in the epoch; -1 by client
    anchor: int             #: number of the anchor in the epoch
    past_end: bool          #: zeros: the epochs are over
    masked: bool            #: zeros: the data is damaged
    reason: str             #: if masked
    segments: tuple[Segment, ...]  #: the first is the anchor's
    inputs: npt.NDArray[np.int32]        #: [length], as in the batch
    segmentation: npt.NDArray[np.int32]  #: [length]

    def summary(self) -> str:
        """One line: the sequence, and its numbers of measurements by row."""
        head = f"step {self.step} row {self.row}: sequence {self.sequence}"
        if self.epoch >= 0:
            head += f", epoch {self.epoch} position {self.position}"
        if self.past_end:
            return head + ": past the end, zeros"
        if self.masked:
            return head + f": masked, {self.reason}"
        return head + ": " + " + ".join(
            f"{len(one.measurements)} of row {one.row} ({one.time_mode})" for one in self.segments)

    def __str__(self) -> str:
        lines = [self.summary()]
        if self.past_end or self.masked:
            return lines[0] + "\n"
        for number, one in enumerate(self.segments, 1):
            lines.append(
                f"segment {number}: {one.shard} record {one.record_index}, src_id {one.src_id}: "
                f"{len(one.measurements)} of {one.row_measurements} measurements, from "
                f"{one.window_count} at {one.window_first}, stride {one.window_stride}, "
                f"timestamps {one.time_mode}, {one.token_count} tokens at {one.token_first}")
        return "\n".join(lines) + "\n" + words(self.inputs, self.segmentation)


class Quarantined(NamedTuple):
    """A damaged record because of which sequences were masked."""
    shard: str
    row: int
    record_index: int
    byte: int     #: of the shard: the first damaged page of the record; compressed: its chunk
    reason: str


def words(inputs: npt.ArrayLike, segmentation: npt.ArrayLike | None = None) -> str:
    """A sequence in words, one line per measurement: position, segment, time, addresses, result,
    order.

    inputs: int32 [length]; segmentation: int32 [length] as in the batch (0: padding), or None for
    one segment. Raises CorruptError if it is not a sequence of measurements.
    """
    tokens = np.ascontiguousarray(inputs, np.int32)
    segments = None if segmentation is None else np.ascontiguousarray(segmentation, np.int32)
    if tokens.ndim != 1 or segments is not None and segments.shape != tokens.shape:
        raise ValueError("words() takes one sequence: one-dimensional arrays of the same length")
    text, found, size = c.c_void_p(), c.c_char_p(), c.c_int64()
    call(lib.leat_textbuf_create, c.byref(text))
    try:
        call(lib.leat_tokens_words, tokens.ctypes.data,
             None if segments is None else segments.ctypes.data, tokens.size, text)
        call(lib.leat_textbuf_finish, text, c.byref(found), c.byref(size))
        return (found.value or b"").decode("utf-8")
    finally:
        lib.leat_textbuf_destroy(text)


class Loader(_ring.Steps):
    """Training batches of a data set: an iterator of dicts of six int32 arrays [rows, length].

    data: a ProbeDataset, or the path of one. A batch is a function of the rows of the data set,
    `split`, `batch`, `order`, `epochs` (its end) and the options of the sampler:

    sampler "plan3", "plan2" or "all"; length: tokens of a sequence; seed; timestamp_modes: percent
    of full, partial, none (plan2: full, none, mixed); field_order "random" or "content"; packing
    "fill" or "none"; tail "cut" or "pad"; boundary "mask" or "cross"; by_client, client_weights
    ("uniform", "measurements" or the path of a CSV file), clients_per_round, steps_per_round: each
    row of a batch from a different probe. docs/sampling.md describes them all.

    split "train", "test", or None for all rows. batch: rows of the global batch, of which the
    loader builds those of host number `host` of `hosts`, or `rows`: their numbers, in any order.
    epochs: how often each anchor is used; 0: the loader never ends.

    order "global": every context may come from anywhere; "windowed" or "windowed:SIZE", for data
    larger than memory: from windows of about SIZE together, so that the data is read once an epoch,
    in large pieces (docs/loading.md). A warning says where it would help. The memory of windows is
    in counters() before the first batch: window_bytes.

    threads, prefetch (batches built ahead; None: as many as fit, at most 8) and memory (bytes, or
    "512M") change only the speed. io "mmap" or "pread". on_corrupt "fail": a step that needs
    damaged bytes raises; "mask": its sequence is zeros, see quarantine().

    The arrays have keys KEYS, int32, read-only, aligned to 4 KiB. They are views of the loader's
    memory: nothing is copied, and a batch stays unchanged while any of its arrays, or anything
    created from one without a copy (a view, a DLPack capsule, a JAX array on the CPU), is alive,
    even after close(). Batches still held use memory beyond `memory`.

    One thread at a time takes a batch; a second one waits. Waiting lets other Python threads run,
    and Ctrl-C interrupts it. A loader belongs to its process: in a child after fork it raises, and
    in one of several workers of a torch DataLoader, unless host and hosts are the worker's share.
    It can be pickled as path, options and state: the copy has threads of its own and continues at
    the same place. Use it in a `with`, call close(), or leave it to the garbage collector.

    Raises OptionError (naming the option and its value), CorruptError, InputOutputError; a step
    that failed raises again until seek().
    """

    _name, _batch, _counters = "leat_loader", _abi.Batch, _abi.LoaderCounters
    _rows = "leat.ProbeDataset"

    def __init__(self, data: ProbeDataset | Path, *, batch: int = 8, length: int = 1024,
                 seed: int = 0, split: str | None = "train", sampler: str = "plan3",
                 timestamp_modes: Sequence[int] = (40, 30, 30), field_order: str = "random",
                 packing: str = "fill", tail: str = "cut", boundary: str = "mask",
                 epochs: int = 0, host: int = 0, hosts: int = 1,
                 rows: Sequence[int] | None = None, by_client: bool = False,
                 client_weights: Path | None = None, clients_per_round: int = 0,
                 steps_per_round: int = 0, threads: int | None = None,
                 prefetch: int | None = None, memory: int | str | None = None, io: str = "mmap",
                 on_corrupt: str = "fail", order: str = "global") -> None:
        super().__init__(host, hosts)
        self._data = data if isinstance(data, ProbeDataset) else ProbeDataset(data)
        timestamp_modes = integers("timestamp_modes", timestamp_modes, "(40, 30, 30)")
        options = lib.leat_loader_options_default()
        if not isinstance(by_client, (bool, np.bool_)):
            raise TypeError(f"by_client: {by_client!r} is not True or False")
        sample = {"sampler": sampler, "length": str(whole("length", length)),
                  "seed": str(whole("seed", seed)),
                  "timestamp-modes": ",".join(map(str, timestamp_modes)),
                  "field-order": field_order, "packing": packing, "tail": tail,
                  "boundary": boundary}
        set_options(lib.leat_sampler_options_table(), options.sample, sample)
        choice("split", split, SPLITS)
        values = {
            "split": split or "all", "batch": integer("batch", batch),
            "epochs": integer("epochs", epochs), "io": io, "on-corrupt": on_corrupt,
            "order": order,
            "clients-per-round": integer("clients_per_round", clients_per_round) or None,
            "steps-per-round": integer("steps_per_round", steps_per_round) or None,
            **_ring.options_of(host, hosts, threads, prefetch, memory)}
        set_options(lib.leat_loader_options_table(), options, values)
        if rows is not None:
            rows = self._options["rows"] = integers("rows", rows, "[0, 1, 2]")
            options.rows = c.cast((c.c_int64 * len(rows))(*rows), c.c_void_p)
            options.row_count = len(rows)
        options.by_client = by_client
        if client_weights is not None:
            options.client_weights = encoded(client_weights)
        words = {**sample, "batch": batch, "epochs": epochs, "split": split,
                 "by": "client" if by_client else None, "client-weights": client_weights,
                 "clients-per-round": clients_per_round or None,
                 "steps-per-round": steps_per_round or None, "on-corrupt": on_corrupt,
                 "order": order}
        #: the arguments of `leat batches` that build the same global batches
        self.command: list[str] = [
            "batches", *self._data.paths,
            *(f"--{name}={value}" for name, value in words.items() if value is not None)]
        self.batch = batch    #: rows of the global batch
        self.length = length  #: tokens of a sequence
        pointer = _Open()
        pointer.data = self._data._handle  # stays open for the loader, even if _data is closed
        call(lib.leat_loader_create, c.byref(pointer), pointer.data.pointer, c.byref(options))
        self._pointer = pointer
        self._warn_of_memory(pointer)
        #: the rows of the global batch that this loader builds
        self.rows: Sequence[int] = (range(host * batch // hosts, (host + 1) * batch // hosts)
                                    if rows is None else rows)

    @staticmethod
    def _warn_of_memory(pointer: _Open) -> None:
        data_bytes, memory_bytes = c.c_int64(), c.c_int64()
        if not lib.leat_loader_exceeds_memory(pointer, c.byref(data_bytes), c.byref(memory_bytes)):
            return
        warnings.warn(
            f"the data set ({data_bytes.value / 2**30:,.1f} GiB) is larger than the memory of this "
            f"machine ({memory_bytes.value / 2**30:,.1f} GiB), so batches in random order wait for "
            'the disk; use order="windowed", which reads the data set once per epoch, in large '
            "pieces", stacklevel=3)

    @property
    def data(self) -> ProbeDataset:
        """The data set."""
        return self._data

    def __next__(self) -> Arrays:
        """The next batch; StopIteration at the end (only with `epochs`)."""
        return _arrays(self._take())

    @property
    def epoch_sequences(self) -> int | None:
        """Sequences of an epoch; None by client."""
        count: int = held.leat_loader_epoch_sequences(self._open)
        return count if count >= 0 else None

    def explain(self, step: int, row: int) -> Explanation:
        """The contents of row 0 <= row < batch of a step, of any host; print() shows it in
        words."""
        found = c.POINTER(_abi.Explanation)()
        call(lib.leat_loader_explain, self._open, integer("step", step), integer("row", row),
             c.byref(found))
        try:
            return _explanation(found.contents, self._data)
        finally:
            lib.leat_explanation_destroy(found)

    def counters(self) -> dict[str, int]:
        """Counters of the batches returned so far: batches, sequences, masked, tokens, padding,
        segments, measurements, dropped; payload_bytes read, stall_ns (waiting for batches), work_ns
        (of all threads), memory_bytes, prefetch; in the windowed order read_wait_ns (threads
        waiting for data) and window_bytes."""
        return super().counters()

    def quarantine(self) -> list[Quarantined]:
        """The damaged records because of which sequences were masked so far (on_corrupt="mask")."""
        items, count = c.POINTER(_abi.Quarantined)(), c.c_int64()
        call(lib.leat_loader_quarantine, self._open, c.byref(items), c.byref(count))
        try:
            return [Quarantined(os.fsdecode(one.shard), one.row, one.record_index, one.byte,
                                one.reason.decode("utf-8", "replace"))
                    for one in items[:count.value]]
        finally:
            lib.leat_quarantine_free(items)

    def __repr__(self) -> str:
        where = "closed" if self._pointer is None else f"next step {self.step}"
        return f"<leat.Loader of {', '.join(self._data.paths)}: {where}>"


def _explanation(found: _abi.Explanation, data: ProbeDataset) -> Explanation:
    all_measurements = [Measurement(one.index, one.time_us, one.stamped, one.cut)
                        for one in found.measurements[:found.measurement_count]]
    segments = []
    for one in found.segments[:found.segment_count]:
        first = one.measurement_first
        segments.append(Segment(
            one.row, data.shards[one.shard].name, one.record_index, one.src_id,
            one.row_measurements, one.context, one.time_mode.decode("ascii"), one.window_first,
            one.window_count, one.window_stride, one.token_first, one.token_count, one.drawn,
            tuple(all_measurements[first:first + one.measurement_count])))
    return Explanation(
        found.step, found.row, found.sequence, found.epoch, found.position, found.anchor,
        found.past_end, found.masked, found.reason.decode("utf-8", "replace"), tuple(segments),
        copy_of(found.inputs, found.length, np.int32),
        copy_of(found.segmentation, found.length, np.int32))
