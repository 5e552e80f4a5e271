"""python/leat/_abi.py, the headers' structs and numbers as ctypes sees them, against the headers.

scripts/python_abi.py writes that file; this is the proof that does not depend on how it reads
headers. A small C program prints the size of every struct, the place and size of every field, and
every constant; each must be what ctypes makes of _abi.py. Every function named there must be
declared, with that many arguments.
"""
import ctypes
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INCLUDE = os.path.join(ROOT, "include")


def read_abi():
    path = os.path.join(ROOT, "python", "leat", "_abi.py")
    spec = importlib.util.spec_from_file_location("leat_abi", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def headers():
    texts = {}
    for name in sorted(os.listdir(os.path.join(INCLUDE, "leat"))):
        with open(os.path.join(INCLUDE, "leat", name), encoding="utf-8") as file:
            texts[name] = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
    return texts


def ask_compiler(names, expressions):
    """The value of every C expression, with all public headers in sight."""
    lines = [f'#include "leat/{name}"' for name in names]
    lines += ["#include <stdio.h>", "int main(void) {"]
    lines += [f'    printf("%lld\\n", (long long)({text}));' for text in expressions]
    lines += ["    return 0;", "}", ""]
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "abi.c"), os.path.join(folder, "abi")
        with open(source, "w", encoding="ascii") as file:
            file.write("\n".join(lines))
        subprocess.run([shutil.which("cc") or "gcc", "-std=c17", "-I", INCLUDE, source, "-o",
                        program], check=True)
        done = subprocess.run([program], check=True, capture_output=True, text=True)
    return [int(line) for line in done.stdout.split()]


class Abi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.abi, cls.headers = read_abi(), headers()
        records = ctypes.Structure, ctypes.Union
        cls.structs = {kind.__doc__: kind for kind in vars(cls.abi).values()
                       if isinstance(kind, type) and issubclass(kind, records)}

    def compare(self, wanted):
        """wanted: C expression -> the number that _abi.py has."""
        found = ask_compiler(self.headers, wanted)
        different = [f"{text}: {number} in the headers, {wanted[text]} in python/leat/_abi.py"
                     for text, number in zip(wanted, found) if number != wanted[text]]
        self.assertEqual(different, [])
        self.assertGreater(len(wanted), 5)

    def test_structs(self):
        wanted = {}
        for name, struct in self.structs.items():
            outer, dot, member = name.partition(".")
            c_type = f"__typeof__((({outer} *)0)->{member})" if dot else name
            wanted[f"sizeof({c_type})"] = ctypes.sizeof(struct)
            for field, _ in struct._fields_:
                place = getattr(struct, field)
                wanted[f"offsetof({c_type}, {field})"] = place.offset
                wanted[f"sizeof((({c_type} *)0)->{field})"] = place.size
        self.compare(wanted)
        self.assertGreater(len(self.structs), 40)

    def test_every_field_is_there(self):
        for name, struct in self.structs.items():
            text = "".join(self.headers.values())
            body = re.search(r"(?:struct|union) " + name + r" \{([^}]*)\}", text).group(1)
            fields = re.findall(r"(\w+)\s*(?:\[[^\]]*\])*\s*[,;]", body)
            self.assertEqual(fields, [field for field, _ in struct._fields_], name)

    def test_numbers(self):
        wanted = {f"LEAT_{name}": number for name, number in vars(self.abi).items()
                  if isinstance(number, int)}
        self.assertLess({"LEAT_NODE_FEATURES", "LEAT_LOADER_STATE_BYTES"}, set(wanted))
        for enum, names in self.abi.ENUMS.items():
            declared = self.members(enum)
            self.assertEqual(len(declared), len(names), enum)
            for number, (member, name) in enumerate(zip(declared, names)):
                self.assertRegex(member, f"^LEAT_([A-Z]+_)?{name}$")
                wanted[member] = number
        self.compare(wanted)

    def members(self, enum):
        """Of an enum, as a simple pattern finds them in the headers; of codes, in their table."""
        if enum == "CODE":
            return re.findall(r"\bX\((LEAT_\w+),", self.headers["base.h"])
        declared = re.search(r"enum leat_" + enum.lower() + r"\s*\{([^}]*)\}",
                             "".join(self.headers.values())).group(1)
        return re.findall(r"LEAT_\w+", declared)

    def test_functions(self):
        text = " ".join("".join(self.headers.values()).split())
        for name, (result, arguments) in self.abi.PROTOTYPES.items():
            match = re.search(r"LEAT_API (?:LEAT_MUST_CHECK )?(?:const )?([\w]+ ?\**) ?" + name +
                              r"\((.*?)\);", text)
            self.assertIsNotNone(match, f"{name} is not declared")
            declared = [] if match.group(2) == "void" else match.group(2).split(",")
            self.assertEqual(len(declared), len(arguments), name)
            self.assertEqual("leat_code" == match.group(1).strip(), result is ctypes.c_int and
                             "leat_error" in match.group(2), name)
            for said, used in zip(declared, arguments):
                self.assertEqual("*" in said or "[" in said, is_pointer(used), f"{name}: {said}")


def is_pointer(kind):
    return kind in (ctypes.c_void_p, ctypes.c_char_p) or hasattr(kind, "contents") or \
        hasattr(kind, "_length_")


if __name__ == "__main__":
    if not (shutil.which("cc") or shutil.which("gcc")):
        print("skipped: no C compiler")
        sys.exit(77)
    unittest.main()
