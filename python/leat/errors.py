"""What the library reports, as exceptions: one class a code, all of them LeatError.

The text is the library's own: what was being done, to what, with which value, where, what to do.
"""
from __future__ import annotations


class LeatError(Exception):
    """Any failure of the library; `code` is its number in include/leat/base.h."""
    code = 0


class OutOfMemoryError(LeatError, MemoryError):
    """No memory."""
    code = 1


class InputOutputError(LeatError, OSError):
    """A file cannot be read: a bad disk, or a file cut while it is open."""
    code = 2


class NotFoundError(LeatError, FileNotFoundError):
    """No such file, folder or thing."""
    code = 3


class CorruptError(LeatError, ValueError):
    """Damaged data; the text names file, record and byte."""
    code = 4


class InputError(LeatError, ValueError):
    """Data that is whole, but not what it should be."""
    code = 5


class OptionError(LeatError, ValueError):
    """An option, or a value of one, that is not accepted; or a state that belongs elsewhere."""
    code = 6


class UnsupportedError(LeatError):
    """Valid, but beyond what is read."""
    code = 7


class LimitError(LeatError):
    """More than a stated limit allows."""
    code = 8


class NoSpaceError(LeatError, OSError):
    """No space left on the disk."""
    code = 9


class ExistsError(LeatError, FileExistsError):
    """There already."""
    code = 10


class CancelledError(LeatError):
    """Stopped on request."""
    code = 11


class BusyError(LeatError):
    """In use by somebody else."""
    code = 12


BY_CODE: dict[int, type[LeatError]] = {kind.code: kind for kind in LeatError.__subclasses__()}
