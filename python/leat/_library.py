"""Access to libleat.so, which is installed beside this file, or the file that LEAT_LIBRARY names:
opens it once, and turns codes into errors.

Every call lets other Python threads run (ctypes releases the GIL), except those of `held`, which
take well under a microsecond, less than releasing and reacquiring the GIL.
"""
from __future__ import annotations

import ctypes as c
import operator
import os
import re
import types
import warnings
from collections.abc import Mapping
from typing import Any

from leat import _abi, errors

_HOME = os.path.dirname(os.path.abspath(__file__))
OTHER = os.environ.get("LEAT_LIBRARY", "")  # empty: none
PATH = os.path.abspath(OTHER) if OTHER else os.path.join(_HOME, "libleat.so")
COMMAND = os.path.join(_HOME, "leat")  # the command, which does not use libleat.so
_REMEDY = ("unset LEAT_LIBRARY to use the one that is installed" if OTHER else
           "install the package again")


def _open(loader: Any) -> Any:
    try:
        library = loader(PATH)
    except OSError as problem:
        if OTHER:
            raise ImportError(
                f"libleat cannot be loaded from LEAT_LIBRARY={OTHER}: {problem}; name the file "
                f"libleat.so, or {_REMEDY}") from problem
        raise ImportError(
            f"libleat cannot be loaded from this installation: {problem}; install the package "
            "again (pip install ./python), with the system libraries that it was built with"
        ) from problem
    functions = types.SimpleNamespace()  # and no others: ctypes would guess their types
    for name, (result, arguments) in _abi.PROTOTYPES.items():
        function = getattr(library, name, None)
        if function is None:
            raise ImportError(f"{PATH} does not have the function {name}, which this package "
                              "calls: it is another version of libleat, or another library; "
                              + _REMEDY)
        function.restype, function.argtypes = result, arguments
        setattr(functions, name, function)
    return functions


def _same_version(library: Any) -> None:
    """Structs and options belong to a version: another one would read them differently."""
    number = _abi.VERSION_NUMBER
    wanted = f"{number // 10000}.{number // 100 % 100}.{number % 100}"
    found = library.leat_version().decode("ascii", "replace")
    if found != wanted:
        raise ImportError(f"{PATH} is libleat {found}, but this package needs {wanted}; {_REMEDY}")


def _commit() -> str:
    item, index = _abi.BuildItem(), 0
    while lib.leat_build_info(index, c.byref(item)):
        if (item.group, item.name) == (b"build", b"commit"):
            return str(item.value.decode("utf-8", "replace"))
        index += 1
    return "unknown"


def _commit_of_package() -> str:
    """That of the command, which was built with the package; another libleat.so is not opened for
    it, because it would stay in this process."""
    import subprocess  # only those who set LEAT_LIBRARY pay for it
    try:
        text = subprocess.run([COMMAND, "version"], stdout=subprocess.PIPE, timeout=60,
                              stderr=subprocess.DEVNULL, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    found = re.search(rb"^build +commit +(.+)$", text, re.MULTILINE)
    return found[1].decode("utf-8", "replace") if found else "unknown"


def _same_commit() -> None:
    """A warning, not an error: another build of the version is what LEAT_LIBRARY is for, and most
    commits change no struct."""
    found, wanted = _commit(), _commit_of_package()
    if found != wanted and "unknown" not in (found, wanted):
        warnings.warn(f"LEAT_LIBRARY={OTHER} is libleat of commit {found}, but this package is of "
                      f"commit {wanted}: between them, structs and options may have changed, which "
                      "gives wrong results without an error; use both of one commit, or unset "
                      "LEAT_LIBRARY", RuntimeWarning, stacklevel=2)


lib = _open(c.CDLL)
_same_version(lib)
if OTHER:
    _same_commit()
held = _open(c.PyDLL)  # the same library: calls that keep the GIL


def fail(error: _abi.Error) -> errors.LeatError:
    """The exception of a filled leat_error."""
    kind = errors.BY_CODE.get(error.code, errors.LeatError)
    return kind(error.message.decode("utf-8", "replace"))


def call(function: Any, *arguments: Any) -> None:
    """Calls a function that returns a leat_code and takes `leat_error *err` last; raises
    LeatError."""
    error = _abi.Error()
    if function(*arguments, c.byref(error)) != 0:
        raise fail(error)


def whole(name: str, value: Any) -> int:
    """A whole number of any size; a text of digits is not one."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {value!r} is not an integer") from None


def integer(name: str, value: Any, bits: int = 64) -> int:
    """A number that fits a signed C type of the given bits; ctypes would silently truncate it."""
    number = whole(name, value)
    if not -1 << bits - 1 <= number < 1 << bits - 1:
        raise errors.OptionError(f"{name}: {number} does not fit in {bits} bits")
    return number


def size(name: str, value: Any) -> int:
    """A number of bytes, or a text as the command accepts it, "512M"."""
    if not isinstance(value, str):
        return integer(name, value)
    found = re.fullmatch("([0-9]{1,19})(?:([KMGTkmgt])(?:iB)?)?", value)
    if found is None:
        raise errors.OptionError(f"{name}: {value!r} is not a size; give bytes, or a text such as "
                                 "\"512M\" (K, M, G, T: powers of 1024)")
    shift = 10 * (1 + "KMGT".index(found[2].upper())) if found[2] else 0
    return integer(name, int(found[1]) << shift)


def encoded(text: str | bytes | os.PathLike[str] | os.PathLike[bytes]) -> bytes:
    """A text or path for C, which ends at the first null character."""
    found = os.fsencode(text)
    if b"\0" in found:
        raise ValueError(f"{text!r} contains a null character")
    return found


def set_options(table: int, options: c.Structure, values: Mapping[str, Any]) -> None:
    """Sets options of a struct by their names in the library's table; None keeps the default."""
    for name, value in values.items():
        if value is not None:
            call(lib.leat_settings_set, table, c.byref(options), encoded(name),
                 encoded(str(value)))


def version() -> str:
    """The library's version, as "0.1.0"."""
    text: bytes = lib.leat_version()
    return text.decode("ascii")
