"""What the rivals for images share: the files of a folder or zip archive, and the sizes that
torchvision's Resize and CenterCrop compute."""
import os
import time
import zipfile

import numpy as np

from common import answer, peak_bytes


def files_of(path):
    """(name, bytes) of each file, by name."""
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


def box(width, height, size):
    """Width and height after Resize(size), and the left and top corner of CenterCrop(size)."""
    short = min(width, height)
    wide, high = width * size // short, height * size // short
    return wide, high, int(round((wide - size) / 2.0)), int(round((high - size) / 2.0))


def convert(path, out, decode, resize, decoder):
    """Images to the array in OUT, with the time of each step; `decode` takes the bytes of a file,
    `resize` what that gives."""
    images, spent = [], [0.0, 0.0]
    begun = time.monotonic()
    for _, data in files_of(path):
        start = time.monotonic()
        image = decode(data)
        decoded = time.monotonic()
        images.append(resize(image))
        spent[0] += decoded - start
        spent[1] += time.monotonic() - decoded
    np.save(out, np.stack(images))
    answer(images=len(images), seconds=time.monotonic() - begun, decode_seconds=spent[0],
           resize_seconds=spent[1], peak_bytes=peak_bytes(), decoder=decoder)
