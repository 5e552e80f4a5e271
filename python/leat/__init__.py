"""leat: Internet latency measurements as training data, in C.

    data = leat.ProbeDataset("probes")       # what `leat ingest probes` wrote, or files of others
    data[0].measurements()                   # one probe's measurements as numpy arrays

Errors are leat.LeatError (leat.errors has one class a code); their text is the library's own.
"""
from leat._library import version as _version
from leat.dataset import ProbeDataset, ProbeRow, Shard
from leat.errors import LeatError

__version__ = _version()
__all__ = ["LeatError", "ProbeDataset", "ProbeRow", "Shard", "__version__"]
