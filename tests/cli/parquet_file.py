"""Parquet files from the standard library alone, for tests that need what no writer makes: columns
packed with gzip, texts in a dictionary or with a delta encoding, cells in error.
"""
import struct
import zlib

INT32, INT64, INT96, FLOAT, BYTE_ARRAY = 1, 2, 3, 4, 6
PLAIN, RLE, DELTA_BYTE_ARRAY, RLE_DICTIONARY = 0, 3, 7, 8
GZIP = 2


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def zigzag(value):
    return varint(value * 2 if value >= 0 else -value * 2 - 1)


def struct_of(*fields):
    """Thrift's compact protocol: (number, value), the value an int (i32, or i64 where it is a
    tuple of one), bytes (a text), a list of encoded items of a type, or an encoded struct."""
    out, last = bytearray(), 0
    for number, kind, value in fields:
        out.append(number - last << 4 | kind)
        last = number
        if kind in (5, 6):
            out += zigzag(value)
        elif kind == 8:
            out += varint(len(value)) + value
        elif kind == 9:
            inner, items = value
            count = len(items)
            out += (bytes([count << 4 | inner]) if count < 15
                    else bytes([0xf0 | inner]) + varint(count))
            out += b"".join(items)
        else:
            out += value
    return bytes(out) + b"\0"


def text(value):
    return varint(len(value)) + value


def page(kind, header, values, body):
    packed = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = packed.compress(body) + packed.flush()
    head = struct_of((1, 5, kind), (2, 5, len(body)), (3, 5, len(packed)), (header, 12, values))
    return head + packed, len(head) + len(body)


def data_page(count, encoding, body):
    return page(0, 5, struct_of((1, 5, count), (2, 5, encoding), (3, 5, RLE), (4, 5, RLE)), body)


def delta_packed(values):
    """DELTA_BINARY_PACKED of values of which each differs as much from the one before."""
    step = values[1] - values[0] if len(values) > 1 else 0
    out = varint(1024) + varint(1) + varint(len(values)) + zigzag(values[0])
    for _ in range((len(values) + 1022) // 1024):
        out += zigzag(step) + b"\0"
    return out


class Column:
    """`pages` are (bytes, size unpacked); the first is the dictionary, if there is one."""

    def __init__(self, name, kind, encodings, pages, has_dictionary=False, annotations=None):
        self.name, self.kind, self.encodings, self.pages = name, kind, encodings, pages
        self.has_dictionary = has_dictionary
        self.bounds = None
        self.optional = 0
        self.annotations = annotations
        if annotations is None:
            self.annotations = [(6, 5, 0)] if kind == BYTE_ARRAY else []

    def schema(self):
        fields = [(1, 5, self.kind), (3, 5, self.optional), (4, 8, self.name.encode())]
        return struct_of(*fields, *self.annotations)

    def chunk(self, offset, count):
        packed = sum(len(each) for each, _ in self.pages)
        data_at = offset + (len(self.pages[0][0]) if self.has_dictionary else 0)
        fields = [(1, 5, self.kind), (2, 9, (5, [zigzag(each) for each in self.encodings])),
                  (3, 9, (8, [text(self.name.encode())])), (4, 5, GZIP), (5, 6, count),
                  (6, 6, sum(size for _, size in self.pages)), (7, 6, packed), (9, 6, data_at)]
        if self.has_dictionary:
            fields.append((11, 6, offset))
        if self.bounds is not None:
            most, least = self.bounds
            fields.append((12, 12, struct_of((5, 8, most), (6, 8, least))))
        return struct_of((2, 6, offset), (3, 12, struct_of(*fields)))


def numbers(name, values):
    return Column(name, INT64, [PLAIN, RLE],
                  [data_page(len(values), PLAIN, struct.pack(f"<{len(values)}q", *values))])


def times(name, values, unit=1, statistics=False):
    """Timestamps in milliseconds (unit 1), microseconds (2) or nanoseconds (3)."""
    column = numbers(name, values)
    logical = struct_of((8, 12, struct_of((1, 1, b""), (2, 12, struct_of((unit, 12, b"\0"))))))
    column.annotations = [(6, 5, 8 + unit)] if unit < 3 else []
    column.annotations.append((10, 12, logical))
    if statistics:
        column.bounds = [struct.pack("<q", each) for each in (max(values), min(values))]
    return column


def int96(name, values):
    """Timestamps as Impala wrote them: (nanoseconds of the day, Julian day)."""
    body = b"".join(struct.pack("<qi", *each) for each in values)
    return Column(name, INT96, [PLAIN, RLE], [data_page(len(values), PLAIN, body)])


def texts(name, values):
    body = b"".join(struct.pack("<I", len(each)) + each for each in values)
    logical = struct_of((1, 12, b"\0"))
    return Column(name, BYTE_ARRAY, [PLAIN, RLE], [data_page(len(values), PLAIN, body)],
                  annotations=[(6, 5, 0), (10, 12, logical)])


def floats(name, values):
    return Column(name, FLOAT, [PLAIN, RLE],
                  [data_page(len(values), PLAIN, struct.pack(f"<{len(values)}f", *values))])


def nulls(name, count):
    """The null type, as pyarrow writes a column without any value."""
    levels = varint(count << 1) + b"\0"
    column = Column(name, INT32, [PLAIN, RLE],
                    [data_page(count, PLAIN, struct.pack("<I", len(levels)) + levels)],
                    annotations=[(10, 12, struct_of((11, 12, b"\0")))])
    column.optional = 1
    return column


def coded(name, entries, indices):
    """Texts of a dictionary: entries, and the index of each row's."""
    body = b"".join(struct.pack("<I", len(each)) + each for each in entries)
    width = max(1, (len(entries) - 1).bit_length())
    runs = bytearray([width])
    at = 0
    while at < len(indices):
        end = at
        while end < len(indices) and indices[end] == indices[at]:
            end += 1
        runs += varint((end - at) << 1) + indices[at].to_bytes((width + 7) // 8, "little")
        at = end
    return Column(name, BYTE_ARRAY, [PLAIN, RLE, RLE_DICTIONARY],
                  [page(2, 7, struct_of((1, 5, len(entries)), (2, 5, PLAIN)), body),
                   data_page(len(indices), RLE_DICTIONARY, bytes(runs))], has_dictionary=True)


def repeated(name, value, count):
    """One text `count` times, written once: each goes on where the one before ends."""
    sizes = delta_packed([len(value)]) if count == 1 else None
    prefixes = [0] + [len(value)] * (count - 1)
    suffixes = [len(value)] + [0] * (count - 1)
    body = (sizes or packed_sizes(prefixes)) + packed_sizes(suffixes) + value
    if count == 1:
        body = packed_sizes([0]) + packed_sizes([len(value)]) + value
    return Column(name, BYTE_ARRAY, [DELTA_BYTE_ARRAY, RLE],
                  [data_page(count, DELTA_BYTE_ARRAY, body)])


def packed_sizes(values):
    """DELTA_BINARY_PACKED, any values: 64 bits a delta."""
    out = varint(128) + varint(1) + varint(len(values)) + zigzag(values[0])
    deltas = [b - a for a, b in zip(values, values[1:])]
    for at in range(0, len(deltas), 128):
        block = deltas[at:at + 128]
        least = min(block)
        block = [each - least for each in block] + [0] * (128 - len(block))
        width = max(block).bit_length()
        bits = sum(each << i * width for i, each in enumerate(block))
        out += zigzag(least) + bytes([width]) + bits.to_bytes(16 * width, "little")
    return out


def write(path, columns, count):
    write_groups(path, [(columns, count)])


def write_groups(path, groups):
    """One row group for each (columns, number of rows)."""
    columns = groups[0][0]
    with open(path, "wb") as file:
        file.write(b"PAR1")
        encoded = []
        for group, count in groups:
            chunks, size = [], 0
            for column in group:
                chunks.append(column.chunk(file.tell(), count))
                for each, unpacked in column.pages:
                    file.write(each)
                    size += unpacked
            encoded.append(struct_of((1, 9, (12, chunks)), (2, 6, size), (3, 6, count)))
        schema = [struct_of((4, 8, b"schema"), (5, 5, len(columns)))]
        schema += [column.schema() for column in columns]
        rows = sum(count for _, count in groups)
        footer = struct_of((1, 5, 1), (2, 9, (12, schema)), (3, 6, rows), (4, 9, (12, encoded)))
        file.write(footer + struct.pack("<I", len(footer)) + b"PAR1")
