"""Images of a folder or zip archive to one array, as a torchvision pipeline does it with Pillow:
open, convert to RGB, Resize(size), CenterCrop(size), numpy; one process and thread.

    pillow_images.py PATH SIZE OUT    OUT: .npy file, u8 [images, size, size, 3]

torchvision itself is not needed: Resize and CenterCrop of a PIL image call Image.resize and
Image.crop with the sizes computed here, and nothing else. The clock starts after the imports.
"""
import io
import os
import sys
import time
import zipfile

import numpy as np
from PIL import Image, features

from common import answer, peak_bytes


def files_of(path):
    """(name, function that returns the bytes) of each file, by name."""
    if os.path.isdir(path):
        names = sorted(os.path.relpath(os.path.join(folder, name), path).encode()
                       for folder, _, names in os.walk(path) for name in names)
        for name in names:
            with open(os.path.join(path.encode(), name), "rb") as file:
                yield name, file.read()
        return
    with zipfile.ZipFile(path) as archive:
        for name in sorted(archive.namelist(), key=str.encode):
            if not name.endswith("/"):
                yield name, archive.read(name)


def resized(image, size):
    width, height = image.size
    short = min(width, height)
    wide, high = width * size // short, height * size // short
    image = image.resize((wide, high), Image.Resampling.BILINEAR)
    left, top = int(round((wide - size) / 2.0)), int(round((high - size) / 2.0))
    return image.crop((left, top, left + size, top + size))


def main(path, size, out):
    size, images, spent = int(size), [], [0.0, 0.0]
    begun = time.monotonic()
    for _, data in files_of(path):
        start = time.monotonic()
        image = Image.open(io.BytesIO(data)).convert("RGB")
        decoded = time.monotonic()
        images.append(np.array(resized(image, size)))
        spent[0] += decoded - start
        spent[1] += time.monotonic() - decoded
    np.save(out, np.stack(images))
    answer(images=len(images), seconds=time.monotonic() - begun, decode_seconds=spent[0],
           resize_seconds=spent[1], peak_bytes=peak_bytes(),
           decoder=f"libjpeg-turbo {features.version('libjpeg_turbo')}")


if __name__ == "__main__":
    main(*sys.argv[1:])
