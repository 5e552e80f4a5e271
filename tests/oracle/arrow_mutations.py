"""Arrow IPC streams of probe rows, written in many ways and then spoilt in many ways: messages,
flatbuffers, buffers, dictionaries, compression; and what PyArrow makes of them, in leat's terms.
"""
import hashlib
import io
import ipaddress
import math
import struct

import numpy
import pyarrow as pa

NAMES = ("event_time", "src_addr", "dst_addr", "ip_version", "rtt")
UNITS = {"s": 1000000, "ms": 1000, "us": 1}
WORDS = (0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 63, 64, 65, 127, 128, 255, 256, 4096, 65535, 65536,
         (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 40, (1 << 63) - 1, 1 << 63,
         (1 << 64) - 8, (1 << 64) - 1)


def src_id(text):
    return int(hashlib.md5(text.encode()).hexdigest()[:15], 16)


# ---- streams as they should be ----------------------------------------------------------------

def stream_of(batches, schema, compression=None, **settings):
    out = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression, **settings)
    with pa.ipc.new_stream(out, schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return out.getvalue()


def outer_stream(inner, facts, draw=None):
    """A probe row around the bytes of its measurements: facts are (source, count, first, last)."""
    source, count, first, last = facts
    table = pa.table({
        "src_id": pa.array([src_id(source)], pa.int64()),
        "measurements": pa.array([inner], pa.binary()),
        "n_measurements": pa.array([count], pa.int32()),
        "time_span_seconds": pa.array([(last - first) / 1e6], pa.float64()),
        "first_timestamp": pa.array([first], pa.timestamp("us")),
        "last_timestamp": pa.array([last], pa.timestamp("us"))})
    compression = draw.choice((None, None, "lz4", "zstd")) if draw else None
    return stream_of(table.to_batches(), table.schema, compression)


def text_type(draw):
    return draw.choice((pa.string(), pa.large_string(), pa.binary(), pa.large_binary(),
                        pa.string_view(), pa.binary_view(), *["dictionary"] * 3))


def text_column(draw, values, kind, before):
    """before: the texts of batches before this one; of dictionaries, which this one is added to,
    or which it replaces."""
    if kind != "dictionary":
        plain = pa.array([text.encode() for text in values], pa.binary())
        return plain.cast(pa.string()).cast(kind) if kind in (pa.string_view(), pa.binary_view()) \
            else plain.cast(kind)
    index = draw.choice((pa.int8(), pa.int16(), pa.int32(), pa.int64()))
    if draw.random() < 0.5:
        before.clear()
    before += sorted(set(values) - set(before))
    return pa.DictionaryArray.from_arrays(pa.array([before.index(text) for text in values], index),
                                          pa.array(before, pa.string()))


def random_rows(draw):
    count = draw.choice((1, 2, 3, 7, 8, 9, 40, 65))
    four = draw.random() < 0.6
    source = f"192.0.2.{draw.randrange(250)}" if four else f"2001:db8::{draw.randrange(1, 999):x}"
    targets = [(f"198.51.100.{i}" if four else f"2001:db8:1::{i + 1:x}") for i in range(9)]
    time = 1556136000000000 + draw.randrange(10 ** 9) * 1000
    rows = []
    for _ in range(count):
        time += draw.randrange(10 ** 8) * 1000
        rtt = draw.choice((None, -1.0, float("nan"), draw.randrange(4000) / 8))
        rows.append((time, source, draw.choice(targets), 4 if four else 6, rtt))
    return rows


def inner_stream(draw, rows):
    """Measurements, in batches, in one of many forms."""
    kinds = [text_type(draw), text_type(draw)]
    if draw.random() < 0.4:
        kinds = [pa.string(), pa.string()]
    unit, zone = draw.choice(("us", "us", "ms", "ns")), draw.choice((None, None, "UTC"))
    version, rtt = draw.choice((pa.int8(), pa.uint16(), pa.int64())), \
        draw.choice((pa.float32(), pa.float32(), pa.float64(), pa.float16()))
    sources, targets = [], []
    index = draw.randrange(1 << 30)
    batches, size = [], draw.choice((len(rows), len(rows), 3, 1))
    for begin in range(0, len(rows), size):
        part = rows[begin:begin + size]
        same = type(draw)(index)  # the same choices in each batch
        arrays = [pa.array([row[0] for row in part], pa.timestamp("us")).cast(
            pa.timestamp(unit, zone)),
            text_column(same, [row[1] for row in part], kinds[0], sources),
            text_column(same, [row[2] for row in part], kinds[1], targets),
            pa.array([row[3] for row in part], version),
            pa.array([None if row[4] is None else numpy.float16(row[4])
                      if rtt == pa.float16() else row[4] for row in part], rtt)]
        names = list(NAMES)
        if same.random() < 0.3:  # columns of others, to be skipped
            extra = same.choice((pa.array([[1, 2]] * len(part)), pa.array([None] * len(part)),
                                 pa.array([{"a": 1, "b": "x"}] * len(part)),
                                 pa.array(["note"] * len(part), pa.string_view())))
            at = same.randrange(len(names) + 1)
            names.insert(at, "extra")
            arrays.insert(at, extra)
        batches.append(pa.RecordBatch.from_arrays(arrays, names))
    return stream_of(batches, batches[0].schema, draw.choice((None, None, "lz4", "zstd")),
                     emit_dictionary_deltas=draw.random() < 0.5)


# ---- their parts ------------------------------------------------------------------------------

class Table:
    """A flatbuffer table, as far as places of its fields go."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.vtable = at - struct.unpack_from("<i", data, at)[0]
        self.slots = (struct.unpack_from("<H", data, self.vtable)[0] - 4) // 2

    def place(self, slot):
        if slot >= self.slots:
            return 0
        offset = struct.unpack_from("<H", self.data, self.vtable + 4 + 2 * slot)[0]
        return self.at + offset if offset else 0

    def child(self, slot):
        at = self.place(slot)
        return Table(self.data, at + struct.unpack_from("<I", self.data, at)[0]) if at else None

    def vector(self, slot):
        """Where a vector's first item is, and how many there are."""
        at = self.place(slot)
        if not at:
            return 0, 0
        at += struct.unpack_from("<I", self.data, at)[0]
        return at + 4, struct.unpack_from("<I", self.data, at)[0]


def split(stream):
    """[metadata, body] of each message; without the end mark."""
    messages, at = [], 0
    while at + 8 <= len(stream):
        size = struct.unpack_from("<I", stream, at + 4)[0]
        if size == 0:
            break
        metadata = bytearray(stream[at + 8:at + 8 + size])
        root = Table(metadata, struct.unpack_from("<I", metadata, 0)[0])
        where = root.place(3)
        body = struct.unpack_from("<q", metadata, where)[0] if where else 0
        at += 8 + size
        messages.append([metadata, bytearray(stream[at:at + body])])
        at += body
    return messages


def join(draw, messages):
    out = bytearray()
    legacy = draw.random() < 0.03
    for metadata, body in messages:
        out += b"" if legacy else b"\xff\xff\xff\xff"
        out += struct.pack("<I", len(metadata)) + metadata + body
    if draw.random() < 0.95:
        out += (b"" if legacy else b"\xff\xff\xff\xff") + b"\0\0\0\0"
    if draw.random() < 0.03:
        out += draw.randbytes(draw.randrange(1, 40))
    return bytes(out)


def batch_table(metadata):
    """The RecordBatch table of a batch's or a dictionary's message; None of a schema's."""
    root = Table(metadata, struct.unpack_from("<I", metadata, 0)[0])
    kind = metadata[root.place(1)] if root.place(1) else 0
    header = root.child(2)
    return header.child(1) if kind == 2 else header if kind == 3 else None


# ---- spoiling them ----------------------------------------------------------------------------

def put_number(draw, data, at, width):
    old = int.from_bytes(data[at:at + width], "little")
    new = draw.choice((old + 1, old - 1, old + 8, old - 8, old * 2, old ^ 1 << draw.randrange(
        8 * width), draw.choice(WORDS), draw.choice(WORDS), draw.getrandbits(8 * width)))
    data[at:at + width] = (new % (1 << 8 * width)).to_bytes(width, "little")


def spoil_metadata(draw, message):
    data = message[0]
    width = draw.choice((1, 1, 2, 2, 4, 4, 8))
    at = draw.randrange(max(1, (len(data) - width) // width + 1)) * width
    if draw.random() < 0.2 and len(data) > 2 * width:  # another field's value
        there = draw.randrange((len(data) - width) // width) * width
        data[at:at + width] = data[there:there + width]
    else:
        put_number(draw, data, at, width)


def spoil_batch(draw, message):
    """A count, a node, a place of a buffer, the codec."""
    table = batch_table(message[0])
    if table is None:
        spoil_metadata(draw, message)
        return
    what = draw.randrange(8)
    slot, item = (1, 16) if what < 2 else (2, 16)
    if what == 7 and table.place(0):
        put_number(draw, message[0], table.place(0), 8)
    elif what == 6 and table.child(3):
        codec = table.child(3).place(0)
        if codec:
            message[0][codec] = draw.choice((0, 1, 2, 255))
    elif table.vector(slot)[1]:
        begin, count = table.vector(slot)
        place = begin + item * draw.randrange(count) + 8 * draw.randrange(2)
        if draw.random() < 0.3:
            other = begin + item * draw.randrange(count) + 8 * draw.randrange(2)
            message[0][place:place + 8] = message[0][other:other + 8]
        else:
            put_number(draw, message[0], place, 8)


def spoil_body(draw, message):
    """Inside one buffer: offsets, validity, values, or the size and frame of a compressed one."""
    table = batch_table(message[0])
    spans = []
    if table is not None:
        begin, count = table.vector(2)
        spans = [struct.unpack_from("<qq", message[0], begin + 16 * i) for i in range(count)]
    spans = [(at, size) for at, size in spans if size > 0 and at + size <= len(message[1])]
    if not spans:
        spoil_metadata(draw, message)
        return
    at, size = draw.choice(spans)
    width = min(size, draw.choice((1, 1, 4, 4, 8)))
    place = draw.randrange(size // width) * width if draw.random() < 0.7 else 0
    if draw.random() < 0.1:
        message[1][at:at + size] = draw.randbytes(size)
    else:
        put_number(draw, message[1], at + place, width)


def spoil_text(draw, message):
    """Another text of the same size: often an address still, or nearly one."""
    digits = [i for i, byte in enumerate(message[1]) if chr(byte) in "0123456789abcdef.:"]
    if not digits:
        spoil_body(draw, message)
        return
    message[1][draw.choice(digits)] = ord(draw.choice("0123456789abcdef.: \0\xff"))


def spoil(draw, stream):
    """The stream with one to three things changed."""
    messages = split(stream)
    ways = (spoil_metadata, spoil_batch, spoil_body, spoil_text)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        what, at = draw.random(), draw.randrange(len(messages))
        if what < 0.82:
            try:
                draw.choice(ways)(draw, messages[at])
            except (struct.error, IndexError):  # what was changed before led out of the message
                spoil_metadata(draw, messages[at])
        elif what < 0.86:
            messages.insert(draw.randrange(len(messages) + 1), [bytearray(messages[at][0]),
                                                                bytearray(messages[at][1])])
        elif what < 0.90 and len(messages) > 1:
            del messages[at]
        elif what < 0.94:
            there = draw.randrange(len(messages))
            messages[at], messages[there] = messages[there], messages[at]
        elif what < 0.97:
            del messages[at][1][draw.randrange(len(messages[at][1]) + 1):]
        else:
            messages[at][0] += bytes(8 * draw.randrange(1, 4))
    out = join(draw, messages)
    return out[:draw.randrange(len(out))] if draw.random() < 0.03 else out


# ---- what PyArrow reads -----------------------------------------------------------------------

def open_table(stream):
    table = pa.ipc.open_stream(stream).read_all()
    table.validate(full=True)
    return table


def micros(column):
    unit = column.type.unit
    values = [value for chunk in column.chunks for value in chunk.view(pa.int64()).to_pylist()]
    return [None if value is None else value // 1000 if unit == "ns" else value * UNITS[unit]
            for value in values]


def texts(column):
    values = [value for chunk in column.chunks for value in (
        chunk.dictionary_decode() if pa.types.is_dictionary(chunk.type) else chunk).to_pylist()]
    return [b"" if value is None else value.encode() if isinstance(value, str) else value
            for value in values]


def rtts(column):
    if pa.types.is_null(column.type):
        return [-1.0] * len(column)
    values = numpy.array([math.nan if value is None else float(value)
                          for value in column.to_pylist()], numpy.float64)
    with numpy.errstate(over="ignore", invalid="ignore"):
        single = values.astype(numpy.float32)
    return [float(value) + 0.0 if value >= 0 else -1.0 for value in single]


def version_of(text):
    return ipaddress.ip_address(text.decode()).version if text else 0


def is_invalid(stream):
    """Whether PyArrow opens the stream, but finds a column of measurements that cannot be. Texts
    that are not UTF-8 apart: in a dictionary they may be unused."""
    try:
        table = pa.ipc.open_stream(stream).read_all()
        columns = [table[name] for name in NAMES if name in table.column_names]
    except (pa.ArrowException, ValueError, KeyError, OSError, MemoryError, UnicodeError):
        return False
    try:
        for column in columns:
            column.validate(full=True)
    except pa.ArrowException as error:
        return "UTF8" not in str(error)
    return False


def read_measurements(stream):
    """(us, source, destination, version, rtt) of each row of an inner stream."""
    table = open_table(stream)
    columns = [micros(table["event_time"]), texts(table["src_addr"]), texts(table["dst_addr"])]
    stored = [None] * len(table) if "ip_version" not in table.column_names else \
        table["ip_version"].to_pylist()
    versions = [version_of(src) or version_of(dst) or said
                for src, dst, said in zip(columns[1], columns[2], stored)]
    return list(zip(*columns, versions, rtts(table["rtt"])))


def read_row(record):
    """(src_id, measurements) of a record."""
    outer = open_table(record)
    inner = outer["measurements"][0]
    return outer["src_id"][0].as_py(), read_measurements(inner.as_buffer())
