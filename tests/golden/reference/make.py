"""Makes the other files of this folder from the folder that they are a part of.

  python3 make.py SHARED            writes them anew and prints their sizes
  python3 make.py --check SHARED    compares them with what it would write; exit status 1 if one
                                    differs, is missing or is one too many

FILES says what is taken, and how it is cut. A file is stored as NAME.gz where that saves enough;
tests/golden_files.c and tests/cli/golden_files.py unpack it. The same SHARED gives the same
contents, and with one version of zlib the same bytes.
"""
import argparse
import fnmatch
import gzip
import json
import os
import shutil
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OWN = {"README.md", "MIT.txt", "make.py"}
ROWS = 5_000  # of a log that is cut
EVERY, MANY = 35, 500  # each 35th of the values of a tensor that has more than 500


# ---- cuts: bytes of the whole file -> bytes of the part -----------------------------------------

def read_tensors(data):
    """[(name, dtype, shape, bytes)] in the order of the bytes, and the metadata."""
    size, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__", {})
    tensors = []
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        first, last = (8 + size + at for at in entry["data_offsets"])
        tensors.append((name, entry["dtype"], entry["shape"], data[first:last]))
    return tensors, metadata


def write_tensors(tensors, metadata):
    header, at = {"__metadata__": metadata}, 0
    for name, dtype, shape, values in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(values)]}
        at += len(values)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(values for *_, values in tensors)


def only(*patterns):
    """Only the tensors of these names."""
    def cut(data):
        tensors, metadata = read_tensors(data)
        return write_tensors([tensor for tensor in tensors if any(
            fnmatch.fnmatchcase(tensor[0], pattern) for pattern in patterns)], metadata)
    return cut


def float64(data):
    """Inputs, and of the results those in float64: those in float32 are compared with nothing."""
    tensors, metadata = read_tensors(data)
    names = {name for name, *_ in tensors}
    return write_tensors([tensor for tensor in tensors if f"{tensor[0]}.f64" not in names],
                         metadata)


def dcgan(data):
    """What the tests read: inputs whole; of results with many values each EVERYth in C order, and
    how many there were. EVERY is odd, no power of a prime and no divisor of a number of channels,
    so that what is left has values of every channel and of every place in a kernel."""
    tensors, metadata = read_tensors(data)
    kept = []
    for name, dtype, shape, values in tensors:
        group = name.partition("/")[0]
        if name.startswith("unit/moments/") or group == "unit" and not name.endswith(".f64"):
            continue
        count = len(values) // 4
        if group in ("unit", "simultaneous3", "alternating3") and count > MANY:
            values = b"".join(values[i:i + 4] for i in range(0, len(values), 4 * EVERY))
            metadata[name] = f"every {EVERY}th value of {count}"
            shape = [len(values) // 4]
        kept.append((name, dtype, shape, values))
    return write_tensors(kept, metadata)


def first_rows(data):
    """The column names and the first ROWS rows of a packed log."""
    lines = gzip.decompress(data).split(b"\n")
    return pack(b"\n".join(lines[:1 + ROWS]) + b"\n")


# ---- what is taken ------------------------------------------------------------------------------

# (pattern of names in SHARED, patterns of what is left out, how it is cut)
FILES = [
    ("golden/can/features_*.json", (), None),
    ("golden/can/features_*.safetensors", ("*_scaled_*",), None),
    ("golden/can/features_scaled_ref.safetensors", (), only("scaler/*")),
    ("golden/can/batch*_ref.*", (), None),
    ("golden/can/cache/*", (), None),
    ("golden/can/metrics_ref.json", (), None),
    ("golden/can/input/*", (), None),
    ("golden/latency/plan3_ref.json", (), None),
    ("golden/latency/tokens.json.gz", (), None),
    ("golden/latency/rows/*", ("*/split.json.gz", "*.py"), None),
    ("golden/latency/arrow/*", (), None),
    ("golden/nn/images*", (), None),
    ("golden/nn/dcgan_full.json", (), None),
    ("golden/nn/dcgan_small.safetensors", (), dcgan),
    *((f"golden/nn/ops/{op}*safetensors", (), float64) for op in (
        "adam", "batchnorm2d.", "bce_with_logits.", "conv", "leaky_relu", "linear.", "matmul.",
        "relu.", "sigmoid.", "tanh.")),
    *((f"golden/nn/ops/{op}safetensors", (), float64) for op in (
        "rmsnorm.3x37.", "silu.", "swiglu.")),
    ("golden/nn/ops/lr_schedule.json", (), None),
    ("data/can/candump/*", (), None),
    ("data/can/gvret/*", (), None),
    ("data/can/v40/*", (), first_rows),
]
# photographs of which images.json has a result
PHOTOGRAPHS = "golden/nn/images.json", "blood_cells/", "data/images/"


def names_in(shared):
    """Names of all files below a folder, but for what Python leaves there."""
    for folder, _, files in os.walk(shared):
        for file in files if os.path.basename(folder) != "__pycache__" else ():
            yield os.path.relpath(os.path.join(folder, file), shared)


def chosen(shared):
    """{name: how it is cut, or None} of all files to be taken."""
    out = {}
    names = sorted(names_in(shared))
    for pattern, but, cut in FILES:
        found = [name for name in names if fnmatch.fnmatchcase(name, pattern) and
                 not any(fnmatch.fnmatchcase(name, each) for each in but)]
        if not found:
            sys.exit(f"{shared} has no {pattern}")
        out.update(dict.fromkeys(found, cut))
    index, prefix, folder = PHOTOGRAPHS
    with open(os.path.join(shared, index), encoding="utf-8") as file:
        images = json.load(file)["images"]
    out.update({folder + name: None for name in images if name.startswith(prefix)})
    return out


# ---- how it is stored ---------------------------------------------------------------------------

def pack(data):
    return gzip.compress(data, 9, mtime=0)


def stored(name, data):
    """(name, bytes) as a file is stored: packed where that saves 4 KiB and a tenth."""
    packed = pack(data)
    saved = len(data) - len(packed)
    return (f"{name}.gz", packed) if saved >= max(4096, len(data) / 10) else (name, data)


def make(shared):
    """{name: (bytes as they are stored, those of the whole file)}"""
    out = {}
    for name, cut in chosen(shared).items():
        with open(os.path.join(shared, name), "rb") as file:
            data = file.read()
        to, content = stored(name, cut(data) if cut else data)
        out[to] = content, len(data)
    return out


def show(files):
    groups = {}
    for name, (content, whole) in files.items():
        group = groups.setdefault("/".join(name.split("/")[:3]), [0, 0, 0])
        for i, number in enumerate((1, len(content), whole)):
            group[i] += number
    groups["all"] = [sum(numbers) for numbers in zip(*groups.values())]
    for name, (count, size, whole) in groups.items():
        print(f"{count:5} files {size:9,} bytes, {whole:10,} before  {name}")
    largest = max(files, key=lambda name: len(files[name][0]))
    print(f"the largest: {largest}, {len(files[largest][0]):,} bytes")


def content_of(name, data):
    return gzip.decompress(data) if name.endswith(".gz") else data


def check(files):
    """The names of files that are not as they would be written."""
    present = {name for name in names_in(HERE) if name not in OWN}
    wrong = sorted(present ^ set(files))
    for name in present & set(files):
        with open(os.path.join(HERE, name), "rb") as file:
            data = file.read()
        if content_of(name, data) != content_of(name, files[name][0]):
            wrong.append(name)
    return wrong


def write(files):
    for entry in set(os.listdir(HERE)) - OWN:
        shutil.rmtree(os.path.join(HERE, entry))
    for name, (content, _) in files.items():
        path = os.path.join(HERE, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("shared", metavar="SHARED")
    options = parser.parse_args()
    files = make(options.shared)
    show(files)
    if not options.check:
        write(files)
        return 0
    wrong = check(files)
    print("\n".join(f"{name} differs" for name in wrong) or "all as they would be written")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
