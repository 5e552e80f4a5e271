"""Image data sets for tests, made by tests/cli/tool_image_set.c of pixels given here."""
import os
import re
import subprocess

from command import BUILD, LIMIT, leat

TOOL = os.path.join(BUILD, "tests", "cli_tool_image_set")
LOG = "file,reason,what\n"  # as leat ingest images writes it


def libraries_left_out():
    """Whether this build of leat lacks a library of images."""
    done = leat("version", status=0)
    return re.search(r"(?m)^library   lib(jpeg-turbo|png|zip) +left out", done.stdout) is not None


def pixels(number, size):
    """Image `number` as bytes: a disc of its own colour and place on a slope."""
    x0, y0, r = size * (3 + number % 5) // 10, size * (3 + number % 4) // 10, size // 4
    colour = (40 + number * 53 % 200, 40 + number * 97 % 200, 40 + number * 31 % 200)
    out = bytearray()
    for y in range(size):
        for x in range(size):
            if (x - x0) ** 2 + (y - y0) ** 2 < r * r:
                out += bytes(colour)
            else:
                out += bytes(((x * 3 + number) % 256, (y * 3) % 256, (x + y) % 256))
    return bytes(out)


def make(folder, count, size, rejected=(), names=None):
    """Writes a data set of images 0 .. count - 1, and a line of rejected.csv for each of
    `rejected`: (file, reason, what). Returns the names."""
    names = names or [f"a/{i:04d}.jpg" for i in range(count)]
    data = bytearray()
    for i, name in enumerate(names):
        data += f"{size + 10 * i} {2 * size + i} {i * 2654435761 % 2 ** 64:016x} {name}\n".encode()
        data += pixels(i, size)
    subprocess.run([TOOL, folder, str(size), str(len(rejected))], input=bytes(data), check=True,
                   timeout=LIMIT)
    if rejected:
        with open(os.path.join(folder, "rejected.csv"), "w", encoding="utf-8", newline="") as log:
            log.write(LOG)
            for name, reason, what in rejected:
                log.write(f'"{name}",{reason},"{what}"\n')
    return names
