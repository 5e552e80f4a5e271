#!/usr/bin/env python3
"""Writes the Parquet files of this folder: one as PyArrow writes it, others whose footers lie.

  make.py        writes *.parquet here

whole.parquet has three row groups of 100 measurements. Each of the others is a copy in which the
counts named in CASES were changed in the footer, and nothing else. One copy has a byte of a page
changed, against the page's checksum; and one file has two columns of the same name.
tests/ingest/probes/test_parquet_counts.c says which must be refused.
Needs pyarrow 26.0.1 (scripts/python-env.sh).
"""
import io
import os
import struct

import pyarrow as pa
import pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))
GROUPS, ROWS = 3, 100

# Thrift's compact protocol, as far as footers use it.
BOOL_TYPES, BYTE, INTEGERS, DOUBLE, BINARY, LIST, STRUCT = (1, 2), 3, (4, 5, 6), 7, 8, 9, 12


class Footer:
    """Where each field of a footer is: a path of field numbers and list indices to (begin, end)."""

    def __init__(self, data):
        self.data, self.at, self.spans = data, 0, {}
        self.struct(())

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def struct(self, path):
        number = 0
        while True:
            head = self.data[self.at]
            self.at += 1
            if head == 0:
                return
            step, kind = head >> 4, head & 15
            if step:
                number += step
            else:
                value = self.varint()
                number = value >> 1 ^ -(value & 1)
            if kind not in BOOL_TYPES:
                self.value(path + (number,), kind)

    def value(self, path, kind):
        begin = self.at
        if kind in BOOL_TYPES + (BYTE,):
            self.at += 1
        elif kind in INTEGERS:
            self.varint()
        elif kind == DOUBLE:
            self.at += 8
        elif kind == BINARY:
            size = self.varint()
            self.at += size
        elif kind == STRUCT:
            self.struct(path)
        elif kind == LIST:
            head = self.data[self.at]
            self.at += 1
            count = head >> 4 if head >> 4 < 15 else self.varint()
            for i in range(count):
                self.value(path + (i,), head & 15)
        else:
            raise ValueError(f"type {kind} at byte {begin}")
        self.spans[path] = (begin, self.at)


def varint_of(value):
    value = value << 1 ^ value >> 63
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


# Paths in the footer (parquet.thrift).
FILE_ROWS, FILE_GROUPS = (3,), (4,)


def group_rows(group):
    return (4, group, 3)


def group_columns(group):
    return (4, group, 1)


def column_values(group, column):
    return (4, group, 1, column, 3, 5)


DROP_LAST = object()


def forge(whole, changes):
    """The file with some integers of its footer changed, or the last items of lists left out."""
    size = struct.unpack("<I", whole[-8:-4])[0]
    footer = bytearray(whole[-8 - size:-8])
    spans = Footer(bytes(footer)).spans
    edits = []
    for path, value in changes.items():
        begin, end = spans[path]
        if value is DROP_LAST:
            count = footer[begin] >> 4
            if not 0 < count < 15:
                raise ValueError(f"{path}: {count} items")
            last = spans[path + (count - 1,)][0]
            edits.append((last, end, b""))
            edits.append((begin, begin + 1, bytes([(count - 1) << 4 | footer[begin] & 15])))
        else:
            edits.append((begin, end, varint_of(value)))
    for begin, end, new in sorted(edits, reverse=True):
        footer[begin:end] = new
    return whole[:-8 - size] + bytes(footer) + struct.pack("<I", len(footer)) + b"PAR1"


def values_of(group, count):
    return {column_values(group, column): count for column in range(4)}


CASES = {
    "group_50": {group_rows(1): 50},
    "group_0": {group_rows(1): 0},
    "group_150": {group_rows(1): 150},
    "group_negative": {group_rows(1): -100},
    "group_missing": {FILE_GROUPS: DROP_LAST},
    "groups_exchanged": {group_rows(0): 50, group_rows(1): 150},
    "group_and_file": {group_rows(1): 50, FILE_ROWS: 250},
    "group_and_values": {group_rows(1): 50, **values_of(1, 50)},
    "file_250": {FILE_ROWS: 250},
    "file_350": {FILE_ROWS: 350},
    "file_0": {FILE_ROWS: 0},
    "file_negative": {FILE_ROWS: -300},
    "values_50": {column_values(2, 1): 50},
    "values_150": {column_values(2, 3): 150},
    "values_negative": {column_values(0, 0): -1},
    "column_missing": {group_columns(1): DROP_LAST},
    "all_agree": {group_rows(1): 50, FILE_ROWS: 250, **values_of(1, 50)},
}


def table():
    count = GROUPS * ROWS
    return pa.table({
        "event_time": pa.array([1556136000 + i for i in range(count)], pa.int64()),
        "src_addr": pa.array([f"192.0.2.{i % 7}" for i in range(count)]),
        "dst_addr": pa.array([None if i % 50 == 9 else "198.51.100.1" for i in range(count)]),
        "rtt": pa.array([None if i % 10 == 3 else float(i) for i in range(count)], pa.float32()),
    })


def write(name, data):
    with open(os.path.join(HERE, name + ".parquet"), "wb") as file:
        file.write(data)


def main():
    out = io.BytesIO()
    pq.write_table(table(), out, row_group_size=ROWS, compression="none", write_statistics=False,
                   use_dictionary=["src_addr", "dst_addr"], store_schema=False,
                   column_encoding={"event_time": "DELTA_BINARY_PACKED", "rtt": "PLAIN"},
                   write_page_checksum=True)
    whole = out.getvalue()
    write("whole", whole)
    for name, changes in CASES.items():
        write(name, forge(whole, changes))
    # the rtt of the second measurement of all, 1.0, becomes 1.5
    at = whole.index(struct.pack("<3f", 0, 1, 2)) + 4
    twice = table().rename_columns(["event_time", "src_addr", "dst_addr", "rtt"])
    twice = twice.append_column("rtt", twice["rtt"])
    out = io.BytesIO()
    pq.write_table(twice.slice(0, 1), out, write_statistics=False, store_schema=False)
    write("column_twice", out.getvalue())
    write("page_damaged", whole[:at] + struct.pack("<f", 1.5) + whole[at + 4:])


if __name__ == "__main__":
    main()
