"""What pages are held to: well-formed, alone, no label on another, drawn by a browser."""
import base64
import csv
import html
import html.parser
import io
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree
import zlib

from command import LIMIT


class Page(html.parser.HTMLParser):
    """Wants each element closed in order; collects what refers to somewhere."""
    EMPTY = {"meta", "br", "hr", "img", "input", "link"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.stack, self.links, self.tags, self.texts = [], [], {}, []
        self.feed(text)
        self.close()
        assert not self.stack, f"not closed: {self.stack}"

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.links += [value for name, value in attrs
                       if name in ("src", "href", "xlink:href", "action", "data")]
        if tag not in self.EMPTY:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.EMPTY:
            self.stack.pop()

    def handle_endtag(self, tag):
        assert self.stack and self.stack[-1] == tag, f"</{tag}> closes {self.stack[-3:]}"
        self.stack.pop()

    def handle_data(self, data):
        self.texts.append(data)


def png_pixels(data):
    """Width, height, channels and bytes of a PNG with 8 bits a channel."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, width, height, channels = 8, b"", 0, 0, 0
    while at < len(data):
        size, kind = int.from_bytes(data[at:at + 4], "big"), data[at + 4:at + 8]
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height = int.from_bytes(body[:4], "big"), int.from_bytes(body[4:8], "big")
            channels = {2: 3, 6: 4}[body[9]]
        elif kind == b"IDAT":
            packed += body
        at += size + 12
    raw, line, pixels = zlib.decompress(packed), width * channels, bytearray()
    before = bytearray(line)
    for y in range(height):
        kind, now = raw[y * (line + 1)], bytearray(raw[y * (line + 1) + 1:(y + 1) * (line + 1)])
        for i in range(line):
            left = now[i - channels] if i >= channels else 0
            up, corner = before[i], before[i - channels] if i >= channels else 0
            if kind == 1:
                now[i] = now[i] + left & 255
            elif kind == 2:
                now[i] = now[i] + up & 255
            elif kind == 3:
                now[i] = now[i] + (left + up) // 2 & 255
            elif kind == 4:
                guess = left + up - corner
                near = min((abs(guess - left), 0, left), (abs(guess - up), 1, up),
                           (abs(guess - corner), 2, corner))
                now[i] = now[i] + near[2] & 255
        pixels += now
        before = now
    return width, height, channels, bytes(pixels)


def png_colours(path):
    """The number of colours of a PNG."""
    with open(path, "rb") as file:
        _, _, channels, pixels = png_pixels(file.read())
    return len({pixels[i:i + 3] for i in range(0, len(pixels), channels)})


PICTURE = re.compile(r'<img class="[a-z ]+" width="(\d+)" height="(\d+)" alt="[^"<>]*" '
                     r'src="data:image/png;base64,([A-Za-z0-9+/=]+)">')


def pictures(text):
    """The PNG files within a page, decoded: width, height, channels, bytes."""
    found = [(int(width), int(height), base64.b64decode(data, validate=True))
             for width, height, data in PICTURE.findall(text)]
    return [png_pixels(data) for _, _, data in found]


FILE = re.compile(r'<a download="([a-z0-9-]+\.(?:svg|csv))" '
                  r'href="data:(image/svg\+xml|text/csv);base64,([A-Za-z0-9+/=]+)">(?:SVG|CSV)</a>')
TYPES = {"svg": "image/svg+xml", "csv": "text/csv"}


def files(text):
    """The files that a page offers: name and bytes."""
    return {name: base64.b64decode(data, validate=True) for name, _, data in FILE.findall(text)}


def check_files(test, text):
    """Each drawing can be saved, as a picture and as a table that need nothing else."""
    found = FILE.findall(text)
    test.assertEqual(len(files(text)), len(found), "a name twice")
    test.assertEqual(len(found), 2 * len([figure for figure in figures(text, False)
                                          if "<svg" in figure]))
    for name, kind, _ in found:
        test.assertEqual(kind, TYPES[name[-3:]])
    for name, data in files(text).items():
        data = data.decode()
        if name.endswith(".csv"):
            head, *rows = csv.reader(io.StringIO(data))
            test.assertGreater(len(rows), 0, name)
            test.assertEqual({len(row) for row in rows}, {len(head)}, name)
            test.assertTrue(all(re.fullmatch("[a-z0-9_]+", column) for column in head), head)
            test.assertNotRegex(data, r"(?i)(^|,)(nan|-?inf)\b")
            continue
        root = xml.etree.ElementTree.fromstring(data)
        test.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        test.assertGreater(float(root.get("height")), 0)
        test.assertNotRegex(data, r"(?i)var\(|url\(|@import|<script|href|<image|<style>\s*<")
        test.assertNotRegex(data.replace("http://www.w3.org/2000/svg", ""), r"(?i)https?:")
        for width, x in re.findall(r'<text(?: class="(?:marked|heading)")? x="(\d+)" y="(\d+)">',
                                   data):
            test.assertLess(int(width), 400)
            test.assertGreater(int(x), 0)


def check_stands_alone(test, text):
    """Refers to nothing, has no script, every number is one, pictures and files are within it;
    returns the page."""
    check_files(test, text)
    text = FILE.sub("", PICTURE.sub("", text))
    page = Page(text)
    test.assertEqual(page.links, [])
    test.assertNotRegex(text, r"(?i)https?:|//[a-z]|@import|url\(|<script|<link|<img")
    test.assertNotRegex(re.sub(r"<style>.*</style>", "", text, flags=re.S).lower(),
                        r"\bnan\b|[\" ]-?inf\b")
    return page


def check_labels(test, text):
    """No label of a plot stands on another or out of the picture."""
    for svg in re.findall(r"<svg.*?</svg>", text, flags=re.S):
        boxes = []
        for x, y, kind, words in re.findall(
                r'<text x="([\d.]+)" y="([\d.]+)"(?: class="([\w ]+)")?>([^<]*)<', svg):
            x, width = float(x), 6.0 * len(words)
            left = x - width / 2 if "mid" in kind else x - width if "end" in kind else x
            test.assertGreaterEqual(left, -1, words)
            test.assertLessEqual(left + width, 404, words)
            boxes.append((left, left + width, float(y) - 8, float(y), words))
        for i, a in enumerate(boxes):
            for b in boxes[:i]:
                test.assertFalse(a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3],
                                 f"{a[4]!r} on {b[4]!r}")


DARK_PAGE = bytes.fromhex("11161c")


def png_corner(path):
    """The first pixel of a PNG, which no filter changes."""
    with open(path, "rb") as file:
        data = file.read()
    at, packed = data.index(b"IDAT") - 4, b""
    while data[at + 4:at + 8] == b"IDAT":
        size = int.from_bytes(data[at:at + 4], "big")
        packed += data[at + 8:at + 8 + size]
        at += size + 12
    return zlib.decompress(packed)[1:4]


def check_in_browser(test, path, folder, colours=20, dark=True):
    """Chromium, where it is installed, draws the page wide, narrow and dark, and complains of
    nothing."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        test.skipTest("chromium is not installed")
    for name, width, more in (("wide", 1280, []), ("narrow", 400, []),
                              ("dark", 1280, ["--blink-settings=preferredColorScheme=0"])):
        if more and not dark:
            continue
        shot = os.path.join(folder, f"{name}.png")
        words = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
                 "--no-first-run", "--disable-background-networking",
                 "--disable-component-update", "--disable-sync",
                 "--user-data-dir=" + os.path.join(folder, f"chromium-{name}"),
                 "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr",
                 f"--screenshot={shot}", f"--window-size={width},700", *more, "file://" + path]
        try:
            done = subprocess.run(words, text=True, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, timeout=LIMIT, check=False)
        except subprocess.TimeoutExpired:  # a page without a script cannot keep it
            test.skipTest(f"chromium does not end within {LIMIT} s here")
        if not os.path.exists(shot):
            test.skipTest("chromium makes no picture here")
        test.assertNotIn("CONSOLE", done.stderr)
        if more:
            test.assertEqual(png_corner(shot), DARK_PAGE)
        else:
            test.assertGreater(png_colours(shot), colours)


def figures(text, by_title=True):
    """The figures of a page, by their titles."""
    found = re.findall(r"(<figure>.*?<h3>([^<]*)</h3>.*?</figure>)", text, flags=re.S)
    if not by_title:
        return [figure for figure, _ in found]
    return {html.unescape(title): figure for figure, title in found}


def tooltips(figure):
    return [html.unescape(words) for words in re.findall(r"<title>([^<]*)</title>", figure)]


def counts(figure):
    """The numbers in the brackets of its tooltips: "4 min: 12.5 % of the gaps (31)"."""
    return [int(words[words.rindex("(") + 1:-1].replace(",", "")) for words in tooltips(figure)]
