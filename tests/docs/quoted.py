"""The commands that README.md and docs/ tell people to type."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "configs" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def lines_of(body):
    """Lines of a block, comments cut off, continued lines joined."""
    return list(filter(None, (" ".join(line.split(" #")[0].split()) for line in body.replace("\\\n", " ").splitlines())))


def commands(text):
    """Lines of the blocks that hold commands, in their order: every block without a language, or in sh."""
    return [line for language, body in FENCE.findall(text) if language in ("", "sh") for line in lines_of(body)]


def in_the_text(text):
    """What stands between two backticks outside the blocks."""
    return [" ".join(code.split()) for code in re.findall(r"`([^`]+)`", FENCE.sub("", text))]


PLACEHOLDERS = {"RUN": "runs/interpretable", "ORDINARY": "runs/ordinary", "MASKED": "runs/masked", "NAME": "conv4", "FILE": "file.safetensors"}


def whole_commands(text):
    """Those of them that someone might type: what is done with a trained run, as `partwise measure RUN`."""
    found = [code for code in in_the_text(text) if re.match(r"partwise (?!train|serve)[a-z]+ .*(runs/|\bRUN\b)", code) and not re.search(r"[…\[]", code)]
    return [re.sub(r"\b[A-Z]{3,}\b", lambda word: PLACEHOLDERS.get(word[0], word[0]), code) for code in found]
