"""Images of a folder or zip archive to one array, as a torchvision pipeline does it on tensors:
decoded by torchcodec, Resize(size), CenterCrop(size), numpy; one process and thread.

    torchcodec_images.py PATH SIZE OUT    OUT: .npy file, u8 [images, size, size, 3]

torchvision itself is not needed: Resize of a tensor calls interpolate with the antialiased
bilinear filter, on bytes, and CenterCrop takes a view of it. The clock starts after the imports.
"""
import sys

import torch
import torchcodec
from torch.nn.functional import interpolate
from torchcodec.decoders import decode_image

from image_files import box, convert


def resized(image, size):
    wide, high, left, top = box(image.shape[2], image.shape[1], size)
    image = interpolate(image[None], (high, wide), mode="bilinear", antialias=True)[0]
    image = image[:, top:top + size, left:left + size]
    return image.permute(1, 2, 0).numpy().copy()


def main(path, size, out):
    torch.set_num_threads(1)
    convert(path, out, lambda data: decode_image(data, mode="RGB"),
            lambda image: resized(image, int(size)),
            f"torchcodec {torchcodec.__version__}, torch {torch.__version__}")


if __name__ == "__main__":
    main(*sys.argv[1:])
