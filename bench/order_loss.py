"""The loss of a small transformer on batches of the windowed order and of the global one.

order_loss.py DATA STEPS SEEDS ORDER...: trains examples/python/jax_transformer.py on each order
with seeds 1 to SEEDS, and prints one JSON object a run: the mean loss of each tenth of its steps,
and the loss of test batches, which are of the global order and the same for all. Needs jax.
"""
import json
import os
import sys

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(HOME, "examples", "python"))

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import jax_transformer as model  # noqa: E402
import numpy as np  # noqa: E402

import leat  # noqa: E402


BATCH = 8


def train(data, order, seed, steps):
    weights = model.initial(jax.random.key(seed))
    mean, square = (jax.tree.map(jnp.zeros_like, weights) for _ in range(2))
    losses = []
    with leat.Loader(data, batch=BATCH, length=model.LENGTH, seed=seed,
                     order=order) as batches:
        for step in range(1, steps + 1):
            weights, mean, square, value = model.update(weights, mean, square, next(batches), step)
            losses.append(float(value))
    with leat.Loader(data, batch=BATCH, length=model.LENGTH, seed=0, split="test") as tests:
        test = np.mean([float(model.loss(weights, batch))
                        for _, batch in zip(range(4 * model.TEST_BATCHES), tests, strict=False)])
    tenths = np.array_split(losses, 10)
    return {"order": order, "seed": seed, "train": [round(float(x.mean()), 4) for x in tenths],
            "test": round(float(test), 4)}


def main():
    data, steps, seeds = leat.ProbeDataset(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    for seed in range(1, seeds + 1):
        for order in sys.argv[4:]:
            print(json.dumps(train(data, order, seed, steps)), flush=True)


if __name__ == "__main__":
    main()
