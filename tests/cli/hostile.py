"""Names that would command a terminal or turn text around, and what output may hold of them."""
import unicodedata

# A title, a line break, a tabulator, a delete, CSI as C1, an override, an isolate, a mark.
NAME = "x\x1b]0;owned\x07\n\t\x7f\u009b2J\u202ecod\u2066\u200f\u061cx"
SHOWN = ("x\\x1b]0;owned\\x07\\x0a\\x09\\x7f\\u009b2J\\u202ecod\\u2066\\u200f\\u061cx")


def unfit(text, lines=True):
    """The characters of a text that no terminal and no page should get; line breaks are ours."""
    found = set()
    for letter in text:
        if letter == "\n" and lines:
            continue
        if unicodedata.category(letter) in ("Cc", "Zl", "Zp") or \
                unicodedata.bidirectional(letter) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI",
                                                      "RLI", "FSI", "PDI") or \
                letter in "\u061c\u200e\u200f":
            found.add(letter)
    return found
