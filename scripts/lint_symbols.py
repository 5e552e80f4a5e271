"""Rules of scripts/lint about symbols, which need a build."""
import collections
import os
import re
import subprocess

from lint_tree import KERNELS, Skip, read_allowed

GLOBALS = "scripts/allowed-globals.txt"
Symbol = collections.namedtuple("Symbol", "name kind type section")  # kind: the letter of nm
UNDEFINED = "*UND*"  # a section


def nm(*arguments):
    """The symbols of files, in a list for each file in turn."""
    text = subprocess.run(["nm", "--format=sysv", *arguments], capture_output=True, text=True,
                          check=True).stdout
    found = []
    for line in text.split("\n"):
        fields = [field.strip() for field in line.split("|")]
        if len(fields) == 7:
            found[-1].append(Symbol(fields[0], fields[2], fields[3], fields[6]))
        elif line.startswith("Symbols from "):
            found.append([])
    return found


def objects(tree, what):
    """Pairs of an object's path and its symbols. All objects are read by one call of nm, once: a
    call for each takes longer than all other rules together."""
    if tree.objects is None:
        paths = built(tree, OBJECT)
        tree.objects = dict(zip(paths, nm(*paths), strict=True))
    found = [(path, symbols) for path, symbols in tree.objects.items() if re.search(what, path)]
    if not found:
        raise Skip(f"nothing built in {tree.build} (make build)")
    return found


ROOM_OBJECT = r"/leat_[a-z]+_objects\.dir/.*\.o$"
CLI_OBJECT = r"/leat\.dir/cli/.*\.o$"
OBJECT = f"{ROOM_OBJECT}|{CLI_OBJECT}"


def built(tree, what):
    """Files of the build whose path ends so, at any depth."""
    found = [os.path.join(folder, name) for folder, _, names in os.walk(tree.build)
             for name in names if re.search(what, os.path.join(folder, name))
             and os.path.exists(os.path.join(folder, name))]
    # an object whose source was moved or removed is no longer part of the build
    sources = {path: re.search(r"\.dir/(.*\.c)\.o$", path) for path in found}
    found = [path for path in found if not sources[path]
             or os.path.exists(os.path.join(tree.root, sources[path].group(1)))]
    if not found:
        raise Skip(f"nothing built in {tree.build} (make build)")
    return sorted(found)


def exported(tree):
    library = [path for path in built(tree, r"/libleat\.so$")]
    return {symbol.name.split("@")[0] for symbol in nm("-D", library[0])[0]
            if symbol.section != UNDEFINED}


def rule_exports(tree):
    """libleat.so exports what no public header declares, or not what one does"""
    symbols = exported(tree)
    declared, promised = set(), {}
    for path in tree.find("include/", ends=(".h",)):
        code = tree.code(path)
        declared |= set(re.findall(r"\b(leat_\w+)\s*\(", code))
        for match in re.finditer(r"\bLEAT_API\b[^;()]*?\b(leat_\w+)\s*\(", code):
            promised[match.group(1)] = path
    for symbol in sorted(symbols):
        if not symbol.startswith("leat_"):
            yield f"libleat.so: exports {symbol}, which does not begin leat_"
        elif symbol not in declared:
            yield f"libleat.so: exports {symbol}, which no header in include/leat declares"
    for name in sorted(set(promised) - symbols):
        yield f"{promised[name]}: declares {name}(), which libleat.so does not have"




EXTERNAL = "ABCDGRSTVWi"


def rule_names(tree):
    """a symbol with external linkage that does not begin leat_"""
    for path, symbols in objects(tree, ROOM_OBJECT):
        for symbol in symbols:
            external = symbol.kind in EXTERNAL and symbol.section != UNDEFINED
            if external and not symbol.name.startswith(("leat_", "__odr_asan", "_GLOBAL_", "__asan",
                                                        "__gcov")):
                yield f"{os.path.basename(path)}: {symbol.name} has external linkage and does " \
                      "not begin leat_"


def rule_public(tree):
    """the command uses of the library what libleat.so does not export"""
    command = objects(tree, CLI_OBJECT)
    known = exported(tree) | {symbol.name for _, symbols in command for symbol in symbols
                              if symbol.section != UNDEFINED}
    for path, symbols in command:
        for symbol in symbols:
            if symbol.name.startswith("leat_") and symbol.name not in known:
                yield f"{os.path.basename(path)}: uses {symbol.name}, which libleat.so does " \
                      "not export"


def rule_globals(tree):
    """a variable that outlives its function and can be written"""
    allowed = read_allowed(tree, GLOBALS)
    used, met = set(), set()
    for path, symbols in objects(tree, OBJECT):
        source = re.sub(r"^.*\.dir/(.*)\.o$", r"\1", path)
        for symbol in symbols:
            if symbol.section == UNDEFINED or symbol.type not in ("OBJECT", "TLS"):
                continue
            name = re.sub(r"\.\d+$", "", symbol.name)
            met.add((source, name))
            if not re.match(r"(\.data|\.bss|\.tdata|\.tbss|\*COM\*|COMMON)(?!\.rel\.ro)",
                            symbol.section):
                continue
            used.add((source, name))
            if (source, name) not in allowed:
                yield f"{source}: {name} is a mutable global ({GLOBALS})"
    for entry in sorted(set(allowed) - used):
        if entry not in met and entry[0] in tree.paths and \
                re.search(r"(?m)^#if LEAT_HAVE_", tree.text(entry[0])) and \
                re.search(rf"\b{entry[1]}\b", tree.text(entry[0])):
            continue  # of a library that this build leaves out
        yield f"{GLOBALS}:{allowed[entry]}: {' '.join(entry)} is not a mutable global"


# What the room nn may call outside itself and base. Functions of libm differ between libraries and
# processors, and so would results; fmaf is exact, and roots are single instructions.
NN_CALLS = set("memchr memcmp memcpy memmove memset snprintf strchr strcmp strlen strncmp "
               "vsnprintf __memcpy_chk __memset_chk __snprintf_chk __vsnprintf_chk "
               "__stack_chk_fail __cpu_indicator_init __cpu_model _GLOBAL_OFFSET_TABLE_".split())
# The kernels of one instruction set call nothing that could be compiled for another.
VARIANT_CALLS = {"memcpy", "memset"}
FMAF_CALLS = {KERNELS + name: {"fmaf"} for name in ("scalar.c", "suite.c", "suite_rows.c",
                                                    "suite_segments.c", "suite_tokens.c")}
NOT_VARIANTS = {*FMAF_CALLS, KERNELS + "choose.c"}
SANITIZERS = ("__asan_", "__ubsan_", "__tsan_", "__sanitizer_", "__gcov_", "__llvm_")


def rule_libm(tree):
    """a call out of the room nn whose result may differ between machines"""
    for path, symbols in objects(tree, r"/leat_nn_objects\.dir/.*\.o$"):
        source = re.sub(r"^.*\.dir/(.*)\.o$", r"\1", path)
        variant = source.startswith(KERNELS) and source not in NOT_VARIANTS
        allowed = VARIANT_CALLS if variant else NN_CALLS | FMAF_CALLS.get(source, set())
        for symbol in [one.name for one in symbols if one.section == UNDEFINED]:
            if symbol not in allowed and not symbol.startswith(SANITIZERS) and \
                    (variant or not symbol.startswith("leat_")):
                yield f"{source}: calls {symbol}(); " + (
                    "kernels of one instruction set call memcpy and memset only" if variant else
                    "the room nn calls nothing that may differ between machines")
