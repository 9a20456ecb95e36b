"""The examples of examples/python run as they are."""

import os
import pathlib
import runpy
import sys

import pytest

folder = pathlib.Path(__file__).parents[2] / "examples" / "python"


@pytest.fixture
def printed(monkeypatch, tmp_path, capsys):
    """Runs an example in an empty folder; returns what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")

    def run(name, *arguments):
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        runpy.run_path(str(folder / name), run_name="__main__")
        return capsys.readouterr().out

    return run


def number_after(text, word):
    return float(text.split(word)[1].split()[0])


def test_draping(printed, tmp_path):
    pytest.importorskip("matplotlib")
    assert "step 4 of 4" in printed("draping.py", str(folder / "pedestal.obj"), "4")
    assert (tmp_path / "draping.png").stat().st_size > 1000


def test_snap_fit(printed, tmp_path):
    pytest.importorskip("matplotlib")
    # A beam of 48 mm bends by 4 mm under 0.23 N.
    assert 0.2 < number_after(printed("snap_fit.py"), "largest force") < 0.5
    assert (tmp_path / "snap_fit.png").exists()


def test_gripper(printed):
    assert number_after(printed("gripper.py"), "lifted by") > 5


def test_fit_material(printed):
    pytest.importorskip("scipy")
    assert number_after(printed("fit_material.py"), "E =") == pytest.approx(1.2e6, rel=0.03)


def test_collision_queries(printed):
    assert 0 < number_after(printed("collision_queries.py"), "smallest distance") < 0.01


def test_every_example_is_tested():
    tested = pathlib.Path(__file__).read_text(encoding="utf-8")
    for name in os.listdir(folder):
        if name.endswith(".py"):
            assert f'"{name}"' in tested, name
