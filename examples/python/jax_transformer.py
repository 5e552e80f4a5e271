"""A small transformer learns sequences of ping measurements, in JAX, on leat's batches.

    leat synth probes -n 2000000 -o pings.csv
    leat ingest probes pings.csv -o probes
    python jax_transformer.py probes 300

It is plain JAX, so that nothing hides how a batch is used: targets count where their segment is not
0, and a token sees only earlier tokens of its own segment. docs/tutorial-latency.md goes through it
step by step. Needs jax (pip install jax).
"""
import sys
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

import leat

TOKENS = 267  # docs/tokens.md
LENGTH, BATCH, TEST_BATCHES, EVERY = 256, 16, 20, 50
WIDTH, HEADS, LAYERS, RATE = 128, 4, 3, 2e-3


def initial(key):
    def matrix(key, rows, columns):
        return jax.random.normal(key, (rows, columns)) * rows ** -0.5

    keys = iter(jax.random.split(key, 2 + 4 * LAYERS))
    return {"token": 0.02 * jax.random.normal(next(keys), (TOKENS, WIDTH)),
            "position": 0.02 * jax.random.normal(next(keys), (LENGTH, WIDTH)),
            "layers": [{"look": matrix(next(keys), WIDTH, 3 * WIDTH),
                        "blend": matrix(next(keys), WIDTH, WIDTH),
                        "up": matrix(next(keys), WIDTH, 4 * WIDTH),
                        "down": matrix(next(keys), 4 * WIDTH, WIDTH)} for _ in range(LAYERS)]}


def norm(x):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)


def attend(x, layer, visible):
    batch, length, _ = x.shape
    heads = (x @ layer["look"]).reshape(batch, length, 3, HEADS, WIDTH // HEADS)
    query, key, value = jnp.moveaxis(heads, 2, 0)
    weights = jnp.einsum("bqhd,bkhd->bhqk", query, key) * (WIDTH // HEADS) ** -0.5
    weights = jax.nn.softmax(jnp.where(visible[:, None], weights, -1e9))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, value).reshape(x.shape) @ layer["blend"]


def logits(weights, batch):
    segment = batch["inputs_segmentation"]
    visible = jnp.tril(segment[:, :, None] == segment[:, None, :])
    x = weights["token"][batch["inputs"]] + weights["position"][batch["inputs_position"]]
    for layer in weights["layers"]:
        x = x + attend(norm(x), layer, visible)
        x = x + jax.nn.gelu(norm(x) @ layer["up"]) @ layer["down"]
    return norm(x) @ weights["token"].T


@jax.jit
def loss(weights, batch):
    """Nats per token that counts."""
    chances = jax.nn.log_softmax(logits(weights, batch))
    right = jnp.take_along_axis(chances, batch["targets"][..., None], axis=-1)[..., 0]
    counts = batch["targets_segmentation"] != 0
    return -jnp.sum(right * counts) / jnp.maximum(counts.sum(), 1)


@partial(jax.jit, donate_argnums=(0, 1, 2))
def update(weights, mean, square, batch, step):
    """One step of Adam."""
    value, gradient = jax.value_and_grad(loss)(weights, batch)
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
    square = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g * g, square, gradient)
    weights = jax.tree.map(
        lambda w, m, s: w - RATE * m / (1 - 0.9 ** step) /
        (jnp.sqrt(s / (1 - 0.99 ** step)) + 1e-8), weights, mean, square)
    return weights, mean, square, value


class PreviousToken:
    """A baseline that predicts a token from the previous one, by counts of pairs."""

    def __init__(self):
        self.pairs = np.ones((TOKENS, TOKENS))

    def learn(self, batch):
        counts = batch["targets_segmentation"] != 0
        np.add.at(self.pairs, (batch["inputs"][counts], batch["targets"][counts]), 1)

    def loss(self, batch):
        counts = batch["targets_segmentation"] != 0
        chances = self.pairs / self.pairs.sum(axis=1, keepdims=True)
        return -np.log(chances[batch["inputs"][counts], batch["targets"][counts]]).mean()


def main(path, steps):
    data = leat.ProbeDataset(path)
    weights = initial(jax.random.key(0))
    mean, square = (jax.tree.map(jnp.zeros_like, weights) for _ in range(2))
    table = PreviousToken()
    batches = leat.Loader(data, batch=BATCH, length=LENGTH, seed=1)
    for step in range(1, steps + 1):
        batch = next(batches)
        table.learn(batch)
        weights, mean, square, value = update(weights, mean, square, batch, step)
        if step == 1 or step % EVERY == 0 or step == steps:
            print(f"step {step}: loss {value:.3f}", flush=True)

    # probes that were in no training batch
    tests = leat.Loader(data, batch=BATCH, length=LENGTH, seed=1, split="test")
    found = [(float(loss(weights, batch)), table.loss(batch))
             for _, batch in zip(range(TEST_BATCHES), tests)]
    model, pairs = np.mean(found, axis=0)
    print(f"test: {model:.3f} nats a token; previous-token baseline: {pairs:.3f}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: jax_transformer.py DATA STEPS")
    main(sys.argv[1], int(sys.argv[2]))
