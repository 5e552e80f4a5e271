"""Batches of images as a short script makes them with NumPy, in one process and thread.

    numpy_images.py SET BATCH SECONDS    the images of a data set in memory; a permutation per epoch

As levels: images[index]. As floats: the same through a table of 256 values, channels first.
"""
import sys
import time

import numpy as np
from safetensors.numpy import load_file

from common import answer, peak_bytes


def rate(make, count, batch, seconds):
    """Images per second of batches in a new order every epoch."""
    random, made = np.random.default_rng(0), 0
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        order = random.permutation(count)
        for at in range(0, count - batch + 1, batch):
            make(order[at:at + batch])
            made += batch
            if time.monotonic() - begun >= seconds:
                break
    return made / (time.monotonic() - begun)


def main(path, batch, seconds):
    batch, seconds = int(batch), float(seconds)
    images = load_file(f"{path}/images.safetensors")["images"]
    table = ((np.arange(256, dtype=np.float32) / np.float32(255)) - np.float32(.5)) / np.float32(.5)

    def floats(index):
        return np.ascontiguousarray(table[images[index]].transpose(0, 3, 1, 2))

    answer(images_per_s=rate(lambda index: images[index], len(images), batch, seconds),
           float_images_per_s=rate(floats, len(images), batch, seconds), peak_bytes=peak_bytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
