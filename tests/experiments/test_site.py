"""The pages of the site: links of the repository turned, tables filled in, broken links found."""

import pytest

from experiments.site import broken_links, page


def test_links_of_the_repository_lead_to_the_same_pages_in_the_site():
    text = "[a](docs/race.md#budget) ![b](docs/figures/race.svg) [c](https://d.org) [e](#f)"
    turned = "[a](race.md#budget) ![b](figures/race.svg) [c](https://d.org) [e](#f)"
    assert page("README.md", text) == turned
    study = "[a](../../docs/race.md) [b](../../README.md) [c](table.csv)"
    turned = "[a](../../race.md) [b](../../index.md) [c](table.csv)"
    assert page("experiments/tuner/README.md", study) == turned
    assert page("docs/race.md", "[a](../experiments/tuner/README.md)") == (
        "[a](experiments/tuner/README.md)"
    )


@pytest.mark.parametrize(
    ("mark", "row"),
    [
        ("scenario.schema.json", "| `budget` |"),
        ("racer --help", "## racer tune\n\n```text\nUsage: racer tune [OPTIONS]"),
        ("columns of result.scores", "| `block` | int64 | the block, from 0 |"),
        ("names of racer.deciders", "::: racer.deciders.FRace\n"),
        ("options of irace", "| `maxExperiments` | `budget` |\n"),
        ("options of irace", "| `mu` | ignored: racer plans its races by the budget itself |\n"),
    ],
)
def test_tables_are_filled_in(mark, row):
    assert row in page("docs/reference/a.md", f"<!-- {mark} -->\n")


def test_links_anchors_and_pictures_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "index.html").write_text('<h1 id="here">', encoding="utf-8")
    (tmp_path / "a b.svg").touch()
    (tmp_path / "a.html").write_text(
        '<a href="b/#here"> <a href="https://d.org/#e"> <img src="a%20b.svg"> <a href=#top id=top>'
        '<a href="b/#there"> <a href=c.html> <img src="d.svg"> <a href="#e">',
        encoding="utf-8",
    )
    assert broken_links(tmp_path) == [
        "a.html: #e",
        "a.html: b/#there",
        "a.html: c.html",
        "a.html: d.svg",
    ]
