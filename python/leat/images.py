"""Images: data sets opened for reading, their images, and batches of images."""
from __future__ import annotations

import ctypes as c
import os
from collections.abc import Sequence
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from leat import _abi, _handle, _ring
from leat._handle import Path, path_of
from leat._library import call, encoded, held, integer, lib, set_options, whole
from leat._ring import choice

_VALUES = tuple(name.lower() for name in _abi.ENUMS["IMAGE_VALUES"])


class ImageFacts(NamedTuple):
    """What is known of an image, without reading it."""
    name: str     #: relative to the folder or zip, parts separated by "/"
    width: int    #: of the original, upright
    height: int
    decoded: int  #: XXH3-64 of the original's pixels, before they were resized


class ImageBatch(NamedTuple):
    """Rows of a global batch. The arrays are read-only views of the loader's memory, like those of
    leat.Loader."""
    step: int
    first_position: int          #: of the run: that of the first row
    first_row: int               #: of the global batch
    images: npt.NDArray[Any]     #: uint8 [rows, S, S, 3], or float32 [rows, 3, S, S]
    indices: npt.NDArray[np.int64]  #: [rows] their numbers in the data set

    def __repr__(self) -> str:
        return (f"ImageBatch(step={self.step}, first_position={self.first_position}, "
                f"first_row={self.first_row}, images={self.images.dtype}"
                f"{list(self.images.shape)}, indices={list(self.indices.shape)})")


class _Handle(_handle.Handle):
    """An open leat_images. Reading takes no lock and keeps nothing, so there are no readers."""
    close = lib.leat_images_close

    def __init__(self, path: str) -> None:
        self._path = encoded(path)
        super().__init__()

    def open(self) -> c.c_void_p:
        """The leat_images, opened again."""
        pointer = c.c_void_p()
        call(lib.leat_images_open, c.byref(pointer), self._path)
        return pointer


class ImageDataset(_handle.Owner[_Handle], Sequence[npt.NDArray[np.uint8]]):
    """A data set of `leat ingest images`: a sequence of images, uint8 [S, S, 3], in the order of
    their names.

    path: its folder. Opening reads what is known of each image, and no pixel. Reading verifies each
    page once, when it is first read; CorruptError and InputOutputError name the file and byte. The
    pixels are also an ordinary safetensors file (docs/images.md).

    Any number of threads may read; reading lets other Python threads run. It can be pickled and
    used in a child after fork (it is reopened by its path). Use it in a `with`, call close(), or
    leave it to the garbage collector: the files are closed when nothing uses them any more,
    including loaders.

    Raises NotFoundError, CorruptError, InputError, InputOutputError.
    """

    def __init__(self, path: Path) -> None:
        self._argument = path_of(path, "the folder of an image data set")
        self._open = _Handle(self._argument)
        found = _abi.ImagesFacts()
        held.leat_images_get_facts(self._open.pointer, c.byref(found))
        self.path: str = os.fsdecode(found.path)
        self.fingerprint: str = found.fingerprint.decode("ascii")  #: SHA-256 of all pixels
        #: of the decoded originals: differs where another decoder gave other pixels
        self.decoded_sha256: str = found.decoded_sha256.decode("ascii")
        #: the same, whatever the names are; "" if an older leat has made the data set
        self.sorted_sha256: str = found.sorted_sha256.decode("ascii")
        self.background: str = found.background.decode("ascii")  #: "#rrggbb", or "drop"
        self.size: int = found.size  #: S
        self.shape: tuple[int, int, int, int] = (found.count, found.size, found.size, 3)
        self.rejected: int = found.rejected  #: files that are not in it
        self.texts: int = found.texts  #: files that were skipped because they are texts
        self.file_bytes: int = found.file_bytes
        self._names: tuple[str, ...] | None = None

    def _number(self, image: int) -> int:
        try:
            return range(self.shape[0])[image]
        except IndexError:
            raise IndexError(f"image {image}: the data set has {self.shape[0]}") from None

    def facts(self, image: int) -> ImageFacts:
        """The facts of an image, without reading it."""
        found = _abi.ImageFacts()
        call(held.leat_images_get_entry, self._handle.pointer, self._number(image), c.byref(found))
        return ImageFacts(os.fsdecode(found.name), found.width, found.height, found.decoded)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all images."""
        if self._names is None:
            self._names = tuple(self.facts(image).name for image in range(len(self)))
        return self._names

    def find(self, name: str) -> int:
        """The number of the image of this name; KeyError if there is none."""
        image: int = held.leat_images_find(self._handle.pointer, encoded(name))
        if image < 0:
            raise KeyError(f"no image {name!r}")
        return image

    def _read(self, image: int) -> npt.NDArray[np.uint8]:
        pixels = np.empty(self.shape[1:], np.uint8)
        call(lib.leat_images_read, self._handle.pointer, image, pixels.ctypes.data)
        return pixels

    def __len__(self) -> int:
        return self.shape[0]

    @overload
    def __getitem__(self, item: int) -> npt.NDArray[np.uint8]: ...
    @overload
    def __getitem__(self, item: slice) -> Sequence[npt.NDArray[np.uint8]]: ...

    def __getitem__(self, item: int | slice) -> Any:
        if isinstance(item, slice):
            return [self._read(each) for each in range(self.shape[0])[item]]
        return self._read(self._number(item))

    __eq__, __hash__ = object.__eq__, object.__hash__  # by identity, like other data sets

    def __reduce__(self) -> Any:
        return ImageDataset, (self._argument,)

    def __repr__(self) -> str:
        return (f"<leat.ImageDataset {self._argument}: {self.shape[0]} images of {self.size} x "
                f"{self.size}>")


class _Open(_ring.Open):
    """A leat_image_loader."""
    destroy = lib.leat_image_loader_destroy


class _Held(_ring.Held):
    """A leat_image_batch."""
    __slots__ = ()
    release = held.leat_image_batch_release


def _arrays(found: Any) -> ImageBatch:
    """The arrays of a leat_image_batch, which this function now owns; nothing is copied."""
    holder = _Held(found)
    rows, size = found.row_count, found.size
    images = (holder.array(found.f32, (rows, 3, size, size), "<f4") if found.u8 is None
              else holder.array(found.u8, (rows, size, size, 3), "|u1"))
    return ImageBatch(found.step, found.first_position, found.first_row, images,
                      holder.array(found.index, (rows,), "<i8"))


class ImageLoader(_ring.Steps):
    """Batches of images: an iterator of ImageBatch.

    data: an ImageDataset, or the path of one. Every epoch has each image once, in an order drawn
    from `seed`; positions run on over the ends of epochs, so every batch is full. A batch is a
    function of the pixels, `batch`, `as_`, `seed` and `order`.

    batch: rows of the global batch, of which the loader builds those of host number `host` of
    `hosts`, which must divide it. as_ "u8": levels, uint8 [rows, S, S, 3]; "float": values from -1
    to 1, float32 [rows, 3, S, S], ((level / 255) - 0.5) / 0.5. epochs: the loader ends with the
    batch that completes this many; 0: it never ends.

    threads, prefetch (batches built ahead; None: as many as fit, at most 8) and memory (bytes, or
    "512M") change only the speed. What leat.Loader says of arrays, threads, processes, pickling and
    closing applies here too.

    order "global": the images of a batch may be anywhere in the file; "windowed" or
    "windowed:SIZE", for data sets larger than memory: an epoch goes through windows of SIZE bytes
    (128M), each read once, in large pieces.

    Raises OptionError (naming the option and its value), CorruptError, InputOutputError; a step
    that failed raises again until seek().
    """

    _name, _batch, _counters = "leat_image_loader", _abi.ImageBatch, _abi.ImageLoaderCounters
    _rows = "leat.ImageDataset"

    def __init__(self, data: ImageDataset | Path, *, batch: int = 64, seed: int = 0,
                 as_: str = "u8", epochs: int = 0, host: int = 0, hosts: int = 1,
                 threads: int | None = None, prefetch: int | None = None,
                 memory: int | str | None = None, order: str = "global") -> None:
        super().__init__(host, hosts)
        self._data = data if isinstance(data, ImageDataset) else ImageDataset(data)
        options = lib.leat_image_loader_options_default()
        choice("as_", as_, _VALUES)
        set_options(lib.leat_image_loader_options_table(), options, {
            "batch": integer("batch", batch), "as": as_, "seed": whole("seed", seed),
            "epochs": integer("epochs", epochs), "order": order,
            **_ring.options_of(host, hosts, threads, prefetch, memory)})
        pointer = _Open()
        pointer.data = self._data._handle  # stays open for the loader, even if _data is closed
        call(lib.leat_image_loader_create, c.byref(pointer), pointer.data.pointer,
             c.byref(options))
        self._pointer = pointer
        self.batch, self.host, self.hosts = batch, host, hosts
        self.as_ = as_  #: "u8" or "float"

    @property
    def data(self) -> ImageDataset:
        """The data set."""
        return self._data

    def __next__(self) -> ImageBatch:
        """The next batch; StopIteration at the end (only with `epochs`)."""
        return _arrays(self._take())

    def counters(self) -> dict[str, int]:
        """Counters of the batches returned so far: batches, images; payload_bytes read, stall_ns
        (waiting for batches), work_ns (of all threads), memory_bytes, prefetch; read_wait_ns
        (order "windowed": of all threads, waiting for windows)."""
        return super().counters()

    def __repr__(self) -> str:
        where = "closed" if self._pointer is None else f"next step {self.step}"
        return f"<leat.ImageLoader of {self._data.path}: {where}>"
