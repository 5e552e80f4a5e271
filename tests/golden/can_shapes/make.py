"""Writes the files of this folder: the same eight frames in each shape of log that leat reads.
Run in this folder: python3 make.py"""
import base64

# time in seconds, identifier, payload, attack
FRAMES = [
    (1600000000.0, 0x0DE, "01ff0a", 0), (1600000000.25, 0x26, "7d8778877f7722b3", 1),
    (1600000000.5, 0x0DE, "02ff0b", 0), (1600000000.75, 0x47F, "8090a0b0c0d0e0f0", 0),
    (1600000001.0, 0x0DE, "03ff0c", 1), (1600000001.25, 0x26, "7e8778877f7722b4", 0),
    (1600000001.5, 0x0DE, "04ff0d", 0), (1600000001.75, 0x47F, "8191a1b1c1d1e1f1", 1),
]


def spaced(data, separator=" "):
    return separator.join(data[i:i + 2] for i in range(0, len(data), 2))


def bits(data):
    return "".join(f"{byte:08b}" for byte in bytes.fromhex(data))


def columns(data, form="{:02x}"):
    cells = [form.format(byte) for byte in bytes.fromhex(data)]
    return ",".join(cells + [""] * (8 - len(cells)))


def save(name, header, line):
    with open(name, "w", encoding="ascii") as file:
        file.write(header)
        for frame in FRAMES:
            file.write(line(*frame) + "\n")


BYTES = ",".join(f"Data{i}" for i in range(8))
CICIOV = "ID," + ",".join(f"DATA_{i}" for i in range(8)) + ",label,category,specific_class\n"

save("can_train_and_test.csv", "timestamp,arbitration_id,data_field,attack\n",
     lambda t, i, d, a: f"{t:.6f},{i:03X},{d.upper()},{a}")
save("label_name.csv", "timestamp,arbitration_id,data_field, Label\n",
     lambda t, i, d, a: f"{t:.6f},{i:03X},{d.upper()},{['Normal', 'Attack'][a]}")
save("daga.csv", "timestamp,CAN_ID,DLC,PAYLOAD_HEX,PAYLOAD_BIN,ANOMALY\n",
     lambda t, i, d, a: f"{t:.6f},{i:03X},{4 * len(d)},{d.upper()},{bits(d)},{bool(a)}")
save("otids.csv", "Time,IntID1,ID2,DLC,Data,Label\n",
     lambda t, i, d, a: f"{t:.6f},{i},{i:04x},{len(d) // 2},{spaced(d)},{a}")
save("otids_bytes.csv", f"Time,IntID1,ID2,DLC,{BYTES},Label\n",
     lambda t, i, d, a: f"{t:.6f},{i},{i:04x},{len(d) // 2},{columns(d)},{a}")
save("challenge.csv", "Timestamp,Arbitration_ID,DLC,Data,Class,SubClass\n",
     lambda t, i, d, a: f"{t:.6f},{i:03X},{len(d) // 2},{spaced(d.upper())},"
                        f"{['Normal,Normal', 'Attack,Flooding'][a]}")
save("python_can.csv", "timestamp,arbitration_id,extended,remote,error,dlc,data\n",
     lambda t, i, d, a: f"{t!r},{hex(i)},0,0,0,{len(d) // 2},"
                        f"{base64.b64encode(bytes.fromhex(d)).decode()}")
save("crysys.log", "", lambda t, i, d, a: f"{t:.6f} {i:04x} 000 {len(d) // 2} {spaced(d)}")
save("candump_labels.log", "",
     lambda t, i, d, a: f"({t:.6f}) can0 {i:03X}#{d.upper()} {a} {['Normal', 'Attack'][a]}")
save("ciciov2024.csv", CICIOV,
     lambda t, i, d, a: f"{i},{columns(d + '00' * (8 - len(d) // 2), '{}')},"
                        f"{['BENIGN,BENIGN,BENIGN', 'ATTACK,SPOOFING,GAS'][a]}")
save("semicolons.csv", "T;Message;Payload;Verdict\n",
     lambda t, i, d, a: f"{t * 1e6:.0f};{i};{' '.join(str(b) for b in bytes.fromhex(d))};"
                        f"{'RT'[a]}")
save("no_header.tsv", "", lambda t, i, d, a: f"{t:.6f}\t{i:04x}\t{len(d) // 2}\t"
     + columns(d).replace(",", "\t") + f"\t{'RT'[a]}")
