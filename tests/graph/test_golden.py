"""Graphs of leat_graph_make beside those of graphids (golden/can): every node
feature, edge and edge feature of every window. The logs are parsed here, as docs/can-graphs.md
says, and the golden files read without their library, so that nothing but Python is needed."""
import csv
import ctypes as c
import glob
import gzip
import io
import json
import os
import re
import struct
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "tests", "cli"))
import golden_files  # noqa: E402
from command import BUILD  # noqa: E402


if os.environ.get("LEAT_SANITIZE"):
    print("skipped: a sanitizer's library needs its runtime first")
    sys.exit(77)

X, EDGE, BYTES = 35, 11, 8
HALF = 29  # split_half_ratio
# message count, ranges and degrees are whole numbers
EXACT = {*range(16, 25), 33, 34}


class Frames(c.Structure):
    """leat_can_frames"""
    _fields_ = [("time", c.POINTER(c.c_double)), ("id", c.POINTER(c.c_uint32)),
                ("bytes", c.POINTER(c.c_int16)), ("count", c.c_int64)]


class Options(c.Structure):
    """leat_graph_options"""
    _fields_ = [("edge_step", c.c_int), ("self_loops", c.c_int)]


class Graph(c.Structure):
    """leat_graph"""
    _fields_ = [("node_count", c.c_int32), ("edge_count", c.c_int32),
                ("node", c.POINTER(c.c_uint32)), ("x", c.POINTER(c.c_float)),
                ("source", c.POINTER(c.c_int32)), ("target", c.POINTER(c.c_int32)),
                ("edge_attr", c.POINTER(c.c_float))]


LIBRARY = c.CDLL(os.path.join(BUILD, "libleat.so"))
LIBRARY.leat_graph_workspace_create.argtypes = [c.POINTER(c.c_void_p), c.c_int64, c.c_void_p]
LIBRARY.leat_graph_workspace_destroy.argtypes = [c.c_void_p]
LIBRARY.leat_graph_make.argtypes = [c.c_void_p, c.POINTER(Options), c.POINTER(Frames),
                                    c.POINTER(Graph)]
for of in (LIBRARY.leat_node_feature_name, LIBRARY.leat_edge_feature_name):
    of.restype, of.argtypes = c.c_char_p, [c.c_int]


def read_golden(name):
    """Tensors as flat lists, and what the header tells of how they were made."""
    with open(golden_files.path(f"golden/can/{name}"), "rb") as file:
        data = file.read()
    size, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + size])
    about = json.loads(header.pop("__metadata__")["about"])
    tensors = {}
    for key, tensor in header.items():
        first, last = (8 + size + at for at in tensor["data_offsets"])
        letter, item = {"F32": ("f", 4), "F64": ("d", 8), "I64": ("q", 8)}[tensor["dtype"]]
        tensors[key] = struct.unpack(f"<{(last - first) // item}{letter}", data[first:last])
    return tensors, about


def parse_payload(text):
    """Eight pieces of two characters, each a number in base 16 that may have a sign, else 0."""
    pieces = (text[2 * k:2 * k + 2] for k in range(BYTES))
    return [int(piece, 16) if re.fullmatch(r"[+-]?[0-9A-Fa-f]+", piece) else 0 for piece in pieces]


def read_log(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        rows = csv.DictReader(io.StringIO(file.read().decode(), newline=""))
        return [(float(row["timestamp"]), row["arbitration_id"],
                 parse_payload(row["data_field"])) for row in rows]


def logs_of(folder, pattern="*"):
    """Training folders in order, in each the files in order."""
    return [path for sub in sorted(glob.glob(os.path.join(folder, pattern)))
            for path in sorted(glob.glob(os.path.join(sub, "*.csv*")))]


class Log:
    """Frames of a split in time order, and the graphs of its windows."""

    def __init__(self, paths, vocabulary):
        frames = sorted((frame for path in paths for frame in read_log(path)),
                        key=lambda frame: frame[0])
        self.count = len(frames)
        self.time = (c.c_double * self.count)(*(frame[0] for frame in frames))
        self.id = (c.c_uint32 * self.count)(*(vocabulary.index(frame[1]) for frame in frames))
        self.bytes = (c.c_int16 * (BYTES * self.count))(*(b for frame in frames for b in frame[2]))

    def frames(self, start, count):
        def at(array, item, kind):
            return c.cast(c.byref(array, start * item), c.POINTER(kind))
        return Frames(at(self.time, 8, c.c_double), at(self.id, 4, c.c_uint32),
                      at(self.bytes, 2 * BYTES, c.c_int16), count)

    def graphs(self, window, stride):
        """(node count, start, nodes, x, sources, targets, edge_attr), in canonical order."""
        workspace, graph, made = c.c_void_p(), Graph(), []
        if LIBRARY.leat_graph_workspace_create(c.byref(workspace), window, None) != 0:
            raise AssertionError(f"no workspace for windows of {window}")
        for start in range(0, self.count - window + 1, stride):
            LIBRARY.leat_graph_make(workspace, Options(), self.frames(start, window), graph)
            n, e = graph.node_count, graph.edge_count
            made.append((n, start, graph.node[:n], graph.x[:n * X], graph.source[:e],
                         graph.target[:e], graph.edge_attr[:e * EDGE]))
        LIBRARY.leat_graph_workspace_destroy(workspace)
        return sorted(made)

    def halves(self, start, window, nodes, first_half):
        """The share of each node's frames for whose row `first_half` says yes."""
        rows = range(start, start + window)
        return [sum(first_half(row) for row in rows if self.id[row] == node) /
                sum(self.id[row] == node for row in rows) for node in nodes]


def as_float(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


class Golden(unittest.TestCase):
    # (file, prefix of its tensors, the folders or the one log that it was made of)
    CASES = [
        ("features_ref", "", "train*"),
        ("features_ref", "test/", "test_02*"),
        ("features_w50_ref", "", "*"),
        ("features_s200_ref", "", "*"),
        ("features_awkward_ref", "", "*"),
        ("features_awkward_w4_ref", "", "*"),
        ("features_awkward_s15_ref", "", "*"),
        ("features_awkward_separate_ref", "benign_a/", "*/benign_a.csv"),
        ("features_awkward_separate_ref", "DoS_b/", "*/DoS_b.csv"),
        ("features_awkward_hex_ref", "", "*"),
        ("features_overlap_indep", "", "*"),
        ("features_page_example_ref", "", "*"),
    ]

    def test_every_window(self):
        for name, prefix, pattern in self.CASES:
            with self.subTest(golden=name, prefix=prefix):
                tensors, about = read_golden(f"{name}.safetensors")
                tensors = {key[len(prefix):]: tensor for key, tensor in tensors.items()
                           if key.startswith(prefix)}
                folder = golden_files.path(
                    "golden/can/input/" + os.path.basename(about["input"].split(",")[0]))
                vocabulary = sorted({frame[1] for path in logs_of(folder)
                                     for frame in read_log(path)})
                paths = glob.glob(os.path.join(folder, pattern)) if pattern.endswith(".csv") \
                    else logs_of(folder, pattern)
                log = Log(paths, vocabulary)
                self.check(log, log.graphs(about["window"], about["stride"]), tensors,
                           about["window"], about["oracle"] == "reference code run")

    def check(self, log, graphs, tensors, window, by_row):
        self.assertEqual([start for _, start, *_ in graphs], list(tensors["window_start"]))
        self.assertTrue(graphs)
        edges = len(tensors["edge_index"]) // 2
        for g, (n, start, nodes, x, sources, targets, edge_attr) in enumerate(graphs):
            first, last = tensors["node_ptr"][g:g + 2]
            self.assertEqual(n, last - first)
            self.assertEqual([node + 1 for node in nodes], list(tensors["node_id"][first:last]))
            want = list(tensors["x"][first * X:last * X])
            if by_row and start % window:
                self.move_halves(log, start, window, nodes, want)
            self.check_nodes(x, want, start)
            first, last = tensors["edge_ptr"][g:g + 2]
            self.assertEqual(sources, list(tensors["edge_index"][first:last]))
            self.assertEqual(targets, list(tensors["edge_index"][edges + first:edges + last]))
            self.assertEqual(edge_attr, list(tensors["edge_attr"][first * EDGE:last * EDGE]))

    def move_halves(self, log, start, window, nodes, want):
        """graphids takes halves by row number, which is wrong where a window does not begin
        at a multiple of its size: that this is what it did, and what is right."""
        wrong = log.halves(start, window, nodes, lambda row: row % window < window // 2)
        self.assertEqual(want[HALF::X], [as_float(share) for share in wrong])
        want[HALF::X] = log.halves(start, window, nodes, lambda row: row - start < window // 2)

    def check_nodes(self, got, want, start):
        self.assertEqual(len(got), len(want))
        for at, (a, b) in enumerate(zip(got, want)):
            near = a == b if at % X in EXACT else abs(a - b) <= 1e-6 * max(abs(b), 1e-3)
            if not near:
                name = LIBRARY.leat_node_feature_name(at % X).decode()
                self.fail(f"window at {start}, node {at // X}: {name} is {a}, not {b}")

    def test_names(self):
        with open(golden_files.path("golden/can/features_ref.json"), encoding="utf-8") as file:
            names = json.load(file)
        self.assertEqual([LIBRARY.leat_node_feature_name(k).decode() for k in range(X)],
                         names["node_columns"])
        self.assertEqual([LIBRARY.leat_edge_feature_name(k).decode() for k in range(EDGE)],
                         names["edge_columns"])


if __name__ == "__main__":
    unittest.main()
