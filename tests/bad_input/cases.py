"""The bad-input table: what is given, and what the one line must say. A new way to be wrong is one more row."""
import dataclasses
import itertools

from preparing import (changed, coco, copied, cub, cut, each, flipped, floats, folder, given, linked, matlab5, matlab73, mode,
                       pipe, png, removed, safetensors, zipped)

SHARED = (["data", "synth", "{animals}", "--images", "8", "--categories", "2", "--size", "48"],
          ["train", "{animals}", "{run}", "--epochs", "2", "--batch", "8"],
          ["measure", "{run}", "--resamples", "20", "--shuffles", "2"],
          ["dump", "{run}", "--layer", "conv4", "--out", "{dump}"],
          ["names", "{run}", "--learn"],
          ["names", "{run}", "--forget"],  # makes the lock that stays beside names.json
          ["report", "{run}", "--out", "{page}"],
          ["export", "{run}", "--out", "{weights}"])
LONGEST_LINE = 700  # a terminal shows it whole; lists of valid words are the longest there are

_numbers = itertools.count(1)
CASES = []


@dataclasses.dataclass
class Case:
    """One row. `leaves`: what the program may leave, because running again goes on with it; `before`: how lines may start that it says
    before it meets the fault; `conditions`: file_size, memory, plain_user, stdout."""
    name: str
    arguments: tuple
    says: tuple
    steps: tuple = ()
    code: int = 1
    leaves: tuple = ()
    before: tuple = ()
    conditions: dict = dataclasses.field(default_factory=dict)
    number: int = dataclasses.field(default_factory=lambda: next(_numbers))

    def prepare(self, place, shared):
        for step in self.steps:
            step(place, shared)


def row(name, arguments, says, *steps, code=1, leaves=(), before=(), **conditions):
    if isinstance(arguments, str):
        arguments = arguments.split()
    CASES.append(Case(name, tuple(arguments), (says,) if isinstance(says, str) else tuple(says), steps, code, leaves, before, conditions))


def usage(name, arguments, says, *steps):
    row("usage: " + name, arguments, says, *steps, code=2)


# ---- the command line itself -------------------------------------------------------------------------------------------------------
usage("nothing", "", "subcommand")
usage("an unknown command", "frobnicate", "frobnicate")
usage("a mistyped command", "mesure {run}", ("mesure", "measure"))
usage("an unknown option", "train {animals} r --epoch 3", "--epoch")
usage("an option without its value", "train {animals} r --epochs", "--epochs")
usage("a word for a number", "train {animals} r --epochs many", ("--epochs", "many"))
usage("half a number", "train {animals} r --epochs 3x", ("--epochs", "3x"))
usage("an argument missing", "train {animals}", "run")
usage("an argument too many", "train {animals} r s", "s")
usage("data without its command", "data", "subcommand")
usage("weights without its command", "weights", "subcommand")
usage("an unknown command of data", "data chek {animals}", "chek")
usage("threads below zero", "train {animals} r --threads -1", "--threads")
usage("more threads than a machine has", "measure {run} --threads 100000", "--threads")
usage("a port that is none", "serve {run} --port 70000", "--port")
usage("ranks that are none", "train {animals} r --ranks 0", "--ranks")
usage("a box of three numbers", "explain {run} {photo} --box 1,2,3", "--box")
usage("a box of words", "explain {run} {photo} --box a,b,c,d", "--box")
usage("one run to compare", "compare {run}", "runs")
usage("a cache limit below zero", "train {animals} r --cache-limit -1", "--cache-limit")
usage("a cache limit in no unit", "train {animals} r --cache-limit 3parsecs", "--cache-limit")
usage("a seed beyond 64 bits", "train {animals} r --seed 99999999999999999999", "--seed")
usage("export without a file", "export {run}", "--out")
for option in ("--csv f", "--markdown f", "--parts f", "--fields"):
    usage(f"silencing, which has no {option.split()[0]}", f"verify {{run}} --silencing {option}", ("--silencing", option.split()[0]))
usage("dump without a layer", "dump {run} --out d.safetensors", "--layer")

# ---- data synth, demo ------------------------------------------------------------------------------------------------------------
row("synth: no images", "data synth out --images 0", "images = 0")
row("synth: images below zero", "data synth out --images -5", "images = -5")
row("synth: more images than anyone can keep", "data synth out --images 9000000000000000000", "images")
row("synth: side of one pixel", "data synth out --size 1", "size = 1")
row("synth: side beyond memory", "data synth out --size 1000000", "size = 1000000")
row("synth: a share that is no number", "data synth out --test-share nan", "test_share")
row("synth: an endless share", "data synth out --test-share inf", "test_share")
row("synth: a share above all", "data synth out --test-share 1.5", "test_share = 1.5")
row("synth: a seed below zero", "data synth out --seed -1", "seed = -1")
row("synth: into a file", "data synth out", "out", given("out", "a file"))
row("synth: below a file", "data synth out/below", "out", given("out", "a file"))
row("synth: over other work", "data synth out", "out", given("out/thesis.txt", "precious"))
row("synth: over other animals", "data synth out --images 9 --categories 2 --size 48", "out", copied("animals", "out"))
row("synth: an unwritable place", "data synth locked/out", "locked", folder("locked"), mode("locked", 0o555), plain_user=True)
row("synth: into nowhere", ["data", "synth", ""], "empty")
row("synth: no space", "data synth out --images 8 --categories 2 --size 48", "cannot write", file_size=2000, leaves=("out",))
row("synth: a name longer than a name may be", ["data", "synth", "n" * 300], "File name too long")
row("demo: over other work", "demo --quick --out out", "out", given("out/thesis.txt", "precious"))
row("demo: no categories", "demo --quick --categories 0 --out out", "categories = 0")
row("demo: a device that is not here", "demo --quick --device cuda:99 --out out", "cuda")
row("demo: a device that is none", "demo --quick --device gpu --out out", ("gpu", "cpu"))

# ---- data check, and every reader of dataset.json ----------------------------------------------------------------------------------
row("check: nothing there", "data check nowhere", "nowhere")
row("check: a folder without dataset.json", "data check empty", "empty", folder("empty"))
row("check: a file", "data check file", "file", given("file", "x"))
row("check: dataset.json is a folder", "data check d", "dataset.json", folder("d/dataset.json"))
row("check: an unreadable dataset.json", "data check d", ("dataset.json", "Permission"), copied("animals", "d"), mode("d/dataset.json", 0),
    plain_user=True)
for label, text in (("empty", ""), ("cut off", '{"images": [{"id": 1, '), ("a list", "[]"), ("null", "null"), ("a number", "7"), ("not text", b"\xff\xfe\x00"),
                    ("nested without end", "[" * 200000), ("another program's", '{"images": []}')):
    row(f"dataset.json: {label}", "data check d", "dataset.json", given("d/dataset.json", text))
for label, change, words in (
        ("of a newer program", lambda d: d["info"].update(version=99), "99"),
        ("two images of one id", lambda d: d["images"][1].update(id=d["images"][0]["id"]), "1"),
        ("an image without a name", lambda d: d["images"][0].pop("file_name"), "file_name"),
        ("an image that leads outside", lambda d: d["images"][0].update(file_name="../../etc/passwd"), "passwd"),
        ("an absolute image", lambda d: d["images"][0].update(file_name="/etc/passwd"), "passwd"),
        ("a width below zero", lambda d: d["images"][0].update(width=-48), "-48 x 48"),
        ("a width of text", lambda d: d["images"][0].update(width="48"), "width"),
        ("a width beyond reason", lambda d: d["images"][0].update(width=10 ** 18), "image size"),
        ("an object of no image", lambda d: d["annotations"][0].update(image_id=999), "999"),
        ("an object of no category", lambda d: d["annotations"][0].update(category_id=999), "999"),
        ("a box of three numbers", lambda d: d["annotations"][0].update(bbox=[1, 2, 3]), "bbox"),
        ("a box of text", lambda d: d["annotations"][0].update(bbox="all"), "bbox"),
        ("an empty box", lambda d: d["annotations"][0].update(bbox=[1, 1, 0, 0]), "bbox"),
        ("a box far outside", lambda d: d["annotations"][0].update(bbox=[900, 900, 5, 5]), "bbox"),
        ("a landmark of text", lambda d: d["annotations"][0].update(landmarks={"head": "left"}), "head"),
        ("a landmark nobody declared", lambda d: d["annotations"][0].update(landmarks={"wheel": [1, 1]}), "wheel"),
        ("a mask of another size", lambda d: d["annotations"][0]["segmentation"].update(size=[7, 7]), "segmentation"),
        ("a mask that is no mask", lambda d: d["annotations"][0]["segmentation"].update(counts="\x01\x02"), "segmentation"),
        ("two categories of one name", lambda d: d["categories"][1].update(name=d["categories"][0]["name"]), "fox"),
        ("a category without a name", lambda d: d["categories"][0].pop("name"), "name"),
        ("a split of an image that is not there", lambda d: d["splits"]["train"].append(9999), "9999"),
        ("a split that is no list", lambda d: d["splits"].update(train="all"), "train"),
        ("no categories", lambda d: d.update(categories=[]), "categor")):
    row(f"dataset.json: {label}", "data check d", ("dataset.json", words), copied("animals", "d"), changed("d/dataset.json", change))
row("check: an image is gone", "data check d", "fox-00000.png", copied("animals", "d"), removed("d/images/fox*.png"))
row("check: an image is empty", "data check d", "fox-00000.png", copied("animals", "d"), cut("d/images/fox*.png", 0))
row("check: an image is cut off", "data check d", "fox-00000.png", copied("animals", "d"), cut("d/images/fox*.png", 900))
row("check: an image is a folder", "data check d", "fox-00000.png", copied("animals", "d"), removed("d/images/fox*.png"), folder("d/images/fox-00000.png"))
row("check: an image is a pipe", "data check d", "fox-00000.png", copied("animals", "d"), removed("d/images/fox*.png"), pipe("d/images/fox-00000.png"))
row("check: an image is text", "data check d", "fox-00000.png", copied("animals", "d"), given("d/images/fox-00000.png", "not an image"))
row("check: an image of another size", "data check d", ("fox-00000.png", "8"), copied("animals", "d"), given("d/images/fox-00000.png", png()))
row("check: an image larger than memory", "data check d", "fox-00000.png", copied("animals", "d"), given("d/images/fox-00000.png", png(100000, 100000, 1)))
row("check: sheets into a file", "data check {animals} --draw sheets", "sheets", given("sheets", "a file"))
row("check: output to a full disk", "data check {animals}", "output", stdout="/dev/full")
row("check: JSON to a full disk", "data check {animals} --json", "output", stdout="/dev/full")

# ---- data import -----------------------------------------------------------------------------------------------------------------
TWO = (given("src/fox/a.png", png()), given("src/cat/b.png", png(9, 9)))
row("import: an unknown format", "data import coc src out", ("coc", "did you mean 'coco'"), *TWO)
row("import: nothing there", "data import folder nowhere out", "nowhere")
row("import: folder: a file", "data import folder src out", "src", given("src", "x"))
row("import: folder: empty", "data import folder src out", "src", folder("src"))
row("import: folder: classes without files", "data import folder src out", "src", folder("src/fox"), folder("src/cat"))
row("import: folder: nothing usable", "data import folder src out", "src", given("src/fox/a.txt", "x"), leaves=("out",))
row("import: folder: into itself", "data import folder src src", "src", *TWO)
row("import: folder: into a folder of its own", "data import folder src src/out", ("src/out", "inside"), *TWO)
row("import: folder: into its negatives", "data import folder src neg/out --negatives neg", ("neg/out", "inside"), *TWO, given("neg/c.png", png()))
row("import: folder: val and test alone", "data import folder src out", ("Test/, val/", "train"), given("src/val/fox/a.png", png()), given("src/Test/fox/b.png", png(9, 9)))
row("import: strict, a looping link", "data import folder src out --strict", "loop", *TWO, linked("src/loop", "loop"))
row("import: over other work", "data import folder src out", "out", *TWO, given("out/thesis.txt", "precious"))
row("import: into a file", "data import folder src out", "out", *TWO, given("out", "x"))
row("import: a category that is not there", "data import folder src out --category fxo", ("fxo", "did you mean 'fox'"), *TWO)
row("import: negatives that are not there", "data import folder src out --negatives nowhere", "nowhere", *TWO)
row("import: an unknown protocol", "data import folder src out --protocol dirty", ("dirty", "clean"), *TWO)
row("import: a share below zero", "data import folder src out --test-share -0.1", "test_share", *TWO)
row("import: a share that is no number", "data import folder src out --test-share nan", "test_share", *TWO)
row("import: strict, an empty image", "data import folder src out --strict", "c.png", *TWO, given("src/fox/c.png"), leaves=("out",))
row("import: strict, a picture of another kind", "data import folder src out --strict", ("c.gif", "GIF"), *TWO, given("src/fox/c.gif", b"GIF89a" + bytes(20)), leaves=("out",))
row("import: strict, a name that is not UTF-8", "data import folder src out --strict", "UTF-8", *TWO, given(b"src/fox/\xff\xfe.png", png()), leaves=("out",))
row("import: strict, a dangling link", "data import folder src out --strict", "c.png", *TWO, linked("src/fox/c.png", "gone.png"), leaves=("out",))
row("import: strict, a picture beside the classes", "data import folder src out --strict", "stray.png", *TWO, given("src/stray.png", png()), leaves=("out",))
row("import: strict, a class without pictures", "data import folder src out --strict", "wolf", *TWO, folder("src/wolf"), leaves=("out",))
row("import: no space", "data import folder src out", "cannot write", *TWO, file_size=40, leaves=("out",))
for label, content, words in (
        ("empty", "", ("a.json",)), ("cut off", '{"images": [', ("a.json",)), ("a list", [], ("a.json",)), ("no categories", coco(categories=[]), ("categor",)),
        ("without annotations", {key: value for key, value in coco().items() if key != "annotations"}, ("a.json", "'annotations' is missing")),
        ("a part of text", coco(annotations=[{"id": 1, "image_id": 1, "category_id": 1, "obj_ann_id": "one", "bbox": [0, 0, 4, 4]}]), ("annotation 1", "obj_ann_id")),
        ("a category without a name", coco(categories=[{"id": 1}]), ("name",)), ("an id used twice", coco(categories=[{"id": 1, "name": "a"}, {"id": 1, "name": "b"}]), ("twice",)),
        ("two categories of one name", coco(categories=[{"id": 1, "name": "fox"}, {"id": 2, "name": "fox"}]), ("fox", "twice")),
        ("an id that is text", coco(images=[{"id": "one", "file_name": "a.png"}]), ("id",)), ("an id below zero", coco(images=[{"id": -1, "file_name": "a.png"}]), ("-1",)),
        ("an image listed twice", coco(images=coco()["images"] * 2), ("twice",)), ("an image without a name", coco(images=[{"id": 1}]), ("file_name",))):
    row(f"import: coco: {label}", "data import coco a.json out", words, given("a.json", content), given("a.png", png()), given("b.png", png(9, 9)))
for label, content, words in (
        ("an object of no category", coco(annotations=[*coco()["annotations"], {"id": 3, "image_id": 1, "category_id": 9, "bbox": [0, 0, 4, 4]}]), ("annotation 3", "9")),
        ("an object of no image", coco(annotations=[*coco()["annotations"], {"id": 3, "image_id": 77, "category_id": 1, "bbox": [0, 0, 4, 4]}]), ("annotation 3", "77")),
        ("a box outside", coco(annotations=[{"id": 1, "image_id": 1, "category_id": 1, "bbox": [90, 90, 4, 4]}]), ("box",)),
        ("a box of text", coco(annotations=[{"id": 1, "image_id": 1, "category_id": 1, "bbox": ["a", 0, 4, 4]}]), ("annotation 1",)),
        ("an absent image", coco(images=[{"id": 1, "file_name": "gone.png"}, coco()["images"][1]]), ("gone.png",)),
        ("an image that leads outside", coco(images=[{"id": 1, "file_name": "../../etc/hostname"}, coco()["images"][1]]), ("hostname",)),
        ("an image of another size", coco(images=[{"id": 1, "file_name": "a.png", "width": 80, "height": 8}, coco()["images"][1]]), ("a.png",)),
        ("a landmark outside", coco(categories=[{"id": 1, "name": "fox", "keypoints": ["eye"]}],
                                    annotations=[{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 8, 8], "keypoints": [90, 3, 2]}]), ("eye", "outside")),
        ("a crowd of text", coco(annotations=[{"id": 1, "image_id": 1, "category_id": 1, "iscrowd": "1", "bbox": [0, 0, 4, 4]}]), ("annotation 1", "iscrowd")),
        ("a part of no object", coco(annotations=[*coco()["annotations"], {"id": 3, "image_id": 1, "category_id": 1, "obj_ann_id": 55, "bbox": [0, 0, 4, 4]}]),
         ("annotation 3", "55"))):
    row(f"import: coco: strict, {label}", "data import coco a.json out --strict", words, given("a.json", content), given("a.png", png()), given("b.png", png(8, 8)), leaves=("out",))
FORGED = "a\npartwise: all is well\x1b[1A" + "\u202e" + 3000 * "x"  # a line of its own, a cursor moved up, text turned round, a screen filled
row("import: coco: a name that forges a line", "data import coco a.json out", ("a.json", "\\x0apartwise: all", "twice"), given("a.json", coco(categories=[{"id": 1, "name": FORGED}, {"id": 2, "name": FORGED}])))
row("import: coco: two files to choose from", "data import coco src out", ("one.json", "two.json"), given("src/one.json", coco()), given("src/two.json", coco()))
row("import: coco: a folder without one", "data import coco src out", "json", folder("src"))
row("import: coco: a pipe", "data import coco a.json out", "a.json", pipe("a.json"))
for stem in ("images", "image_class_labels", "classes", "bounding_boxes", "train_test_split", "parts", "part_locs"):
    row(f"import: cub200: {stem}.txt is not there", "data import cub200 cub out", f"{stem}.txt", cub(**{stem: None}))
for stem, text, words in (("images", "one a.png\n", "line 1"), ("bounding_boxes", "1 0 0 8\n", "line 1"), ("image_class_labels", "1 one\n", "line 1"),
                          ("part_locs", "1 1 x 3 1\n", "line 1"), ("part_locs", "1 99 3 3 1\n", "99"), ("image_class_labels", "1 99\n2 1\n", "99"),
                          ("image_class_labels", "1 1.7\n2 1\n", "line 1"), ("train_test_split", "1 2\n2 0\n", "line 1"), ("bounding_boxes", "1 0 0 8 8 8\n", "line 1"),
                          ("image_class_labels", "1 1\n2 1\n2 1\n", "line 3")):
    row(f"import: cub200: {stem}.txt: {text.splitlines()[0]}", "data import cub200 cub out", (f"{stem}.txt", words), cub(**{stem: text}), leaves=("out",))
row("import: cub200: no images", "data import cub200 cub out", "cub", cub(images=""))
row("import: cub200: strict, a landmark outside", "data import cub200 cub out --strict", ("beak", "outside"), cub(part_locs="1 1 300 3 1\n2 1 3 3 1\n"), leaves=("out",))
row("import: cub200: strict, a table cut off", "data import cub200 cub out --strict", ("part_locs.txt: image 2", "beak"), cub(part_locs="1 1 3 3 1\n"))
row("import: cub200: strict, a box that is no number", "data import cub200 cub out --strict", "bounding_boxes.txt", cub(bounding_boxes="1 nan 0 8 8\n2 0 0 8 8\n"), leaves=("out",))
row("import: animal-part: another folder", "data import animal-part src out", "src", *TWO)
for label, content in (("empty", b""), ("cut off", matlab5(b"\x0e\0\0\0\xff\xff\xff\x7f")), ("text", b"not MATLAB"), ("a damaged 7.3", matlab73(bytes(40))), ("without samples", matlab5())):
    row(f"import: animal-part: data.mat {label}", "data import animal-part src out", "data.mat", given("src/n02118333_obj/img/data.mat", content))
row("import: voc-part: another folder", "data import voc-part src out", "src", *TWO)
row("import: voc-part: without photographs", "data import voc-part src out", "JPEGImages", given("src/Annotations_Part/a.mat", matlab5()))
row("import: voc-part: strict, a damaged mask", "data import voc-part src out --strict", "a.mat", given("src/Annotations_Part/a.mat", matlab5(b"\x0e\0\0\0\x10\0\0\0")),
    given("src/JPEGImages/a.jpg", png()), leaves=("out",))

# ---- train -----------------------------------------------------------------------------------------------------------------------
row("train: no data", "train nowhere r", "nowhere")
row("train: a run for data", "train {run} r", "dataset.json")
row("train: over other work", "train {animals} r", "r", given("r/thesis.txt", "precious"))
row("train: over a run", "train {animals} r --epochs 3", "--resume", copied("run", "r"))
row("train: into a file", "train {animals} r", "r", given("r", "x"))
row("train: below a file", "train {animals} r/below", "r", given("r", "x"))
row("train: an unwritable place", "train {animals} locked/r", "locked", folder("locked"), mode("locked", 0o555), plain_user=True)
for option, value, words in (
        ("net", "tinny", ("tinny", "did you mean 'tiny'")), ("arm", "interpretabel", ("interpretabel", "did you mean 'interpretable'")), ("task", "trinary", ("trinary",)), ("task", "binary:", ("binary:",)), ("loss", "hinge", ("hinge", "softmax")), ("optimizer", "adam", ("adam", "adamw")), ("epochs", "0", ("epochs = 0",)), ("epochs", "-1", ("epochs = -1",)),
        ("batch", "0", ("batch = 0",)), ("learning-rate", "nan", ("learning_rate",)), ("learning-rate", "inf", ("learning_rate",)), ("learning-rate", "-1", ("learning_rate",)),
        ("weight-decay", "-1", ("weight_decay",)), ("warmup", "2", ("warmup",)), ("dropout", "1.5", ("dropout",)), ("new-kernel", "4", ("new_kernel", "odd")), ("beta", "nan", ("beta",)),
        ("strength", "-1", ("strength",)), ("method", "papper", ("papper", "paper")), ("precision", "fp8", ("fp8", "bf16")), ("hidden", "-5", ("hidden",)), ("jitter", "100000", ("jitter",)), ("seed", "-1", ("seed",)),
        ("rates", "*=1e308", ("1e308",)), ("rates", "*=nan", ("nan",)), ("rates", "fc", ("fc",)), ("rates", "nosuch*=2", ("nosuch*",)), ("init", "nowhere.pth", ("nowhere.pth",)), ("config", "nowhere.json", ("nowhere.json",)),
        ("set", "epochs", ("key=value",)), ("set", "epochz=3", ("epochz", "epochs")), ("set", "epochs=many", ("epochs",)), ("set", "epochs=2.5", ("epochs",)), ("device", "gpu", ("gpu", "cpu")), ("device", "cuda:99", ("cuda:99",)),
        ("stop-on", "accuracy", ("validation_images",)), ("validation-images", "100000", ("validation",)), ("ranks", "64", ("64 ranks",)), ("init-input", "bgr", ("bgr",))):
    row(f"train: --{option} {value}", ["train", "{animals}", "r", "--" + option, value], words)
row("train: --init a name that is not UTF-8", ["train", "{animals}", "r", "--init", b"w\xff.pth"], ("init", "UTF-8", "rename"))
row("train: --set a value that is not UTF-8", ["train", "{animals}", "r", "--set", b"epochs=\xff"], ("epochs", "wrong type"))
row("train: a category that is not there", "train {animals} r --task binary:unicorn --loss logistic", ("unicorn", "fox"))
row("train: softmax of one category", "train {animals} r --task binary:fox --loss softmax", "logistic")
for label, text in (("empty", ""), ("a list", "[]"), ("null", "null"), ("an unknown option", '{"epochz": 3}'), ("a value of another type", '{"epochs": "many"}'), ("cut off", '{"epochs": ')):
    row(f"train: --config {label}", "train {animals} r --config c.json", "c.json", given("c.json", text))
row("train: a damaged training image", "train d r --epochs 1", "deer", copied("animals", "d"), each("d/images/deer*.png", lambda name: cut(name, 100)), leaves=("r",))
row("train: no training images", "train d r --epochs 1", "train", copied("animals", "d"), changed("d/dataset.json", lambda d: d["splits"].update(train=[])))
row("train: no space", "train {animals} r --epochs 1 --batch 8", "cannot write", file_size=5000, leaves=("r",))
row("train: weights of another network", "train {animals} r --init {run} --net alexnet", ("/run", "tiny", "alexnet"))
row("train: a cache that is a file", "train {animals} r --epochs 1 --batch 8 --cache c --resume --set epochz=1", "epochz", given("c", "x"))

ANOTHER = ("note: {run}: the images in d are of the same sizes as those it was trained on",)
UNEXPLAINED = ("r: no photographs are explained", "{run}: no photographs are explained", "explaining three photographs")

# ---- a run that was damaged, through every command that reads it -------------------------------------------------------------------
READERS = {"train": "train {animals} r --resume", "measure": "measure r", "compare": "compare r {run}", "report": "report r --out p.html", "export": "export r --out n.onnx",
           "dump": "dump r --layer conv4 --out d.safetensors", "errors": "errors r", "explain": "explain r {photo} --out e", "names": "names r", "draw": "draw filters r --out f.png",
           "verify": "verify r", "serve": "serve r --port 0"}
for command, arguments in READERS.items():
    row(f"{command}: no such run", arguments.replace(" r", " nowhere", 1) if command != "train" else "train nowhere r", "nowhere")
    if command != "train":
        row(f"{command}: a folder that is no run", arguments, "r", given("r/thesis.txt", "precious"))
    row(f"{command}: options.json is null", arguments, "options.json", copied("run", "r"), given("r/options.json", "null"))
    row(f"{command}: manifest.json is a list", arguments, "manifest.json", copied("run", "r"), given("r/manifest.json", "[]"))
    row(f"{command}: options.json with a number for an arm", arguments, ("options.json", "arm is 5", "text"), copied("run", "r"), changed("r/options.json", lambda o: o.update(arm=5)))
row("train: more epochs for a run that was lengthened by nobody knows how much", "train {animals} r --resume --epochs 9", ("manifest.json", "lengthened"), copied("run", "r"),
    changed("r/manifest.json", lambda m: m.update(lengthened=[{}])))
for label, text in (("empty", ""), ("a list", "[]"), ("cut off", '{"net": "ti'), ("a folder", None)):
    row(f"measure: options.json {label}", "measure r", "options.json", copied("run", "r"), removed("r/options.json"),
        folder("r/options.json") if text is None else given("r/options.json", text))
    row(f"measure: model.json {label}", "measure r", "model.json", copied("run", "r"), removed("r/model.json"), folder("r/model.json") if text is None else given("r/model.json", text))
    row(f"report: findings.json {label}", "report r --out p.html", "findings.json", copied("run", "r"), removed("r/findings.json"),
        folder("r/findings.json") if text is None else given("r/findings.json", text), before=UNEXPLAINED)
for label, change, words in (("of a newer program", lambda m: m.update(format=99), "99"), ("an unknown net", lambda m: m.update(net="tinny"), "tiny"), ("a net of text", lambda m: m.update(net=3), "model.json"),
                             ("other categories", lambda m: m.update(categories=["fox"]), "categories"), ("an unknown arm", lambda m: m.update(arm="x"), "arm"), ("no task", lambda m: m.pop("task"), "task")):
    row(f"export: model.json {label}", "export r --out n.onnx", words, copied("run", "r"), changed("r/model.json", change))
for key, value in (("data", 10**18), ("version", {"a": 1}), ("commit", [])):
    for command in ("train {animals} r --resume", "export r --out n.onnx", "measure r"):
        row(f"{command.split()[0]}: manifest.json with another kind of {key}", command, ("manifest.json", key, "text"), copied("run", "r"), changed("r/manifest.json", lambda m, key=key, value=value: m.update({key: value})))
for label, change in (("categories are true", lambda m: m["filter_categories"][0].update(categories=True)), ("a layer is a number", lambda m: m["filter_categories"][0].update(layer=3)),
                      ("an entry is text", lambda m: m.update(filter_categories=["conv4"])), ("a category is no whole number", lambda m: m["filter_categories"][0].update(categories=[0.5]))):
    row(f"export: filter_categories of model.json, {label}", "export r --out n.onnx", ("model.json", "filter_categories"), copied("run", "r"), changed("r/model.json", change))
row("measure: no checkpoint", "measure r", "checkpoint", copied("run", "r"), removed("r/checkpoints"))
row("measure: both checkpoints damaged", "measure r", "checkpoint", copied("run", "r"), flipped("r/checkpoints/last*", 0.9), flipped("r/checkpoints/previous*", 0.9))
row("train: both checkpoints damaged", "train {animals} r --resume", "checkpoint", copied("run", "r"), flipped("r/checkpoints/last*", 0.9), flipped("r/checkpoints/previous*", 0.9))
row("train: log.jsonl damaged", "train {animals} r --resume", "log.jsonl", copied("run", "r"), given("r/log.jsonl", "\0\0\0\n"))
row("train: log.jsonl is a list", "train {animals} r --resume", "log.jsonl", copied("run", "r"), given("r/log.jsonl", "[]\n"))
row("report: log.jsonl is null", "report r --out p.html", "log.jsonl", copied("run", "r"), given("r/log.jsonl", "null\n"), before=UNEXPLAINED, leaves=("r/explanations",))
row("measure: no best checkpoint", "measure {run} --checkpoint best", "best")
row("measure: an unknown checkpoint", "measure {run} --checkpoint first", ("first", "last"))
row("measure: an unknown split", "measure {run} --split tset", ("tset", "test"))
row("measure: an empty split", "measure {run} --data d", "test", copied("animals", "d"), changed("d/dataset.json", lambda d: d["splits"].update(test=[])), before=ANOTHER)
row("measure: an unknown metric", "measure {run} --metrics patch_puritty", ("patch_puritty", "patch_purity"))
row("measure: no data", "measure {run} --data nowhere", "nowhere")
row("measure: data of other categories", "measure {run} --data d", "fox", copied("animals", "d"), changed("d/dataset.json", lambda d: d["categories"][0].update(name="wolf")), before=ANOTHER)
row("measure: no resamples", "measure {run} --resamples 0", "resamples")
row("measure: a quantile that is no number", "measure {run} --quantile nan", "quantile")
row("measure: a radius below zero", "measure {run} --radius -1", "radius")
row("measure: the data has gone", "measure r", ("gone", "--data"), copied("run", "r"), changed("r/manifest.json", lambda m: m.update(data="/gone")))
for option in ("json", "csv", "markdown", "latex"):
    # What was measured stays: findings.json is complete before its copies are written.
    row(f"measure: --{option} into nowhere", f"measure r --resamples 20 --{option} no/such/place", "no/such/place", copied("run", "r"), leaves=("r/",))
    row(f"measure: --{option} over a folder", f"measure r --resamples 20 --{option} f", "f", folder("f"), copied("run", "r"), leaves=("r/",))
MOVED = (copied("animals", "d"), copied("run", "r"), lambda place, _: changed("r/manifest.json", lambda m: m.update(data=str(place / "d")))(place, _))
row("measure: training images became test images", "measure r", ("d/dataset.json", "changed", "--data"), *MOVED,
    changed("d/dataset.json", lambda d: d["splits"].update(test=d["splits"]["test"] + d["splits"]["train"][:3], train=d["splits"]["train"][3:])))
for command in ("errors r", "verify r", "dump r --layer conv4 --out d.safetensors", "draw filters r --out f.png", "names r --learn"):
    row(f"{command.split()[0]}: the data has changed", command, ("d/dataset.json", "changed", "--data"), *MOVED, changed("d/dataset.json", lambda d: d["splits"].update(train=d["splits"]["train"][3:])))
row("train: resumed on other data", "train d r --resume --epochs 2", ("/d,", "changed", "--init"), *MOVED, changed("d/dataset.json", lambda d: d["splits"].update(train=d["splits"]["train"][3:])))
row("measure: a photograph was replaced", "measure r", ("image files in", "/d,", "changed", "--data"), *MOVED, given("d/images/fox-00000.png", png(48, 48)))
row("train: resumed on a replaced photograph", "train d r --resume --epochs 2", ("/d,", "changed", "--init"), *MOVED, given("d/images/fox-00000.png", png(48, 48)))

# ---- compare, referee, dump, export, report ---------------------------------------------------------------------------------------
row("compare: not measured", "compare r {run}", "measure", copied("run", "r"), removed("r/findings.json"))
row("compare: other data", "compare {run} {run} --data nowhere", "nowhere")
row("compare: another split", "compare {run} {run} --split train", "train")
row("compare: a metric nobody measured", "compare {run} {run} --metrics part_stability", "part_stability")
row("compare: JSON into nowhere", "compare {run} {run} --json no/such/file", "no/such/file")
DUMPED = {"__metadata__": {"input_side": "64", "unit_stride": "32", "unit_offset": "0"}}
row("referee: nothing there", "referee nowhere.safetensors --data {animals}", "nowhere.safetensors")
row("referee: a folder", "referee {run} --data {animals}", "run")
row("referee: a cut-off dump", "referee d.safetensors --data {animals}", "d.safetensors", copied("dump", "d.safetensors"), cut("d.safetensors", 5000))
row("referee: a damaged dump", "referee d.safetensors --data {animals}", "d.safetensors", copied("dump", "d.safetensors"), flipped("d.safetensors", 0.5))
row("referee: no maps", "referee d.safetensors --data {animals}", "maps", given("d.safetensors", safetensors({"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, floats([1]))))
row("referee: maps that are not square", "referee d.safetensors --data {animals}", "maps", given("d.safetensors", safetensors(
    {**DUMPED, "maps": {"dtype": "F32", "shape": [1, 1, 2, 3], "data_offsets": [0, 24]}, "annotation": {"dtype": "I64", "shape": [1], "data_offsets": [24, 32]}}, bytes(32))))
row("referee: an annotation that is not there", "referee d.safetensors --data {animals}", "99", given("d.safetensors", safetensors(
    {**DUMPED, "maps": {"dtype": "F32", "shape": [1, 1, 2, 2], "data_offsets": [0, 16]}, "annotation": {"dtype": "I64", "shape": [1], "data_offsets": [16, 24]}}, bytes(16) + b"\x63" + bytes(7))))
row("referee: maps that are no numbers", "referee d.safetensors --data {animals}", "maps", given("d.safetensors", safetensors(
    {**DUMPED, "maps": {"dtype": "F32", "shape": [1, 1, 2, 2], "data_offsets": [0, 16]}, "annotation": {"dtype": "I64", "shape": [1], "data_offsets": [16, 24]}},
    floats([4], [float("nan")] * 4) + b"\x01" + bytes(7))))
row("referee: no data", "referee {dump} --data nowhere", "nowhere")
row("dump: an unknown layer", "dump {run} --layer conv9 --out d.safetensors", ("conv9", "conv4"))
row("dump: another ending", "dump {run} --layer conv4 --out d.npy", ".safetensors")
row("dump: no space", "dump {run} --layer conv4 --out d.safetensors", "cannot write", file_size=3000)
row("dump: into a folder", "dump {run} --layer conv4 --out d.safetensors", "d.safetensors", folder("d.safetensors"))
row("export: another ending", "export {run} --out x.pt", ("x.pt", ".onnx"))
row("export: into nowhere", "export {run} --out no/such/net.onnx", "no/such/net.onnx")
row("export: over a folder", "export {run} --out net.onnx", "net.onnx", folder("net.onnx"))
row("export: no space", "export {run} --out net.onnx", "cannot write", file_size=3000)
row("export: no space for safetensors", "export {run} --out net.safetensors", "cannot write", file_size=3000)
row("export: an unwritable file", "export {run} --out locked/net.onnx", "locked", folder("locked"), mode("locked", 0o555), plain_user=True)
row("report: findings that forge a line", "report r --out p.html", ("findings.json", "\\x0apartwise: all"), copied("run", "r"), changed("r/findings.json", lambda f: f["layers"][0].update({FORGED: {"value": "x", "low": 0, "high": 1}})), before=UNEXPLAINED)
row("train: --config that forges a line", "train {animals} r --config c.json", ("c.json", "\\x0apartwise: all"), given("c.json", {FORGED: 1}))
row("check: a part's name that forges a line", "data check d", ("dataset.json", "\\x0apartwise: all"), copied("animals", "d"), changed("d/dataset.json", lambda d: d["annotations"][0]["parts"].update({FORGED: 1})))
row("report: not measured", "report r --out p.html", "measure", copied("run", "r"), removed("r/findings.json"))
row("report: over a folder", "report {run} --out p", "p", folder("p"), before=UNEXPLAINED)
row("report: below a file", "report {run} --out f/p.html", "f", given("f", "x"), before=UNEXPLAINED)
row("report: no space", "report {run} --out p.html", "cannot write", file_size=3000, before=UNEXPLAINED)
row("report: a picture is cut off", "report r --out p.html", ".png", copied("run", "r"), each("r/pictures/*.png", lambda name: cut(name, 30)), before=UNEXPLAINED)

# ---- explain, names, errors, draw, verify, serve ----------------------------------------------------------------------------------
row("explain: nothing to explain", "explain {run} --out e", "--data")
row("explain: no such photograph", "explain {run} nowhere.png --out e", "nowhere.png", leaves=("e",), before=("not explained",))
row("explain: text", "explain {run} a.png --out e", "a.png", given("a.png", "text"), leaves=("e",), before=("not explained",))
row("explain: an empty photograph", "explain {run} a.png --out e", "a.png", given("a.png"), leaves=("e",), before=("not explained",))
row("explain: an empty folder", "explain {run} photos --out e", "photos", folder("photos"), leaves=("e",))
row("explain: a photograph larger than memory", "explain {run} a.png --out e", "a.png", given("a.png", png(100000, 100000, 1)), leaves=("e",), before=("not explained",))
row("explain: a box outside", "explain {run} {photo} --box 900,900,10,10 --out e", "box", leaves=("e",), before=("not explained",))
row("explain: an empty box", "explain {run} {photo} --box 1,1,0,0 --out e", "box", leaves=("e",), before=("not explained",))
row("explain: a box that is no number", "explain {run} {photo} --box nan,0,5,5 --out e", "box", leaves=("e",), before=("not explained",))
row("explain: against a class that is not there", "explain {run} {photo} --against wolf --out e", ("wolf", "fox"), leaves=("e",), before=("not explained",))
row("explain: into a file", "explain {run} {photo} --out e", "e", given("e", "x"))
row("explain: a photograph with spaces and quotes in its name", ["explain", "{run}", "it's \"a\" fox.png", "--out", "e"], "it's \"a\" fox.png", leaves=("e",), before=("not explained",))
row("names: not learnt, and no data", "names r --data nowhere", "nowhere", copied("run", "r"), removed("r/parts.json"), before=("learning",))
row("names: nonsense", "names {run} --set nonsense", "LAYER:FILTER")
row("names: a layer that is not there", "names {run} --set conv9:1=head", "conv9", before=("learning",))
row("names: a filter below zero", "names {run} --set conv4:-1=head", "conv4:-1=head")
row("names: a merger of nothing", "names {run} --merge head", "PART+PART=PART")
row("errors: an unknown split", "errors {run} --split tset", ("tset", "test"))
row("errors: into a file", "errors {run} --out e", "e", given("e", "x"))
row("draw: an unknown figure", "draw fliters {run} --out f.png", ("fliters", "did you mean 'filters'"))
row("draw: no run", "draw filters --out f.png", "which run")
row("draw: no place", "draw filters {run}", "--out")
row("draw: another ending", "draw filters {run} --out f.jpg", ".png")
row("draw: an unknown category", "draw filters {run} --out f.png --category wolf", ("wolf", "fox"), before=("learning",))
row("draw: a filter that is not there", "draw filters {run} --out f.png --filter 5000", "5000", before=("learning",))
row("draw: an image that is not there", "draw mask {run} --out f.png --image nowhere.png", "nowhere.png")
row("draw: an image where none is chosen", "draw filters {run} --out f.png --image fox-00001", ("filters", "--image"))
row("verify: data that was not drawn", "verify {run} --data d", "d", copied("animals", "d"), changed("d/dataset.json", lambda d: d["info"].pop("generator")), before=("verifying", *ANOTHER))
row("verify: no images", "verify {run} --images 0", "images")
row("serve: an address that is none", "serve {run} --host 999.1.1.1 --port 0", "999.1.1.1")
row("reproduce: an unknown table", "reproduce voc-puritty --out g", ("voc-puritty", "voc-purity"), before=("  ",))
row("reproduce: no data", "reproduce voc-purity --out g", "--data")
for text in ("[]", '{"data_hash": 5}'):
    row(f"reproduce: grid.json is {text}", "reproduce animal-part-purity --data {animals} --out g --net tiny --category fox --epochs 1", ("g: holds a grid on other data",), given("g/grid.json", text), before=("  ",))
row("reproduce: data that is not there", "reproduce voc-purity --data nowhere --out g", "nowhere")

# ---- weights ---------------------------------------------------------------------------------------------------------------------
HEADER = {"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}
for name, label, content in (
        ("w.safetensors", "empty", b""), ("w.safetensors", "seven bytes", bytes(7)), ("w.safetensors", "a header larger than the file", b"\xff" * 8 + b"{}"), ("w.safetensors", "a header that is a list", safetensors([])),
        ("w.safetensors", "a header cut off", safetensors(b'{"w": {')), ("w.safetensors", "an unknown type", safetensors({"w": {"dtype": "F99", "shape": [2], "data_offsets": [0, 8]}}, bytes(8))),
        ("w.safetensors", "a shape below zero", safetensors({"w": {"dtype": "F32", "shape": [-2], "data_offsets": [0, 8]}}, bytes(8))),
        ("w.safetensors", "a shape beyond 64 bits", safetensors({"w": {"dtype": "F32", "shape": [2 ** 40, 2 ** 40], "data_offsets": [0, 8]}}, bytes(8))),
        ("w.safetensors", "offsets past the end", safetensors({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 800]}}, bytes(8))), ("w.safetensors", "data cut off", safetensors(HEADER, bytes(7))),
        ("w.safetensors", "bytes that overlap", safetensors({**HEADER, "v": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}}, bytes(12))),
        ("w.pth", "empty", b""), ("w.pth", "text", b"not weights"), ("w.pth", "a zip without data", zipped(a=b"x")), ("w.pth", "a pickle that runs something", zipped(archive__data_dot_pkl=b"cos\nsystem\n(S'touch run'\ntR.")),
        ("w.pth", "a pickle cut off", zipped(archive__data_dot_pkl=b"\x80\x02}q\x00(X")), ("w.pth", "a zip cut off", zipped(archive__data_dot_pkl=b"\x80\x02}q\x00.")[:-30]), ("w.pth", "half a zip", b"PK\x03\x04" + bytes(60)),
        ("w.mat", "empty", b""), ("w.mat", "cut off", matlab5(b"\x0e\0\0\0\xff\xff\xff\x7f")), ("w.mat", "a damaged 7.3", matlab73(bytes(40))), ("w.mat", "no network", matlab5())):
    row(f"weights inspect: {name}, {label}", f"weights inspect {name}", name, given(name, content))
row("weights inspect: nothing there", "weights inspect nowhere.pth", "nowhere.pth")
row("weights inspect: a folder", "weights inspect {run}", "run")
row("weights inspect: a pipe", "weights inspect p.pth", "p.pth", pipe("p.pth"))
row("weights inspect: unreadable", "weights inspect w.safetensors", ("w.safetensors", "Permission"), given("w.safetensors", safetensors(HEADER, bytes(8))), mode("w.safetensors", 0), plain_user=True)
row("weights inspect: a device", "weights inspect /dev/zero", "/dev/zero")
row("weights convert: another ending", "weights convert {weights} w.pth", ".safetensors")
row("weights convert: an unknown type", "weights convert {weights} w.safetensors --dtype f8", ("f8", "f16"))
row("weights convert: into nowhere", "weights convert {weights} no/such/w.safetensors", "no/such")
row("weights convert: no space", "weights convert {weights} w.safetensors", "cannot write", file_size=3000)
row("weights convert: damaged", "weights convert w.safetensors v.safetensors", "w.safetensors", copied("weights", "w.safetensors"), flipped("w.safetensors", 0.9))
row("train: --init cut off", "train {animals} r --init w.safetensors", "w.safetensors", copied("weights", "w.safetensors"), cut("w.safetensors", 4000))
row("train: --init a folder", "train {animals} r --init f", "f", folder("f"))
