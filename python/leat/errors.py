"""The errors of the library as exceptions: one class per code, all derived from LeatError.

The text is the library's: what failed, on what, the value, the place, and what to do.
"""
from __future__ import annotations

from leat import _abi

_CODES = {name: number for number, name in enumerate(_abi.ENUMS["CODE"])}


class LeatError(Exception):
    """Any failure of the library; `code` is its number in include/leat/base.h."""
    code = 0


class OutOfMemoryError(LeatError, MemoryError):
    """Out of memory."""
    code = _CODES["ERR_MEMORY"]


class InputOutputError(LeatError, OSError):
    """A file cannot be read: a bad disk, or a file truncated while it is open."""
    code = _CODES["ERR_IO"]


class NotFoundError(LeatError, FileNotFoundError):
    """No such file, folder or thing."""
    code = _CODES["ERR_NOT_FOUND"]


class CorruptError(LeatError, ValueError):
    """Damaged data; the text names file, record and byte."""
    code = _CODES["ERR_CORRUPT"]


class InputError(LeatError, ValueError):
    """Data that is undamaged, but not valid input."""
    code = _CODES["ERR_INPUT"]


class OptionError(LeatError, ValueError):
    """An option or its value is not accepted, or a state belongs to something else."""
    code = _CODES["ERR_OPTION"]


class UnsupportedError(LeatError):
    """Valid, but not supported."""
    code = _CODES["ERR_UNSUPPORTED"]


class LimitError(LeatError):
    """A limit is exceeded."""
    code = _CODES["ERR_LIMIT"]


class NoSpaceError(LeatError, OSError):
    """No space left on the disk."""
    code = _CODES["ERR_NO_SPACE"]


class ExistsError(LeatError, FileExistsError):
    """Already exists."""
    code = _CODES["ERR_EXISTS"]


class CancelledError(LeatError):
    """Stopped on request."""
    code = _CODES["ERR_CANCELLED"]


class BusyError(LeatError):
    """In use by another process or thread."""
    code = _CODES["ERR_BUSY"]


class NoConnectionError(LeatError, ConnectionError):
    """The database cannot be reached, or did not answer."""
    code = _CODES["ERR_CONNECTION"]


BY_CODE: dict[int, type[LeatError]] = {kind.code: kind for kind in LeatError.__subclasses__()}
