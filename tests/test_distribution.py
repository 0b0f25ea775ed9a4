"""The distribution is racer-tuning: `racer` on PyPI is somebody else's."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OLD = r"racer(?![\w.-])"
STRAY = re.compile(
    "|".join(
        [
            rf"pip3? install (?:[^\n`#;&|]*[\s'\"])?{OLD}(?!/)",  # pip install -U racer
            r"(?<![\w.-])racer\\?\[\\?[a-z]+(?:,[a-z]+)*\\?\]",  # racer[plot], also as a pattern
            rf"['\"]?\b{OLD}['\"]?\s*(?:==|>=|<=|~=|!=)\s*\d",  # racer>=0.1
            rf"pypi\.org/(?:project|simple)/{OLD}",
        ]
    )
)


def tracked():
    """Return the text files that git keeps, except this one."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("this is not a clone")
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.is_file() and path != Path(__file__).resolve():
            content = path.read_bytes()
            if b"\0" not in content:
                yield name, content.decode("utf-8")


def test_no_file_calls_the_distribution_by_its_old_name():
    found = [
        f"{name}:{content.count(chr(10), 0, stray.start()) + 1}: {stray[0]}"
        for name, content in tracked()
        for stray in STRAY.finditer(content)
    ]
    assert found == []


def test_what_is_cited_is_this_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", cited, re.MULTILINE) == [project["version"]]


def test_the_conda_recipe_asks_for_what_the_package_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = (ROOT / "experiments/conda_forge/recipe.yaml").read_text(encoding="utf-8")
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    asked = [line.strip(" -").replace(" ", "") for line in run.splitlines()]
    assert asked == ["python>=${{python_min}}", *project["dependencies"]]
    assert f'version: "{project["version"]}"' in recipe
    assert f'python_min: "{project["requires-python"].removeprefix(">=")}"' in recipe


def test_the_address_of_the_repository_is_to_be_filled_in_in_one_place():
    """`.ci/release` writes it where else it is needed."""
    about_it = {".ci/release", "docs/releasing.md"}
    found = [name for name, content in tracked() if re.search(r"\bOWNER\b", content)]
    assert set(found) - about_it <= {"pyproject.toml"}


def test_the_workflow_names_each_python_and_system():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    pythons = re.findall(r"Python :: (3\.\d+)$", "\n".join(project["classifiers"]), re.MULTILINE)
    assert set(re.findall(r'"(3\.\d+)"', workflow)) == set(pythons)
    assert project["requires-python"] == f">={pythons[0]}"
    systems = set(re.findall(r"\b(\w+)-latest\b", workflow))
    assert systems == {"ubuntu", "macos", "windows"}


def test_actions_are_pinned_by_commit():
    workflows = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / ".github/workflows").glob("*.yml")
    )
    used = re.findall(r"uses: (.*)", workflows)
    assert len(used) >= 2
    assert [one for one in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", one)] == []


def test_what_ci_and_a_release_install_is_pinned():
    pinned = (ROOT / ".ci/constraints.txt").read_text(encoding="utf-8").lower()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for needed in (*project["dependencies"], *extras["test"], *extras["dev"], *extras["docs"]):
        name = re.match(r"[\w-]+", needed)[0].lower()
        assert name == "racer-tuning" or re.search(rf"^{name}==", pinned, re.MULTILINE), name
    tools = (ROOT / ".ci/release-tools.txt").read_text(encoding="utf-8")
    pins = [line for line in tools.split("\n") if "==" in line]
    assert len(pins) > 4
    assert all(f"{line}\n    --hash=sha256:" in tools for line in pins)
    assert "--require-hashes" in (ROOT / ".ci/release").read_text(encoding="utf-8")
