"""Writes the archives of this folder, with Python's zipfile. Run in this folder: python3 make.py"""
import struct
import zipfile

TEXT = b"the same text again and again, " * 20


def archive(name, members):
    with zipfile.ZipFile(name, "w") as out:
        for member, data, method in members:
            info = zipfile.ZipInfo(member, (2020, 1, 2, 3, 4, 6))
            info.compress_type = method
            out.writestr(info, data)
    with open(name, "rb") as file:
        return bytearray(file.read())


def write(name, data):
    with open(name, "wb") as file:
        file.write(data)


def places(data, signature):
    """Every place of a record that begins with this signature."""
    at, found = data.find(signature), []
    while at >= 0:
        found.append(at)
        at = data.find(signature, at + 1)
    return found


ENTRY, LOCAL = b"PK\1\2", b"PK\3\4"
mixed = archive("mixed.zip", [
    ("folder/", b"", zipfile.ZIP_STORED), ("folder/stored", TEXT, zipfile.ZIP_STORED),
    ("deflated", TEXT, zipfile.ZIP_DEFLATED), ("bzip2", TEXT, zipfile.ZIP_BZIP2),
    ("lzma", TEXT, zipfile.ZIP_LZMA), ("empty", b"", zipfile.ZIP_STORED),
    ("../up", b"up", zipfile.ZIP_STORED), ("/root", b"root", zipfile.ZIP_STORED),
    ("caf\u00e9", b"utf-8", zipfile.ZIP_STORED), ("secret", TEXT, zipfile.ZIP_STORED)])
for place in (places(mixed, ENTRY)[-1] + 8, places(mixed, LOCAL)[-1] + 6):
    mixed[place] |= 1  # encrypted
write("mixed.zip", mixed)

twice = archive("twice.zip", [("a.png", b"1", 0), ("b.png", b"2", 0), ("a.png", b"3", 0)])
latin = archive("latin.zip", [("cafe", b"1", 0)])
write("latin.zip", latin.replace(b"cafe", b"caf\x82"))  # code page 437, as old programs write it

# a member whose bytes do not have its checksum, and one whose size is not what the directory says
wrong = archive("wrong.zip", [("sum", TEXT, 0), ("more", TEXT, zipfile.ZIP_DEFLATED),
                              ("fewer", TEXT, zipfile.ZIP_DEFLATED), ("good", TEXT, 0)])
wrong[wrong.index(TEXT)] ^= 1
entries = places(wrong, ENTRY)
wrong[entries[1] + 24:entries[1] + 28] = struct.pack("<I", len(TEXT) - 1)
wrong[entries[2] + 24:entries[2] + 28] = struct.pack("<I", len(TEXT) + 1)
write("wrong.zip", wrong)
