"""Hostile data: arrays, tables, MATLAB files, images, models, archives, downloads; messages of workers, HTTP requests."""
import random
import zlib

from case import ANSWERED, HARMLESS, NOTED, REFUSED, Case, entries, holding
from fixture import (ANY, LABEL, LOGITS, Member, big, framed, gzip_of, little, npy, npy_of_header, npy_texts, read_file,
                     safetensors, sha256, stored_image, tar_of, tensor, unfolding, zip_of, zlib_of)

NPY, NPZ, CSV = "eval label.npy unknown_score.npy", "eval logits.npz", "eval scores.csv"
VERIFY = "data verify {} --images --library=. --data=files"
STORE = ["work/store"]


def held(kind, what, command, path, content, end=REFUSED):
    """The file `path` with this content, which may be a function."""
    return Case(kind, what, command, holding(path, content), end, "" if end == ANSWERED else path.split("/")[-1])


def files_of(kind, command, path):
    # Data files are read up to 16 GiB: on a machine with less memory, the program reports that.
    large = {"10 GB of nothing": {"end": NOTED, "named": ""}} if command.startswith("data ") else {}
    return entries(Case(kind, "", command, named=path.split("/")[-1]), path, large)


# Arrays.

SHAPES = ["(9223372036854775807,)", "(4294967296, 4294967296)", "(-1,)", "(-6,)", "(0,)", "(3037000500, 3037000500, 2)",
          "(99999999999999999999,)", "(6", "(6,,)", "6", "(True,)", "(" + "1" * 20000 + ",)", "(" + "1, " * 10000 + ")"]
TYPES = ["|O", ">i8", "<c16", "<U0", "<U2147483647", "|S9999999999", "<i0", "<f1", "", "<m8"]
HEADER = "{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}\n"
ARRAYS = [(f"{kind} {shape[:40]}", npy_of_header(HEADER.format(kind, shape)))
          for kind, shape in [("<i8", shape) for shape in SHAPES] + [(kind, "(6,)") for kind in TYPES]]
ARRAYS += [("an empty header", npy_of_header("")), ("a header of braces", npy_of_header("{" * 60000)),
           ("a header that is longer than the file", "\x93NUMPY\2\0\xff\xff\xff\xff"), ("version 9", "\x93NUMPY\x09\0\1\0\n")]


def array(*values, shape=(6,)):
    return npy("<i8", shape, values)


BOTH = [("label.npy", LABEL), ("logits.npy", LOGITS)]
GROUPS = array(-1, -1, -1, -1, 0, 0)
LARGE_LABEL = Member("label.npy", LABEL, declared=0xfffffffe)
ARCHIVES = [  # what, the members, and the end if it is another than a refusal
    ("500 MB that unfold, in an array that is wanted", [unfolding("label.npy", "\0", 500), BOTH[1]]),
    ("500 MB that unfold, in one that nobody wants", BOTH + [unfolding("other.npy", "\0", 500)], HARMLESS),
    ("a member that says it has 4 GB", [LARGE_LABEL, BOTH[1]]),
    ("members that together say they have 16 GB", [LARGE_LABEL, LARGE_LABEL._replace(name="a.npy"),
                                                   LARGE_LABEL._replace(name="b.npy"),
                                                   Member("logits.npy", LOGITS, declared=0xfffffffe)]),
    ("names of groups that are paths", BOTH + [("group_names.npy", npy_texts(["../../x"])), ("group.npy", GROUPS)], ANSWERED),
    ("a member out of the folder", [("../../label.npy", LABEL), BOTH[1]]),
    ("names that a terminal obeys", [("\x1b]0;x\a.npy", LABEL), BOTH[1]]),
    ("30,000 members", [("label.npy", "x")] * 30000), ("a name of 60,000 bytes", [("x" * 60000, LABEL), BOTH[1]]),
    ("labels that are not numbers", [("label.npy", npy("<f8", (6,), [1e308] * 6)), BOTH[1]]),
    ("labels of -2^63", [("label.npy", array(*[-2**63] * 6)), BOTH[1]]),
    ("labels of 2^63 - 1", [("label.npy", array(*[2**63 - 1] * 6)), BOTH[1]]),
    ("classes 2^31", BOTH + [("num_classes.npy", array(1 << 31, shape=()))]),
    ("groups out of their names", BOTH + [("group_names.npy", npy_texts(["\x1b[2J"])),
                                          ("group.npy", array(-1, -1, -1, -1, 0, 10**9))]),
    ("a group that a terminal obeys", BOTH + [("group_names.npy", npy_texts(["\x1b[2J"])), ("group.npy", GROUPS)], ANSWERED),
    ("predictions out of the classes", BOTH + [("prediction.npy", array(*[10**9] * 6))]),
    ("member_uncertainty of a row", BOTH + [("member_uncertainty.npy", npy("<f4", (1, 3), [1] * 3))])]


def arrays():
    yield from files_of("array (.npy)", NPY, "work/label.npy")
    yield from files_of("arrays (.npz)", NPZ, "work/logits.npz")
    for what, content in ARRAYS:
        yield held("array (.npy)", what, NPY, "work/label.npy", content)
        yield held("arrays (.npz)", what, NPZ, "work/logits.npz", zip_of([("label.npy", content), BOTH[1]]))
    for what, members, *end in ARCHIVES:
        case = held("arrays (.npz)", what, NPZ, "work/logits.npz", lambda members=members: zip_of(members), *end)
        yield case.but(named="") if end else case
    uncertain = zip_of(BOTH + [("member_uncertainty.npy", npy("<f4", (6, 3), [1] * 18))])
    for files in ("logits.npz other.npz --score=mutual_information",
                  "other.npz logits.npz --score=mutual_information --unknown=other"):
        yield Case("arrays (.npz)", "one of two files without member_uncertainty", "eval " + files,
                   holding("work/other.npz", uncertain))


HEAD = "label,prediction,unknown_score\n"
ROWS = HEAD + "0,0,0.1\n-1,0,0.5\n"
TABLES = {
    "no rows": HEAD, "rows of other lengths": ROWS + "0,0\n", "a cell that is not closed": ROWS + '0,0,"0.1\n',
    "a score that is no number": ROWS + "0,0,nan\n", "a score that is a text": ROWS + "0,0,\x1b[2J\n",
    "a label that is too large": ROWS + "99999999999999999999,0,1\n", "a label of 10^18": ROWS + f"{10**18},0,1\n",
    "a label below -1": ROWS + "-2,0,1\n", "a fraction of a label": ROWS + "0.5,0,1\n",
    "a column twice": "label,label,unknown_score\n0,0,1\n", "no columns that are known": "\x1b]0;x\a,\xff\n0,0\n",
    "100,000 columns": "label" + "".join(f",logit_{i}" for i in range(100000)) + "\n0,1\n",
    "a logit of number 2^31": "label,logit_0,logit_2147483648\n0,1,2\n", "zero bytes": HEAD + "0,0,\0\n",
    "a line of 20 MB": HEAD + "1" * (20 << 20)}


def tables():
    yield from files_of("table (.csv)", CSV, "work/scores.csv")
    for what, text in TABLES.items():
        yield held("table (.csv)", what, CSV, "work/scores.csv", text)
    text = ("label,prediction,unknown_score,group\n\x1b]0;x\a,\x1b]0;x\a,0.1,\n=1+1,\x1b]0;x\a,0.2,\n"
            "unknown,=1+1,0.5,\x1b[2J\n")
    yield held("table (.csv)", "classes that a terminal obeys", CSV + " --classes=c.csv", "work/scores.csv", text,
               ANSWERED).but(writes=["work/c.csv"])
    yield held("table (.csv)", "a table of results that a terminal obeys", "compare results.csv", "work/results.csv",
               "method,task,split,seed,auroc\n\x1b[2J,t,0,0,0.5\nb,t,0,0,nan\n", ANSWERED)


def nested():
    inner = little(14) + little(16) + "\0" * 16
    for _ in range(6):
        inner = little(15) + little(len(gzip_of(inner))) + gzip_of(inner)
    return inner


HEAD_OF_MAT = stored_image("digits_plain.mat")[:128]
MATS = [("an array of 2^31 bytes", HEAD_OF_MAT + little(14) + little(0x7fffffff)),
        ("an array of 2^32 - 8 bytes", HEAD_OF_MAT + little(14) + little(0xfffffff8) + "xxxxxxxx"),
        ("arrays of no bytes", HEAD_OF_MAT + (little(14) + little(0)) * 100000),
        ("compressed within compressed", HEAD_OF_MAT + nested()),
        ("half a file", stored_image("digits.mat")[:len(stored_image("digits.mat")) // 2])]
IDX = [("IDX of 2^32 - 1 images", "\0\0\x08\x03" + "\xff" * 12),
       ("IDX of images of no pixels", "\0\0\x08\x03\0\0\0\x32" + "\0" * 8),
       ("gzip of 256 MB", lambda: gzip_of("\0" * (256 << 20))), ("gzip within gzip", gzip_of(gzip_of(gzip_of("x")))),
       ("half of gzip", gzip_of("x" * 100000)[:60])]


def data_files():
    yield from files_of("MATLAB file (.mat)", VERIFY.format("mats"), "work/files/mats/digits.mat")
    for what, content in MATS:
        yield held("MATLAB file (.mat)", what, VERIFY.format("mats"), "work/files/mats/digits.mat", content)
    kind = "image file of a data set"
    for data_set, path in (("digits", "digits/test-images"), ("binary", "binary/train.bin"),
                           ("arrays", "arrays/images.npz"), ("listed", "listed/list.txt")):
        yield from files_of(kind, VERIFY.format(data_set), "work/files/" + path)
    for what, content in IDX:
        yield held(kind, what, VERIFY.format("digits"), "work/files/digits/test-images", content)
    yield held(kind, "300 MB that unfold", VERIFY.format("arrays"), "work/files/arrays/images.npz",
               lambda: zip_of([unfolding("images.npy", "\0", 300)]))


def model_files():
    """The command looks for the file, and hashes it; the worker reads it (worker_models)."""
    def make(fixture):
        fixture.replace("work/experiments/methods/plain.textproto", "head { linear {} }",
                        "head { linear {} } weights { file: '../../weights.safetensors' }")
    readable = {"end": HARMLESS, "named": ""}  # the worker reports errors in its content
    yield from entries(Case("model file (.safetensors, .pth)", "", "plan study.textproto --data=files", make,
                            named="weights.safetensors"), "work/weights.safetensors",
                       {"zeros": readable, "noise": readable, "what a terminal obeys": readable})


# Images.


def chunk(kind, content):
    return big(len(content)) + kind + content + big(zlib.crc32((kind + content).encode("latin-1")))


def png(width, height, rest, depth=8, kind=2, interlace=0):
    header = big(width) + big(height) + big(depth, 1) + big(kind, 1) + big(0, 2) + big(interlace, 1)
    return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + rest + chunk("IEND", "")


def pixels(content):
    return chunk("IDAT", zlib_of(content))


def many_scans():
    """A progressive JPEG whose last scan is repeated."""
    image = stored_image("progressive.jpeg")
    last = image.rindex("\xff\xda")
    return image[:last] + image[last:-2] * 2000 + "\xff\xd9"


def resized(image, height, width):
    for marker in ("\xff\xc0", "\xff\xc2"):
        at = image.find(marker)
        if at >= 0:
            image = image[:at + 5] + big(height, 2) + big(width, 2) + image[at + 9:]
    return image


def riff(content):
    return "RIFF" + little(len(content) + 4) + "WEBP" + content


def tiff(*entries_, rest=""):
    """Each entry is a tag, a type, a number of values, and a value or its place."""
    listed = "".join(little(tag, 2) + little(kind, 2) + little(count) + little(value) for tag, kind, count, value in entries_)
    return "II*\0\x08\0\0\0" + little(len(entries_), 2) + listed + little(0) + rest


def grey_tiff(width, height, compression, bits=8):
    """In one strip of 64 bytes after the entries."""
    return tiff((256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, bits), (259, 3, 1, compression), (262, 3, 1, 1),
                (273, 4, 1, 8 + 2 + 9 * 12 + 4), (277, 3, 1, 1), (278, 4, 1, height), (279, 4, 1, 64), rest="\0" * 64)


def gif(width, height, rest):
    return "GIF89a" + little(width, 2) + little(height, 2) + "\x80\0\0" + "\x7f" * 6 + rest


def gif_frame(left, top, width, height):
    return "," + little(left, 2) + little(top, 2) + little(width, 2) + little(height, 2) + "\0\2\2\x4c\1\0;"


def bmp(width, height, bits, compression, begin, rest):
    return ("BM" + little(0, 8) + little(begin) + little(40) + little(width) + little(height) + little(1, 2) +
            little(bits, 2) + little(compression) + little(0, 20) + rest)


def ring():
    image = grey_tiff(8, 8, 1)
    return image[:118] + little(8) + image[122:]


def far_frame():
    image = stored_image("moving.webp")
    at = image.index("ANMF") + 8
    return image[:at] + "\xff\xff\xff" + image[at + 3:]


FOUR, MEGABYTES = (256, 4, 1, 4), lambda: zlib_of("\0" * (200 << 20))
SQUARE = (FOUR, (257, 4, 1, 4))
IMAGES = [  # what, the content, and ANSWERED if it need not be refused
    ("PNG of 2^31 - 1 squared", lambda: png(0x7fffffff, 0x7fffffff, pixels("x"))),
    ("PNG of 60,000 squared", lambda: png(60000, 60000, pixels("\0" * (1 << 20)))),
    ("PNG of 8,192 squared whose pixels unfold", lambda: png(8192, 8192, pixels("\0" * (8192 * (8192 * 3 + 1)))), ANSWERED),
    ("PNG of no pixels", lambda: png(0, 0, pixels(""))), ("PNG of depth 255", lambda: png(4, 4, pixels("x"), 255)),
    ("PNG of type 7", lambda: png(4, 4, pixels("x"), 8, 7)),
    ("PNG, interlaced, without its rows", lambda: png(100, 100, pixels("x"), 8, 2, 1)),
    ("PNG with a palette of 1,000", lambda: png(4, 4, chunk("PLTE", "x" * 3000) + pixels("x"), 8, 3)),
    ("PNG with 50,000 chunks of text", lambda: png(1, 1, chunk("tEXt", "k\0v") * 50000 + pixels("\0" * 4)), ANSWERED),
    ("PNG with a text that unfolds", lambda: png(1, 1, chunk("zTXt", "k\0\0" + MEGABYTES()) + pixels("\0" * 4)), ANSWERED),
    ("PNG with a profile that unfolds", lambda: png(1, 1, chunk("iCCP", "k\0\0" + MEGABYTES()) + pixels("\0" * 4)), ANSWERED),
    ("PNG whose chunk says it has 2 GB", "\x89PNG\r\n\x1a\n" + big(0x7fffffff) + "IHDR"),
    ("PNG without an end", stored_image("rgb.png")[:60]), ("JPEG with 2,000 scans", many_scans),
    ("JPEG with 2,000 scans of 16,000 squared", lambda: resized(many_scans(), 16000, 16000)),
    ("JPEG of 65,535 squared", resized(stored_image("rgb.jpg"), 65535, 65535)),
    ("JPEG of 8,000 squared", resized(stored_image("rgb.jpg"), 8000, 8000), ANSWERED),
    ("JPEG of no rows", resized(stored_image("rgb.jpg"), 0, 16)),
    ("JPEG of 1,000,000 markers", lambda: "\xff\xd8" + "\xff\xfe\0\2" * 1000000),
    ("JPEG with EXIF that leads into itself",
     "\xff\xd8\xff\xe1" + big(18, 2) + "Exif\0\0MM\0\x2a\0\0\0\x08\xff\xff" + stored_image("rgb.jpg")[2:], ANSWERED),
    ("JPEG without its pixels", stored_image("rgb.jpg")[:200]),
    ("WebP of 16,384 squared", riff("VP8L\x0a\0\0\0\x2f\xff\xff\xff\x0f\0\0\0\0\0")),
    ("WebP whose canvas is 2^24 squared", riff("VP8X\x0a\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff")),
    ("WebP whose chunk says it has 4 GB", riff("VP8 " + "\xff" * 4 + "x")),
    ("WebP without its pixels", stored_image("lossy.webp")[:30]),
    ("WebP with an animation that has no frame", riff("VP8X\x0a\0\0\0\2\0\0\0\3\0\0\3\0\0")),
    ("WebP whose frame lies outside its canvas", far_frame()),
    ("TIFF of 2^32 - 1 squared", grey_tiff(0xffffffff, 0xffffffff, 1)), ("TIFF of 60,000 squared", grey_tiff(60000, 60000, 1)),
    ("TIFF of 8,000 squared in 64 bytes", grey_tiff(8000, 8000, 5)),
    *[(f"TIFF of zeros with compression {one}", grey_tiff(64, 64, one, 1 if one < 5 else 8), ANSWERED) for one in (
        1, 2, 3, 4, 5, 6, 7, 8, 32773, 32809, 34661, 34676, 34712, 34887, 34925, 50000, 50001)],
    ("TIFF of a fax of 8,000 squared", grey_tiff(8000, 8000, 4, 1), ANSWERED),
    ("TIFF whose strip lies behind its end",
     tiff(*SQUARE, (258, 3, 1, 8), (262, 3, 1, 1), (273, 4, 1, 0x7fffffff), (279, 4, 1, 16))),
    ("TIFF whose tag has 2^32 - 1 values", tiff(*SQUARE, (258, 3, 0xffffffff, 8), (262, 3, 1, 1), (273, 4, 0xffffffff, 8))),
    ("TIFF whose directories are a ring", ring(), ANSWERED), ("TIFF with 65,535 tags", "II*\0\x08\0\0\0\xff\xff"),
    ("TIFF of 2^16 - 1 samples", tiff(*SQUARE, (258, 3, 1, 8), (262, 3, 1, 2), (273, 4, 1, 8), (277, 3, 1, 65535))),
    ("GIF of 65,535 squared", gif(65535, 65535, gif_frame(0, 0, 65535, 65535))),
    ("GIF of a large canvas", gif(65535, 65535, gif_frame(0, 0, 1, 1))),
    ("GIF whose frame lies far outside", gif(8, 8, gif_frame(65535, 65535, 1, 1))),
    ("GIF of no pixels", gif(0, 0, gif_frame(0, 0, 0, 0))), ("GIF without a frame", gif(8, 8, ";")),
    ("GIF without its pixels", stored_image("palette.gif")[:80]),
    ("GIF with 1,000,000 extensions", lambda: gif(8, 8, "!\xfe\1x\0" * 1000000)),
    ("BMP of 2^31 - 1 squared", bmp(0x7fffffff, 0x7fffffff, 24, 0, 54, "x")),
    ("BMP of -2^31 rows", bmp(1, 0x80000000, 24, 0, 54, "x")), ("BMP of no pixels", bmp(0, 0, 24, 0, 54, "x")),
    ("BMP whose pixels lie behind its end", bmp(4, 4, 24, 0, 0xffffffff, "x" * 64)),
    ("BMP of 3 bits", bmp(4, 4, 3, 0, 54, "x" * 64)), ("BMP compressed as JPEG", bmp(4, 4, 0, 4, 54, "x" * 64)),
    ("BMP of runs of 8,000 squared", bmp(8000, 8000, 8, 1, 54, "\0" * 1030)),
    ("BMP of moves", bmp(1000, 1000, 8, 1, 1078, "\0" * 1024 + "\2" * 200)),
    ("BMP cut in its header", "BM" + "\0" * 12 + "\x28\0\0\0"), ("PPM of 60,000 squared", "P6 60000 60000 255 x"),
    ("PBM of 8,000 squared in text", "P1 8000 8000 1 0 1"), ("PPM of 10^18 columns", f"P6 {10**18} 1 255 x"),
    ("PPM whose largest value is 0", "P6 1 1 0 xxx"), ("PGM that is a comment", "P2 #" + "#" * (1 << 20)),
    ("an archive", zip_of([("1.png", "x")])), ("a program", "#!/bin/sh\ntouch pwn\n")]
DESCRIBE = "data describe files/photos --name=mine"


def images():
    base = Case("image", "", VERIFY.format("photos"), named="1.png")
    photo = "work/files/photos/cat/1.png"
    missing = {"named": "photos"}  # a folder is not an image, so one image is missing
    yield from entries(base, photo, {"a folder": missing, "a link to a folder": missing})
    for what, content, *end in IMAGES:
        yield base.but(what=what, make=holding(photo, content), end=end[0] if end else REFUSED, named="" if end else "1.png")
    free = base.but(end=ANSWERED, named="", writes=["work/data/catalog", "work/catalog", "work/mine.textproto"])
    for name in ("\x1b]0;x\a.png", "\xff\xfe.png", "a\nb.png", "=1+1.png", "x';touch pwn;'.png"):
        def files(fixture, name=name):
            fixture.write("work/files/photos/cat/" + name, "no image")
            fixture.write("work/files/photos/dog/" + name, stored_image("rgb.png"))

        def folder(fixture, name=name):
            fixture.write(f"work/files/photos/{name}/1.png", stored_image("rgb.png"))
            fixture.write(f"work/files/photos/{name}/2.png", stored_image("rgb.png"))
        for command in (base.command, "data audit photos --library=. --data=files", DESCRIBE):
            yield free.but(what="the name " + name, command=command, make=files)
        yield free.but(what="a class called " + name, command=DESCRIBE, make=folder)
    yield free.but(what="a folder that leads into itself", command=DESCRIBE,
                   make=lambda fixture: fixture.link("work/files/photos/loop", ".."))


# Archives and downloads: files from a fake curl, for a catalog from someone else. They come into a separate folder, which
# contains links to other people's files.

CATALOG = "work/data/catalog/fetched.textproto"
GOOD = "\0x\1y"


def download(what, make, end=NOTED, named=""):
    return Case("download", what, "data fetch fetched --library=. --data=brought", make, end, named,
                ["work/brought", "tmp/curl.log"])


def archive(what, unpack, content, end=NOTED):
    def make(fixture):
        fixture.write("served/archive", content)
        text = fixture.read(CATALOG)
        fixture.write(CATALOG, text[:text.index("fetch {")] +
                      "fetch { title: 'official' urls { file { url: 'https://example.org/archive' path: '' unpack: "
                      f"{unpack} bytes: {len(content)} sha256: '{sha256(content)}' }} }} }}\n")
        fixture.link("work/brought/linked", fixture.folder + "/outside")
        fixture.link("work/brought/file", fixture.folder + "/outside/file")
    return download(what, make, end, "fetched" if end == NOTED else "").but(input="archive")


SET = ("fetched/train.bin", GOOD)
TARS = [  # what, entries: name, content, kind, target, mode, size; and the end
    ("out of the folder", [("../../outside/file", "x")]), ("absolute", [("/var/lib/openset_hostile_pwn", "x")]),
    ("a link, and a file through it", [("out", "", "2", "../../outside"), ("out/file", "x")]),
    ("a link out of the folder", [("out", "", "2", "/etc/passwd")]),
    ("a hard link out of the folder", [("out", "", "1", "/etc/passwd")]),
    ("a hard link to nothing", [("out", "", "1", "nowhere")]), ("a device", [("zero", "", "3")]),
    ("a pipe", [("fetched/pipe", "", "6")]), ("setuid", [("fetched/suid", "x", "0", "", 0o6755)], ANSWERED),
    ("nobody may read it", [("fetched/closed", "x", "0", "", 0)], ANSWERED),
    ("a folder that is closed", [("closed", "", "5", "", 0)], ANSWERED),
    ("through a link that is there", [("linked/file", "x"), ("linked/folder/file", "x")]),
    ("over a link that is there", [("file", "x")], ANSWERED),
    ("names that a terminal obeys", [("fetched/\x1b]0;x\a", "x")], ANSWERED),
    ("a name that looks like an option", [("--checkpoint-action=exec=touch pwn", "x")], ANSWERED),
    ("a file that says it has 8 EB", [("fetched/large", "x", "0", "", 0o644, 0x7f7f7f7f7f7f7f7f)]),
    ("a type that there is not", [("fetched/x", "x", "Z")], ANSWERED), ("a file over a folder", [("fetched", "x")], ANSWERED)]
ZIPS = [
    ("out of the folder", [("../../outside/file", "x")]), ("absolute", [("/var/lib/openset_hostile_pwn", "x")]),
    ("a link, and a file through it", [Member("out", "../../outside", mode=0o120777), ("out/file", "x")]),
    ("a link out of the folder", [Member("out", "/etc/passwd", mode=0o120777)]),
    ("through a link that is there", [("linked/file", "x")]),
    ("setuid", [Member("fetched/suid", "x", mode=0o106755)], ANSWERED),
    ("a pipe", [Member("fetched/pipe", "", mode=0o010644)], ANSWERED),
    ("a name that looks like an option", [("-x", "x")], ANSWERED),
    ("names that a terminal obeys", [("fetched/\x1b]0;x\a", "x")], ANSWERED),
    ("a file that says it has 4 GB", [Member("fetched/large", "x", declared=0xfffffffe)], ANSWERED),
    ("the same name twice", [("fetched/train.bin", "x")], ANSWERED)]
NOISE = "\xa5" * 5000


def archives():
    for what, members, *end in TARS:
        yield archive("tar: " + what, "TAR", tar_of(members + [SET]), *end)
    for what, content in (("noise", NOISE), ("nothing", ""), ("half", tar_of([("fetched/x", "x" * 5000), SET])[:2000]),
                          ("gzip of noise", gzip_of(NOISE))):
        yield archive("tar: " + what, "TAR", content)
    for what, members, *end in ZIPS:
        yield archive("zip: " + what, "ZIP", zip_of(members + [SET]), *end)
    yield from (archive("zip: noise", "ZIP", NOISE), archive("zip: nothing", "ZIP", ""))


URL, PATH = '"https://example.org/train.bin"', 'path: "fetched/train.bin"\n  bytes'
ADDRESSES = ["-Kevil", "--output=/nowhere/x", "file:///etc/passwd", "http://example.org/train.bin",
             "ftp://example.org/train.bin", "gopher://x/train.bin", "scp://x/train.bin", "dict://x", "", " ", "https://",
             "HTTPS://example.org/train.bin\\nx", "https://example.org/\\033]0;x\\007", "https://example.org/\\xff",
             "@/etc/passwd", "https://a\\000b/x", "https://example.org/" + "x" * 100000]
PLACES = ["../../outside/file", "/var/lib/openset_hostile_pwn", "..", "a/../../../outside/file", "a\\nb", "\\033[2J",
          "\\xff", "a\\000b"]
ENTRIES_OF_CATALOG = [(URL, f'"{address}"') for address in ADDRESSES]
ENTRIES_OF_CATALOG += [(PATH, f'path: "{place}"\n  bytes') for place in PLACES]
ENTRIES_OF_CATALOG += [("bytes: 4", "bytes: -1"), ('sha256: "', 'sha256: "x'), ("  sha256", "  # ")]
SERVED = {"another file": "abcd", "a longer file": "abcdefgh", "a shorter file": "a", "nothing": "",
          "100 MB": "x" * (100 << 20), "a page": "<html>not found</html>\x1b[2J"}
CURLS = {"curl fails": "#!/bin/sh\nexit 22\n",
         "curl says what a terminal obeys": "#!/bin/sh\nprintf '\\033]0;x\\007' >&2\nexit 7\n",
         "curl says 10 MB": "#!/bin/sh\nhead -c 10000000 /dev/zero >&2\nexit 7\n",
         "curl is killed": "#!/bin/sh\nkill -9 $$\n", "curl is no program": "noise"}


def planted_links(fixture):
    for more in ("", ".part", ".part.headers"):
        fixture.link("work/brought/fetched/train.bin" + more, fixture.folder + "/outside/file")


def downloads():
    def catalog(old, new, end=REFUSED, named="fetched.textproto"):
        return download(new[:80], lambda fixture: fixture.replace(CATALOG, old, new), end, named)
    yield from (catalog(old, new) for old, new in ENTRIES_OF_CATALOG)
    yield catalog("bytes: 4", "bytes: 9223372036854775807", NOTED, "has 4 bytes")
    yield from (download(what, holding("served/train.bin", content), NOTED, "train.bin") for what, content in SERVED.items())
    for what, script in CURLS.items():
        yield download(what, lambda fixture, script=script: fixture.make_program("bin/curl", script))
    yield download("a link in the place of the file", planted_links, ANSWERED)


# Messages of workers: scripts replace the worker and write to the channel, which is file descriptor 3.


def without_outputs(fixture):
    """Then the worker is asked for the first trial's outputs."""
    fixture.remove(ANY.outputs())
    fixture.remove(ANY.record())


def worker(what, script, end=NOTED):
    def make(fixture):
        without_outputs(fixture)
        fixture.make_program("work/worker.sh", "#!/bin/sh\n" + script)
    return Case("worker message", what, "run study.textproto --deploy=deploy.textproto --worker=worker.sh", make, end,
                writes=STORE)


def says(content):
    """A script that waits for a request, writes these bytes to the channel and ends."""
    octal = "".join(f"\\{ord(c):03o}" for c in content)
    return f"head -c 4 <&3 >/dev/null\nprintf '{octal}' >&3\nsleep 0.1\n"


def message(content):
    """With its length in front, as it goes over the channel."""
    return little(len(content)) + content


def event(*changes):
    return message(ANY.changed("WorkEvent", "", changes)[len(framed("")):])


TEXTS = ("\x1b]0;owned\a", "\xff\xfe", "a\nb\rc", "\xe2\x80\xae x", "a\0b", "x" * 9000)
SAID = {
    "2^32 - 1 bytes are to come": "\xff" * 4, "256 MB are to come": "\0\0\0\x10", "half a message": "\x10\0\0\0abc",
    "no message": message("\xff" * 100), "groups in groups": message("\x0b" * 1000), "nothing": message(""),
    "an event that there is not": message("\x9a\x06\0"), "1,000 empty messages": message("") * 1000,
    "success without a result": event("+outcome { code: 0 }"),
    **{f"code {code}": event(f"+outcome {{ code: {code} }}") for code in (-1, 17, 99, 2**31 - 1, -2**31)}}
SCRIPTS = {
    "half a message, then silence": says("\x10\0\0\0abc").replace("sleep 0.1", "exec sleep 1000"),
    "silence": "exec sleep 1000\n", "the end of the channel": "exec 3>&-\n", "nothing, and ends with 77": "exit 77\n",
    "killed": "kill -9 $$\n", "no program": "exec /nowhere\n", "the request back": "cat <&3 >&3\n",
    "noise for ever": "cat /dev/urandom >&3\n", "10 MB of what a terminal obeys, to its log":
    "head -c 10000000 /dev/urandom\nprintf '\\033]0;x\\007\\n' >&2\nexit 3\n"}


def workers():
    yield from (worker(what, script) for what, script in SCRIPTS.items())
    yield from (worker(what, says(content)) for what, content in SAID.items())
    end = event("+outcome { code: 13 }")
    for text in TEXTS:
        octal = "'" + "".join(f"\\{ord(c):03o}" for c in text) + "'"
        yield worker("it failed with " + text[:10], says(event(f"+outcome {{ code: 3 message: {octal} }}")))
        yield worker("it is at " + text[:10], says(event(f"+progress {{ what: {octal} metric: {octal} }}") + end))
    for number in ("nan", "inf", "-inf", "1e308", "-1"):
        fields = " ".join(f"{field}: {number}" for field in ("fraction", "images_per_second", "loss", "metric_value"))
        yield worker("progress of " + number, says(event(
            f"+progress {{ {fields} epoch: {-2**31} epochs: {2**31 - 1} }}") + end))
    yield from entries(Case("worker message", "the worker",
                            "run study.textproto --deploy=deploy.textproto --worker=worker", without_outputs, NOTED,
                            writes=STORE), "work/worker")


# Requests to `openset serve`, and texts in the store that it shows.

LOCAL = "Host: localhost\r\n"
SCRIPT = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\\033]0;x\\007"
QUOTED = SCRIPT.replace("'", "\\'")
PATHS = ["/../../../etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd", "/store/version", "/version",
         "/study/../../store/version", "/record/..", "/study/0123456789abcde/", "/%00", "/\\..\\x",
         "/study/0123456789abcdef/records/99999999999999999999", "http://x/live.json", "/" * 3001]
HOSTS = ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "", "0.0.0.0", "a b"]
REQUESTS = [(path[:60], f"GET {path} HTTP/1.1\r\n{LOCAL}\r\n", "HTTP/1.1 404") for path in PATHS]
REQUESTS += [("/" + "a" * 59, f"GET /{'a' * 100000} HTTP/1.1\r\n{LOCAL}\r\n", "HTTP/1.1 431")]
REQUESTS += [("host " + host, f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n", "HTTP/1.1 421") for host in HOSTS]
REQUESTS += [(method, f"{method} / HTTP/1.1\r\n{LOCAL}\r\n", "HTTP/1.1 405")
             for method in ("POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "TRACE", "X")]
REQUESTS += [
    ("two hosts", f"GET / HTTP/1.1\r\n{LOCAL}Host: evil.example\r\n\r\n", "HTTP/1.1 400"),
    ("a page of another site", f"GET /live.json HTTP/1.1\r\n{LOCAL}Sec-Fetch-Site: cross-site\r\n\r\n", "HTTP/1.1 403"),
    ("a body of 8 EB", f"GET / HTTP/1.1\r\n{LOCAL}Content-Length: 9223372036854775807\r\n\r\n", "HTTP/1.1 413"),
    ("chunks", f"GET / HTTP/1.1\r\n{LOCAL}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", "HTTP/1.1 413"),
    ("noise", NOISE + "\r\n\r\n", "HTTP/1.1 4"),
    ("TLS", "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n", "HTTP/1.1 400"), ("half a request", "GET / HT", ""),
    ("10,000 requests at once", f"GET /live.json HTTP/1.1\r\n{LOCAL}\r\n" * 10000, "HTTP/1.1 200")]
SHOWN = [
    ("a study whose name is a script", "/", "&lt;script&gt;", lambda fixture: fixture.write(ANY.record(), fixture.changed(
        "TrialRecord", ANY.record(), [f"+trial {{ experiment: '{QUOTED}' method {{ name: '{QUOTED}' }} }}"]))),
    ("a run whose name is a script", "/live.json", "HTTP/1.1 200", lambda fixture: fixture.write(
        "work/store/runs/elsewhere.01234567.1.1.rec", fixture.changed("RunState", "", [
            f"+id: 'elsewhere.01234567.1.1' pid: 1 lease_seconds: 120 experiment: '{QUOTED}'"]))),
    ("a record of noise", "/", "Corrupt", holding(ANY.record(), "noise"))]


def requests():
    base = Case("request", "", "serve --store=store --library=. --data=files --port=0", end=HARMLESS)
    yield from (base.but(what=what, request=request, named=answer) for what, request, answer in REQUESTS)
    for what, path, answer, make in SHOWN:
        yield base.but(what=what, request=f"GET {path} HTTP/1.1\r\n{LOCAL}\r\n", named=answer, make=make)


# Model files that the worker reads: safetensors, and archives of PyTorch.

METHOD = """
model { osrci_cnn {} head { linear {} } weights { file: "FILE" } }
input { size: 20 channels: 1 }
"""
NAME = "backbone.weight"
CODE = "cposix\nsystem\n(S'touch pwn'\ntR."  # a pickle that would run a command in Python
CODE_ARCHIVE = zip_of([("archive/data.pkl", CODE), ("archive/version", "3\n")])
OLD = "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.\x80\x02}."
TENSORS = {
    "a header of 2^63 - 1 bytes": safetensors("{}", 2**63 - 1), "a header of 99 MB": safetensors("{}", 99_000_000),
    "100,000 open braces": safetensors("{" * 100000), "100,000 open brackets": safetensors('{"x":' + "[" * 100000),
    "a shape that overflows": safetensors(tensor(NAME, "F32", "[4294967296,4294967296]", "[0,24]")),
    "a shape below 0": safetensors(tensor(NAME, "F32", "[-2,-3]", "[0,24]")),
    "offsets beyond the file": safetensors(tensor(NAME, "F32", "[2,3]", "[9223372036854775783,9223372036854775807]")),
    "offsets that go back": safetensors(tensor(NAME, "F32", "[2,3]", "[24,0]")),
    "a type that there is not": safetensors(tensor(NAME, "F99", "[2,3]", "[0,24]")),
    "a name that a terminal obeys": safetensors(tensor("\\u001b]0;x\\u0007", "F32", "[2,3]", "[0,24]")),
    "a name that is not UTF-8": safetensors(tensor("\xff\xfe", "F32", "[2,3]", "[0,24]")),
    "a value of another type": safetensors('{"x":7,"y":null,"__metadata__":[]}'),
    "20,000 tensors": safetensors("{" + ",".join(
        f'"t{i}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}' for i in range(20000)) + "}", -1, 0),
    "not a number": safetensors(tensor("head.weight", "F32", "[3,128]", "[0,1536]"), -1, 1536)}
PICKLES = {"code in a pickle": CODE, "code in an archive": CODE_ARCHIVE, "a pickle that unfolds": lambda: zip_of(
    [unfolding("archive/data.pkl", ")", 300), ("archive/version", "3\n")])}
OF_NETWORKS = [  # weights of a network that the command line names: what, the file, its content, what the error names
    ("nothing", "weights.pth", "", "is empty"),
    ("code in a pickle", "weights.pth", CODE, "is neither a safetensors file nor a file of torch.save()"),
    ("a Git LFS pointer", "weights.pth", "version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer"),
    ("an archive named safetensors", "weights.safetensors", CODE_ARCHIVE, "not a safetensors file as its name says"),
    *[("TorchScript that runs code, " + file, file, lambda: read_file("models/testdata/script_setstate.pt"),
       "its code defines __setstate__") for file in ("weights.pth", "weights.bin", "weights", "resnet18.pth")],
    ("code in a pickle of old PyTorch", "weights.pth", OLD + CODE, ""),
    ("storages of 2^63 - 1 elements", "weights.pth", OLD + "\x80\x02}." + "\x80\x02]U\x01aa." + little(2**63 - 1, 8), ""),
    ("zeros", "weights.bin", "\0" * 100000, ""),
    ("another's tensors", "weights.safetensors", safetensors(tensor(NAME, "F32", "[2,3]", "[0,24]")), ""),
    ("a name that a terminal obeys", "weights.safetensors", TENSORS["a name that a terminal obeys"], "")]


def worker_models():
    """The worker, and therefore LibTorch, reads these."""
    def model(what, file, content, flags, named="", end=NOTED):
        def make(fixture):
            fixture.write("work/net.textproto", METHOD.replace("FILE", file))
            fixture.write("work/" + file, content() if callable(content) else content)
        return Case("model file (.safetensors, .pth)", what,
                    "score --task=data/tasks/task.textproto --split=0 --library=. --data=files --store=scored "
                    "--methods=mcp --jobs=1 --retries=0 " + flags, make, end, named, ["work/scored"], with_worker=True)
    yield from (model(what, "weights.safetensors", content, "--model=net.textproto") for what, content in TENSORS.items())
    yield from (model(what, "weights.pth", content, "--model=net.textproto") for what, content in PICKLES.items())
    for what, file, content, named in OF_NETWORKS:
        yield model(what + ", of a named network", file, content, f"--model={file} --network=resnet18_cifar", named)
    script = "--model=net.pt --size=8 --channels=1 --mean=0.5 --std=0.5"
    network = read_file("tools/testing/testdata/fashion_network.pt")
    yield model("nothing", "net.pt", "", script)
    yield model("half a network", "net.pt", network[:len(network) // 2], script)
    drawn = random.Random(0)
    for i in range(4):
        changed = list(network)
        for _ in range(20):
            changed[drawn.randrange(len(changed))] = chr(drawn.randrange(256))
        yield model(f"a network with noise {i}", "net.pt", "".join(changed), script, end=ANSWERED)


def cases():
    for some in (arrays, tables, data_files, model_files, images, archives, downloads, workers, requests):
        yield from some()
