"""Run directories, proofs, pictures, the viewer."""

import urllib.request

import numpy
import pytest

import apart


def test_a_run_is_written_verified_and_read(falling_ball, tmp_path):
    seen = []
    run = apart.run(falling_ball, tmp_path / "run", record_iterates=True, progress=seen.append)
    assert [report["step"] for report in seen] == list(range(1, 13)) and seen[0]["steps"] == 12
    assert run.summary["intersection_free"] and run.summary["steps"] == 12
    assert run.steps["step"].tolist() == list(range(1, 13))
    assert len(run.probes["centre.y"]) == 12
    assert len(run.frames) == 13 and run.frames[0].time == 0
    assert run.frames[-1].velocities.shape == run.frames[-1].points.shape
    certificate = run.verify()
    assert certificate and certificate["certified"] is True and certificate["coverage"] == "all_paths"
    assert run.render(size=(32, 32), samples=1).shape == (32, 32, 3)
    assert numpy.nanmax(run.frames[-1].field("speed")) > 0
    assert [frame.time for frame in run.frames[:2]] == [run.frames[0].time, run.frames[1].time]
    with pytest.raises(IndexError, match="from 0 to 12"):
        run.render(frame=13)
    with pytest.raises(TypeError, match="number of a frame"):
        run.frames["last"]
    for size in [(32.5, 32), (32,), 32, (8, 8)]:
        with pytest.raises(apart.InputError, match="size: got"):
            run.render(size=size)
    assert run.summary["units"]["centre.y"] == "m" and run.summary["units"]["time"] == "s"
    with pytest.raises(KeyError, match="centre.x"):
        run.probes["centre"]
    with pytest.raises(apart.InputError, match="is not empty; .* with force=True$"):
        apart.run(falling_ball, tmp_path / "run")
    apart.run(falling_ball, tmp_path / "run", steps=1, force=True)
    with pytest.raises(apart.InputError, match="is not a run directory"):
        apart.Run(tmp_path)


def test_tables_become_data_frames_of_pandas(falling_ball, tmp_path):
    pytest.importorskip("pandas")
    run = apart.run(falling_ball, tmp_path / "run", steps=2, frames=False)
    assert run.steps.to_pandas()["time"].tolist() == pytest.approx([0.01, 0.02])


def test_a_run_that_progress_ended_is_resumed_with_the_same_bits(falling_ball, tmp_path):
    def stop(report):
        if report["step"] == 3:
            raise StopIteration("three are enough")

    with pytest.raises(StopIteration, match="three are enough"):
        apart.run(falling_ball, tmp_path / "cut", progress=stop)
    assert apart.Run(tmp_path / "cut").summary["interrupted"]
    cut = apart.resume(tmp_path / "cut")
    whole = apart.run(falling_ball, tmp_path / "whole")
    assert numpy.array_equal(cut.frames[-1].points, whole.frames[-1].points)


def test_a_run_that_fails_says_so_and_keeps_its_state(falling_ball, tmp_path):
    with pytest.raises(apart.SolverError, match="apart.resume"):
        apart.run(falling_ball, tmp_path / "run", changes={"solver.max_iterations": 1, "solver.tolerance": 1e-9})
    assert (tmp_path / "run" / "checkpoint").exists()


def test_functions_of_time_are_part_of_what_is_proven(tmp_path):
    scene = apart.Scene(time=apart.Time(dt=0.02, steps=5),
                        bodies=[apart.body.Obstacle(name="plate", mesh=apart.mesh.Box(cells=1),
                                                    motion=lambda t: (0, t, 0)),
                                apart.body.Rigid(name="brick", mesh=apart.mesh.Box(cells=1),
                                                 transform={"translate": [0, 1.01, 0]})])
    run = apart.run(scene, tmp_path / "run", record_iterates=True)
    assert run.verify().ok


def test_the_viewer_is_a_frame_of_a_notebook(falling_ball, tmp_path):
    run = apart.run(falling_ball, tmp_path / "run", steps=1)
    try:
        viewer = run.view()
    except apart.InputError as error:
        pytest.skip(f"built without the page of apart view: {error}")
    assert f'src="{viewer.address}"' in viewer._repr_html_()
    assert urllib.request.urlopen(viewer.address, timeout=20).status == 200
    viewer.close()
    with pytest.raises(apart.InputError, match="was closed"):
        viewer.address
    with pytest.raises(apart.InputError):
        apart.view(tmp_path / "nothing")


def test_viewers_need_runs_and_a_port():
    for wrong in (lambda: apart.view(), lambda: apart.view("nowhere"), lambda: apart.view("nowhere", port=99999),
                  lambda: apart.view("nowhere", port="x")):
        with pytest.raises(apart.InputError):
            wrong()


def test_damaged_tables_and_summaries_say_what_to_do(falling_ball, tmp_path):
    run = apart.run(falling_ball, tmp_path / "run", steps=2)
    (tmp_path / "run" / "steps.csv").write_text("a,b\n1\n")
    with pytest.raises(apart.InputError, match="must have 2 as the first line; start the run again"):
        run.steps
    (tmp_path / "run" / "summary.json").write_text("{")
    with pytest.raises(apart.InputError, match="start the run again"):
        run.summary
