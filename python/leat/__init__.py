"""leat: raw telemetry as training data, in C: Internet latency measurements, vehicle logs.

    data = leat.ProbeDataset("probes")       # written by `leat ingest probes`, or third-party files
    data[0].measurements()                   # one probe's measurements as numpy arrays
    for batch in leat.Loader(data, batch=8, length=1024):
        batch["inputs"]                      # six int32 arrays [8, 1024], nothing copied

    data = leat.CanDataset("cache")          # written by `leat ingest can`
    for batch in leat.GraphLoader(data, max_nodes=8192, epochs=1):
        batch.x, batch.edge_index            # one disjoint union of graphs, nothing copied

leat.grain provides measurements for Grain, leat.maxtext a launcher for MaxText's trainer,
leat.torch graphs for PyTorch Geometric.

Errors are leat.LeatError (leat.errors has one class per code); their text is the library's.
"""
from leat._library import version as _version
from leat.can import CanDataset, CanSplit, Graph, GraphBatch, GraphLoader
from leat.dataset import ProbeDataset, ProbeRow, Shard
from leat.errors import LeatError
from leat.loader import KEYS, DLPack, Explanation, Loader, Quarantined, Segment, words

__version__ = _version()
__all__ = ["KEYS", "CanDataset", "CanSplit", "DLPack", "Explanation", "Graph", "GraphBatch",
           "GraphLoader", "LeatError", "Loader", "ProbeDataset", "ProbeRow", "Quarantined",
           "Segment", "Shard", "__version__", "words"]
