"""Tests of the rules of scripts/lint: a tree that keeps all rules gets one fault at a time, which
its rule must find in its place. The words that the rules look for are put together here, so that
this file does not break them itself."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINT = os.path.join(HOME, "scripts", "lint")
FORMATTER = subprocess.run([sys.executable, LINT, "--formatter"], capture_output=True,
                           check=False).returncode == 0
NODE = shutil.which("node")
CLANG = subprocess.run([os.path.join(HOME, "scripts", "find-clang.sh")], capture_output=True,
                       check=False).returncode == 0

CLEAN = {
    "scripts/rooms.txt": "base:\nformat: base\nformat/tar:\n"
                         "format/zip/read:\nformat/zip/list: format/zip/read\n"
                         "format/zip: format/tar format/zip/list\n"
                         "ingest: base format\nload: base format\nnn: base\nnn/kernels:\n",
    "scripts/libraries.txt": "zstd.h: src/format/zip.c\n",
    "scripts/allowed-calls.txt": "",
    "scripts/allowed-globals.txt": "",
    "scripts/allowed-parameters.txt": "",
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
    "src/format/tar/tar.h": "/* Archives. */\nint leat_tar_count(void);\n",
    "src/format/names.h": "/* Names of all. */\nint leat_names_count(void);\n",
    "src/format/zip/zip.h": "/* Archives, packed. */\nint leat_zip_count(void);\n",
    "src/format/zip/zip.c": "/* Archives, packed. */\n#include \"base/count.h\"\n"
                            "#include \"format/tar/tar.h\"\n"
                            "#include \"format/zip/list/list.h\"\n",
    "src/format/zip/read/read.h": "/* Their bytes. */\n#include \"base/count.h\"\n",
    "src/format/zip/list/list.h": "/* Their names. */\n#include \"format/names.h\"\n"
                                  "#include \"format/zip/read/read.h\"\n",
    "src/nn/kernels/add.h": "/* Adding. */\n#include <immintrin.h>\n"
                            "#include <stdint.h> /* int */\n",
    "src/nn/kernels/add.c": "/* Sums. */\n#include \"add.h\"\n\n#include <math.h>\n",
    "src/nn/sum.h": "/* Sums of all kinds. */\n",
    "src/nn/kernels/scalar.c": "/* Chains. */\n#include <math.h>\n\n"
                               "float leat_chain(float a) { return fmaf(a, a, a); }\n",
    "src/nn/kernels/wide.c": "/* Copies. */\n#include <string.h>\n\n"
                             "void leat_copy(char *a, int n) { memcpy(a, a + n, n); }\n",
    "src/nn/text.c": "/* Texts. */\n#include <math.h>\n#include <string.h>\n\n"
                     "#include \"base/count.h\"\n\n"
                     "int leat_text(char *a) { return strcmp(a, a) + leat_hidden_count(); }\n",
    "cli/page.css": "/* Pages. */\np { margin: 0 }\n",
    "cli/page.js": "/* Pages. */\nconst rows = [1, 2];\n",
    "cli/page.svg": "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"4\">\n</svg>\n",
    "cli/page.c": "/* Pages. */\nstatic const char text[] = {\n#include \"page.css.h\"\n    0};\n",
    "cli/main.c": "/* The command. */\n#include <stdlib.h>\n\n#include \"leat/base.h\"\n\n"
                  "int main(void) { exit(leat_base_count()); }\n",
}


def wide_function(parameters):
    """Of these, one is a function of two, and one is on the next line."""
    middle = " int p," * (parameters - 2)
    return f"int leat_wide(int (*f)(int a, int b),{middle}\n  int q) {{}}\n"


def function_of(lines):
    return "static int leat_long(int a) {\n" + "    a++;\n" * (lines - 3) + "    return a;\n}\n"


# (rule, file, text that is put at its end or, for a new file, that it is, part of the message)
CASES = [
    ("rooms", "src/format/zip.c", '#include "load/plan.h"\n', "format may not see load"),
    ("rooms", "src/load/open.c", '/* x */\n#include "ingest/scan.h"\n', "load may not see ingest"),
    ("rooms", "src/base/count.c", '#include "leat/format.h"\n', "base may not see format"),
    ("rooms", "src/format/tar/read.c", '#include "format/zip/zip.h"\n',
     "format/tar may not see format/zip"),
    ("rooms", "src/format/names.c", '#include "format/tar/tar.h"\n',
     "format may not see format/tar"),
    ("rooms", "src/format/rar/read.c", "/* x */\n", "format/rar is not in scripts/rooms.txt"),
    ("rooms", "src/format/zip/read/more.c", '#include "format/zip/list/list.h"\n',
     "format/zip/read may not see format/zip/list"),
    ("rooms", "src/format/zip/list/more.c", '#include "format/zip/zip.h"\n',
     "format/zip/list may not see format/zip"),
    ("rooms", "src/format/zip/list/more.c", '#include "format/tar/tar.h"\n',
     "format/zip/list may not see format/tar"),
    ("rooms", "src/format/zip/zip.h", '#include "format/zip/read/read.h"\n',
     "format/zip may not see format/zip/read"),
    ("rooms", "src/format/tar/read.c", '#include "format/zip/read/read.h"\n',
     "format/tar may not see format/zip/read"),
    ("rooms", "src/format/names.h", '#include "format/zip/read/read.h"\n',
     "format may not see format/zip/read"),
    ("rooms", "src/format/zip/rest/more.c", "/* x */\n", "format/zip/rest is not in scripts/"),
    ("rooms", "scripts/rooms.txt", "format/zip/read: format/zip/late\n",
     "format/zip/read sees format/zip/late, which is not listed above it"),
    ("rooms", "src/base/count.c", '#include "../format/zip.h"\n', "leads out of its folder"),
    ("rooms", "src/attic/old.c", "/* x */\n", "attic is not in"),
    ("rooms", "cli/main.c", '#include "base/count.h"\n', "public headers only"),
    ("rooms", "include/leat/format.h", '/* x */\n#include "base/count.h"\n', "public header"),
    ("rooms", "include/leat/base.h", '#include "leat/load.h"\n', "base may not see load"),
    ("rooms", "src/base/count.c", '#include "leat/load_can.h"\n', "base may not see load"),
    ("rooms", "scripts/rooms.txt", "graph: train\ntrain: graph\n", "graph sees train"),
    ("kernels", "src/nn/kernels/add.c", '#include "base/count.h"\n', 'includes "base/count.h"'),
    ("kernels", "src/nn/kernels/add.c", '#include "nn/sum.h"\n', 'add.c:5: includes "nn/sum.h"'),
    ("kernels", "src/nn/kernels/add.h", "# include <zstd.h>\n", "add.h:4: includes <zstd.h>"),
    ("kernels", "src/nn/kernels/add.h", "#include <pthread.h> // y\n", "includes <pthread.h>"),
    ("kernels", "src/nn/kernels/add.h", "#include OTHER\n", "add.h:4: includes OTHER"),
    ("device", "src/nn/models/gat.c", "/* x */\nconst leat_kernels *k = 0;\n",
     "gat.c:2: leat_kernels"),
    ("device", "src/nn/models/gat.c", "/* x */\nint a = b.device.kernels->rows;\n", "2: kernels: "),
    ("device", "src/nn/models/gat.c", "/* x */\nvoid f(void) { leat_block_alloc(a, 3); }\n",
     "leat_block_alloc: models"),
    ("cycles", "src/base/count.h", '#include "base/count.h"\n', "src/base/count.h -> src/base/"),
    ("calls", "src/format/zip.c", "void *a = malloc(3);\n", "malloc(): the heap"),
    ("calls", "src/format/zip.c", "free(a);\n", "src/format/zip.c:5: free()"),
    ("calls", "src/load/map.c", "/* x */\nint fd = open(path, 0);\n", "open(): the file system"),
    ("calls", "src/load/map.c", "/* x */\nrename (a, b);\n", "rename(): the file system"),
    ("calls", "src/base/count.c", "void *m = mmap(0, 1);\n", "mmap(): mapped memory"),
    ("calls", "src/base/count.c", "int n = pthread_create(0, 0, f, 0);\n", "a new thread"),
    ("calls", "src/base/count.c", 'int n = printf("x");\n', "printf(): standard output"),
    ("calls", "cli/main.c", 'int n = fprintf(stderr, "x");\n', "fprintf(): standard output"),
    ("calls", "cli/cmd.c", "/* x */\nvoid f(void) { exit(1); }\n", "exit(): the end of"),
    ("calls", "src/base/count.c", "void f(void) { abort(); }\n", "abort(): abort"),
    ("calls", "src/load/map.c", '/* x */\nvoid *h = dlopen("x", 1);\n', "dlopen(): libraries"),
    ("calls", "src/load/map.c", "/* x */\nint n = __get_cpuid(1, a, b, c, d);\n", "the processor"),
    ("forbidden", "src/load/map.c", '/* x */\nint n = __builtin_cpu_supports("a");\n', "leat_cpu"),
    ("forbidden", "src/base/count.c", "int f(char *a) { return atoi(a); }\n", "atoi()"),
    ("forbidden", "src/base/count.c", "char *f(char *a) { return strcpy(a, a); }\n", "strcpy()"),
    ("forbidden", "cli/main.c", 'char *f(void) { return getenv("X"); }\n', "getenv()"),
    ("libraries", "src/base/count.c", "#include <zstd.h>\n", "belongs to src/format/zip.c"),
    ("libraries", "scripts/libraries.txt", "lz4: src/format/zip.c\n", "zip.c does not include lz4"),
    ("allowed", "scripts/allowed-calls.txt", "src/base/count.c atoi: a reason\n",
     "allowed-calls.txt:1: src/base/count.c does not call atoi()"),
    ("allowed", "scripts/allowed-calls.txt", "src/base/gone.c atoi: a reason\n", "does not call"),
    ("allowed", "scripts/allowed-calls.txt", "cli/main.c exit:\n", "not of the form"),
    ("allowed", "scripts/allowed-globals.txt", "cli/main.c exit\n", "not of the form"),
    ("allowed", "tests/tsan.supp", "# x\nrace:leat_gone\n", "tsan.supp:2: nothing is named leat_"),
    ("allowed", "tests/tsan.supp", "race\n", "tsan.supp:1: nothing is named race"),
    ("asserts", "src/base/count.c", "void f(void) { LEAT_ASSERT(n = 2); }\n", "10: = in an"),
    ("asserts", "src/base/count.c", "void f(void) { LEAT_ASSERT(n < 3 && n++ > 1); }\n", "++ in"),
    ("asserts", "src/base/count.c", "void f(void) { LEAT_ASSERT((n >>= 1) > 1); }\n", ">>= in"),
    ("asserts", "src/base/count.c", "void f(void) {\n    LEAT_ASSERT(n &&\n"
     "                leat_take(&n));\n}\n", "count.c:11: leat_take() in an assertion"),
    ("tests", "tests/load/test_x.c", '/* x */\n#include "make.c"\n', 'x.c:2: includes "make.c"'),
    ("tests", "tests/load/test_x.c", "/* x */\nint r = pthread_create(&a, 0, f, 0);\n",
     'test_x.c:2: pthread_create(: needs a line "/* TSan:'),
    ("tests", "tests/load/test_x.c", "/* x */\nvoid f(void) { o.threads = 16; }\n", "needs a"),
    ("size", "src/load/long.c", "/* x */\n" + function_of(71), "leat_long() has 71 lines"),
    ("size", "src/load/long.c", "/* x */\n" * 800, "800 lines"),
    ("size", "src/load/wide.c", "/* " + "x" * 95 + " */\n", "101 columns"),
    ("parameters", "src/load/wide.c", wide_function(9), "wide.c:1: leat_wide() has 9 parameters"),
    ("parameters", "src/nn/kernels/wide.h", "static " + wide_function(9), "has 9 parameters"),
    ("parameters", "cli/wide.c", wide_function(7) * 500, "500 functions have more than 6 param"),
    ("parameters", "scripts/allowed-parameters.txt", "src/base/count.c leat_wide: a reason\n",
     "allowed-parameters.txt:1: src/base/count.c has no such function leat_wide()"),
    ("size", "examples/wide.c", "/* " + "x" * 95 + " */\n", "101 columns"),
    ("opening", "examples/bare.c", "int x;\n", "begins without a comment"),
    ("opening", "src/load/bare.c", "int leat_x;\n", "begins without a comment"),
    ("general", "src/train/run/session.c", "/* x */\nint of_im" "ages;\n",
     "session.c:2: names 'im" "age': a task says it"),
    ("general", "src/train/run/session.c", "/* Of a GENER" "ATOR. */\n", "session.c:1: names"),
    ("general", "src/crowd/desk.h", "/* x */\ndouble lo" "ss_d;\n", "desk.h:2: names 'lo" "ss'"),
    ("general", "src/crowd/schema.sql", "-- dc" "gan\n", "schema.sql:1: names 'dc" "gan'"),
    ("words", "docs/page.md", "a\nas in the refer" "ence\nsystem\n", "page.md:2: 'the reference"),
    ("blanks", "src/load/blank.c", "/* x */ \n", "trailing blanks"),
    ("pages", "docs/wide.md", "| " + 60 * "ab " + "|\n" + 60 * "ab " + "\n", "wide.md:2: 180"),
    ("blanks", "src/load/blank.c", "/* x */\n\tint x;\n", "a tab"),
    ("blanks", "docs/page.md", "no end", "no newline"),
    ("blanks", "cli/page.css", "\tp { margin: 0 }\n", "page.css:3: a tab"),
    ("embedded", "cli/page.css", "/* " + "x" * 95 + " */\n", "page.css:3: 101 columns"),
    ("embedded", "cli/more.css", "p { margin: 0 }\n", "more.css:1: begins without a comment"),
    ("embedded", "cli/page.css", "\n@import 'a.css';\n", "page.css:4: a reference to somewhere"),
    ("embedded", "cli/page.css", "p { background: url(a.png) }\n", "page.css:3: a reference"),
    ("embedded", "cli/page.svg", '<image href="a.png"/>\n', "page.svg:3: a reference"),
    ("embedded", "cli/page.html", '<p>\n<a href="b.html">b</a>\n', "page.html:2: a reference"),
    ("embedded", "cli/page.html", "<p>http:/" "/example.org</p>\n", "page.html:1: a reference"),
    ("embedded", "cli/page.html", '<p class="a"\nonclick="b()">\n', "page.html:2: an event"),
    ("embedded", "cli/page.js", "fetch('/a');\n", "page.js:3: a reference to somewhere"),
    ("embedded", "src/dash/a.js", "/* A. */\na.innerHTML = b;\n", "a.js:2: markup made of a str"),
    ("embedded", "src/dash/a.html", "<script>a()</script>\n", "a.html:1: what the policy of"),
    ("embedded", "src/dash/a.html", '<a href="b">b</a>\n', "a.html:1: a reference to somewhere"),
    ("text", "docs/page.md", "see /wo" "rk/somewhere\n", "/wo" "rk/s"),
    ("text", "src/base/count.c", "/* TO" "DO: more */\n", "count.c:10: TO" "DO"),
    ("text", "src/base/count.c", "/* FIX" "ME */\n", "FIX" "ME"),
    ("bytes", "tests/golden/big.json", "[1]\n" * 250001, "big.json: 1,000,004 bytes, at most"),
    ("results", "src/base/try.h", "/* x */\nleat_code leat_try(int a);\n", "leat_try() returns"),
    ("results", "include/leat/format.h", "/* x */\nLEAT_API leat_code leat_open(void);\n",
     "leat_open() returns"),
    ("format", "examples/a.c", "/* x */\nint  bad( void );\n", "a.c:2: run"),
    ("format", "src/base/count.c", "int  leat_bad( void );\n", "src/base/count.c:10: run"),
    ("embedded", "cli/page.js", "const more = [;\n", "page.js:3: SyntaxError: Unexpected token"),
    # gcc says nothing here
    ("clang", "tests/fuzz/fuzz_a.c", "/* x */\nstruct a {\n    struct {\n        int b, c;\n"
     "    } d;\n};\nstruct a leat_a(void);\nstruct a leat_a(void) {\n"
     "    return (struct a){.d = {1}};\n}\n", "fuzz_a.c:9:30: warning: missing field 'c'"),
]

# (rule, file, text put at its end before it is compiled, part of the message)
BUILT_CASES = [
    ("names", "src/base/count.c", "int count_all(void) { return 1; }\n", "count_all has external"),
    ("globals", "src/base/count.c", "int leat_calls;\n", "leat_calls is a mutable global"),
    ("globals", "src/base/count.c", "int leat_next(void) { static int n = 4; return n++; }\n",
     "src/base/count.c: n is a mutable"),
    ("globals", "src/base/count.c", "_Thread_local int leat_mine;\n", "leat_mine is a mutable"),
    ("globals", "scripts/allowed-globals.txt", "src/base/count.c leat_gone: a reason\n",
     "allowed-globals.txt:1: src/base/count.c leat_gone is not a mutable global"),
    ("exports", "src/base/count.c", "LEAT_API int other(void) { return 1; }\n",
     "exports other, which does not begin leat_"),
    ("exports", "src/base/count.c", "LEAT_API int leat_other(void) { return 1; }\n",
     "leat_other, which no header"),
    ("exports", "include/leat/base.h", "LEAT_API int leat_base_sum(void);\n",
     "declares leat_base_sum(), which libleat.so does not have"),
    ("public", "cli/main.c", "int leat_hidden_count(void);\n"
     "int leat_f(void) { return leat_hidden_count(); }\n", "uses leat_hidden_count"),
    ("libm", "src/nn/text.c", "float leat_e(float a) { return expf(a); }\n",
     "src/nn/text.c: calls expf(); the room"),
    ("libm", "src/nn/text.c", "float leat_e(float a) { return fmaf(a, a, a); }\n", "calls fmaf()"),
    ("libm", "src/nn/kernels/scalar.c", "double leat_p(double a) { return pow(a, a); }\n",
     "src/nn/kernels/scalar.c: calls pow()"),
    ("libm", "src/nn/kernels/wide.c", "int leat_n(char *a) { return strcmp(a, a + 1); }\n",
     "src/nn/kernels/wide.c: calls strcmp(); kernels of one"),
    ("libm", "src/nn/kernels/wide.c", "float leat_chain(float a);\n"
     "float leat_d(float a) { return leat_chain(a); }\n", "wide.c: calls leat_chain()"),
]


def write(root, path, text):
    os.makedirs(os.path.dirname(os.path.join(root, path)) or root, exist_ok=True)
    with open(os.path.join(root, path), "a", encoding="utf-8") as file:
        file.write(text)


def build(root):
    """The objects that CMake would leave in build/, as far as the rules read them."""
    objects = []
    for source, target in (("src/base/count.c", "leat_base_objects"), ("cli/main.c", "leat"),
                           ("src/nn/kernels/scalar.c", "leat_nn_objects"),
                           ("src/nn/kernels/wide.c", "leat_nn_objects"),
                           ("src/nn/text.c", "leat_nn_objects")):
        out = os.path.join(root, "build/CMakeFiles", target + ".dir", source + ".o")
        os.makedirs(os.path.dirname(out), exist_ok=True)
        subprocess.run(["cc", "-fPIC", "-fvisibility=hidden", "-I", "include", "-I", "src", "-c",
                        source, "-o", out], cwd=root, check=True)
        objects.append(out)
    subprocess.run(["cc", "-shared", objects[0], "-o", os.path.join(root, "build/libleat.so")],
                   check=True)


def lint(root, *rules, script=LINT, path=None):
    environment = {**os.environ, "PATH": path} if path else None
    done = subprocess.run([sys.executable, script, "--root", root, *rules], capture_output=True,
                          text=True, check=False, env=environment)
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

    def test_all_golden_files_together(self):
        for name in range(6):
            write(self.root, f"tests/golden/{name}", "[1]\n" * 250000)
        self.assertEqual(lint(self.root, "bytes")[0], 0)
        self.must_find("bytes", "tests/golden/6", "1", "golden: 6,000,001 bytes, at most", False)

    def test_allow_lists_need_a_reason(self):
        write(self.root, "src/base/count.c", "int f(char *a) { return atoi(a); }\n")
        for reason, expected in ((" ", 1), (" a reason", 0)):
            write(self.root, "scripts/allowed-calls.txt", f"src/base/count.c atoi:{reason}\n")
            self.assertEqual(lint(self.root, "forbidden")[0], expected)


    def test_files_of_the_user(self):
        """In a clone, faults count once git tracks their file: others are the user's own."""
        def git(*words):
            subprocess.run(["git", "-c", "core.excludesFile=", *words], cwd=self.root, check=True)
        git("init", "-q")
        git("add", ".")
        rules = [rule for rule, _, _, _ in CASES if rule != "format"]
        files = {"my.log": "saved in /ho" "me/me\n", "pings.csv": "1,2\n" * 250001,
                 "notes.md": 60 * "ab " + "\nTO" "DO", "src/base/own.c": "int a; \n\tchar *b;\n",
                 "src/base/own.h": "leat_code leat_own(void);\n",
                 "tests/load/test_own.c": '#include "own.c"\nint threads = 3;\n',
                 "src/nn/kernels/own.c": "#include <zstd.h>\nint i = atoi(malloc(2));\n"}
        for path, text in files.items():
            write(self.root, path, text)
        status, out = lint(self.root, *rules)
        self.assertEqual(status, 0, out)
        self.assertIn("lint: not read, as git does not track them: my.log, notes.md, pings.csv "
                      "and 4 more\n", out)
        git("add", ".")
        for rule, where in (("text", "my.log:1"), ("bytes", "pings.csv"), ("pages", "notes.md:1"),
                            ("blanks", "src/base/own.c:1"), ("opening", "src/base/own.c"),
                            ("results", "src/base/own.h:1"), ("kernels", "src/nn/kernels/own.c:1"),
                            ("calls", "src/nn/kernels/own.c:2"),
                            ("tests", "tests/load/test_own.c:1")):
            status, out = lint(self.root, rule)
            self.assertEqual(status, 1, rule)
            self.assertIn(where, out)
            self.assertNotIn("not read", out)

    def test_what_is_allowed(self):
        """Assertions without effect, tests that declare their threads or have one."""
        for rule, path, text in (
                ("asserts", "src/base/count.c", "int f(n) { LEAT_ASSERT(n <= 3 && n == 2); }\n"),
                ("asserts", "src/base/count.c", "void f(void) { LEAT_ASSERT(strlen(a) < 3); }\n"),
                ("parameters", "src/load/wide.c", wide_function(8)),
                ("parameters", "src/load/call.c", "int a = f(1, 2, 3, 4, 5, 6, 7, 8, 9);\n"),
                ("parameters", "src/load/call.h", wide_function(9).replace(" {}", ";")),
                ("general", "src/crowd/status.c", "/* Lo" "ssless. */\n// leat.lo" "ss_history\n"),
                ("general", "src/crowd/schema_owner.sql", "-- lo" "ss_g\n"),
                ("general", "src/train/tasks/images/score.c", "/* Of im" "ages. */\n"),
                ("tests", "tests/load/test_a.c", "/* x */\n/* TSan: y. */\nint threads = 3;\n"),
                ("tests", "tests/load/test_b.c", "/* x */\n/* No TSan: y. */\nint threads = 3;\n"),
                ("tests", "tests/load/test_c.c", "/* x */\nvoid f(void) { o.threads = 1; }\n"),
                ("tests", "tests/fault/test_d.c", "/* x */\nint threads = 3;\n")):
            with self.subTest(text):
                write(self.root, path, text)
                self.assertEqual(lint(self.root, rule)[0], 0, lint(self.root, rule)[1])

    def test_allow_lists_have_an_effect(self):
        write(self.root, "src/base/count.c", "int leat_calls;\n")
        write(self.root, "scripts/allowed-globals.txt", "src/base/count.c leat_calls: a reason\n")
        build(self.root)
        self.assertEqual(lint(self.root, "globals", "allowed")[0], 0)


class Formatters(unittest.TestCase):
    """Only the version of clang-format that formatted the sources may judge them."""
    # programs with the versions that they report -> what lint does
    CASES = [
        ({}, "skipped: clang-format 14 is not installed (scripts/install.sh"),
        ({"clang-format": 19}, "is not installed, and version 19 formats differently"),
        ({"clang-format-14": 15}, "is not installed, and version 15 formats differently"),
        ({"clang-format": 14}, "src/base/count.c:1: run clang-format -i"),
        ({"clang-format": 19, "clang-format-14": 14}, "run clang-format-14 -i"),
        ({"clang-format": 19, ".deps": 14}, "/.deps/clang-format/bin/clang-format -i"),
    ]

    def test_versions(self):
        for programs, expected in self.CASES:
            with self.subTest(programs), tempfile.TemporaryDirectory() as root:
                for path in ("src/base/count.c", "scripts/rooms.txt"):
                    write(root, path, CLEAN[path])
                # a copy of lint, so that the formatter in .deps of this tree is not found
                script = shutil.copy(LINT, os.path.join(root, "scripts"))
                for name in ("lint_symbols.py", "lint_tree.py"):
                    shutil.copy(os.path.join(HOME, "scripts", name), os.path.join(root, "scripts"))
                tools = os.path.join(root, "tools")
                os.mkdir(tools)
                os.symlink(shutil.which("git"), os.path.join(tools, "git"))
                for name, version in programs.items():
                    path = os.path.join(root, ".deps/clang-format/bin/clang-format") \
                        if name == ".deps" else os.path.join(tools, name)
                    write(root, path, f"#!/bin/sh\n[ $1 = --version ] && echo version {version}.0.6"
                                      "\necho 'src/base/count.c:1:1: warning: x' >&2\n")
                    os.chmod(path, 0o755)
                status, out = lint(root, "format", script=script, path=tools)
                self.assertIn(expected, out)
                self.assertEqual(status, 1 if " -i" in expected else 0)


def add_case(number, case, compiled):
    def method(self):
        if case[0] == "format" and not FORMATTER:
            self.skipTest("clang-format is not installed")
        if case[0] == "clang" and not CLANG:
            self.skipTest("clang with libFuzzer is not installed")
        if "SyntaxError" in case[3] and not NODE:
            self.skipTest("node is not installed")
        self.must_find(*case, compiled)
    setattr(Canaries, f"test_{case[0]}_{number:02}", method)


for index, item in enumerate(CASES):
    add_case(index, item, False)
for index, item in enumerate(BUILT_CASES):
    add_case(index, item, True)

if __name__ == "__main__":
    unittest.main()
