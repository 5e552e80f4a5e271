#!/usr/bin/env python3
"""Makes the golden probe rows of this folder, and the bytes of src/format/probe/template.h.

  make.py rows         writes *.record here: outer records as PyArrow 26 writes them
  make.py template     prints the arrays of src/format/probe/template.h

Needs pyarrow 26.0.1 (the layout of PyArrow's metadata differs between versions, its meaning does
not). Run again only if the format of the rows changes; the test compares byte for byte.
"""
import hashlib
import io
import os
import struct
import sys

import pyarrow as pa

HERE = os.path.dirname(os.path.abspath(__file__))
OUTER = pa.schema([("src_id", pa.int64()), ("measurements", pa.binary()),
                   ("n_measurements", pa.int32()), ("time_span_seconds", pa.float64()),
                   ("first_timestamp", pa.timestamp("us")),
                   ("last_timestamp", pa.timestamp("us"))])


def inner_schema(dictionary):
    text = pa.dictionary(pa.int8(), pa.string()) if dictionary else pa.string()
    return pa.schema([("event_time", pa.timestamp("us")), ("src_addr", text),
                      ("dst_addr", pa.string()), ("ip_version", pa.int8()),
                      ("rtt", pa.float32())])


def stream(schema, arrays):
    out = io.BytesIO()
    with pa.ipc.new_stream(out, schema) as writer:
        writer.write_batch(pa.record_batch(arrays, schema=schema))
    return out.getvalue()


def measurements(n, version=4, dictionary=False):
    """Measurement i: see row_of() in tests/format/probe/test_row.c, which makes the same."""
    src = "192.0.2.17" if version == 4 else "2001:db8:1::17"
    time = [1556136000000000 + 60000000 * i + 7 * i for i in range(n)]
    dst = [("198.51.100.%d" if version == 4 else "2001:db8:2::%x") % (i * 37 % 251)
           for i in range(n)]
    rtt = [-1.0 if i % 25 == 7 else (i * 13 % 4001) / 8 for i in range(n)]
    if dictionary:
        sources = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int8()), pa.array([src]))
    else:
        sources = pa.array([src] * n, pa.string())
    arrays = [pa.array(time, pa.timestamp("us")), sources, pa.array(dst, pa.string()),
              pa.array([version] * n, pa.int8()), pa.array(rtt, pa.float32())]
    return src, time, stream(inner_schema(dictionary), arrays)


def record(n, version=4, dictionary=False):
    src, time, inner = measurements(n, version, dictionary)
    src_id = int(hashlib.md5(src.encode()).hexdigest()[:15], 16)
    arrays = [pa.array([src_id], pa.int64()), pa.array([inner], pa.binary()),
              pa.array([n], pa.int32()), pa.array([(time[-1] - time[0]) / 1e6], pa.float64()),
              pa.array([time[0]], pa.timestamp("us")), pa.array([time[-1]], pa.timestamp("us"))]
    return inner, stream(OUTER, arrays)


def messages(data):
    """(offset, metadata bytes with prefix, body bytes) of each message of a stream."""
    at, found = 0, []
    while True:
        mark, size = struct.unpack_from("<Ii", data, at)
        assert mark == 0xFFFFFFFF
        if size == 0:
            return found
        message = pa.ipc.read_message(data[at:])
        body = message.body.size if message.body is not None else 0
        found.append((at, data[at:at + 8 + size], body))
        at += 8 + size + body


def rows():
    for name, n, version, dictionary in CASES:
        with open(os.path.join(HERE, name + ".record"), "wb") as file:
            file.write(record(n, version, dictionary)[1])


CASES = [("plain_1", 1, 4, False), ("plain_26", 26, 4, False), ("plain_v6_9", 9, 6, False),
         ("plain_300", 300, 4, False), ("dictionary_1", 1, 4, True),
         ("dictionary_26", 26, 4, True), ("dictionary_v6_9", 9, 6, True)]


def template():
    inner_plain, outer = record(3)
    inner_dictionary, _ = record(3, dictionary=True)
    parts = [("leat_outer_schema", messages(outer)[0]), ("leat_outer_batch", messages(outer)[1]),
             ("leat_inner_schema", messages(inner_plain)[0]),
             ("leat_inner_batch", messages(inner_plain)[1]),
             ("leat_coded_schema", messages(inner_dictionary)[0]),
             ("leat_coded_values", messages(inner_dictionary)[1]),
             ("leat_coded_batch", messages(inner_dictionary)[2])]
    for name, (_, data, _) in parts:
        print("static const uint8_t %s[%d] = {" % (name, len(data)))
        line = "   "
        for byte in data:
            text = " %d," % byte
            if len(line + text) > 99:
                print(line)
                line = "   "
            line += text
        print(line)
        print("};")


if __name__ == "__main__":
    {"rows": rows, "template": template}[sys.argv[1]]()
