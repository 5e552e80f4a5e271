"""Every rule of scripts/lint bites: a tree that keeps all rules, one fault at a time, and the fault
must be found by its rule, in its place. The words that the rules look for are put together here so
that this file does not break them itself."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINT = os.path.join(HOME, "scripts", "lint")
FORMATTER = any(os.access(os.path.join(folder, name), os.X_OK)
                for folder in os.environ["PATH"].split(":")
                for name in ("clang-format", "clang-format-14"))

CLEAN = {
    "scripts/rooms.txt": "base:\nformat: base\ningest: base format\nload: base format\n",
    "scripts/libraries.txt": "zstd.h: src/format/zip.c\n",
    "scripts/allowed-calls.txt": "",
    "scripts/allowed-globals.txt": "",
    ".clang-format": open(os.path.join(HOME, ".clang-format"), encoding="utf-8").read(),
    "include/leat/base.h": "/* What all share. */\n#define LEAT_API "
                           "__attribute__((visibility(\"default\")))\n"
                           "LEAT_API int leat_base_count(void);\n",
    "src/base/count.h": "/* Counting. */\nint leat_hidden_count(void);\n",
    "src/base/count.c": "/* Counting, one by one. */\n#include \"base/count.h\"\n"
                        "#include \"leat/base.h\"\n\n"
                        "static const char *const names[] = {\"one\", \"two\"};\n\n"
                        "int leat_hidden_count(void) { return names[1][0]; }\n\n"
                        "int leat_base_count(void) { return 2; /* not malloc(2) */ }\n",
    "src/format/zip.c": "/* The door to zstd. */\n#include <zstd.h>\n\n#include \"base/count.h\"\n",
    "cli/main.c": "/* The command. */\n#include <stdlib.h>\n\n#include \"leat/base.h\"\n\n"
                  "int main(void) { exit(leat_base_count()); }\n",
}


def function_of(lines):
    return "static int leat_long(int a) {\n" + "    a++;\n" * (lines - 3) + "    return a;\n}\n"


# (rule, file, text that is put at its end or, for a new file, that it is, part of the message)
CASES = [
    ("rooms", "src/format/zip.c", '#include "load/plan.h"\n', "format may not see load"),
    ("rooms", "src/load/open.c", '/* x */\n#include "ingest/scan.h"\n', "load may not see ingest"),
    ("rooms", "src/base/count.c", '#include "leat/format.h"\n', "base may not see format"),
    ("rooms", "src/base/count.c", '#include "../format/zip.h"\n', "leads out of its folder"),
    ("rooms", "src/attic/old.c", "/* x */\n", "room attic is not in"),
    ("rooms", "cli/main.c", '#include "base/count.h"\n', "public headers only"),
    ("rooms", "include/leat/format.h", '/* x */\n#include "base/count.h"\n', "public header"),
    ("rooms", "include/leat/base.h", '#include "leat/load.h"\n', "base may not see load"),
    ("rooms", "src/base/count.c", '#include "leat/load_can.h"\n', "base may not see load"),
    ("rooms", "scripts/rooms.txt", "graph: train\ntrain: graph\n", "graph sees train"),
    ("cycles", "src/base/count.h", '#include "base/count.h"\n', "src/base/count.h -> src/base/"),
    ("doors", "src/format/zip.c", "void *a = malloc(3);\n", "malloc(): the heap"),
    ("doors", "src/format/zip.c", "free(a);\n", "src/format/zip.c:5: free()"),
    ("doors", "src/load/map.c", "/* x */\nint fd = open(path, 0);\n", "open(): the file system"),
    ("doors", "src/load/map.c", "/* x */\nrename (a, b);\n", "rename(): the file system"),
    ("doors", "src/base/count.c", "void *m = mmap(0, 1);\n", "mmap(): mapped memory"),
    ("doors", "src/base/count.c", 'int n = printf("x");\n', "printf(): standard output"),
    ("doors", "cli/main.c", 'int n = fprintf(stderr, "x");\n', "fprintf(): standard output"),
    ("doors", "cli/cmd.c", "/* x */\nvoid f(void) { exit(1); }\n", "exit(): the end of"),
    ("doors", "src/base/count.c", "void f(void) { abort(); }\n", "abort(): abort"),
    ("doors", "src/load/map.c", '/* x */\nvoid *h = dlopen("x", 1);\n', "dlopen(): libraries"),
    ("forbidden", "src/base/count.c", "int f(char *a) { return atoi(a); }\n", "atoi()"),
    ("forbidden", "src/base/count.c", "char *f(char *a) { return strcpy(a, a); }\n", "strcpy()"),
    ("forbidden", "cli/main.c", 'char *f(void) { return getenv("X"); }\n', "getenv()"),
    ("libraries", "src/base/count.c", "#include <zstd.h>\n", "belongs to src/format/zip.c"),
    ("size", "src/load/long.c", "/* x */\n" + function_of(71), "leat_long() has 71 lines"),
    ("size", "src/load/long.c", "/* x */\n" * 800, "800 lines"),
    ("size", "src/load/wide.c", "/* " + "x" * 95 + " */\n", "101 columns"),
    ("opening", "src/load/bare.c", "int leat_x;\n", "begins without a comment"),
    ("blanks", "src/load/blank.c", "/* x */ \n", "trailing blanks"),
    ("blanks", "src/load/blank.c", "/* x */\n\tint x;\n", "a tab"),
    ("blanks", "docs/page.md", "no end", "no newline"),
    ("text", "docs/page.md", "see /wo" "rk/somewhere\n", "/wo" "rk/s"),
    ("text", "src/base/count.c", "/* TO" "DO: more */\n", "count.c:10: TO" "DO"),
    ("text", "src/base/count.c", "/* FIX" "ME */\n", "FIX" "ME"),
    ("results", "src/base/try.h", "/* x */\nleat_code leat_try(int a);\n", "leat_try() returns"),
    ("results", "include/leat/format.h", "/* x */\nLEAT_API leat_code leat_open(void);\n",
     "leat_open() returns"),
    ("format", "src/base/count.c", "int  leat_bad( void );\n", "src/base/count.c:10: run"),
]

# (rule, file, text put at its end before it is compiled, part of the message)
BUILT_CASES = [
    ("names", "src/base/count.c", "int count_all(void) { return 1; }\n", "count_all has external"),
    ("globals", "src/base/count.c", "int leat_calls;\n", "leat_calls is a mutable global"),
    ("globals", "src/base/count.c", "int leat_next(void) { static int n = 4; return n++; }\n",
     "src/base/count.c: n is a mutable"),
    ("globals", "src/base/count.c", "_Thread_local int leat_mine;\n", "leat_mine is a mutable"),
    ("exports", "src/base/count.c", "LEAT_API int other(void) { return 1; }\n",
     "exports other, which does not begin leat_"),
    ("exports", "src/base/count.c", "LEAT_API int leat_other(void) { return 1; }\n",
     "leat_other, which no header"),
    ("exports", "include/leat/base.h", "LEAT_API int leat_base_sum(void);\n",
     "declares leat_base_sum(), which libleat.so does not have"),
    ("public", "cli/main.c", "int leat_hidden_count(void);\n"
     "int leat_f(void) { return leat_hidden_count(); }\n", "uses leat_hidden_count"),
]


def write(root, path, text):
    os.makedirs(os.path.dirname(os.path.join(root, path)) or root, exist_ok=True)
    with open(os.path.join(root, path), "a", encoding="utf-8") as file:
        file.write(text)


def build(root):
    """The objects that CMake would leave in build/, as far as the rules look at them."""
    objects = []
    for source, target in (("src/base/count.c", "leat_base_objects"), ("cli/main.c", "leat")):
        out = os.path.join(root, "build/CMakeFiles", target + ".dir", source + ".o")
        os.makedirs(os.path.dirname(out), exist_ok=True)
        subprocess.run(["cc", "-fPIC", "-fvisibility=hidden", "-I", "include", "-I", "src", "-c",
                        source, "-o", out], cwd=root, check=True)
        objects.append(out)
    subprocess.run(["cc", "-shared", objects[0], "-o", os.path.join(root, "build/libleat.so")],
                   check=True)


def lint(root, *rules):
    done = subprocess.run([sys.executable, LINT, "--root", root, *rules], capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stdout + done.stderr


class Canaries(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        for path, text in CLEAN.items():
            write(self.root, path, text)

    def must_find(self, rule, path, text, message, compiled):
        write(self.root, path, text)
        if compiled:
            build(self.root)
        status, out = lint(self.root, rule)
        self.assertEqual(status, 1, f"{rule} did not find {text!r} in {path}:\n{out}")
        self.assertIn(message, out)

    def test_clean_tree_passes(self):
        build(self.root)
        status, out = lint(self.root)
        self.assertEqual(status, 0, out)
        self.assertNotIn("skipped", out if FORMATTER else "")

    def test_every_rule_has_a_case(self):
        done = subprocess.run([sys.executable, LINT, "--list"], capture_output=True, text=True,
                              check=True)
        rules = set(re.findall(r"^(\w+) ", done.stdout, re.M))
        self.assertEqual(rules, {case[0] for case in CASES + BUILT_CASES})

    def test_allow_lists_need_a_reason(self):
        write(self.root, "src/base/count.c", "int f(char *a) { return atoi(a); }\n")
        for reason, expected in ((" ", 1), (" a reason", 0)):
            write(self.root, "scripts/allowed-calls.txt", f"src/base/count.c atoi:{reason}\n")
            self.assertEqual(lint(self.root, "forbidden")[0], expected)


def add_case(number, case, compiled):
    def method(self):
        if case[0] == "format" and not FORMATTER:
            self.skipTest("clang-format is not installed")
        self.must_find(*case, compiled)
    setattr(Canaries, f"test_{case[0]}_{number:02}", method)


for index, item in enumerate(CASES):
    add_case(index, item, False)
for index, item in enumerate(BUILT_CASES):
    add_case(index, item, True)

if __name__ == "__main__":
    unittest.main()
