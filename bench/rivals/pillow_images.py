"""Images of a folder or zip archive to one array, as a torchvision pipeline does it with Pillow:
open, convert to RGB, Resize(size), CenterCrop(size), numpy; one process and thread.

    pillow_images.py PATH SIZE OUT    OUT: .npy file, u8 [images, size, size, 3]

torchvision itself is not needed: Resize and CenterCrop of a PIL image call Image.resize and
Image.crop with the sizes computed here, and nothing else. The clock starts after the imports.
"""
import io
import sys

import numpy as np
from PIL import Image, features

from image_files import box, convert


def resized(image, size):
    wide, high, left, top = box(*image.size, size)
    image = image.resize((wide, high), Image.Resampling.BILINEAR)
    return image.crop((left, top, left + size, top + size))


def main(path, size, out):
    convert(path, out, lambda data: Image.open(io.BytesIO(data)).convert("RGB"),
            lambda image: np.array(resized(image, int(size))),
            f"libjpeg-turbo {features.version('libjpeg_turbo')}")


if __name__ == "__main__":
    main(*sys.argv[1:])
