"""Validates documents against the schemas of docs/schema: the part of JSON Schema (draft 2020-12)
that these use. A schema with anything else is refused, so that nothing goes unchecked. In one point
it is stricter: an integer is written without a point, and a name occurs once in an object.
"""
import json
import os
import re

from command import ROOT

FOLDER = os.path.join(ROOT, "docs", "schema")

TYPES = {"object": (dict,), "array": (list,), "string": (str,), "boolean": (bool,),
         "null": (type(None),), "integer": (int,), "number": (int, float)}
# keyword: the type of a schema that it is for; None: any
KEYWORDS = {"$schema": None, "title": None, "description": None, "$defs": None, "$ref": None,
            "type": None, "enum": None, "const": None, "anyOf": None, "properties": "object",
            "required": "object", "additionalProperties": "object", "propertyNames": "object",
            "items": "array", "minItems": "array", "maxItems": "array", "pattern": "string",
            "minimum": "number", "maximum": "number"}


class SchemaError(Exception):
    """A schema that this validator does not understand, or that is not complete."""


def read(text):
    """The document of a text, which must not have NaN, or a name twice in an object."""
    def once(pairs):
        members = dict(pairs)
        if len(members) != len(pairs):
            raise ValueError(f"a name occurs twice: {[name for name, _ in pairs]}")
        return members

    def refuse(word):
        raise ValueError(f"{word} is not JSON")
    return json.loads(text, object_pairs_hook=once, parse_constant=refuse)


def types_of(schema):
    of = schema.get("type", [])
    return of if isinstance(of, list) else [of]


def is_type(value, name):
    # a bool is an int in Python
    return type(value) in TYPES[name]  # pylint: disable=unidiomatic-typecheck


def same(a, b):
    return type(a) is type(b) and a == b


class Schemas:
    """The schemas of a folder. `seen` has the places of the properties that occurred in valid
    documents: "doctor.json#/properties/findings"."""

    def __init__(self, folder=FOLDER):
        self.files, self.places, self.seen = {}, set(), set()
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                self.files[name] = read(file.read())
        for name, schema in self.files.items():
            self.inspect(schema, f"{name}#")

    def names(self):
        """Those of documents: common.json has only what they share."""
        return {name.removesuffix(".json") for name in self.files} - {"common"}

    # ---- the schemas themselves

    def inspect(self, schema, place):
        """Refuses a schema that would not check all that it seems to."""
        def refuse(what):
            raise SchemaError(f"{place}: {what}")
        types = types_of(schema)
        for keyword in schema:
            if keyword not in KEYWORDS:
                refuse(f"the keyword {keyword} is not known")
            of = KEYWORDS[keyword]
            if of and not any(name == of or (of, name) == ("number", "integer") for name in types):
                refuse(f"{keyword} needs the type {of}")
        if not set(types) <= set(TYPES):
            refuse(f"the type {types} is not known")
        if not schema.keys() & {"type", "$ref", "const", "enum", "anyOf", "$defs"}:
            refuse("anything is allowed")
        if "object" in types and "additionalProperties" not in schema:
            refuse("additionalProperties is missing")
        if "array" in types and "items" not in schema:
            refuse("items is missing")
        missing = set(schema.get("required", [])) - schema.get("properties", {}).keys()
        if missing:
            refuse(f"required, but not in properties: {sorted(missing)}")
        re.compile(schema.get("pattern", ""))
        if "$ref" in schema:
            self.find(schema["$ref"], place)
        for step, inner in self.parts(schema):
            if step.startswith("/properties/"):
                self.places.add(place + step)
                if not inner.get("description", "").endswith("."):
                    raise SchemaError(f"{place}{step}: the description is missing, or not complete")
            self.inspect(inner, place + step)

    @staticmethod
    def parts(schema):
        """(step, schema) of all schemas directly in one."""
        for keyword in ("properties", "$defs"):
            for name, inner in schema.get(keyword, {}).items():
                yield f"/{keyword}/{name}", inner
        for keyword in ("items", "propertyNames", "additionalProperties"):
            if isinstance(schema.get(keyword), dict):
                yield f"/{keyword}", schema[keyword]
        for number, inner in enumerate(schema.get("anyOf", [])):
            yield f"/anyOf/{number}", inner

    def find(self, ref, place):
        """The schema that a $ref at `place` names, and its own place."""
        name, _, path = ref.partition("#")
        name = name or place.partition("#")[0]
        found = self.files.get(name)
        for step in path.split("/")[1:]:
            found = found.get(step) if isinstance(found, dict) else None
        if not isinstance(found, dict):
            raise SchemaError(f"{place}: there is no {ref}")
        return found, f"{name}#{path}"

    # ---- documents

    def check(self, name, document):
        """Raises AssertionError with all that is wrong with a document."""
        seen = set()
        wrong = list(self.problems(document, self.files[f"{name}.json"], f"{name}.json#", "", seen))
        if wrong:
            raise AssertionError(f"not as docs/schema/{name}.json says:\n" + "\n".join(wrong))
        self.seen |= seen

    def check_text(self, name, text):
        """The same of what a command has written; returns the document."""
        document = read(text)
        self.check(name, document)
        return document

    def problems(self, value, schema, place, path, seen):
        """What is wrong with a value, a line each; `path` is where it is in the document."""
        where = path or "the document"
        if "$ref" in schema:
            yield from self.problems(value, *self.find(schema["$ref"], place), path, seen)
        types = types_of(schema)
        if types and not any(is_type(value, name) for name in types):
            yield f"{where}: {value!r:.80} is not of type {' or '.join(types)}"
            return
        if "enum" in schema and not any(same(value, item) for item in schema["enum"]):
            yield f"{where}: {value!r:.80} is none of {schema['enum']}"
        if "const" in schema and not same(value, schema["const"]):
            yield f"{where}: {value!r:.80} is not {schema['const']!r}"
        if "anyOf" in schema:
            yield from self.problems_of_any(value, schema["anyOf"], place, path, seen)
        if isinstance(value, dict):
            yield from self.problems_of_object(value, schema, place, path, seen)
        elif isinstance(value, list):
            yield from self.problems_of_array(value, schema, place, path, seen)
        elif isinstance(value, str):
            if "pattern" in schema and not re.search(schema["pattern"], value):
                yield f"{where}: {value!r:.80} does not match {schema['pattern']}"
        elif value is not None:
            if value < schema.get("minimum", value) or value > schema.get("maximum", value):
                yield f"{where}: {value} is out of range"

    def problems_of_any(self, value, choices, place, path, seen):
        every = []
        for number, choice in enumerate(choices):
            its = set()
            wrong = list(self.problems(value, choice, f"{place}/anyOf/{number}", path, its))
            if not wrong:
                seen |= its
                return
            every.append(wrong)
        yield from min(every, key=len)

    def problems_of_object(self, value, schema, place, path, seen):
        known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
        for name in schema.get("required", []):
            if name not in value:
                yield f"{path}/{name}: is missing"
        for name, inner in value.items():
            its = f"{path}/{name}"
            if name in known:
                seen.add(f"{place}/properties/{name}")
                yield from self.problems(inner, known[name], f"{place}/properties/{name}", its,
                                         seen)
            elif others is False:
                yield f"{its}: is not in the schema"
            elif isinstance(others, dict):
                yield from self.problems(inner, others, f"{place}/additionalProperties", its, seen)
            if "propertyNames" in schema:
                yield from self.problems(name, schema["propertyNames"], f"{place}/propertyNames",
                                         its, seen)

    def problems_of_array(self, value, schema, place, path, seen):
        least, most = schema.get("minItems", 0), schema.get("maxItems", len(value))
        if not least <= len(value) <= most:
            yield f"{path or 'the document'}: {len(value)} items, not {least} to {most}"
        for number, item in enumerate(value):
            yield from self.problems(item, schema.get("items", {}), f"{place}/items",
                                     f"{path}/{number}", seen)
