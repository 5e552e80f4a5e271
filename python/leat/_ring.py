"""What loaders of either kind are made of: batches that come one by one, their place and state."""
from __future__ import annotations

import contextlib
import ctypes as c
import json
import os
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from leat import _abi
from leat._handle import Handle, Path
from leat._library import call, encoded, fail, held, lib

_WAIT_MS = 100  # then Python looks for signals (Ctrl-C) and waits on
_Self = TypeVar("_Self", bound="Ring")


class Open(c.c_void_p):
    """A loader of the library, destroyed when nobody holds it: a call at work does, in whatever
    thread."""
    destroy: ClassVar[Any]
    data: Handle  # which must outlive it

    def __del__(self) -> None:
        if self:
            self.destroy(self)


class Held:
    """A batch that was handed out. Arrays that show it keep it; the last one gives it back."""
    __slots__ = ("pointer", "__array_interface__")
    release: ClassVar[Any]
    __array_interface__: dict[str, Any]

    def __init__(self, pointer: int) -> None:
        self.pointer = pointer

    def array(self, address: int, shape: tuple[int, ...], kind: str,
              writable: bool = False) -> npt.NDArray[Any]:
        """The array at an address of the batch; nothing is copied. kind: as "<i4"."""
        # NumPy keeps `self` alive by this protocol, and knows no way to make it writable
        self.__array_interface__ = {"version": 3, "typestr": kind, "shape": shape,
                                    "data": (address, not writable)}
        return np.asarray(self)

    def __del__(self) -> None:
        self.release(self.pointer)


class Ring:
    """An iterator over the batches of one of the library's loaders."""
    _name: ClassVar[str]            # that its functions begin with
    _batch: ClassVar[Any]           # structs
    _counters: ClassVar[Any]

    def __init__(self) -> None:
        self._pointer: Open | None = None
        self._pid, self._lock = os.getpid(), threading.Lock()

    @property
    def _alone(self) -> contextlib.AbstractContextManager[Any]:
        """The lock of the place; in a forked child nobody could give it back, and none is needed:
        there the library refuses."""
        return self._lock if os.getpid() == self._pid else contextlib.nullcontext()

    @property
    def _open(self) -> Open:
        if self._pointer is None:
            raise ValueError("the loader is closed")
        return self._pointer

    def _take(self) -> Any:
        """The next batch, a struct that is the caller's; StopIteration at the end."""
        batch, error = c.POINTER(self._batch)(), _abi.Error()
        wait = self._name + "_wait"
        with self._alone:
            pointer = self._open
            # When a batch is ready, the GIL stays: handing it out takes a microsecond, and giving
            # the GIL away would mean to wait for it as long as another thread computes.
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
        """Where it is, to go on from there, as JSON of at most 256 bytes."""
        text = (c.c_char * _abi.LOADER_STATE_BYTES)()
        getattr(held, self._name + "_state")(self._open, text)
        state: dict[str, int | str] = json.loads(text.value)
        return state

    def _restore(self, state: str | Mapping[str, Any]) -> None:
        text = state if isinstance(state, str) else json.dumps(dict(state))
        call(getattr(lib, self._name + "_restore"), self._open, encoded(text))

    def save(self, path: Path) -> None:
        """Writes the state to a file, with the options by name, so that a refusal says which one
        differs; it appears whole or not at all."""
        with self._alone:
            call(getattr(lib, self._name + "_save"), self._open, encoded(path))

    def load(self, path: Path) -> None:
        """Goes to the state in a file, of save() or of the command."""
        with self._alone:
            call(getattr(lib, self._name + "_load"), self._open, encoded(path))

    def counters(self) -> dict[str, int]:
        """Of the batches that were handed out."""
        found = self._counters()
        getattr(held, self._name + "_get_counters")(self._open, c.byref(found))
        return {field[0]: getattr(found, field[0]) for field in found._fields_}

    def close(self) -> None:
        """Ends its threads and frees its memory; batches that are held stay."""
        with self._alone:
            pointer, self._pointer = self._pointer, None
        del pointer  # which ends the loader, unless another thread is asking it something

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()


def choice(name: str, value: str | None, accepted: Sequence[str | None]) -> int:
    """The number of one of the accepted words."""
    if value not in accepted:
        raise ValueError(f"{name} {value!r} is not accepted: " +
                         ", ".join(repr(each) for each in accepted))
    return accepted.index(value)
