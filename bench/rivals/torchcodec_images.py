"""Images of a folder or zip archive to one array, as a torchvision pipeline does it on tensors:
decoded by torchcodec, Resize(size), CenterCrop(size), numpy; one process and thread.

    torchcodec_images.py PATH SIZE OUT    OUT: .npy file, u8 [images, size, size, 3]

torchvision itself is not needed: Resize of a tensor calls interpolate with the antialiased
bilinear filter, on bytes, and CenterCrop takes a view of it. The clock starts after the imports.
"""
import sys
import time

import numpy as np
import torch
import torchcodec
from torch.nn.functional import interpolate
from torchcodec.decoders import decode_image

from common import answer, peak_bytes
from image_files import box, files_of


def main(path, size, out):
    size, images, spent = int(size), [], [0.0, 0.0]
    torch.set_num_threads(1)
    begun = time.monotonic()
    for _, data in files_of(path):
        start = time.monotonic()
        image = decode_image(data, mode="RGB")
        decoded = time.monotonic()
        wide, high, left, top = box(image.shape[2], image.shape[1], size)
        image = interpolate(image[None], (high, wide), mode="bilinear", antialias=True)[0]
        image = image[:, top:top + size, left:left + size]
        images.append(image.permute(1, 2, 0).numpy().copy())
        spent[0] += decoded - start
        spent[1] += time.monotonic() - decoded
    np.save(out, np.stack(images))
    answer(images=len(images), seconds=time.monotonic() - begun, decode_seconds=spent[0],
           resize_seconds=spent[1], peak_bytes=peak_bytes(),
           decoder=f"torchcodec {torchcodec.__version__}, torch {torch.__version__}")


if __name__ == "__main__":
    main(*sys.argv[1:])
