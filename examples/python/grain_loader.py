"""leat's batches in a Grain pipeline, with a checkpoint after every few steps.

    python grain_loader.py probes state.json 20    # steps 0 to 19
    python grain_loader.py probes state.json 30    # resumes: steps 20 to 29

A killed run continues with the same batches from the last checkpoint when it is started again. A
real training loop saves the state with its weights, for example with Orbax, which takes Grain's
iterators as they are. Needs grain (pip install "./python[grain]", in a checkout).
"""
import json
import os
import sys

import leat.grain

EVERY = 5  # steps between two checkpoints


def count_targets(batch):
    """A transformation as Grain applies it to each batch: here it adds a count."""
    return {**batch, "used": int((batch["targets_segmentation"] != 0).sum())}


def save(state, path):
    """The file is replaced atomically, so that a run killed here keeps the previous one."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(state, file)
    os.replace(path + ".new", path)


def main(data, checkpoint, end):
    batches = leat.grain.BatchDataset(data, batch=8, length=256, seed=1)  # options of leat.Loader
    iterator = iter(batches.map(count_targets))
    step = 0
    if os.path.exists(checkpoint):
        with open(checkpoint, encoding="utf-8") as file:
            saved = json.load(file)
        iterator.set_state(saved["iterator"])
        step = saved["step"]
    while step < end:
        batch = next(iterator)
        print(f"step {step}: inputs {batch['inputs'].shape}, {batch['used']} targets, "
              f"sum {int(batch['inputs'].sum())}")
        step += 1
        if step % EVERY == 0 or step == end:
            save({"step": step, "iterator": iterator.get_state()}, checkpoint)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: grain_loader.py DATA CHECKPOINT END_STEP")
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
