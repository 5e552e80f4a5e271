"""What the rivals for images share: the files of a folder or zip archive, and the sizes that
torchvision's Resize and CenterCrop compute."""
import os
import zipfile


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
