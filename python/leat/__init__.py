"""leat: raw telemetry as training data, in C: Internet latency measurements, vehicle logs, images.

    data = leat.ProbeDataset("probes")       # written by `leat ingest probes`, or third-party files
    data[0].measurements()                   # one probe's measurements as numpy arrays
    for batch in leat.Loader(data, batch=8, length=1024):
        batch["inputs"]                      # six int32 arrays [8, 1024], nothing copied

    data = leat.CanDataset("cache")          # written by `leat ingest can`
    for batch in leat.GraphLoader(data, max_nodes=8192, epochs=1):
        batch.x, batch.edge_index            # one disjoint union of graphs, nothing copied

    data = leat.ImageDataset("faces")        # written by `leat ingest images`
    for batch in leat.ImageLoader(data, batch=64, as_="float", epochs=1):
        batch.images                         # float32 [64, 3, S, S], nothing copied

    run = leat.train("faces", "run", epochs=20)  # like `leat train dcgan`, with its options
    run.metrics().loss_g, run.sample(64)     # arrays of all steps; uint8 [64, S, S, 3]
    run = leat.train("cache", "run", model="vgae", epochs=12)   # a detector of attacks
    run.score("cache")["test_01_dos"].score  # float64 [windows]

leat.grain provides measurements for Grain, leat.maxtext a launcher for MaxText's trainer,
leat.torch graphs for PyTorch Geometric.

Errors are leat.LeatError (leat.errors has one class per code); their text is the library's.
"""
from leat._library import version as _version
from leat.can import CanDataset, CanSplit, Graph, GraphBatch, GraphLoader, attack_name
from leat.dataset import ProbeDataset, ProbeRow, Shard
from leat.errors import LeatError
from leat.images import ImageBatch, ImageDataset, ImageLoader
from leat.loader import KEYS, DLPack, Explanation, Loader, Quarantined, Segment, words
from leat.runs import Checkpoint, Metrics, Run, train
from leat.scores import Scores, Threshold

__version__ = _version()
__all__ = ["KEYS", "CanDataset", "CanSplit", "Checkpoint", "DLPack", "Explanation", "Graph",
           "GraphBatch", "GraphLoader", "ImageBatch", "ImageDataset", "ImageLoader", "LeatError",
           "Loader", "Metrics", "ProbeDataset", "ProbeRow", "Quarantined", "Run", "Scores",
           "Segment", "Shard", "Threshold", "__version__", "attack_name", "train", "words"]
