#!/usr/bin/env python3
"""Writes python/leat/_abi.py from include/leat/*.h: scripts/python_abi.py [--root DIR]

The file has what the modules of python/leat use, and nothing else: about a third of the public API,
so that importing the package binds no function and builds no struct in vain. Uses are found in
their sources:

    lib.leat_run_open, held.leat_run_open   a prototype
    self._name + "_next"                    one for each class with _name = "leat_loader", ...
    _abi.RunFacts                           struct leat_run_facts, and those that its members need
    _abi.ProgressFn                         leat_progress_fn, a pointer to functions
    _abi.MARK_PAGE                          LEAT_MARK_PAGE, a macro or a member of an enum
    _abi.ENUMS["SPLIT"]                     the members of enum leat_split, numbered from 0

Types: a pointer to const numbers, void or uint8_t is an address (c_void_p), in a struct one to any
numbers. A text is bytes (c_char_p), but an address in a struct that has its size beside it
(NAME_size, NAME_bytes), because it need not end with a NUL. A pointer to a struct is POINTER(Name)
if the file has that struct, otherwise a handle (c_void_p).

All declarations of all headers are read. One that is not understood is an error with its header and
line, like a use of what no header declares. tests/lint/test_abi_script.py says whether the file is
in step; tests/lint/test_python_abi.py asks a C compiler about every size, offset and number in it.
"""
from __future__ import annotations

import argparse
import ast
import dataclasses
import os
import re
import sys

from c_headers import NUMBERS, Declarations, Problem, Source, value_of

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGET = "python/leat/_abi.py"
COLUMNS = 99


# ---- What Python uses -------------------------------------------------------------------------

class Uses:
    """Names that the modules of python/leat use, each with a place that does."""

    def __init__(self, root, folder="python/leat"):
        self.functions, self.names, self.enums, self.classes = {}, {}, {}, {}
        for path in sorted(os.path.relpath(os.path.join(place, name), root)
                           for place, _, names in os.walk(os.path.join(root, folder))
                           for name in names if name.endswith(".py")):
            if path == TARGET:
                continue
            with open(os.path.join(root, path), encoding="utf-8") as file:
                tree = ast.parse(file.read(), path)
            for node in ast.walk(tree):
                self.look(node, f"{path}:{getattr(node, 'lineno', 0)}")
        for name, (_, prefixes, _) in self.classes.items():
            for prefix in prefixes:
                for suffix, where in self.suffixes(name):
                    self.functions.setdefault(prefix + suffix, where)

    def look(self, node, where):
        if isinstance(node, ast.ClassDef):
            self.look_at_class(node, where)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner, name = node.value.id, node.attr
            if owner in ("lib", "held") and name.startswith("leat_"):
                self.functions.setdefault(name, where)
            elif owner == "_abi" and name not in ("ENUMS", "PROTOTYPES"):
                self.names.setdefault(name, where)
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "_abi.ENUMS":
            if not isinstance(node.slice, ast.Constant):
                raise Problem(where, "name the enum, _abi.ENUMS[\"SPLIT\"]")
            self.enums.setdefault(node.slice.value, where)

    def look_at_class(self, node, where):
        # classes of one name in several modules count as one
        bases, prefixes, suffixes = self.classes.setdefault(node.name, ([], [], []))
        bases += [ast.unparse(base).rsplit(".", 1)[-1] for base in node.bases]
        for each in ast.walk(node):
            if isinstance(each, ast.Assign) and isinstance(each.value, (ast.Tuple, ast.Constant)):
                target = each.targets[0]
                names = target.elts if isinstance(target, ast.Tuple) else [target]
                values = each.value.elts if isinstance(each.value, ast.Tuple) else [each.value]
                prefixes += [value.value for name, value in zip(names, values)
                             if ast.unparse(name) == "_name"]
            if isinstance(each, ast.BinOp) and ast.unparse(each.left) == "self._name":
                place = where.rsplit(":", 1)[0] + f":{each.lineno}"
                if not isinstance(each.right, ast.Constant):
                    raise Problem(place, "self._name: add a text, self._name + \"_next\"")
                suffixes.append((each.right.value, place))

    def suffixes(self, name, seen=()):
        """Those that a class and its bases add, each with its place."""
        bases, _, found = self.classes.get(name, ((), (), []))
        return found + [each for base in bases if base not in seen
                        for each in self.suffixes(base, (*seen, name))]


# ---- What is written --------------------------------------------------------------------------

HEAD = '''"""The C API of include/leat/*.h for ctypes: what the modules beside it use.

Written by scripts/python_abi.py: after a change of the headers, or of what is used, run it again.
Nothing here opens the library.
"""
from __future__ import annotations

import ctypes as c
from typing import Any

_code = c.c_int  # leat_code, whose failures _library.call raises
_handle = c.c_void_p

'''


def python_name(c_name):
    """leat_run_facts -> RunFacts"""
    return "".join(word[:1].upper() + word[1:]
                   for word in c_name.removeprefix("leat_").split("_"))


def wrapped(head, items, tail, indent):
    """`head`, items with commas between them, and `tail`, in lines that are not too long."""
    lines, line = [], head
    for index, item in enumerate(items):
        item += "," if index + 1 < len(items) else tail
        if len(line) + len(item) + 1 > COLUMNS and line.strip():
            lines.append(line.rstrip())
            line = " " * indent
        line += item + " "
    return "\n".join([*lines, line.rstrip() if items else head + tail])


class Writer:
    """Everything in the order of the headers, so that the file depends on no other order."""

    def __init__(self, declared, uses):
        self.declared, self.uses = declared, uses
        self.wanted = {}  # names of structs and typedefs
        self.constants = {name: self.constant(name, where) for name, where in uses.names.items()
                          if re.fullmatch("[A-Z][A-Z0-9_]*", name)}
        self.functions = {name: self.function(name, where)
                          for name, where in uses.functions.items()}
        named = {python_name(name): name for name in (*declared.structs, *declared.typedefs)}
        wanted = {"leat_error"}
        for name, where in uses.names.items():
            if name not in named and name not in self.constants:
                raise Problem(where, f"_abi.{name} is not declared in include/leat")
            wanted.add(named.get(name))
        for function in self.functions.values():
            kinds = [function.type.of, *function.type.parameters]
            wanted |= {kind.name for kind in kinds if kind.kind == "name"}
        self.close(wanted)

    def function(self, name, where):
        function = self.declared.functions.get(name)
        if function is None:
            raise Problem(where, f"{name}() is not declared in include/leat")
        if not function.exported:
            raise Problem(where, f"{name}() is not in libleat.so: {function.where} declares it "
                                 "static, or without LEAT_API")
        return function

    # -- which structs

    def parts(self, name, callbacks):
        """Types that a struct or typedef is made of, or points to; also what its functions get."""
        struct = self.declared.structs.get(name)
        kinds = [kind for _, kind, _ in struct.members or ()] if struct else \
            [self.declared.typedefs[name]]
        while kinds:
            kind = kinds.pop(0)
            if kind.kind == "name":
                yield kind.name
            elif kind.kind != "function":
                kinds.append(kind.of)
            elif callbacks:
                kinds += [kind.of, *kind.parameters]

    def close(self, names):
        """Adds to self.wanted, in an order in which Python can define them, what these need."""
        found, edge = set(), list(names)
        while edge:
            name = edge.pop()
            struct = self.declared.structs.get(name)
            if name not in found and (name in self.declared.typedefs or struct and struct.members):
                found.add(name)
                edge += self.parts(name, False)
        for name in (*self.declared.structs, *self.declared.typedefs):
            self.place(name, found, [])

    def place(self, name, found, trail):
        if name not in found or name in self.wanted:
            return
        if name in trail:
            where = self.declared.structs[name].where if name in self.declared.structs else name
            raise Problem(where, f"{name!r} points to itself, which is not understood")
        for part in self.parts(name, True):
            self.place(part, found, [*trail, name])
        self.wanted[name] = True

    # -- types

    def resolved(self, kind):
        while kind.kind == "name" and kind.name in self.declared.typedefs:
            under = self.declared.typedefs[kind.name]
            kind = dataclasses.replace(under, const=under.const or kind.const)
        return kind

    def written(self, kind, where, member=False):
        """The type as ctypes has it; None: void."""
        alias = kind.name if kind.kind == "name" else ""
        kind = self.resolved(kind)
        if kind.kind == "pointer":
            under = self.resolved(kind.of)
            if under.kind == "function":
                return python_name(alias) if alias in self.wanted else \
                    self.callback(under, where)
            return self.pointer(under, where, member)
        if kind.kind == "array":
            if not kind.count:  # of a parameter, without a size
                return self.pointer(self.resolved(kind.of), where, member)
            return f"{self.written(kind.of, where, True)} * {kind.count}"
        if kind.kind == "function":  # of a parameter: a pointer to it
            return self.callback(kind, where)
        if kind.name == "leat_code":
            return "_code"
        if kind.name in self.declared.enums:
            return "c.c_int"
        if kind.name in NUMBERS:
            return f"c.{NUMBERS[kind.name]}"
        if kind.name in self.wanted:
            return python_name(kind.name)
        if kind.name == "void":
            return None
        if kind.name == "...":
            raise Problem(where, "a function with ... has no prototype for Python")
        raise Problem(where, f"{kind.name!r} by value is not understood")

    def callback(self, kind, where):
        types = [self.written(kind.of, where), *(self.written(each, where)
                                                 for each in kind.parameters)]
        return f"c.CFUNCTYPE({', '.join(map(str, types))})"

    def pointer(self, under, where, member):
        if under.kind == "pointer" or under.kind == "array":
            inner = self.written(under, where)
            return f"c.POINTER({inner})"
        if under.name == "char":
            return "c.c_char_p"
        if under.name == "leat_error":
            return "_error"
        if under.name in self.wanted:
            return f"c.POINTER({python_name(under.name)})"
        if under.name in self.declared.structs:
            return "_handle"
        number = under.name in NUMBERS or under.name in self.declared.enums
        if number and not (member or under.const or under.name == "uint8_t"):
            return f"c.POINTER({self.written(under, where)})"
        if number or under.name == "void":
            return "c.c_void_p"
        raise Problem(where, f"a pointer to {under.name!r} is not understood")

    # -- the parts of the file

    def constant(self, name, where):
        c_name, numbers = f"LEAT_{name}", self.declared.numbers
        if c_name in numbers:
            return numbers[c_name]
        macro = self.declared.source.macros.get(c_name)
        if macro is None or macro.parameters is not None:
            raise Problem(where, f"_abi.{name}: include/leat has no constant {c_name}")
        return value_of(self.declared.source.expanded(macro.body), numbers, macro.where)

    def enum(self, key, where):
        c_name = f"leat_{key.lower()}"
        members = self.declared.enums.get(c_name)
        if members is None:
            raise Problem(where, f"_abi.ENUMS[{key!r}]: include/leat has no enum {c_name}")
        if list(members.values()) != list(range(len(members))):
            raise Problem(where, f"_abi.ENUMS[{key!r}]: {c_name} is not numbered from 0")
        common = os.path.commonprefix(list(members)) if len(members) > 1 else f"LEAT_{key}_"
        strip = common.rfind("_") + 1
        return wrapped(f'    "{key}": (', [f'"{name[strip:]}"' for name in members],
                       ",)," if len(members) == 1 else "),", 8)

    def struct(self, name):
        struct = self.declared.structs[name]
        sizes = {each for each, _, _ in struct.members}
        members = []
        for each, kind, where in struct.members:
            text = self.written(kind, where, True)
            if text == "c.c_char_p" and sizes & {f"{each}_size", f"{each}_bytes"}:
                text = "c.c_void_p"
            members.append(f'("{each}", {text})')
        kind = "Union" if struct.union else "Structure"
        return (f'class {python_name(name)}(c.{kind}):\n    """{struct.c_name}"""\n' +
                "    _fields_ = [\n" + wrapped("        ", members, ",", 8) + "\n    ]\n")

    def prototype(self, name):
        function = self.declared.functions[name]
        result = self.written(function.type.of, function.where)
        types = [self.written(each, function.where) for each in function.type.parameters]
        return wrapped(f'    "{name}": ({result}, (', types, ",))," if len(types) == 1 else ")),",
                       8)

    def text(self):
        uses = self.uses
        parts = [HEAD]
        order = [name.removeprefix("LEAT_")
                 for name in (*self.declared.numbers, *self.declared.source.macros)]
        parts += [f"{name} = {self.constants[name]!r}\n" for name in order
                  if name in self.constants]
        parts.append("# the members of enum leat_<name>, numbered from 0\n"
                     "ENUMS: dict[str, tuple[str, ...]] = {\n")
        parts += [self.enum(key, where) + "\n" for key, where in sorted(uses.enums.items())]
        parts.append("}\n")
        for name in self.wanted:
            if name in self.declared.structs:
                parts.append("\n\n" + self.struct(name))
                if name == "leat_error":
                    parts.append("\n\n_error = c.POINTER(Error)\n")
            else:
                kind = self.written(self.declared.typedefs[name], name, True)
                parts.append(f"\n\n{python_name(name)} = {kind}\n")
        parts.append("\n\n# name: (result, arguments)\n"
                     "PROTOTYPES: dict[str, tuple[Any, tuple[Any, ...]]] = {\n")
        parts += [self.prototype(name) + "\n" for name in self.declared.functions
                  if name in self.functions]
        parts.append("}\n")
        return "".join(parts)


def generate(root):
    """The text of python/leat/_abi.py."""
    return Writer(Declarations(Source(root)), Uses(root)).text()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=HOME, help="the repository (default: this one)")
    root = parser.parse_args().root
    try:
        text = generate(root)
    except Problem as problem:
        print(f"python_abi: {problem}", file=sys.stderr)
        return 1
    with open(os.path.join(root, TARGET), "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
