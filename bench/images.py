#!/usr/bin/env python3
"""Ingest of images, compared with Pillow, torchcodec and the decoder's own time; batches of images,
compared with NumPy and memcpy.

Inputs: `faces`, synthetic images of 178 x 218 pixels in a zip archive, and `photos`, photographs of
640 x 480 in a folder (--photos). Sides, each a fresh process, in turn, for each input:
leat     leat ingest images with one thread, until everything is on the disk
all      the same with --threads
pillow   open, convert, resize, crop, numpy in one thread, written without fsync: torchvision's
         Resize and CenterCrop, which call Pillow for all of it
codec    the same on tensors, decoded by torchcodec, with --torchcodec PYTHON: an interpreter of an
         environment that has torch and torchcodec (pip install torch==2.13.0 torchcodec==0.17.0
         numpy; 3 GB, because PyPI's torchcodec needs the libraries of CUDA, also on the CPU)
decoder  libjpeg-turbo alone through bench/images.c, files in memory; hashing and resizing beside it
Then, for the data set of `faces`:
batches  leat_image_loader_next, one thread, and memcpy, through bench/image_batches.c
numpy    the same batches with images[index] of an array in memory, one thread
--large measures leat alone: --large-images of them in one archive, time and peak memory.
"""
import os
import shutil

import measure
from measure import MIB, Missing, Report, parse, parser, program, ratio, rival, rounds, run, spread

SIZES = {
    "images": (20_000, 300, "synthetic images"),
    "decoded": (2_000, 100, "images that the decoder is measured with"),
    "large_images": (202_599, 2_000, "synthetic images of --large"),
    "batch": (64, 32, "images of a batch"),
    "epochs": (10, 2, "of batches in a sample"),
    "numpy_seconds": (5, 1, "that NumPy makes batches of each kind for"),
    "threads": (2, 2, "of leat's side `all`, and of --large"),
    "runs": (5, 2, "counted rounds"),
    "warmup": (1, 1, "rounds before them"),
}
SIDES = ("all", "pillow", "codec", "decoder", "batches", "numpy")
SIZE = 64
BYTES_AN_IMAGE = 21_000  # of disk: the file, the data set, and the part of it being replaced
GOAL_PILLOW = 2.0
SHARED = os.environ.get("LEAT_SHARED", os.path.join(measure.HOME, "..", "shared"))


def options_of_command_line():
    made = parser(__doc__, SIZES)
    measure.add_memory(made)
    made.add_argument("--photos", default=os.path.join(SHARED, "data", "images", "blood_cells"),
                      help="folder of photographs (default: blood cells of LEAT_SHARED)")
    made.add_argument("--torchcodec", metavar="PYTHON", help="the interpreter of side `codec`")
    made.add_argument("--skip", action="append", default=[], choices=SIDES,
                      help="a side to leave out; may be repeated")
    made.add_argument("--large", action="store_true", help="one large archive alone")
    return parse(made, SIZES)


def make_archive(options, images):
    path = os.path.join(options.work, f"images-{images}.zip")
    return measure.made_once(path, lambda part: measure.quiet(
        [program(options, "leat"), "synth", "images", "-n", str(images), "-o", part]))


# ---- sides ------------------------------------------------------------------------------------

class Sides:
    """How each side is started for one input; outputs are removed after every sample."""

    def __init__(self, options, path):
        self.options, self.path = options, path
        self.out = os.path.join(options.work, "images-out")

    def fresh(self):
        measure.remove(self.out)
        os.makedirs(self.out)
        measure.read_through(self.path)
        return self.out

    def leat(self, threads):
        out = os.path.join(self.fresh(), "set")
        sample = run([program(self.options, "leat"), "ingest", "images", self.path, "-o", out,
                      "--size", str(SIZE), "--threads", str(threads),
                      "--memory", self.options.memory, "--json"])
        measure.remove(self.out)
        if sample["rejected"] > 0:
            raise RuntimeError(f"{sample['rejected']} files of {self.path} were rejected")
        return sample

    def one(self, _):
        return self.leat(1)

    def all(self, _):
        return self.leat(self.options.threads)

    def array(self, command):
        sample = run([*command, self.path, str(SIZE), os.path.join(self.fresh(), "images.npy")])
        measure.remove(self.out)
        return sample

    def pillow(self, _):
        return self.array(rival("pillow_images.py"))

    def codec(self, _):
        return self.array([self.options.torchcodec, *rival("torchcodec_images.py")[1:]])

    def decoder(self, _):
        self.fresh()
        return run([program(self.options, "bench_images"), self.path, str(self.options.decoded)])

    def compare(self):
        """How many levels of the two results differ."""
        ours = os.path.join(self.fresh(), "set")
        theirs = os.path.join(self.out, "images.npy")
        measure.quiet([program(self.options, "leat"), "ingest", "images", self.path, "-o", ours,
                       "--size", str(SIZE)])
        run(rival("pillow_images.py", self.path, SIZE, theirs))
        same = run(rival("images_same.py", os.path.join(ours, "images.safetensors"), theirs))
        measure.remove(self.out)
        return same


def per_image(samples, key):
    """Milliseconds of an image."""
    return spread(samples, lambda s: s[key] / s["images"] * 1e3)


# ---- one input --------------------------------------------------------------------------------

def report_leat(report, name, samples, options):
    rates = {"leat": spread(samples["leat"], lambda s: s["images"] / s["seconds"])}
    report.row(f"{name}: images/s, one thread", rates["leat"].text("", 0))
    report.row(f"{name}: milliseconds per image, one thread",
               per_image(samples["leat"], "seconds").text(" ms", 3))
    if "all" in samples:
        both = spread(samples["all"], lambda s: s["images"] / s["seconds"])
        report.row(f"{name}: images/s, {options.threads} threads", both.text("", 0),
                   rates["leat"].text("", 0), ratio(both, rates["leat"]).text("x one thread"))
    peak = spread(samples["all" if "all" in samples else "leat"],
                  lambda s: max(s["memory_peak_bytes"], s["rss"]) / MIB)
    report.row(f"{name}: peak memory of the process", peak.text(" MiB", 0),
               goal=f"<= {options.memory}", met=peak.high <= measure.mib_of(options.memory))
    return rates["leat"]


def report_pillow(report, name, samples, rate):
    theirs = spread(samples["pillow"], lambda s: s["images"] / s["seconds"])
    times = ratio(rate, theirs)
    report.row(f"{name}: images/s, one thread, compared with Pillow", rate.text("", 0),
               theirs.text("", 0), times.text("x the speed"), f">= {GOAL_PILLOW}x the speed",
               times.median >= GOAL_PILLOW)
    report.row(f"{name}: peak memory, compared with Pillow, which has all images in memory",
               spread(samples["leat"], "memory_peak_bytes", 1 / MIB).text(" MiB", 0),
               spread(samples["pillow"], "peak_bytes", 1 / MIB).text(" MiB", 0))


def report_codec(report, name, samples, rate):
    report.note(f"{name}: decoded with {samples['codec'][0]['decoder']}")
    theirs = spread(samples["codec"], lambda s: s["images"] / s["seconds"])
    report.row(f"{name}: images/s, one thread, compared with torchcodec", rate.text("", 0),
               theirs.text("", 0), ratio(rate, theirs).text("x the speed"))
    for words, key in (("decoding", "decode_seconds"), ("resizing", "resize_seconds")):
        report.row(f"{name}: {words} with torchcodec and torch, milliseconds per image", "",
                   per_image(samples["codec"], key).text(" ms", 3))


def report_decoder(report, name, samples):
    """Each step of leat beside the same of Pillow, and the part that is the decoder's own."""
    pillow = samples.get("pillow")
    for words, key in (("decoding", "decode_seconds"), ("resizing", "resize_seconds")):
        ours = per_image(samples["decoder"], key)
        theirs = per_image(pillow, key) if pillow else None
        report.row(f"{name}: {words}, milliseconds per image", ours.text(" ms", 3),
                   theirs.text(" ms", 3) if theirs else "",
                   ratio(theirs, ours).text("x the speed") if theirs else "")
    report.row(f"{name}: hashing decoded pixels, milliseconds per image",
               per_image(samples["decoder"], "hash_seconds").text(" ms", 3))
    share = ratio(per_image(samples["decoder"], "decode_seconds"),
                  per_image(samples["leat"], "seconds"))
    report.row(f"{name}: the decoder's own time as a part of leat's", share.text())


def measure_input(options, report, name, path, pillow):
    sides = Sides(options, path)
    takes = {"leat": sides.one, "all": sides.all, "pillow": sides.pillow,
             "codec": sides.codec, "decoder": sides.decoder}
    if not pillow:
        del takes["pillow"]
    if options.torchcodec is None:
        del takes["codec"]
    names = [side for side in takes if side not in options.skip]
    if "pillow" in names:
        same = sides.compare()
        report.note(f"{name}: {same['differ']:,} of {same['levels']:,} levels differ from "
                    "Pillow's, by no more than 1")
    samples = rounds([(side, takes[side]) for side in names], options.runs, options.warmup)
    report.samples[name] = samples
    some = samples["leat"][0]
    report.note(f"{name}: {some['images']:,} images, {some['bytes_read'] / 1e6:,.0f} MB, "
                f"{some['pixels_read'] / some['images']:,.0f} pixels each")
    rate = report_leat(report, name, samples, options)
    if "pillow" in samples:
        report.note(f"{name}: Pillow decodes with {samples['pillow'][0]['decoder']}")
        report_pillow(report, name, samples, rate)
    if "codec" in samples:
        report_codec(report, name, samples, rate)
    if "decoder" in samples:
        report_decoder(report, name, samples)


def compare(options):
    report = Report("images", options)
    pillow = measure.has_package("PIL")
    if not pillow:
        report.note("no Pillow in .deps/venv: its side is left out")
    archive = make_archive(options, options.images)
    measure_input(options, report, "faces", archive, pillow)
    if "batches" not in options.skip:
        measure_batches(options, report, archive)
    if os.path.isdir(options.photos):
        measure_input(options, report, "photos", options.photos, pillow)
    else:
        report.note(f"no folder {options.photos}: photographs are left out")
    if options.skip:
        report.note("left out: " + ", ".join(sorted(options.skip)))
    return report


# ---- batches ------------------------------------------------------------------------------------

def make_set(options, archive):
    path = archive.removesuffix(".zip") + ".set"
    return measure.made_once(path, lambda part: measure.quiet(
        [program(options, "leat"), "ingest", "images", archive, "-o", part, "--size", str(SIZE)]))


def per_second(samples, key):
    return spread(samples, key, 1e-3)


def report_batches(report, samples):
    """Thousands of images per second; a copy of levels is the bound of both kinds."""
    ours, numpy = samples["batches"], samples.get("numpy")
    copies = (("memcpy of the same images", "gather_images_per_s"),
              ("memcpy of all images in order", "copy_images_per_s"))
    levels = per_second(ours, "images_per_s")
    for words, key in copies:
        bound = per_second(ours, key)
        report.row(f"batches of levels: images/s, pages checked before, compared with {words}",
                   levels.text(" k/s", 0), bound.text(" k/s", 0),
                   ratio(levels, bound).text("x the speed"))
    report.row("batches of levels: images/s at first access to the pages",
               per_second(ours, "fresh_images_per_s").text(" k/s", 0))
    if numpy is None:
        report.row("batches of floats: images/s",
                   per_second(ours, "float_images_per_s").text(" k/s", 0))
        return
    for kind, key in (("levels", "images_per_s"), ("floats", "float_images_per_s")):
        mine, theirs = per_second(ours, key), per_second(numpy, key)
        report.row(f"batches of {kind}: images/s, compared with NumPy", mine.text(" k/s", 0),
                   theirs.text(" k/s", 0), ratio(mine, theirs).text("x the speed"))


def measure_batches(options, report, archive):
    path = make_set(options, archive)
    sides = [("batches", lambda _: run([program(options, "bench_image_batches"), path,
                                        str(options.batch), str(options.epochs)]))]
    if "numpy" not in options.skip and measure.has_package("safetensors"):
        sides.append(("numpy", lambda _: run(rival("numpy_images.py", path, options.batch,
                                                   options.numpy_seconds))))
    samples = rounds(sides, options.runs, options.warmup)
    report.samples["batches"] = samples
    one = samples["batches"][0]
    report.note(f"batches of {options.batch} of {one['images']:,} images of "
                f"{one['image_bytes']:,} bytes, in the page cache")
    report_batches(report, samples)


# ---- one large archive --------------------------------------------------------------------------

def measure_large(options):
    need = BYTES_AN_IMAGE * options.large_images
    free = shutil.disk_usage(options.work).free
    if free < need:
        raise Missing(f"{options.work} has {free >> 30} GiB free, about {need >> 30} are needed")
    report = Report("images-large", options)
    path = make_archive(options, options.large_images)
    sides = Sides(options, path)
    samples = rounds([("leat", sides.all)], options.runs, options.warmup)
    report.samples = samples
    report.note(f"{options.large_images:,} images in an archive of "
                f"{os.path.getsize(path) / 1e6:,.0f} MB; {options.threads} threads")
    total = spread(samples["leat"], "seconds")
    report.row("until all of it is on the disk (fsync)", total.text(" s"))
    rate = spread(samples["leat"], lambda s: s["images"] / s["seconds"])
    report.row("images/s", rate.text("", 0))
    peak = spread(samples["leat"], lambda s: max(s["memory_peak_bytes"], s["rss"]) / MIB)
    report.row("peak memory of the process", peak.text(" MiB", 0), goal=f"<= {options.memory}",
               met=peak.high <= measure.mib_of(options.memory))
    report.row("whole process: wall; user + system", spread(samples["leat"], "wall").text(" s")
               + "; " + spread(samples["leat"], lambda s: s["user"] + s["sys"]).text(" s"))
    return report


def body():
    options = options_of_command_line()
    report = measure_large(options) if options.large else compare(options)
    report.print()
    report.save()


if __name__ == "__main__":
    measure.main(body)
