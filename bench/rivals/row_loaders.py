"""Rows of probes in the shards of WebDataset and MosaicML Streaming, and batches from them.

    write FOLDER OUT       the training rows of a data set, as OUT/tar and OUT/mds
    tar|mds OUT BATCH SECONDS    batches of tokens: the loader shuffles rows as it proposes to, two
                           processes of torch's DataLoader run the sampler of python_batches.py
    tar-rows|mds-rows OUT BATCH SECONDS    the same rows, of which only the length is taken

Needs torch, array_record, webdataset and mosaicml-streaming.
"""
import glob
import os
import random
import resource
import sys
import time

from common import answer, peak_bytes
from python_batches import examples

SHARD = 1 << 26  # bytes: what both take for shards on a file system
WORKERS = 2


def write(folder, out):
    import streaming
    import webdataset
    from array_record.python.array_record_module import ArrayRecordReader

    os.makedirs(os.path.join(out, "tar"))
    number = 0
    with webdataset.ShardWriter(os.path.join(out, "tar", "%06d.tar"), maxcount=1 << 30,
                                maxsize=SHARD, verbose=0) as tar, \
            streaming.MDSWriter(out=os.path.join(out, "mds"), columns={"row": "bytes"},
                                size_limit=SHARD) as mds:
        for path in sorted(glob.glob(os.path.join(folder, "train", "*.arrayrecord"))):
            reader = ArrayRecordReader(path, "readahead_buffer_size:0,max_parallelism:0")
            for k in range(reader.num_records()):
                row = reader.read([k])[0]
                tar.write({"__key__": f"{number:09d}", "row.arrow": row})
                mds.write({"row": row})
                number += 1
    answer(rows=number)


def taken(rows, whole):
    """What a worker yields of its rows: the contexts of each, or its length."""
    rng = random.Random(0)
    for row in rows:
        if whole:
            yield from examples(row, rng)
        else:
            yield len(row)


def tar_rows(out, whole):
    import webdataset

    shards = sorted(glob.glob(os.path.join(out, "tar", "*.tar")))
    rows = webdataset.WebDataset(shards, shardshuffle=len(shards), seed=0).shuffle(1000)
    return rows.compose(lambda samples: taken((one["row.arrow"] for one in samples), whole))


def mds_rows(out, batch, whole):
    import streaming

    class Rows(streaming.StreamingDataset):
        def __iter__(self):
            return taken((one["row"] for one in super(Rows, self).__iter__()), whole)

    return Rows(local=os.path.join(out, "mds"), shuffle=True, batch_size=batch)


def batches(rows, batch):
    from torch.utils.data import DataLoader

    while True:  # epoch after epoch
        yield from DataLoader(rows, batch_size=batch, num_workers=WORKERS)


def measure(mode, out, batch, seconds):
    whole = not mode.endswith("-rows")
    rows = tar_rows(out, whole) if mode.startswith("tar") else mds_rows(out, batch, whole)
    made = batches(rows, batch)
    next(made)
    count = 0
    begin = time.monotonic()
    while time.monotonic() - begin < seconds:
        one = next(made)
        count += int(one["inputs_segmentation"].sum()) if whole else int(one.sum())
    spent = time.monotonic() - begin
    made.close()  # ends the workers
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
    answer(**{"tokens_per_s" if whole else "bytes_per_s": count / spent},
           memory_peak_bytes=peak_bytes() + WORKERS * children)


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(*sys.argv[2:])
    else:
        measure(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
