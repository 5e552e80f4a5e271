"""Images of a folder or zip archive to one array, as a torchvision pipeline does it with Pillow:
open, convert to RGB, Resize(size), CenterCrop(size), numpy; one process and thread.

    pillow_images.py PATH SIZE OUT    OUT: .npy file, u8 [images, size, size, 3]

torchvision itself is not needed: Resize and CenterCrop of a PIL image call Image.resize and
Image.crop with the sizes computed here, and nothing else. The clock starts after the imports.
"""
import io
import sys
import time

import numpy as np
from PIL import Image, features

from common import answer, peak_bytes
from image_files import box, files_of


def resized(image, size):
    wide, high, left, top = box(*image.size, size)
    image = image.resize((wide, high), Image.Resampling.BILINEAR)
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
