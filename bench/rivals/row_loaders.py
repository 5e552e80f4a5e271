"""Rows and batches of tokens by WebDataset and MosaicML Streaming, as their users set them up.

  make   DATASET OUT LOADER                the training rows of a data set, each record as it is:
                                           tar shards of 1,000 rows, or MDS shards of 64 MB
  tokens OUT LOADER BATCH SECONDS          torch's DataLoader with two worker processes: its own
                                           shuffle, the sampler of python_batches.py, batches
  rows   OUT LOADER BATCH SECONDS          the same without the sampler: records alone, whose bytes
                                           are summed where they arrive

LOADER is webdataset or streaming. Tokens without padding are counted, after imports, opening and
one batch.
"""
import glob
import os
import random
import sys
import time

import torch

from common import answer
from python_batches import examples, stacked

WORKERS, ROWS_PER_TAR, SHUFFLED = 2, 1000, 1000


def records_of(dataset):
    from array_record.python.array_record_module import ArrayRecordReader

    for path in sorted(glob.glob(os.path.join(dataset, "train", "*.arrayrecord"))):
        reader = ArrayRecordReader(path)
        for first in range(0, reader.num_records(), 64):
            yield from reader.read(list(range(first, min(first + 64, reader.num_records()))))


def make(dataset, out, loader):
    os.makedirs(out)
    if loader == "streaming":
        import streaming

        with streaming.MDSWriter(out=out, columns={"record": "bytes"}) as writer:
            for record in records_of(dataset):
                writer.write({"record": record})
        return
    import webdataset

    pattern = os.path.join(out, "%06d.tar")
    with webdataset.ShardWriter(pattern, maxcount=ROWS_PER_TAR, verbose=0) as writer:
        for number, record in enumerate(records_of(dataset)):
            writer.write({"__key__": f"{number:09d}", "arrow": record})


def dataset_of(folder, loader, batch):
    if loader == "streaming":
        import streaming

        return streaming.StreamingDataset(local=folder, shuffle=True, shuffle_seed=0,
                                          batch_size=batch)
    import webdataset

    shards = sorted(glob.glob(os.path.join(folder, "*.tar")))
    return webdataset.WebDataset(shards, shardshuffle=len(shards), seed=0).shuffle(SHUFFLED)


class Batches(torch.utils.data.IterableDataset):
    """Batches of one worker's rows, epoch after epoch."""

    def __init__(self, rows, loader, batch, with_tokens):
        super().__init__()
        self.rows, self.batch, self.with_tokens = rows, batch, with_tokens
        self.member = "record" if loader == "streaming" else "arrow"

    def __iter__(self):
        waiting = []
        while True:
            for row in self.rows:
                record = row[self.member]
                waiting += (examples(record, random.Random(len(record))) if self.with_tokens
                            else [len(record)])
                while len(waiting) >= self.batch:
                    yield (stacked(waiting[:self.batch]) if self.with_tokens
                           else sum(waiting[:self.batch]))
                    del waiting[:self.batch]


def measure(folder, loader, batch, seconds, with_tokens):
    rows = dataset_of(folder, loader, batch)
    made = iter(torch.utils.data.DataLoader(Batches(rows, loader, batch, with_tokens),
                                            batch_size=None, num_workers=WORKERS))
    next(made)
    counted = 0
    begin = time.monotonic()
    while time.monotonic() - begin < seconds:
        one = next(made)
        counted += int(one["inputs_segmentation"].sum()) if with_tokens else int(one)
    rate = counted / (time.monotonic() - begin)
    del made  # ends the workers
    answer(**{"tokens_per_s" if with_tokens else "bytes_per_s": rate})


def main():
    if sys.argv[1] == "make":
        return make(*sys.argv[2:])
    mode, folder, loader, batch, seconds = sys.argv[1:]
    return measure(folder, loader, int(batch), float(seconds), mode == "tokens")


if __name__ == "__main__":
    main()
