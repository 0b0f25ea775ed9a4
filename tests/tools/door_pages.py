"""The examples of docs/prompts_tools.md, by a word that is in them."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "prompts_tools.md"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(language, word=""):
    """Return the blocks of a language that have a word."""
    found = _BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    return [text for name, text in found if name == language and word in text]


def run(word, names=None):
    """Run the one example with this word; return its names."""
    (code,) = [*blocks("py", word), *blocks("python", word)]
    names = {} if names is None else names
    exec(compile(code, str(PAGE), "exec"), names)
    return names
