"""The C API of include/leat/*.h as ctypes sees it: structs, constants and prototypes, no more.

Written by hand from the headers; tests/python/test_abi.py compiles them and compares every size,
offset and number. Nothing here opens the library, so that the comparison needs no build.
"""
from __future__ import annotations

import ctypes as c
from typing import Any

MESSAGE_BYTES = 512

# leat_code
CODES = {
    "OK": 0, "ERR_MEMORY": 1, "ERR_IO": 2, "ERR_NOT_FOUND": 3, "ERR_CORRUPT": 4, "ERR_INPUT": 5,
    "ERR_OPTION": 6, "ERR_UNSUPPORTED": 7, "ERR_LIMIT": 8, "ERR_NO_SPACE": 9, "ERR_EXISTS": 10,
    "ERR_CANCELLED": 11, "ERR_BUSY": 12,
}
# enum leat_<name>: its members LEAT_<NAME>_..., numbered from 0
ENUMS = {
    "SPLIT": ("TRAIN", "TEST", "NONE"),
}


class Error(c.Structure):
    """leat_error"""
    _fields_ = [("code", c.c_int), ("message", c.c_char * MESSAGE_BYTES)]


class DatasetOptions(c.Structure):
    """leat_dataset_options"""
    _fields_ = [("cache_bytes", c.c_int64)]


class DatasetFacts(c.Structure):
    """leat_dataset_facts"""
    _fields_ = [
        ("indexed", c.c_bool), ("compressed", c.c_bool),
        ("shard_count", c.c_int64), ("row_count", c.c_int64), ("measurement_count", c.c_int64),
        ("file_bytes", c.c_int64), ("first_us", c.c_int64), ("last_us", c.c_int64),
        ("split_shards", c.c_int64 * 3), ("split_rows", c.c_int64 * 3),
    ]


class DatasetShard(c.Structure):
    """leat_dataset_shard"""
    _fields_ = [
        ("name", c.c_char_p), ("split", c.c_int), ("first_row", c.c_int64),
        ("row_count", c.c_int64), ("measurement_count", c.c_int64), ("file_bytes", c.c_int64),
        ("first_us", c.c_int64), ("last_us", c.c_int64),
    ]


class RowFacts(c.Structure):
    """leat_row_facts"""
    _fields_ = [
        ("src_id", c.c_int64), ("n_measurements", c.c_int64), ("first_us", c.c_int64),
        ("last_us", c.c_int64), ("ip_version", c.c_int), ("shard", c.c_int64),
        ("record_index", c.c_int64), ("record_bytes", c.c_int64),
    ]


class Measurement(c.Structure):
    """leat_measurement"""
    _fields_ = [
        ("time_us", c.c_int64), ("src", c.c_void_p), ("dst", c.c_void_p), ("src_size", c.c_int32),
        ("dst_size", c.c_int32), ("ip_version", c.c_int), ("rtt", c.c_float),
        ("src_bytes", c.c_uint8 * 16), ("dst_bytes", c.c_uint8 * 16),
    ]


class ProbeAddress(c.Structure):
    """leat_probe_address"""
    _fields_ = [
        ("bytes", c.c_uint8 * 16), ("text", c.c_char * 46), ("text_bytes", c.c_uint8),
        ("version", c.c_uint8),
    ]


class Measurements(c.Structure):
    """leat_measurements"""
    _fields_ = [
        ("count", c.c_int64), ("time_us", c.c_void_p), ("src", c.c_void_p), ("dst", c.c_void_p),
        ("ip_version", c.c_void_p), ("rtt", c.c_void_p), ("addresses", c.c_void_p),
        ("address_count", c.c_int64), ("room", c.c_void_p),
    ]


# the C name of each struct above
STRUCTS: dict[str, type[c.Structure]] = {
    "leat_error": Error,
    "leat_dataset_options": DatasetOptions,
    "leat_dataset_facts": DatasetFacts,
    "leat_dataset_shard": DatasetShard,
    "leat_row_facts": RowFacts,
    "leat_measurement": Measurement,
    "leat_probe_address": ProbeAddress,
    "leat_measurements": Measurements,
}

_handle = c.c_void_p
_error = c.POINTER(Error)

# name -> (result, arguments); c_int is leat_code, whose failures _library.call raises
PROTOTYPES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "leat_version": (c.c_char_p, ()),
    "leat_dataset_options_default": (DatasetOptions, ()),
    "leat_dataset_open": (c.c_int, (c.POINTER(_handle), c.POINTER(c.c_char_p), c.c_int64,
                                    c.POINTER(DatasetOptions), _error)),
    "leat_dataset_close": (None, (_handle,)),
    "leat_dataset_get_facts": (None, (_handle, c.POINTER(DatasetFacts))),
    "leat_dataset_fingerprint": (c.c_int, (_handle, c.c_char * 65, _error)),
    "leat_dataset_get_shard": (c.c_int, (_handle, c.c_int64, c.POINTER(DatasetShard), _error)),
    "leat_dataset_row": (c.c_int, (_handle, c.c_int64, c.POINTER(RowFacts), _error)),
    "leat_row_create": (c.c_int, (c.POINTER(_handle), _handle, _error)),
    "leat_row_destroy": (None, (_handle,)),
    "leat_dataset_row_open": (c.c_int, (_handle, c.c_int64, _handle, _error)),
    "leat_row_measurement": (c.c_int, (_handle, c.c_int64, c.POINTER(Measurement), _error)),
    "leat_dataset_row_decode": (c.c_int, (_handle, c.POINTER(Measurements), _error)),
    "leat_dataset_row_record": (c.c_int, (_handle, c.POINTER(c.c_void_p), c.POINTER(c.c_int64),
                                          _error)),
    "leat_measurements_free": (None, (c.POINTER(Measurements),)),
}
