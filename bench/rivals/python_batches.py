"""Batches of tokens as a Python user makes them: DIR BATCH SECONDS sampler|grain.

The sampler follows the design of the data (docs/tokens.md, docs/sampling.md: one context per
sequence, at most 34 measurements, fields in random order), in plain Python with NumPy for the
arrays. `sampler` reads the rows of the shards in random order, each once for all its contexts;
`grain` runs the same sampler through a Grain pipeline in this process: shuffle, all contexts of a
row by FlatMap, batch. Tokens without padding are counted, after imports, opening and one batch.
"""
import functools
import glob
import ipaddress
import math
import os
import random
import sys
import time

import numpy as np
import pyarrow as pa

from common import answer, peak_bytes

LENGTH, TAKEN = 1024, 34
BYTE = 11
START, SRC4, SRC6, DST4, DST6, ABS, DELTA1, DELTA4, RTT, FAILED = 0, 1, 2, 3, 4, 5, 6, 7, 8, 10


@functools.lru_cache(maxsize=1 << 20)
def address(text, tokens4, tokens6):
    packed = ipaddress.ip_address(text).packed
    return [tokens4 if len(packed) == 4 else tokens6, *(BYTE + byte for byte in packed)]


def result(rtt):
    if rtt is None or rtt < 0:
        return [FAILED]
    microseconds, exponent = max(1.0, rtt * 1000), 0
    while microseconds >= 2048 and exponent < 31:
        microseconds /= 2
        exponent += 1
    mantissa = min(int(microseconds), 2047)
    return [RTT, BYTE + (exponent << 3 | mantissa >> 8), BYTE + (mantissa & 255)]


def timestamp(now_us, before_us):
    if before_us is None:
        return [ABS, *(BYTE + byte for byte in (now_us // 1_000_000).to_bytes(8, "big"))]
    delta = max(0, (now_us - before_us) // 1_000_000)
    if delta < 256:
        return [DELTA1, BYTE + delta]
    return [DELTA4, *(BYTE + byte for byte in delta.to_bytes(4, "big"))]


def arrange(chosen, rng):
    """(place, has a timestamp) in the order of the tokens."""
    draw = rng.random()
    if draw < 0.4:
        return [(place, True) for place in chosen]
    if draw >= 0.7:
        rng.shuffle(chosen)
        return [(place, False) for place in chosen]
    bare = set(rng.sample(chosen, max(1, int(rng.uniform(0.1, 0.9) * len(chosen)))))
    timed = [place for place in chosen if place not in bare]
    bare = list(bare)
    rng.shuffle(bare)
    merged = []
    while timed and bare:
        source, stamped = (timed, True) if rng.random() < 0.5 else (bare, False)
        merged.append((source.pop(0), stamped))
    return merged + [(place, True) for place in timed] + [(place, False) for place in bare]


def context(row, rng):
    """The tokens of one context, at most LENGTH + 1."""
    times, sources, targets, rtts = row
    count = len(times)
    window = max(1, int(math.exp(rng.random() * math.log(count)))) if count >= TAKEN else count
    first = rng.randint(0, count - window)
    chosen = sorted(rng.sample(range(first, first + window), min(window, TAKEN)))
    tokens, before = [], None
    for place, stamped in arrange(chosen, rng):
        fields = [address(sources[place], SRC4, SRC6), address(targets[place], DST4, DST6),
                  result(rtts[place])]
        if stamped:
            fields.append(timestamp(times[place], before))
            before = times[place]
        rng.shuffle(fields)
        tokens.append(START)
        for field in fields:
            tokens += field
        if len(tokens) > LENGTH:
            break
    return tokens[:LENGTH + 1]


POSITIONS = np.arange(LENGTH, dtype=np.int32)


def arrays(tokens):
    padded = np.zeros(LENGTH + 1, np.int32)
    padded[:len(tokens)] = tokens
    real = (np.arange(LENGTH + 1) < len(tokens)).astype(np.int32)
    return {"inputs": padded[:-1], "targets": padded[1:], "inputs_position": POSITIONS,
            "targets_position": POSITIONS, "inputs_segmentation": real[:-1],
            "targets_segmentation": real[1:]}


def decode(record):
    outer = pa.ipc.open_stream(record).read_next_batch()
    inner = pa.ipc.open_stream(outer.column("measurements")[0].as_buffer()).read_next_batch()
    return (inner.column("event_time").cast(pa.int64()).to_pylist(),
            inner.column("src_addr").to_pylist(), inner.column("dst_addr").to_pylist(),
            inner.column("rtt").to_pylist())


def contexts_of(count):
    return 1 if count < TAKEN else min(16, max(1, math.ceil(count / 30)))


def examples(record, rng):
    row = decode(record)
    return [arrays(context(row, rng)) for _ in range(contexts_of(len(row[0])))]


def stacked(rows):
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}


def batches_of_sampler(paths, batch):
    from array_record.python.array_record_module import ArrayRecordReader

    readers = [ArrayRecordReader(path, "readahead_buffer_size:0,max_parallelism:0")
               for path in paths]
    places = [(reader, k) for reader in readers for k in range(reader.num_records())]
    rng, waiting = random.Random(0), []
    while True:
        rng.shuffle(places)
        for reader, k in places:
            waiting += examples(reader.read([k])[0], rng)
            while len(waiting) >= batch:
                yield stacked(waiting[:batch])
                del waiting[:batch]


def batches_of_grain(paths, batch):
    import grain

    class Contexts(grain.experimental.FlatMapTransform):
        max_fan_out = 16

        def flat_map(self, element):
            return examples(element, random.Random(len(element)))

    source = grain.sources.ArrayRecordDataSource(paths)
    rows = grain.MapDataset.source(source).shuffle(seed=0).repeat().to_iter_dataset()
    yield from grain.experimental.FlatMapIterDataset(rows, Contexts()).batch(batch)


def main():
    folder, batch, seconds, mode = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
    paths = sorted(glob.glob(os.path.join(folder, "train", "*.arrayrecord")))
    made = {"sampler": batches_of_sampler, "grain": batches_of_grain}[mode](paths, batch)
    next(made)
    tokens = places = 0
    begin = time.monotonic()
    while time.monotonic() - begin < seconds:
        one = next(made)
        tokens += int(one["inputs_segmentation"].sum())
        places += one["inputs"].size
    spent = time.monotonic() - begin
    answer(tokens_per_s=tokens / spent, padding=1 - tokens / places,
           memory_peak_bytes=peak_bytes())
    os._exit(0)  # Grain's threads are of no interest any more


if __name__ == "__main__":
    main()
