"""Studies from Python."""

import pytest

import apart


def test_a_study_has_a_row_for_each_run_and_is_not_run_twice(falling_ball, tmp_path):
    falling_ball["ball"].transform = apart.Transform(translate=(0, 1, 0))
    study = apart.Study(falling_ball, {"gravity[1]": [-1, -2]}, {"low": ("centre.y", "last")}, steps=2, frames=False)
    results = study.run(tmp_path / "study", jobs=1)
    assert len(results) == 2 and results["status"] == ["finished", "finished"]
    assert results["gravity[1]"] == [-1, -2]
    # In free fall implicit Euler falls by g dt² (1 + 2) in two steps.
    assert results["low"][0] - results["low"][1] == pytest.approx(1e-4 * 3, rel=1e-6)
    assert results.run(1).summary["steps"] == 2
    written = (tmp_path / "study" / "runs" / "000001" / "steps.csv").stat().st_mtime_ns
    assert study.run(tmp_path / "study")["low"] == results["low"]
    assert (tmp_path / "study" / "runs" / "000001" / "steps.csv").stat().st_mtime_ns == written
    with pytest.raises(KeyError, match="gravity"):
        results["none"]


def test_mistakes_are_the_messages_of_the_program(falling_ball, tmp_path):
    with pytest.raises(apart.InputError, match="gravty"):
        apart.Study(falling_ball, {"gravty[1]": [1]}).run(tmp_path / "a")
    with pytest.raises(apart.InputError, match="no_such"):
        apart.Study(falling_ball, {"gravity[1]": [1]}, {"x": ("centre.y", "no_such")}).run(tmp_path / "b")
    with pytest.raises(apart.InputError, match="unknown option"):
        apart.Study(falling_ball, {"gravity[1]": [1]}, colour="red")
    with pytest.raises(apart.InputError, match="results.csv"):
        apart.StudyResults(tmp_path)
