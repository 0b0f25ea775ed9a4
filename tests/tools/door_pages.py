"""The examples of a page about another package, docs/prompts_tools.md at first, by a word in them."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PAGE = "prompts_tools.md"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(language, word="", *, page=PAGE):
    """Return the blocks of a language that have a word."""
    found = _BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))
    return [text for name, text in found if name == language and word in text]


def run(word, names=None, *, page=PAGE):
    """Run the one example with this word; return its names."""
    (code,) = [*blocks("py", word, page=page), *blocks("python", word, page=page)]
    names = {} if names is None else names
    exec(compile(code, page, "exec"), names)
    return names
