"""Shared by data sets of all kinds: an open object of the library, and its readers."""
from __future__ import annotations

import collections
import ctypes as c
import os
import threading
from collections.abc import Hashable
from types import TracebackType
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt

Path = str | os.PathLike[str]

_reopening = threading.Lock()


def _after_fork() -> None:
    global _reopening
    _reopening = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


class Handle:
    """An open data set and its idle readers; closed when the last reference is dropped.

    A forked child opens its own: another thread of the parent may have held locks, which are never
    released in the child.
    """
    close: ClassVar[Any]    # the library's function that closes it
    destroy: ClassVar[Any]  # and a reader
    _pid = -1  # of the process that opened it

    def __init__(self) -> None:
        self._reopen()

    def open(self) -> c.c_void_p:
        """The data set, opened again."""
        raise NotImplementedError

    def reader(self, kind: Any) -> c.c_void_p:
        """A new reader."""
        raise NotImplementedError

    def _reopen(self) -> None:
        pointer = self.open()
        self._idle: dict[Hashable, collections.deque[c.c_void_p]] = {}
        self._pointer, self._pid = pointer, os.getpid()

    def _own(self) -> None:
        if self._pid != os.getpid():
            with _reopening:
                if self._pid != os.getpid():
                    self._reopen()

    @property
    def pointer(self) -> c.c_void_p:
        """The data set of this process."""
        self._own()
        return self._pointer

    def idle(self, kind: Hashable) -> collections.deque[c.c_void_p]:
        """The idle readers of a kind, of this process."""
        self._own()
        return self._idle.setdefault(kind, collections.deque())

    def __del__(self, getpid: Any = os.getpid) -> None:
        if self._pid != getpid():
            return
        for readers in self._idle.values():
            while readers:
                self.destroy(readers.pop())
        self.close(self._pointer)


_Of = TypeVar("_Of", bound=Handle)
_Self = TypeVar("_Self", bound="Owner[Any]")


class Owner(Generic[_Of]):
    """A data set with an open handle, until it is closed."""
    _open: _Of | None

    @property
    def _handle(self) -> _Of:
        if self._open is None:
            raise ValueError("the data set is closed")
        return self._open

    def close(self) -> None:
        """Closes the data set; what was created from it, such as loaders, stays usable."""
        self._open = None

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._open is None

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()


def path_of(value: Any, what: str) -> str:
    """A path as text; `what` says in an error what it should be of."""
    try:
        return os.fsdecode(value)
    except TypeError:
        raise TypeError(f"{value!r} is not a path; give that of {what}") from None


class Reader:
    """`with Reader(handle, kind) as pointer`: a reader for exclusive use."""

    def __init__(self, handle: Handle, kind: Hashable = None) -> None:
        self._handle, self._kind = handle, kind

    def __enter__(self) -> c.c_void_p:
        self._idle = self._handle.idle(self._kind)
        try:
            self._pointer = self._idle.pop()
        except IndexError:  # one reader per thread that reads at the same time
            self._pointer = self._handle.reader(self._kind)
        return self._pointer

    def __exit__(self, *_: object) -> None:
        self._idle.append(self._pointer)


def copy_of(place: Any, count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """A copy of `count` items at an address of the library, or behind a pointer to structs; zeros
    if it is NULL."""
    address = place if isinstance(place, int) else c.cast(place, c.c_void_p).value
    if not count or address is None:
        return np.zeros(count, dtype)
    size = count * np.dtype(dtype).itemsize
    there = memoryview((c.c_char * size).from_address(address))
    copy: npt.NDArray[Any] = np.frombuffer(there, np.dtype(dtype), count).copy()
    return copy
