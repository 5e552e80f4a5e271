"""The files of tests/golden/reference: outputs of the systems that leat is compared with
(docs/README.md) and samples of real data.
tests/golden_files.c is the same for tests in C."""
import atexit
import gzip
import os
import shutil
import tempfile

from command import ROOT

SHARED = os.environ.get("LEAT_SHARED")
WHOLE = bool(SHARED)  # if not, those that the README there calls cut are
_unpacked, _folder = {}, None


def _clean(folder, owner):
    if os.getpid() == owner:  # not a child that a test forked
        shutil.rmtree(folder, ignore_errors=True)


def path(name):
    """The path of a file or folder by its name there ("golden/can/batches_ref.json").

    With LEAT_SHARED in the environment it is that of this folder, where all files are whole.
    Without, a file that is stored as NAME.gz is unpacked into a temporary folder, which goes away
    with the program. An error if there is no such file.
    """
    global _folder
    plain = os.path.join(SHARED if WHOLE else
                         os.path.join(ROOT, "tests", "golden", "reference"), name)
    if os.path.exists(plain):
        return plain
    if WHOLE or not os.path.exists(plain + ".gz"):
        raise AssertionError(f"there is no golden file {plain}")
    if name not in _unpacked:
        if _folder is None:
            _folder = tempfile.mkdtemp(prefix="leat-golden-")
            atexit.register(_clean, _folder, os.getpid())
        # a folder of its own, because it keeps its name
        to = os.path.join(_folder, str(len(_unpacked)), os.path.basename(name))
        os.makedirs(os.path.dirname(to))
        with gzip.open(plain + ".gz", "rb") as packed, open(to, "wb") as out:
            shutil.copyfileobj(packed, out)
        _unpacked[name] = to
    return _unpacked[name]
