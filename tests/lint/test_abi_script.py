"""scripts/python_abi.py: python/leat/_abi.py is in step with the headers and its users; what is
read from headers of all shapes; and nothing is left out in silence.

LEAT_UPDATE=1 writes python/leat/_abi.py anew.
"""
import ctypes
import os
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import python_abi  # noqa: E402

BASE = """/* The base. */
#ifndef LEAT_BASE_H
#define LEAT_BASE_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#define LEAT_API __attribute__((visibility("default")))
#define LEAT_CODES(X) \\
    X(LEAT_OK, 0, "ok; it's fine") \\
    X(LEAT_ERR_IO, 1, "input/output error")
#define LEAT_CODE_ENUM(name, number, text) name = (number),
typedef enum leat_code { LEAT_CODES(LEAT_CODE_ENUM) } leat_code;
#undef LEAT_CODE_ENUM
#define LEAT_MESSAGE_BYTES (1 << 9) /* of a message */
typedef struct leat_error {
    leat_code code;
    char message[LEAT_MESSAGE_BYTES];
} leat_error;
%s
#ifdef __cplusplus
}
#endif
#endif
"""
# what a header has, and what Python has of it, as text or as a ctypes type
SHAPES = """
#define LEAT_WIDE INT64_C(0x10)
#define LEAT_NAME "leat" "-1"
#define LEAT_SHARE 2.5e-1
#define LEAT_LEAST INT32_MIN
enum { LEAT_FIRST = 3, LEAT_SECOND, LEAT_MASK = LEAT_SECOND | 8 };
typedef enum leat_way { LEAT_WAY_IN, LEAT_WAY_OUT, } leat_way;
typedef struct leat_box leat_box;
typedef struct leat_tally { int64_t count, *places; } leat_tally;
typedef bool (*leat_tell_fn)(void *user, const leat_tally *tally, const char *line);
struct leat_inner { uint8_t bytes[LEAT_SECOND][2]; };
typedef struct leat_whole {
    const char *text, *raw; // raw may have a NUL
    int32_t raw_size;
    leat_way way;
    struct leat_inner one;
    struct { char name[4]; double part; } parts[LEAT_MASK];
    leat_code (*parse)(const char *text, void *member, leat_error *err);
    leat_tell_fn tell;
    leat_box *box;
    union leat_any { int64_t number; double real; char text[12]; } any;
    union { float x; void *y; } either;
    const leat_tally *tallies;
    unsigned long long last;
} leat_whole;
typedef struct leat_unused { float *x; } leat_unused;
static inline int leat_twice(int a) { return a > 1 ? a * 2 : 0; }
_Static_assert(sizeof(int64_t) == 8, "bytes");
LEAT_API leat_code leat_box_open(leat_box **out, const char *const *paths, leat_error *err);
LEAT_API __attribute__((warn_unused_result)) leat_whole leat_box_whole(const leat_box *box);
LEAT_API void leat_box_put(leat_box *box, const float *x, int32_t *n, uint8_t *out, char hex[65],
                           const leat_unused *unused, leat_tell_fn tell, void *user);
LEAT_API const leat_tally *leat_box_tally(leat_box *box, size_t at, const int16_t rows[2]);
LEAT_API void leat_box_log(leat_box *box, const char *format, ...);
LEAT_API bool leat_ring_next(void), leat_ring_step(void);
LEAT_API void leat_box_none(void);
int leat_box_hidden(void);
"""
USER = """
from leat import _abi
class Ring:
    def next(self):
        return getattr(lib, self._name + "_next")()
class Steps(Ring):
    def step(self):
        return getattr(held, self._name + "_step")()
class Box(Steps):
    _name, _batch = "leat_ring", None
lib.leat_box_open(); held.leat_box_whole(); lib.leat_box_put; lib.leat_box_tally
_abi.Whole(), _abi.WIDE, _abi.NAME, _abi.SHARE, _abi.LEAST, _abi.MASK, _abi.ENUMS["WAY"]
_abi.TellFn, found.leat_version
"""


def tree(folder, shapes, user):
    for path, text in (("include/leat/base.h", BASE % shapes), ("python/leat/user.py", user),
                       ("include/leat/aaa.h", '/* All. */\n#include "leat/base.h"\n')):
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
            file.write(text)
    return folder


def made(shapes, user):
    """The names of a generated file."""
    with tempfile.TemporaryDirectory() as folder:
        text = python_abi.generate(tree(folder, shapes, user))
    names = {}
    exec(compile(text, "_abi.py", "exec"), names)  # pylint: disable=exec-used
    return names, text


class InStep(unittest.TestCase):
    def test_file(self):
        text = python_abi.generate(ROOT)
        path = os.path.join(ROOT, python_abi.TARGET)
        if os.environ.get("LEAT_UPDATE") == "1":
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), text, f"{python_abi.TARGET} is not in step with the "
                             "headers and its users: run scripts/python_abi.py")
        self.assertLessEqual(max(map(len, text.split("\n"))), python_abi.COLUMNS)


class Shapes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.names, cls.text = made(SHAPES, USER)

    def test_numbers(self):
        self.assertEqual([self.names[name] for name in ("WIDE", "NAME", "SHARE", "LEAST", "MASK")],
                         [16, "leat-1", 0.25, -2**31, 12])
        self.assertEqual(self.names["ENUMS"], {"WAY": ("IN", "OUT")})

    def test_structs(self):
        whole = dict(self.names["Whole"]._fields_)
        inner = self.names["Inner"]
        parts = self.names["WholeParts"]
        tally = self.names["Tally"]
        self.assertEqual(inner._fields_, [("bytes", ctypes.c_uint8 * 2 * 4)])
        self.assertEqual(ctypes.sizeof(inner), 8)
        self.assertEqual(parts.__doc__, "leat_whole.parts[0]")
        self.assertEqual(whole.pop("parse"), ctypes.CFUNCTYPE(
            ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(self.names["Error"])))
        self.assertEqual(whole.pop("tell"), ctypes.CFUNCTYPE(
            ctypes.c_bool, ctypes.c_void_p, ctypes.POINTER(tally), ctypes.c_char_p))
        self.assertTrue(issubclass(whole.pop("any"), ctypes.Union))
        self.assertEqual(self.names["Any"].text.offset, 0)
        self.assertEqual(ctypes.sizeof(self.names["Any"]), 16)
        self.assertEqual(self.names["WholeEither"].__doc__, "leat_whole.either")
        self.assertEqual(whole, {
            "text": ctypes.c_char_p, "raw": ctypes.c_void_p, "raw_size": ctypes.c_int32,
            "way": ctypes.c_int, "one": inner, "parts": parts * 12, "box": ctypes.c_void_p,
            "either": self.names["WholeEither"], "tallies": ctypes.POINTER(tally),
            "last": ctypes.c_ulonglong})
        self.assertEqual(tally._fields_, [("count", ctypes.c_int64), ("places", ctypes.c_void_p)])
        self.assertEqual(self.names["Error"].message.size, 512)

    def test_functions(self):
        pointer, error = ctypes.POINTER, ctypes.POINTER(self.names["Error"])
        handle, prototypes = ctypes.c_void_p, self.names["PROTOTYPES"]
        self.assertEqual(prototypes, {
            "leat_box_open": (ctypes.c_int, (pointer(handle), pointer(ctypes.c_char_p), error)),
            "leat_box_whole": (self.names["Whole"], (handle,)),
            "leat_box_put": (None, (handle, ctypes.c_void_p, pointer(ctypes.c_int32),
                                    ctypes.c_void_p, ctypes.c_char * 65, handle,
                                    self.names["TellFn"], ctypes.c_void_p)),
            "leat_box_tally": (pointer(self.names["Tally"]), (handle, ctypes.c_size_t,
                                                              ctypes.c_int16 * 2)),
            "leat_ring_next": (ctypes.c_bool, ()), "leat_ring_step": (ctypes.c_bool, ())})

    def test_only_what_is_used(self):
        for name in ("Unused", "FIRST", "Box", "leat_box_none", "leat_twice"):
            self.assertNotIn(name, self.names.keys() | self.names["PROTOTYPES"].keys())


# (text of the header, text of the user, what the error says)
REFUSED = [
    ("\n#pragma pack(1)", "", "base.h:21: #pragma is not understood"),
    ("#if LEAT_BIG > 2\n#endif", "", "base.h:20: #if is not understood"),
    ("typedef struct leat_a {\n    int b : 3;\n} leat_a;", "", "base.h:21: the bit-field 'b'"),
    ("typedef volatile int leat_a;", "", "base.h:20: 'volatile' is not understood"),
    ("typedef struct leat_a { int b; } __attribute__((packed)) leat_a;", "", "base.h:20: packed"),
    ("typedef struct leat_a { int b[]; } leat_a;", "", "base.h:20: the array 'b' has no size"),
    ("typedef struct leat_a { int b; } leat_b;", "", "base.h:20: 'leat_a' has a second name"),
    ("typedef struct leat_a {\n    int b[LEAT_MANY];\n} leat_a;", "",
     "base.h:21: 'LEAT_MANY' is not understood as a number"),
    ("typedef struct leat_a { int b[sizeof(int)]; } leat_a;", "", "not understood as a number"),
    ("typedef struct leat_a {\n    FILE *b;\n} leat_a;", "", "base.h:21: 'FILE' is not understood"),
    ("LEAT_API double complex leat_a(void);", "", "base.h:20: "),
    ("extern const int leat_a;", "", "base.h:20: the variable 'leat_a'"),
    ("LEAT_API void leat_a(void)", "", "base.h:20: 'the end' is not understood"),
    ("LEAT_API void leat_a(int b;", "", "base.h:20: ';' is not understood"),
    ("typedef struct leat_a { int b; @ } leat_a;", "", "base.h:20: '@' is not understood"),
    ("struct leat_a { int b; };\nstruct leat_a { int b; };", "", "base.h:21: struct 'leat_a' is "),
    ("#include \"leat/none.h\"", "", "base.h:20: \"leat/none.h\": No such file"),
    ("typedef struct leat_aa { struct leat_aa *a; } leat_aa;", "_abi.Aa", "'leat_aa' points to"),
    ("LEAT_API void leat_a(const char *words, ...);", "lib.leat_a", "base.h:20: a function with"),
    ("static inline int leat_a(void) { return 1; }", "lib.leat_a",
     "user.py:1: leat_a() is not in libleat.so"),
    ("int leat_a(void);", "held.leat_a", "user.py:1: leat_a() is not in libleat.so"),
    ("typedef struct leat_a leat_a;\nLEAT_API leat_a leat_b(void);", "lib.leat_b",
     "base.h:21: 'leat_a' by value is not understood"),
    ("", "\nlib.leat_none", "user.py:2: leat_none() is not declared in include/leat"),
    ("", "_abi.None_", "user.py:1: _abi.None_ is not declared"),
    ("", "_abi.NONE", "user.py:1: _abi.NONE: include/leat has no constant LEAT_NONE"),
    ("#define LEAT_A(b) b", "_abi.Aa", "user.py:1: _abi.Aa is not declared"),
    ("#define LEAT_AB(b) b", "_abi.AB", "include/leat has no constant LEAT_AB"),
    ("#define LEAT_AB (int)1", "_abi.AB", "base.h:20: '( int ) 1' is not understood"),
    ("", '_abi.ENUMS["NONE"]', "user.py:1: _abi.ENUMS['NONE']: include/leat has no enum leat_none"),
    ("", "_abi.ENUMS[name]", "user.py:1: name the enum"),
    ("enum leat_a { LEAT_A_B = 1 };", '_abi.ENUMS["A"]', "leat_a is not numbered from 0"),
    ("", "class A:\n    _name = 'leat_a'\n    b = property(lambda self: self._name + '_c')",
     "user.py:3: leat_a_c() is not declared"),
]


class Refused(unittest.TestCase):
    def test_all(self):
        for shapes, user, words in REFUSED:
            with self.subTest(shapes, user=user):
                with self.assertRaises(python_abi.Problem) as caught:
                    made(shapes, user)
                self.assertIn(words, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
