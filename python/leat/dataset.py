"""Data sets of probe rows opened for reading: the facts, measurements and bytes of any row."""
from __future__ import annotations

import ctypes as c
import datetime
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from leat import _abi, _handle
from leat._handle import Path, copy_of, path_of
from leat._library import call, encoded, held, integer, lib, size

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
SPLITS = tuple(None if name == "NONE" else name.lower() for name in _abi.ENUMS["SPLIT"])
_ADDRESS = np.dtype({"names": ["text", "text_bytes"],
                     "formats": [f"S{_abi.ProbeAddress.text.size}", "u1"],
                     "offsets": [_abi.ProbeAddress.text.offset,
                                 _abi.ProbeAddress.text_bytes.offset],
                     "itemsize": c.sizeof(_abi.ProbeAddress)})


class Shard(NamedTuple):
    """A file of a data set."""
    name: str            #: "train/train_shard_00000.arrayrecord", or the path of a third-party file
    split: str | None    #: "train", "test", or None for third-party files without a split
    first_row: int
    row_count: int
    measurement_count: int | None  #: None for third-party files
    file_bytes: int


class Handle(_handle.Handle):
    """An open leat_dataset; its readers are of type leat_row."""
    close, destroy = lib.leat_dataset_close, lib.leat_row_destroy

    def __init__(self, paths: Sequence[str], cache_bytes: int | None,
                 addresses: str | None, memory: Any) -> None:
        self._arguments = paths, cache_bytes, addresses, memory
        self._options = lib.leat_dataset_options_default()
        if cache_bytes is not None:
            self._options.cache_bytes = integer("cache_bytes", cache_bytes)
        if addresses is not None:
            self._options.addresses = encoded(addresses)
        if memory is not None:
            self._options.memory_bytes = size("memory", memory)
        self._paths = (c.c_char_p * len(paths))(*(encoded(path) for path in paths))
        super().__init__()
        facts = _abi.DatasetFacts()
        held.leat_dataset_get_facts(self.pointer, c.byref(facts))
        #: facts of a row are in the index; otherwise its record is decoded
        self.indexed: bool = facts.indexed

    def open(self) -> c.c_void_p:
        """The leat_dataset, opened again."""
        pointer = c.c_void_p()
        call(lib.leat_dataset_open, c.byref(pointer), self._paths, len(self._paths),
             c.byref(self._options))
        return pointer

    def reader(self, kind: Any) -> c.c_void_p:
        """A new leat_row."""
        pointer = c.c_void_p()
        call(lib.leat_row_create, c.byref(pointer), self.pointer)
        return pointer

    def __reduce__(self) -> Any:
        return Handle, self._arguments


class Cursor(_handle.Reader):
    """`with Cursor(handle, row) as pointer`: a leat_row on which that row is open."""

    def __init__(self, handle: Handle, row: int) -> None:
        super().__init__(handle)
        self._row = row

    def __enter__(self) -> c.c_void_p:
        pointer = super().__enter__()
        try:
            call(lib.leat_dataset_row_open, self._handle.pointer, self._row, pointer)
        except BaseException:
            self.__exit__()
            raise
        return pointer


def decode(handle: Handle, row: int) -> dict[str, npt.NDArray[Any]]:
    """The measurements of a row as new arrays; see ProbeRow.measurements."""
    found = _abi.Measurements()
    with Cursor(handle, row) as cursor:
        try:
            call(lib.leat_dataset_row_decode, cursor, c.byref(found))
            count = found.count
            addresses = copy_of(found.addresses, found.address_count, _ADDRESS)
            width = max(1, addresses["text_bytes"].max(initial=0))
            texts = addresses["text"].astype(f"U{width}")
            rtt = copy_of(found.rtt, count, np.float32)
            return {
                "event_time": copy_of(found.time_us, count, "datetime64[us]"),
                "src_addr": texts[copy_of(found.src, count, np.int32)],
                "dst_addr": texts[copy_of(found.dst, count, np.int32)],
                "ip_version": copy_of(found.ip_version, count, np.int8),
                "rtt": rtt,
                "failed": rtt < 0,
            }
        finally:
            lib.leat_measurements_free(c.byref(found))


class ProbeRow(Sequence[Mapping[str, Any]]):
    """One row of a data set: measurements of one probe in time order.

    A sequence of dicts: `len(row)` of them, `row[i]` has "event_time" (datetime, UTC), "src_addr",
    "dst_addr" (str), "ip_version" (4 or 6) and "rtt" (float, milliseconds; -1.0: failed), and reads
    only the few pages of that measurement. measurements() reads all of them at once. It can be
    pickled, like its data set, as paths.
    """

    def __init__(self, handle: Handle, number: int) -> None:
        facts = _abi.RowFacts()
        call(held.leat_dataset_row if handle.indexed else lib.leat_dataset_row, handle.pointer,
             number, c.byref(facts))
        self._handle = handle
        self.number = number  #: in the data set
        self.src_id: int = facts.src_id  #: first 15 hexadecimal digits of MD5(address or name)
        self.n_measurements: int = facts.n_measurements
        self.ip_version: int = facts.ip_version  #: 4, 6, or 0 if the row has both
        self.first_us: int = facts.first_us  #: first time, microseconds since 1970 UTC
        self.last_us: int = facts.last_us
        self.shard: int = facts.shard  #: its file, in ProbeDataset.shards
        self.record_index: int = facts.record_index  #: its record in that file
        self.record_bytes: int = facts.record_bytes  #: uncompressed

    def measurements(self) -> dict[str, npt.NDArray[Any]]:
        """All measurements, in time order, as arrays of shape [n_measurements].

        "event_time" datetime64[us] (UTC), "src_addr" and "dst_addr" str, "ip_version" int8 (4 or
        6), "rtt" float32 (milliseconds; -1: failed), "failed" bool. The arrays are the caller's.
        The complete row is verified; CorruptError names the file, record and byte of damage.
        """
        return decode(self._handle, self.number)

    def record(self) -> bytes:
        """The row's record: an Arrow IPC stream (docs/probe-rows.md), uncompressed and checked."""
        data, size = c.c_void_p(), c.c_int64()
        with Cursor(self._handle, self.number) as cursor:
            call(lib.leat_dataset_row_record, cursor, c.byref(data), c.byref(size))
            return c.string_at(data, size.value)

    def __reduce__(self) -> Any:
        return ProbeRow, (self._handle, self.number)

    def __len__(self) -> int:
        return self.n_measurements

    @overload
    def __getitem__(self, item: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, item: slice) -> Sequence[Mapping[str, Any]]: ...

    def __getitem__(self, item: int | slice) -> Any:
        wanted = range(len(self))[item]
        with Cursor(self._handle, self.number) as cursor:
            if isinstance(wanted, range):
                return [_measurement(cursor, i) for i in wanted]
            return _measurement(cursor, wanted)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        for first in range(0, len(self), 1000):
            yield from self[first:first + 1000]

    def __repr__(self) -> str:
        return (f"<leat.ProbeRow {self.number}: src_id {self.src_id}, "
                f"{self.n_measurements} measurements>")


def _measurement(cursor: c.c_void_p, index: int) -> Mapping[str, Any]:
    found = _abi.Measurement()
    call(lib.leat_row_measurement, cursor, index, c.byref(found))
    return {
        "event_time": _EPOCH + datetime.timedelta(microseconds=found.time_us),
        "src_addr": c.string_at(found.src, found.src_size).decode("utf-8", "replace"),
        "dst_addr": c.string_at(found.dst, found.dst_size).decode("utf-8", "replace"),
        "ip_version": found.ip_version,
        "rtt": found.rtt,
    }


class ProbeDataset(_handle.Owner[Handle], Sequence[ProbeRow]):
    """The rows of a data set: a sequence of ProbeRow, numbered through all shards.

    path: a folder written by `leat ingest probes`, a third-party ArrayRecord file, a folder of such
    files, or a list of third-party files and folders. cache_bytes limits the decoded records that
    are kept for reuse (compressed files; default 64 MiB). addresses: a CSV file with the columns
    src_id and src_addr, for third-party rows without a source address. memory limits the memory for
    reading third-party files, not counting mapped files (default "512M", as for `leat inspect`); a
    chunk that does not fit raises LimitError, which names a sufficient limit.

    A data set written by leat opens in milliseconds, and reading verifies each page once, when it
    is first read. Any number of threads may read at once; reading lets other Python threads run. It
    can be pickled and used in a child after fork (it is reopened by its paths). Use it in a `with`,
    call close(), or leave it to the garbage collector: the files are closed when nothing uses them
    any more, including loaders.

    Raises NotFoundError, CorruptError, InputError, InputOutputError.
    """

    def __init__(self, path: Path | Iterable[Path], *, cache_bytes: int | None = None,
                 addresses: Path | None = None, memory: int | str | None = None) -> None:
        paths: Iterable[Any] = [path]
        if isinstance(path, Iterable) and not isinstance(path, (str, bytes, Mapping, os.PathLike)):
            paths = path
        self._arguments = ([path_of(each, "a data set of probes") for each in paths], cache_bytes,
                           None if addresses is None else os.fspath(addresses), memory)
        self._open = Handle(*self._arguments)
        facts = _abi.DatasetFacts()
        held.leat_dataset_get_facts(self._open.pointer, c.byref(facts))
        self._rows: int = facts.row_count
        self._fingerprint: str | None = None
        self.indexed: bool = facts.indexed  #: has leat's manifest and index
        self.compressed: bool = facts.compressed  #: some shard is; False for third-party files
        self.file_bytes: int = facts.file_bytes  #: of all shards
        #: the column whose values the probes are; None: a probe is a source address
        self.probe: str | None = None if facts.probe is None else facts.probe.decode()
        #: in all rows; None for third-party files
        self.measurement_count: int | None = (
            facts.measurement_count if facts.measurement_count >= 0 else None)
        self.shards: tuple[Shard, ...] = tuple(
            self._shard(i) for i in range(facts.shard_count))  #: train first, then test

    def _shard(self, index: int) -> Shard:
        found = _abi.DatasetShard()
        call(held.leat_dataset_get_shard, self._handle.pointer, index, c.byref(found))
        count: int = found.measurement_count
        return Shard(os.fsdecode(found.name), SPLITS[found.split], found.first_row,
                     found.row_count, count if count >= 0 else None, found.file_bytes)

    @property
    def paths(self) -> list[str]:
        """The paths that it was opened with."""
        return list(self._arguments[0])

    @property
    def fingerprint(self) -> str:
        """64 hexadecimal digits that identify the contents of all records, independent of
        compression. For third-party files, the first call reads their chunk headers."""
        if self._fingerprint is None:
            text = c.create_string_buffer(65)
            call(lib.leat_dataset_fingerprint, self._handle.pointer, text)
            self._fingerprint = text.value.decode("ascii")
        return self._fingerprint

    def rows(self, split: str) -> Sequence[int]:
        """The numbers of the rows of a split, "train" or "test"; for third-party files, of the
        files whose name or folder starts with that word."""
        if split not in SPLITS[:2]:
            raise ValueError(f"split {split!r} is not accepted: \"train\" or \"test\"")
        found = [range(s.first_row, s.first_row + s.row_count) for s in self.shards
                 if s.split == split and s.row_count]
        if not found:
            return range(0)
        if all(a.stop == b.start for a, b in zip(found, found[1:])):
            return range(found[0].start, found[-1].stop)
        return [row for each in found for row in each]

    def __len__(self) -> int:
        return self._rows

    @overload
    def __getitem__(self, item: int) -> ProbeRow: ...
    @overload
    def __getitem__(self, item: slice) -> Sequence[ProbeRow]: ...

    def __getitem__(self, item: int | slice) -> Any:
        try:
            wanted = range(self._rows)[item]
        except IndexError:
            raise IndexError(f"row {item}: the data set has {self._rows} rows") from None
        if isinstance(wanted, range):
            return [ProbeRow(self._handle, row) for row in wanted]
        return ProbeRow(self._handle, wanted)

    def __reduce__(self) -> Any:
        return _reopen, self._arguments

    def __repr__(self) -> str:
        return f"<leat.ProbeDataset {', '.join(self.paths)}: {self._rows} rows>"


def _reopen(paths: list[str], cache_bytes: int | None, addresses: str | None,
            memory: int | str | None) -> ProbeDataset:
    return ProbeDataset(paths, cache_bytes=cache_bytes, addresses=addresses, memory=memory)
