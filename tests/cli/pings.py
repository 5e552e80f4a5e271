"""Measurements that several tests ingest, and damage done to files."""
import random


def write_csv(path):
    """Some 9,000 measurements of 150 probes; returns what is known of them."""
    draw = random.Random(5)
    known = {"measurements": 0, "failures": 0, "by_source": {}}
    with open(path, "w", encoding="utf-8") as out:
        out.write("event_time,src_addr,dst_addr,ip_version,rtt\n")
        for probe in range(150):
            four = probe % 3 != 0
            src = f"192.0.2.{probe}" if four else f"2001:db8::{probe + 1:x}"
            count = 1 + probe * probe % 97 if probe % 50 else 900
            known["by_source"][src] = count
            for i in range(count):
                dst = "198.51.100.7" if four else "2001:db8:1::7"
                failed = draw.random() < 0.05
                rtt = "-1" if failed else f"{draw.lognormvariate(3.9, 0.8):.3f}"
                out.write(f"{1556136000 + probe + i * 240},{src},{dst},{4 if four else 6},{rtt}\n")
                known["measurements"] += 1
                known["failures"] += failed
    return known


def flip(path, offset, bit=0):
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 1 << bit]))
