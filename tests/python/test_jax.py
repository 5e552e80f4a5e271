"""leat with the real JAX on the CPU, which shows host memory as its own arrays; a training loop."""
import itertools
import os
import unittest

os.environ["JAX_PLATFORMS"] = "cpu"

import support

support.need("numpy", "jax", "leat")
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import leat  # noqa: E402
import leat.loader  # noqa: E402

LENGTH, WIDTH, HEADS, LAYERS, TOKENS = 128, 32, 2, 2, 267


class Aliases(unittest.TestCase):
    """JAX takes a batch without copying it; it must stay as it is while JAX has it."""

    def check(self, take, shared):
        with leat.Loader(support.dataset(), batch=8, length=512, prefetch=2) as loader:
            batch = next(loader)
            place, before = batch["inputs"].ctypes.data, batch["inputs"].copy()
            array = take(batch["inputs"])
            if shared:
                self.assertEqual(array.unsafe_buffer_pointer(), place)
            del batch
            for _ in range(50):
                next(loader)
            self.assertTrue((np.asarray(array) == before).all())
        with leat.Loader(support.dataset(), batch=8, length=512, prefetch=2) as loader:
            list(itertools.islice(loader, 10))
        self.assertTrue((np.asarray(array) == before).all())

    def test_asarray(self):
        self.check(jnp.asarray, False)

    def test_device_put(self):
        self.check(jax.device_put, False)

    def test_dlpack(self):
        self.check(lambda array: jax.dlpack.from_dlpack(leat.DLPack(array)), True)

    def test_device_put_really_shares(self):
        """Else the tests above would show nothing."""
        batch = next(leat.Loader(support.dataset(), batch=8, length=512))
        self.assertEqual(jax.device_put(batch["inputs"]).unsafe_buffer_pointer(),
                         batch["inputs"].ctypes.data)

    def test_the_check_sees_a_batch_that_is_not_held(self):
        class NotHeld(leat.loader._Held):
            def __init__(self, pointer):
                super().__init__(pointer)
                leat.loader.held.leat_batch_release(pointer)

            def __del__(self, release=None):
                pass
        held = leat.loader._Held
        leat.loader._Held = NotHeld
        try:
            with self.assertRaises(AssertionError):
                self.check(jax.device_put, False)
        finally:
            leat.loader._Held = held


# ---- a tiny decoder -------------------------------------------------------------------------

def make_parameters(key):
    shapes = {"embedding": (TOKENS, WIDTH), "position": (LENGTH, WIDTH)}
    for layer in range(LAYERS):
        shapes.update({f"{layer}.qkv": (WIDTH, 3 * WIDTH), f"{layer}.out": (WIDTH, WIDTH),
                       f"{layer}.up": (WIDTH, 4 * WIDTH), f"{layer}.down": (4 * WIDTH, WIDTH)})
    keys = jax.random.split(key, len(shapes))
    return {name: 0.05 * jax.random.normal(k, shape)
            for k, (name, shape) in zip(keys, shapes.items())}


def normal(x):
    return x / jnp.sqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)


def loss_of(parameters, batch):
    segment = batch["inputs_segmentation"]
    rows, length = segment.shape
    x = parameters["embedding"][batch["inputs"]] + parameters["position"][batch["inputs_position"]]
    sees = (segment[:, :, None] == segment[:, None, :]) & jnp.tril(jnp.ones((length, length), bool))
    for layer in range(LAYERS):
        q, k, v = jnp.split(normal(x) @ parameters[f"{layer}.qkv"], 3, axis=-1)
        q, k, v = (a.reshape(rows, length, HEADS, -1) for a in (q, k, v))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / (WIDTH // HEADS) ** 0.5
        scores = jnp.where(sees[:, None], scores, -1e9)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(rows, length, -1)
        x = x + mixed @ parameters[f"{layer}.out"]
        x = x + jax.nn.relu(normal(x) @ parameters[f"{layer}.up"]) @ parameters[f"{layer}.down"]
    chances = jax.nn.log_softmax(normal(x) @ parameters["embedding"].T * 4)
    counts = batch["targets_segmentation"] != 0
    right = jnp.take_along_axis(chances, batch["targets"][..., None], axis=-1)[..., 0]
    return -jnp.sum(right * counts) / jnp.sum(counts)


@jax.jit
def train_step(state, batch):
    loss, gradient = jax.value_and_grad(loss_of)(state["parameters"], batch)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["first"], gradient)
    second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, state["second"], gradient)
    parameters = jax.tree.map(lambda p, m, v: p - 0.003 * m / (jnp.sqrt(v) + 1e-8),
                              state["parameters"], first, second)
    return {"parameters": parameters, "first": first, "second": second}, loss


def fresh_state():
    parameters = make_parameters(jax.random.key(0))
    zeros = jax.tree.map(jnp.zeros_like, parameters)
    return {"parameters": parameters, "first": zeros, "second": zeros}


def train(loader, state, steps):
    losses = []
    for batch in itertools.islice(loader, steps):
        state, loss = train_step(state, batch)
        losses.append(float(loss))
    return state, losses


class Training(unittest.TestCase):
    STEPS, CUT = 200, 90

    def loader(self):
        return leat.Loader(support.dataset(), batch=8, length=LENGTH, seed=1)

    def test_loss_falls_and_a_resumed_run_is_the_same(self):
        _, whole = train(self.loader(), fresh_state(), self.STEPS)
        first, last = np.mean(whole[:5]), np.mean(whole[-20:])
        print(f"\n    loss {first:.3f} -> {last:.3f} in {self.STEPS} steps")
        self.assertGreater(first, 5)  # ln 267 = 5.6: it knows nothing
        self.assertLess(last, 0.75 * first)
        before = self.loader()
        state, losses = train(before, fresh_state(), self.CUT)
        place = before.state()
        before.close()
        after = self.loader()
        after.seek(place)
        _, rest = train(after, state, self.STEPS - self.CUT)
        self.assertEqual(losses + rest, whole)


if __name__ == "__main__":
    unittest.main()
