"""Folders of IOHprofiler and COCO, each small and written by hand after their documentation."""

import json

import numpy as np
import pytest

from racer import ScoresError, read_trajectories
from racer.stats import expected_running_time

IOH_HEAD = (
    '"function evaluation" "current f(x)" "best-so-far f(x)" "current af(x)+b" "best af(x)+b"'
)
COCO_HEAD = (
    "% f evaluations | g evaluations | best noise-free fitness - Fopt (7.9e+01) + sum g_i+ | "
    "measured fitness | best measured fitness or single-digit g-values | x1 | x2..."
)
OLD_HEAD = (
    "% function evaluation | noise-free fitness - Fopt (7.9e+01) | best noise-free fitness - Fopt"
)
RUNS = ["1 5 5\n4 7 7\n9 6 7\n", "1 4 4\n"]  # evaluation, value, best: the second ends after 20


def write(folder, info, data, *, head):
    (folder / "data_f1").mkdir(parents=True)
    (folder / "IOHprofiler_f1.info").write_text(info)
    (folder / "data_f1" / "a.dat").write_text("".join(f"{head}\n{run}" for run in data))


def ioh(folder, *, name="(1+1) EA", maximization="T"):
    info = (
        f"suite = 'PBO', funcId = 1, DIM = 16, maximization = '{maximization}', algId = '{name}'\n"
        "%\ndata_f1/a.dat, 1:10|7.0, 1:20|4.0\n"
    )
    write(folder, info, RUNS, head=IOH_HEAD)


def ioh_json(folder):
    runs = [{"instance": 1, "evals": 10, "best": {"y": 7}}, {"instance": 1, "evals": 20}]
    info = {
        "version": "0.3.5",
        "function_id": 1,
        "maximization": True,
        "algorithm": {"name": "json", "info": ""},
        "scenarios": [{"dimension": 16, "path": "data_f1/a.dat", "runs": runs}],
    }
    data = [run.replace("7 7", "7").replace("6 7", "6").replace("5 5", "5") for run in RUNS]
    write(folder, json.dumps(info), data, head="evaluations raw_y")


def test_iohprofiler_as_text_and_as_json(tmp_path):
    ioh(tmp_path / "text")
    ioh_json(tmp_path / "json")
    found = read_trajectories(tmp_path / "text", tmp_path / "json")
    assert (found.algorithms, found.maximize) == (("(1+1) EA", "json"), True)
    hits = found.hits(6)
    assert hits.index.tolist() == [(1, 16, 1, 1), (1, 16, 1, 2)]
    assert hits.to_numpy().tolist() == [[4.0, 4.0], [np.inf, np.inf]]
    assert found.values(5)["json"].tolist() == [7.0, 4.0]
    times = found.expected_running_times(6)
    assert times.loc[1, 16].tolist() == [24.0, 24.0]  # 4 until the target, 20 without it
    assert found.expected_running_times(8).loc[1, 16].tolist() == [np.inf, np.inf]


@pytest.mark.parametrize(
    ("head", "row"), [(COCO_HEAD, "{} 0 {} 80 80 +1.0e+00"), (OLD_HEAD, "{} 99 {} 80 80 1.0")]
)
def test_coco(tmp_path, head, row):
    info = (
        "funcId = 3, DIM = 2, Precision = 1.000e-08, algId = 'RS', coco_version = '2.2'\n% text\n"
        "data_f1\\a.dat, 1:7|1.0e-01, 2:5|3.0e+00\nfuncId = 3, DIM = 5, algId = 'RS'\n%\n"
    )
    data = [f"{row.format(1, 4)}\n{row.format(3, 0.1)}\n", f"{row.format(2, '+3e+00')}\n"]
    write(tmp_path / "RS", info, data, head=head)
    found = read_trajectories(tmp_path)
    assert not found.maximize
    assert found.hits(0.5)["RS"].to_dict() == {(3, 2, 1, 1): 3.0, (3, 2, 2, 1): np.inf}
    assert found.values(1)["RS"].tolist() == pytest.approx([4.0, np.nan], nan_ok=True)
    assert found.expected_running_times(0.5)["RS"].tolist() == [8.0]


def test_what_is_no_folder_of_theirs(tmp_path):
    with pytest.raises(ScoresError, match=r"no \.info file in"):
        read_trajectories(tmp_path)
    ioh(tmp_path / "a")
    data = tmp_path / "a" / "data_f1" / "a.dat"
    data.write_text(f"{IOH_HEAD}\n1 x x\n")
    with pytest.raises(ScoresError, match=r"a\.dat is no \.dat file .*'x'"):
        read_trajectories(tmp_path)
    data.write_text(f"{IOH_HEAD}\n1 2 2\n")
    with pytest.raises(ScoresError, match=r"has 1 runs, .* lists 2"):
        read_trajectories(tmp_path)
    ioh(tmp_path / "b", maximization="F")
    data.write_text("".join(f"{IOH_HEAD}\n{run}" for run in RUNS))
    with pytest.raises(ScoresError, match=r"is maximised, .* minimised"):
        read_trajectories(tmp_path)
    for text in ("funcId = 1\n%\nd.dat, 1:1|1\n", "{}", "d.dat, 1:1|1"):
        (tmp_path / "a" / "IOHprofiler_f1.info").write_text(text)
        with pytest.raises(ScoresError, match="IOHprofiler"):
            read_trajectories(tmp_path)
    outside = "funcId = 1, DIM = 2, algId = 'a'\n%\n../../secret.dat, 1:1|1\n"
    (tmp_path / "a" / "IOHprofiler_f1.info").write_text(outside)
    with pytest.raises(ScoresError, match="outside of its folder"):
        read_trajectories(tmp_path)


def test_expected_running_time_against_runs_in_series():
    """The mean of many restarts until a success, runs drawn at random from those recorded."""
    hits, used = np.array([3.0, np.inf, 8.0, np.inf, 5.0]), np.array([9.0, 10.0, 9.0, 20.0, 9.0])
    rng, total = np.random.default_rng(0), []
    for _ in range(20_000):
        spent = 0.0
        while not np.isfinite(hits[drawn := rng.integers(5)]):
            spent += used[drawn]
        total.append(spent + hits[drawn])
    error = 4.0 * np.std(total) / np.sqrt(len(total))
    assert expected_running_time(hits[:, None], used[:, None])[0] == pytest.approx(
        np.mean(total), abs=error
    )
    none = expected_running_time([[np.inf, np.nan]], 7)
    assert none[0] == np.inf
    assert np.isnan(none[1])
    with pytest.raises(ScoresError, match="evaluations of each run"):
        expected_running_time([[np.inf]], np.inf)
