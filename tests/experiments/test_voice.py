"""How the project's English reads: rates that may not rise again."""

import pytest

from experiments.voice import Text, docstrings, habits, how_to, old_sentences, pages, rates

# uses per 1 000 words; of "Say whether" their number
DOCSTRINGS = {"what/who": 2.0, "tell/say": 1.0, "Say whether": 0}
DOCS = {"what/who": 2.0, "tell/say": 1.0, "Say whether": 0}
LONG_PARAGRAPHS, LONG_PAGES, OLD_SENTENCES = 0, 0, 0


@pytest.fixture(scope="module")
def groups():
    return {"docstrings": list(docstrings()), "docs": list(pages())}


@pytest.mark.parametrize(("name", "highest"), [("docstrings", DOCSTRINGS), ("docs", DOCS)])
def test_rates_do_not_rise(groups, name, highest):
    assert len(groups[name]) > 40
    measured = rates(groups[name])
    assert {habit: rate for habit, rate in measured.items() if rate > highest[habit]} == {}


def test_paragraphs_are_short(groups):
    texts = [*groups["docstrings"], *groups["docs"]]
    assert len([text.place for text in texts if text.longest_paragraph > 120]) <= LONG_PARAGRAPHS


def test_pages_are_short(groups):
    sizes = {text.place: text.words for text in groups["docs"]}
    assert len([place for place in how_to() if sizes[place] > 900]) <= LONG_PAGES


def test_no_old_sentence_is_left():
    assert len(old_sentences()) <= OLD_SENTENCES


def test_uses_are_counted_in_prose_only():
    page = Text(
        "page", "Say whether it is what was said.\n\n```sh\nsay what\n```\n`tell` and who?\n"
    )
    assert page.words == 14
    assert habits([page])["habit"].tolist() == ["what/who", "tell/say", "tell/say", "Say whether"]
    assert rates([page])["what/who"] == pytest.approx(1000 / 14)
    assert rates([page])["Say whether"] == 1


def test_a_paragraph_ends_where_an_item_begins():
    assert (
        Text("page", "a b c\n- d e\n- f\n\ng h\ni j\n\n| k | l | m | n |\n").longest_paragraph == 4
    )
    assert Text("docstring", "a b.\n\nc : d\n    e f.\ng : h\n    i.").longest_paragraph == 5
