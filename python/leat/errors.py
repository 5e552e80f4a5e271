"""The errors of the library as exceptions: one class per code, all derived from LeatError.

The text is the library's: what failed, on what, the value, the place, and what to do.
"""
from __future__ import annotations


class LeatError(Exception):
    """Any failure of the library; `code` is its number in include/leat/base.h."""
    code = 0


class OutOfMemoryError(LeatError, MemoryError):
    """Out of memory."""
    code = 1


class InputOutputError(LeatError, OSError):
    """A file cannot be read: a bad disk, or a file truncated while it is open."""
    code = 2


class NotFoundError(LeatError, FileNotFoundError):
    """No such file, folder or thing."""
    code = 3


class CorruptError(LeatError, ValueError):
    """Damaged data; the text names file, record and byte."""
    code = 4


class InputError(LeatError, ValueError):
    """Data that is undamaged, but not valid input."""
    code = 5


class OptionError(LeatError, ValueError):
    """An option or its value is not accepted, or a state belongs to something else."""
    code = 6


class UnsupportedError(LeatError):
    """Valid, but not supported."""
    code = 7


class LimitError(LeatError):
    """A limit is exceeded."""
    code = 8


class NoSpaceError(LeatError, OSError):
    """No space left on the disk."""
    code = 9


class ExistsError(LeatError, FileExistsError):
    """Already exists."""
    code = 10


class CancelledError(LeatError):
    """Stopped on request."""
    code = 11


class BusyError(LeatError):
    """In use by another process or thread."""
    code = 12


class NoConnectionError(LeatError, ConnectionError):
    """The database cannot be reached, or did not answer."""
    code = 13


BY_CODE: dict[int, type[LeatError]] = {kind.code: kind for kind in LeatError.__subclasses__()}
