"""Shared by loaders of all kinds: iteration over batches, place and state."""
from __future__ import annotations

import contextlib
import ctypes as c
import json
import numbers
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, ClassVar, SupportsIndex, TypeVar

import numpy as np
import numpy.typing as npt

from leat import _abi, _workers
from leat._handle import Handle, Path
from leat._library import call, encoded, fail, held, integer, lib, size
from leat.errors import OptionError

_WAIT_MS = 100  # then Python checks for signals (Ctrl-C) and waits again
_Self = TypeVar("_Self", bound="Ring")
_Ring = TypeVar("_Ring", bound="Ring")


class Open(c.c_void_p):
    """A loader of the library, destroyed when the last reference is dropped; a running call holds
    one, in any thread."""
    destroy: ClassVar[Any]
    data: Handle  # must outlive it

    def __del__(self) -> None:
        if self:
            self.destroy(self)


class Held:
    """A returned batch. Arrays that view it keep it alive; the last one releases it."""
    __slots__ = ("pointer", "__array_interface__")
    release: ClassVar[Any]
    __array_interface__: dict[str, Any]

    def __init__(self, batch: c.Structure) -> None:
        self.pointer = c.pointer(batch)

    def array(self, address: int, shape: tuple[int, ...], kind: str,
              writable: bool = False) -> npt.NDArray[Any]:
        """The array at an address of the batch, without a copy. kind: for example "<i4"."""
        # NumPy keeps `self` alive through this protocol, and cannot make the array writable
        self.__array_interface__ = {"version": 3, "typestr": kind, "shape": shape,
                                    "data": (address, not writable)}
        return np.asarray(self)

    def __del__(self) -> None:
        self.release(self.pointer)


class Ring:
    """An iterator over the batches of one of the library's loaders.

    It can be pickled: the copy opens the data by its path, starts threads of its own, and continues
    at the same place.
    """
    _name: ClassVar[str]            # prefix of its functions
    _batch: ClassVar[Any]           # structs
    _counters: ClassVar[Any]
    _rows: ClassVar[str]            # its data as a map-style data set
    _arguments: tuple[Any, ...]     # that it was created with
    _options: dict[str, Any]

    def __new__(cls: type[_Self], *arguments: Any, **options: Any) -> _Self:
        loader = super().__new__(cls)
        loader._arguments, loader._options = arguments, options
        return loader

    def __reduce__(self) -> Any:
        return _resumed, (type(self), self._arguments, self._options, self.state())

    def __init__(self, host: int, hosts: int) -> None:
        self._share = host, hosts
        self._pointer: Open | None = None
        self._pid, self._lock = os.getpid(), threading.Lock()

    @property
    def _alone(self) -> contextlib.AbstractContextManager[Any]:
        """The lock of the place. A forked child could never release it and does not need it,
        because the library refuses calls there."""
        return self._lock if os.getpid() == self._pid else contextlib.nullcontext()

    @property
    def _open(self) -> Open:
        if self._pointer is None:
            raise ValueError("the loader is closed")
        return self._pointer

    def _take(self) -> Any:
        """The next batch, a struct owned by the caller; StopIteration at the end. OptionError in
        one of several workers of a DataLoader, which would all return it."""
        _workers.refuse(*self._share, self._rows)
        batch, error = c.POINTER(self._batch)(), _abi.Error()
        wait = self._name + "_wait"
        with self._alone:
            pointer = self._open
            # When a batch is ready, the GIL is kept: returning it takes a microsecond, and
            # releasing the GIL would mean waiting for it while another thread computes.
            if not getattr(held, wait)(pointer, 0) and os.getpid() == self._pid:
                while not getattr(lib, wait)(pointer, _WAIT_MS):
                    pass
            if getattr(held, self._name + "_next")(pointer, c.byref(batch), c.byref(error)):
                raise fail(error)
        if not batch:
            raise StopIteration
        return batch.contents

    def __iter__(self: _Self) -> _Self:
        return self

    def state(self) -> dict[str, int | str]:
        """The state to resume from, as JSON of at most 256 bytes."""
        text = (c.c_char * _abi.LOADER_STATE_BYTES)()
        getattr(held, self._name + "_state")(self._open, text)
        state: dict[str, int | str] = json.loads(text.value)
        return state

    def _restore(self, state: str | Mapping[str, Any]) -> None:
        text = state if isinstance(state, str) else json.dumps(dict(state), default=int)
        call(getattr(lib, self._name + "_restore"), self._open, encoded(text))

    def save(self, path: Path, *, replace: bool = False) -> None:
        """Writes the state to a file, with the options by name, so that an error names the one that
        differs. The file appears only when complete. FileExistsError: a file of that name is not a
        state that leat wrote, and `replace` is not set."""
        with self._alone:
            call(getattr(lib, self._name + "_save"), self._open, encoded(path), bool(replace))

    def load(self, path: Path) -> None:
        """Restores the state in a file written by save() or by the command."""
        with self._alone:
            call(getattr(lib, self._name + "_load"), self._open, encoded(path))

    def counters(self) -> dict[str, int]:
        """Counters of the batches returned so far."""
        found = self._counters()
        getattr(held, self._name + "_get_counters")(self._open, c.byref(found))
        return {field[0]: getattr(found, field[0]) for field in found._fields_}

    def close(self) -> None:
        """Ends its threads and frees its memory; batches still held stay valid."""
        with self._alone:
            pointer, self._pointer = self._pointer, None
        del pointer  # which ends the loader, unless another thread is in a call

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()


class Steps(Ring):
    """A loader whose place is a step."""

    @property
    def step(self) -> int:
        """The step of the next batch."""
        step: int = getattr(held, self._name + "_step")(self._open)
        return step

    @property
    def steps(self) -> int | None:
        """The number of steps; None if endless (epochs=0, by_client)."""
        count: int = getattr(held, self._name + "_step_count")(self._open)
        return count if count >= 0 else None

    def state(self) -> dict[str, int | str]:
        """The state to resume from: {"v", "data", "options", "seed", "step"}.

        JSON of at most 256 bytes, a function of the version, fingerprint of the data, hash of the
        options that determine the bytes, seed, and step of the next batch.
        """
        return super().state()

    def seek(self, place: SupportsIndex | str | Mapping[str, Any]) -> None:
        """Goes to a step, or to a state (as returned by state(), or its JSON).

        Takes as long as starting at step 0. A state of different data, options or seed raises
        InputError, which names which of these it is. Only load() can name the option: a state holds
        a hash of them.
        """
        with self._alone:
            if isinstance(place, (str, Mapping)):
                self._restore(place)
                return
            call(getattr(lib, self._name + "_seek"), self._open, integer("step", place))


def _resumed(kind: type[_Ring], arguments: tuple[Any, ...], options: dict[str, Any],
             state: Mapping[str, Any]) -> _Ring:
    """A loader that was pickled."""
    loader = kind(*arguments, **options)
    loader._restore(state)
    return loader


def choice(name: str, value: str | None, accepted: Sequence[str | None]) -> int:
    """The index of one of the accepted words."""
    if value not in accepted:
        raise ValueError(f"{name} {value!r} is not accepted: " +
                         ", ".join(repr(each) for each in accepted))
    return accepted.index(value)


def real(name: str, value: Any) -> float:
    """A number; a text of digits is not one."""
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{name}: {value!r} is not a number")
    return float(value)


def integers(name: str, values: Iterable[int], example: str) -> tuple[int, ...]:
    """Several numbers; a text, whose characters Python would take one by one, is refused."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{name}: {values!r} is not accepted; give numbers, for example {example}")
    return tuple(integer(name, value) for value in values)


def options_of(host: int, hosts: int, threads: int | None, prefetch: int | None,
               memory: int | str | None) -> dict[str, int | None]:
    """The options that all loaders have, by their names in the library's tables."""
    if prefetch is not None and integer("prefetch", prefetch) < 0:
        raise OptionError(f"prefetch: {prefetch} is not accepted; give a number of batches, or "
                          "None for as many as memory holds, at most 8")
    return {"host": integer("host", host), "hosts": integer("hosts", hosts),
            "threads": None if threads is None else integer("threads", threads, 32),
            "prefetch": None if prefetch is None else integer("prefetch", prefetch),
            "memory": None if memory is None else size("memory", memory)}
