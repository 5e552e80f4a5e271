"""The declarations of C headers: structs, unions, enums, typedefs, functions and constants.

Reads the C that include/leat/*.h is written in, preprocessor included, with the standard library
alone. What is not understood is a Problem that names header and line: nothing is left out.
"""
from __future__ import annotations

import ast
import dataclasses
import os
import re


class Problem(Exception):
    """What is not understood, and where."""

    def __init__(self, where, words):
        super().__init__(f"{where}: {words}")


# ---- Tokens, and what the preprocessor does ---------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Token:
    kind: str   # "name", "number", "text" or "mark"
    text: str
    where: str  # "include/leat/base.h:12"


@dataclasses.dataclass(frozen=True)
class Macro:
    body: list
    parameters: list | None  # None: not a function
    where: str


TOKEN = re.compile(r"""(?P<blank>\s+)|(?P<name>[A-Za-z_]\w*)|(?P<number>\.?\d(?:[eE][+-]|[\w.])*)
                       |(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])+')
                       |(?P<mark><<|>>|\.\.\.|->|\#\#|[-+*/%&|^~!<>=?:;,.(){}\[\]\#])""", re.X)
LIMITS = {f"{sign}INT{bits}_{end}": value for bits in (8, 16, 32, 64)
          for sign, end, value in (("", "MIN", -1 << bits - 1), ("", "MAX", (1 << bits - 1) - 1),
                                   ("U", "MAX", (1 << bits) - 1))}


def tokens_of(text, where):
    found, place = [], 0
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None:
            raise Problem(where, f"{text[place]!r} is not understood")
        if match.lastgroup != "blank":
            found.append(Token(match.lastgroup, match.group(), where))
        place = match.end()
    return found


def lines_of(text):
    """(number, line) without comments, continued lines joined to their first."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", lambda found: found.group()
                  if found.group()[0] == '"' else " " + "\n" * found.group().count("\n"),
                  text, flags=re.S)
    begun = None
    for number, line in enumerate(text.split("\n"), 1):
        first, before = begun or (number, "")
        begun = (first, before + line[:-1] + " ") if line.endswith("\\") else None
        if begun is None:
            yield first, before + line


class Source:
    """The headers as one list of tokens, with macros expanded and in the order of the includes."""

    def __init__(self, root, folder="include"):
        self.root, self.folder = root, folder
        self.macros, self.tokens, self.seen = {}, [], set()
        for name in sorted(os.listdir(os.path.join(root, folder, "leat"))):
            if name.endswith(".h"):
                self.read(f"leat/{name}", f"{folder}/leat")

    def read(self, name, where):
        if name in self.seen:
            return
        self.seen.add(name)
        try:
            with open(os.path.join(self.root, self.folder, name), encoding="utf-8") as file:
                text = file.read()
        except OSError as problem:
            raise Problem(where, f'"{name}": {problem.strerror}') from None
        taken, begun = [], []  # whether each open condition holds; the tokens before a directive
        for number, line in lines_of(text):
            place = f"{self.folder}/{name}:{number}"
            if line.lstrip().startswith("#"):
                self.tokens += self.expanded(begun)
                begun = []
                self.directive(line, taken, place)
            elif all(taken):
                begun += tokens_of(line, place)
        self.tokens += self.expanded(begun)
        if taken:
            raise Problem(f"{self.folder}/{name}", "a condition is not ended")

    def directive(self, line, taken, where):
        tokens = tokens_of(line, where)
        word, rest = tokens[1].text if len(tokens) > 1 else "", tokens[2:]
        if word in ("ifdef", "ifndef"):
            taken.append((rest[0].text in self.macros) == (word == "ifdef"))
        elif word in ("else", "endif") and taken:
            hold = taken.pop()
            if word == "else":
                taken.append(not hold)
        elif word == "define" and all(taken):
            # tokens do not tell whether a "(" follows the name at once
            self.define(rest, re.search(r"define\s+\w+\(", line) is not None, where)
        elif word == "undef" and all(taken):
            self.macros.pop(rest[0].text, None)
        elif word == "include" and all(taken):
            if rest and rest[0].kind == "text":
                self.read(rest[0].text[1:-1], where)
        elif all(taken) or word in ("if", "elif"):
            raise Problem(where, f"#{word} is not understood")

    def define(self, rest, has_parameters, where):
        name, body, parameters = rest[0].text, rest[1:], None
        if has_parameters:
            end = [token.text for token in body].index(")")
            parameters = [token.text for token in body[1:end] if token.text != ","]
            body = body[end + 1:]
        self.macros[name] = Macro(body, parameters, where)

    def expanded(self, tokens, hidden=frozenset()):
        found, place = [], 0
        while place < len(tokens):
            token = tokens[place]
            macro = self.macros.get(token.text) if token.kind == "name" else None
            place += 1
            if macro is None or token.text in hidden:
                found.append(token)
                continue
            called = place < len(tokens) and tokens[place].text == "("
            if macro.parameters is None:
                body = macro.body
            elif called:
                arguments, place = self.arguments(tokens, place)
                body = self.filled(macro, token, arguments)
            else:
                found.append(token)
                continue
            moved = [dataclasses.replace(each, where=token.where) for each in body]
            found += self.expanded(moved, hidden | {token.text})
        return found

    def arguments(self, tokens, place):
        """The arguments of a call, from its "(", and the place after it."""
        found, depth, first = [[]], 0, tokens[place]
        for at in range(place, len(tokens)):
            text = tokens[at].text
            depth += {"(": 1, ")": -1}.get(text, 0)
            if depth == 0:
                return [self.expanded(each) for each in found], at + 1
            if depth == 1 and text == ",":
                found.append([])
            elif at > place:
                found[-1].append(tokens[at])
        raise Problem(first.where, "a macro's arguments are not ended")

    @staticmethod
    def filled(macro, token, arguments):
        if len(arguments) != len(macro.parameters):
            raise Problem(token.where, f"{token.text} has {len(macro.parameters)} parameters, not "
                                       f"{len(arguments)}")
        given, body = dict(zip(macro.parameters, arguments)), []
        for each in macro.body:
            if each.text in ("#", "##"):
                raise Problem(macro.where, f"{each.text} in the macro {token.text} is not "
                                           "understood")
            body += given.get(each.text, [each]) if each.kind == "name" else [each]
        return body


# ---- Declarations -----------------------------------------------------------------------------

@dataclasses.dataclass
class Type:
    kind: str               # "name", "pointer", "array" or "function"
    name: str = ""          # of a "name": a number's type, struct, enum or typedef
    of: Type | None = None  # what is pointed to, an element, or the result
    const: bool = False
    count: int = 0          # of an array's elements
    parameters: list = dataclasses.field(default_factory=list)  # types; no names


@dataclasses.dataclass
class Struct:
    """Or a union."""
    where: str
    c_name: str  # "leat_run_facts"; without a name, "leat_summary_ingest.reasons[0]"
    union: bool = False
    members: list | None = None  # (name, type, where); None: a handle


@dataclasses.dataclass
class Function:
    type: Type
    where: str
    exported: bool


NUMBERS = {
    "bool": "c_bool", "_Bool": "c_bool", "char": "c_char", "signed char": "c_byte",
    "unsigned char": "c_ubyte", "short": "c_short", "unsigned short": "c_ushort", "int": "c_int",
    "unsigned": "c_uint", "unsigned int": "c_uint", "long": "c_long", "unsigned long": "c_ulong",
    "long long": "c_longlong", "unsigned long long": "c_ulonglong", "float": "c_float",
    "double": "c_double", "size_t": "c_size_t", "ssize_t": "c_ssize_t",
    **{f"{sign}int{bits}_t": f"c_{sign}int{bits}" for bits in (8, 16, 32, 64)
       for sign in ("", "u")}}
WORDS = {word for name in NUMBERS for word in name.split()} | {"void"}
LAYOUT = {"packed", "aligned", "vector_size", "mode", "ms_struct", "gcc_struct"}


def value_of(tokens, known, where):
    """The number that a constant expression is; also a text, or a number with a point."""
    texts = [token.text for token in tokens]
    if tokens and all(token.kind == "text" and token.text[0] == '"' for token in tokens):
        return "".join(ast.literal_eval(text) for text in texts)
    if len(tokens) == 1 and re.fullmatch(r"[\d.]+(?:[eE][-+]?\d+)?", texts[0]) and \
            not texts[0].isdigit():
        return float(texts[0])
    words = []
    for token in tokens:
        number = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*", token.text)
        if number:
            octal = re.fullmatch(r"0\d+", number[1])
            words.append(str(int(number[1], 8 if octal else 0)))
        elif token.text in known or token.text in LIMITS:
            words.append(f"({known.get(token.text, LIMITS.get(token.text))})")
        elif re.fullmatch(r"U?INT(8|16|32|64)_C", token.text):
            continue  # its argument stands in parentheses
        elif token.text in "+-*%&|^~()" or token.text in ("<<", ">>"):
            words.append(token.text)
        else:
            raise Problem(where, f"{' '.join(texts)!r} is not understood as a number: "
                                 f"{token.text!r}")
    try:
        return int(eval(" ".join(words), {"__builtins__": {}}))  # numbers and operators only
    except (SyntaxError, TypeError, ArithmeticError, ValueError):
        raise Problem(where, f"{' '.join(texts)!r} is not understood as a number") from None


class Declarations:
    """structs, enums, typedefs, functions and the numbers of enums, in the order of the headers."""

    def __init__(self, source):
        self.source, self.tokens, self.place = source, source.tokens, 0
        self.structs, self.enums, self.typedefs, self.functions = {}, {}, {}, {}
        self.numbers, self.attributes = {}, set()
        while self.place < len(self.tokens):
            self.declaration()

    # -- single tokens

    @property
    def where(self):
        last = min(self.place, len(self.tokens) - 1)
        return self.tokens[last].where if self.tokens else self.source.folder

    def peek(self):
        return self.tokens[self.place].text if self.place < len(self.tokens) else ""

    def take(self, *texts):
        """The next token, which must be one of these; of no texts: any."""
        text = self.peek()
        if not text or texts and text not in texts:
            raise Problem(self.where, f"{text or 'the end'!r} is not understood" +
                          (f"; expected {' or '.join(map(repr, texts))}" if texts else ""))
        self.place += 1
        return text

    def skip(self, text):
        found = self.peek() == text
        self.place += found
        return found

    def name(self):
        if self.place >= len(self.tokens) or self.tokens[self.place].kind != "name":
            raise Problem(self.where, f"{self.peek()!r} is not understood; expected a name")
        return self.take()

    def balanced(self, opening, closing):
        """The tokens between this "(" and its ")"."""
        where = self.where
        self.take(opening)
        first, depth = self.place, 1
        while depth:
            if self.place >= len(self.tokens):
                raise Problem(where, f"{opening!r} is not ended")
            depth += {opening: 1, closing: -1}.get(self.take(), 0)
        return self.tokens[first:self.place - 1]

    # -- declarations

    def declaration(self):
        where, self.attributes = self.where, set()
        if self.skip(";"):
            return
        if self.peek() in ("_Static_assert", "static_assert"):
            self.take()
            self.balanced("(", ")")
            self.take(";")
            return
        storage, base = self.specifiers()
        if self.skip(";"):  # a struct or an enum by itself
            return
        while True:
            name, kind = self.declarator(base)
            self.attribute()
            if kind.kind == "function" and "typedef" not in storage:
                exported = "visibility" in self.attributes and "static" not in storage
                self.functions[name] = Function(kind, where, exported)
                if self.peek() == "{":
                    self.balanced("{", "}")
                    return
            elif "typedef" in storage:
                self.typedef(name, kind, where)
            else:
                raise Problem(where, f"the variable {name!r} is not understood")
            if self.take(",", ";") == ";":
                return

    def typedef(self, name, kind, where):
        if kind.kind != "name" or kind.name not in (*self.structs, *self.enums):
            self.typedefs[name] = kind
        elif kind.name.startswith("("):
            self.rename(kind, name)
        elif kind.name != name:
            raise Problem(where, f"{kind.name!r} has a second name, {name!r}, which is not "
                                 "understood")

    def rename(self, kind, name, c_name=None):
        """Gives a struct or enum that has no tag a name."""
        for group in (self.structs, self.enums):
            if kind.name in group:
                group[name] = group.pop(kind.name)
        if name in self.structs:
            self.structs[name].c_name = c_name or name
        kind.name = name

    def attribute(self):
        while self.peek() in ("__attribute__", "_Alignas", "alignas", "__asm__"):
            where, word = self.where, self.take()
            inside = [token.text.strip("_") for token in self.balanced("(", ")")]
            layout = LAYOUT.intersection(inside)
            if word != "__attribute__" or layout:
                raise Problem(where, f"{', '.join(sorted(layout)) or word}: such a layout is not "
                                     "understood")
            self.attributes |= set(inside)

    def specifiers(self):
        """(storage words, type) of what comes before the names of a declaration."""
        storage, words, found, const, where = set(), [], None, False, self.where
        while True:
            self.attribute()
            text = self.peek()
            if text in ("typedef", "extern", "static", "inline", "_Noreturn"):
                storage.add(self.take())
            elif text == "const":
                const = bool(self.take())
            elif text in ("struct", "union", "enum"):
                found = self.enum() if text == "enum" else self.struct()
            elif text in ("volatile", "_Atomic", "_Complex"):
                raise Problem(self.where, f"{text!r} is not understood")
            elif text in WORDS:
                words.append(self.take())
            elif found is None and not words and self.is_type(text):
                found = self.take()
            else:
                break
        if words:
            found = " ".join(sorted(words, key=("signed unsigned long short".split() +
                                                words).index))
        if found is None or found not in NUMBERS and words and words != ["void"]:
            raise Problem(where if words else self.where,
                          f"{found or self.peek()!r} is not understood as a type")
        return storage, Type("name", found, const=const)

    def is_type(self, text):
        return text in NUMBERS or text in self.typedefs or text in self.structs or \
            text in self.enums

    def declarator(self, base, nameless=False):
        """(name, type) of one name: pointers before it, arrays and parameters after it."""
        while self.skip("*"):
            base = Type("pointer", of=base)
            while self.peek() in ("const", "restrict", "volatile"):
                base.const |= self.take() == "const"
        inner = None
        if self.peek() == "(" and self.tokens[self.place + 1].text == "*":
            self.take("(")
            inner = self.place  # read again, once it is known what it is made of
            self.place -= 1
            self.balanced("(", ")")
        name = "" if inner or nameless and self.tokens[self.place].kind != "name" else self.name()
        base = self.suffixes(base)
        if inner is None:
            return name, base
        end, self.place = self.place, inner
        name, base = self.declarator(base, nameless)
        self.take(")")
        self.place = end
        return name, base

    def suffixes(self, base):
        if self.peek() == "(":
            return Type("function", of=base, parameters=self.parameters())
        if self.peek() == "[":
            where = self.where
            size = self.balanced("[", "]")
            count = value_of(size, self.numbers, where) if size else 0
            return Type("array", of=self.suffixes(base), count=count)
        return base

    def parameters(self):
        self.take("(")
        if self.peek() == "void" and self.tokens[self.place + 1].text == ")":
            self.take()
        found = []
        while not self.skip(")"):
            if self.skip("..."):
                found.append(Type("name", "..."))
            else:
                found.append(self.declarator(self.specifiers()[1], nameless=True)[1])
            if self.peek() != ")":
                self.take(",")
        return found

    def struct(self):
        where = self.where
        word = self.take("struct", "union")
        name = self.name() if self.peek() != "{" else f"({word} at {where})"
        struct = self.structs.setdefault(name, Struct(where, name, word == "union"))
        if not self.skip("{"):
            return name
        if struct.members is not None:
            raise Problem(where, f"{word} {name!r} is declared twice")
        members = []
        while not self.skip("}"):
            self.members(name, members)
        struct.members, struct.where = members, where
        self.attribute()
        return name

    def members(self, owner, members):
        where, (_, base) = self.where, self.specifiers()
        if self.peek() == ";":
            raise Problem(where, "a member without a name is not understood")
        while True:
            place = self.where
            name, kind = self.declarator(base)
            self.attribute()
            if self.peek() == ":":
                raise Problem(place, f"the bit-field {name!r} is not understood")
            if kind.kind == "array" and not kind.count:
                raise Problem(place, f"the array {name!r} has no size")
            if base.name.startswith(("(struct", "(union")):  # it is named after its place
                inner, each = f"{owner}.{name}", kind
                while each.kind == "array":
                    inner, each = inner + "[0]", each.of
                self.rename(base, f"{owner}_{name}", inner)
            members.append((name, kind, place))
            if self.take(",", ";") == ";":
                return

    def enum(self):
        where = self.where
        self.take("enum")
        name = self.name() if self.peek() != "{" else f"(enum at {where})"
        if not self.skip("{"):
            if name not in self.enums:
                raise Problem(where, f"enum {name!r} is not declared before")
            return name
        members, number = {}, 0
        while not self.skip("}"):
            place, member = self.where, self.name()
            if self.skip("="):
                first, depth = self.place, 0
                while depth or self.peek() not in (",", "}"):
                    depth += {"(": 1, ")": -1}.get(self.take(), 0)
                number = value_of(self.tokens[first:self.place], self.numbers, place)
            members[member] = self.numbers[member] = number
            number += 1
            if self.peek() != "}":
                self.take(",")
        self.enums[name] = members
        return name
