"""How far apart the contexts of a sequence, a batch, and of batches one after the other come from.

order_mixing.py DATA ORDER BATCH STEPS SEED: prints one JSON object. Steps begin in the middle of an
epoch. A probe is a src_id.
"""
import json
import sys

import leat


def main():
    data, order, batch, steps, seed = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
    segments = same_sequence = same_batch = same_near = alone = sequences = 0
    with leat.Loader(data, order=order, batch=batch, seed=seed) as loader:
        first = loader.epoch_sequences // batch // 2
        seen = {}  # probe -> the last step that had it
        for step in range(first, first + steps):
            in_batch = set()
            for row in range(batch):
                probes = [one.src_id for one in loader.explain(step, row).segments]
                sequences += 1
                segments += len(probes)
                same_sequence += len(probes) - len(set(probes))
                alone += len(probes) > 1 and len(set(probes)) == 1
                same_batch += len(in_batch & set(probes))
                same_near += sum(step - seen[probe] <= 100
                                 for probe in set(probes) if probe in seen)
                in_batch |= set(probes)
            seen.update(dict.fromkeys(in_batch, step))
    print(json.dumps({"segments": segments / sequences, "one_probe": alone / sequences,
                      "same_sequence": same_sequence / segments,
                      "same_batch": same_batch / segments, "same_near": same_near / segments}))


if __name__ == "__main__":
    main()
