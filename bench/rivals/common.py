"""What the rivals share: the JSON that each of them prints, and its memory."""
import json


def memory_bytes(name):
    """Resident set of this process: VmRSS is the current one, VmHWM the peak."""
    with open("/proc/self/status", encoding="utf-8") as file:
        for line in file:
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024
    return -1


def peak_bytes():
    return memory_bytes("VmHWM")


def answer(**values):
    print(json.dumps(values))
