"""Reals in JSON against Python's own repr: the same digits and layout, always with a point, so that
YAML 1.1 reads each as a number. Runs base_tool_repr of LEAT_BUILD (default: build)."""
import math
import os
import random
import re
import struct
import subprocess
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = os.path.join(os.environ.get("LEAT_BUILD", os.path.join(ROOT, "build")), "tests",
                    "base_tool_repr")
# what a YAML 1.1 reader takes for a float (PyYAML's resolver, without base 60, infinities and NaN)
YAML_FLOAT = re.compile(r"[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)?\Z")


def written(words):
    done = subprocess.run([TOOL], input="".join(f"{word}\n" for word in words), text=True,
                          stdout=subprocess.PIPE, timeout=300, check=True)
    return done.stdout.split("\n")[:-1]


def bits_of(value):
    return struct.pack(">d", value).hex()


def with_point(text):
    mantissa, _, exponent = text.partition("e")
    return (mantissa if "." in mantissa else mantissa + ".0") + ("e" + exponent if exponent else "")


class Repr(unittest.TestCase):
    def test_named(self):
        cases = ["30.0", "0.0003", "1.0e-08", "1.0e+16", "0.1", "-0.0", "0.0", "0.0001", "1.0e-05",
                 "1000000000000000.0", "123456.789", "5.0e-324", "1.7976931348623157e+308",
                 "-2.5e-07", "5.684341886080802e-14", "9007199254740992.0", "1.0e+100"]
        self.assertEqual(written(bits_of(float(text)) for text in cases), cases)

    def test_doubles_as_python_writes_them(self):
        draw = random.Random(5)
        values = [sign * 2.0**power for power in range(-1074, 1024) for sign in (1, -1)]
        values += [math.nextafter(2.0**power, side) for power in range(-1022, 1024)
                   for side in (0, math.inf)]
        values += [10.0**power for power in range(-323, 309)]
        values += [round(draw.uniform(-1e6, 1e6), draw.randrange(7)) for _ in range(5000)]
        while len(values) < 30000:
            value = struct.unpack(">d", draw.randbytes(8))[0]
            if math.isfinite(value):
                values.append(value)
        for value, text in zip(values, written(map(bits_of, values)), strict=True):
            self.assertEqual(text, with_point(repr(value)))
            self.assertRegex(text, YAML_FLOAT)

    def test_floats_in_the_fewest_digits(self):
        draw = random.Random(6)
        words = [f"{exponent << 23:08x}" for exponent in range(1, 255)]
        while len(words) < 10000:
            word = draw.randbytes(4)
            if math.isfinite(struct.unpack(">f", word)[0]):
                words.append(word.hex())
        for word, text in zip(words, written(words), strict=True):
            value = struct.unpack(">f", bytes.fromhex(word))[0]
            self.assertEqual(struct.pack(">f", float(text)).hex(), word, text)
            self.assertRegex(text, YAML_FLOAT)
            digits = len(re.sub(r"e.*|[-.]", "", text).strip("0")) or 1
            if digits > 1: # no decimal with one digit fewer reads back
                shorter = f"{value:.{digits - 2}e}"
                self.assertNotEqual(struct.pack(">f", float(shorter)).hex(), word, text)


if __name__ == "__main__":
    unittest.main()
