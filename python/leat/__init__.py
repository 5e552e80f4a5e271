"""leat: Internet latency measurements as training data, in C.

    data = leat.ProbeDataset("probes")       # what `leat ingest probes` wrote, or files of others
    data[0].measurements()                   # one probe's measurements as numpy arrays
    for batch in leat.Loader(data, batch=8, length=1024):
        batch["inputs"]                      # six int32 arrays [8, 1024], nothing copied

leat.grain has both for Grain, leat.maxtext a launcher of MaxText's trainer.

Errors are leat.LeatError (leat.errors has one class a code); their text is the library's own.
"""
from leat._library import version as _version
from leat.dataset import ProbeDataset, ProbeRow, Shard
from leat.errors import LeatError
from leat.loader import KEYS, DLPack, Explanation, Loader, Quarantined, Segment, words

__version__ = _version()
__all__ = ["KEYS", "DLPack", "Explanation", "LeatError", "Loader", "ProbeDataset", "ProbeRow",
           "Quarantined", "Segment", "Shard", "__version__", "words"]
