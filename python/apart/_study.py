"""Studies: a scene with many values of some of its parameters, done by the program apart."""

import csv
import json
import os
import pathlib
import shutil
import subprocess

from . import _apart
from ._run import Run
from ._scene import json_text, scene_file


def find_program():
    """The program apart: $APART_PROGRAM, that of the build directory this package is in, or that of $PATH."""
    beside = pathlib.Path(__file__).resolve().parents[2] / "apart"
    for candidate in (os.environ.get("APART_PROGRAM"), str(beside) if beside.is_file() else None, shutil.which("apart")):
        if candidate:
            return candidate
    raise _apart.InputError("studies are done by the program apart, which was not found: install it, or name it in $APART_PROGRAM")


class Study:
    """A scene, run with many values of some of its parameters, as `apart sweep` does it.

    scene: a Scene, a dictionary, a file, or the name of an example. parameters: path → list of values, or a range as in
    docs/studies.md: {"from": 1e4, "to": 1e6, "count": 3, "scale": "logarithmic"}. results: name → (column, take), such as
    {"push": ("push.pressing", "max")}. sampling: "grid", "list", "random" or "latin_hypercube", the last two with runs and
    seed. steps, frames: of each run.
    """

    def __init__(self, scene, parameters, results=None, **options):
        unknown = set(options) - {"sampling", "runs", "seed", "steps", "frames"}
        if unknown:
            raise _apart.InputError(f"Study: unknown option {sorted(unknown)[0]!r}; known are sampling, runs, seed, steps, frames")
        self._scene = scene_file(scene)
        self._values = {
            "scene": "scene.json",
            "parameters": {path: value if isinstance(value, dict) else {"values": list(value)}
                           for path, value in parameters.items()},
            "results": {name: {"column": column, "take": take} for name, (column, take) in (results or {}).items()},
            **{name: value for name, value in options.items() if value is not None},
        }

    def run(self, folder, jobs=None):
        """Does all runs that are not done in `folder` yet, `jobs` at a time, and returns the results."""
        folder = pathlib.Path(folder)
        # Beside the folder, which belongs to the study alone.
        description = folder.with_name(folder.name + "-study")
        description.mkdir(parents=True, exist_ok=True)
        (description / "scene.json").write_text(self._scene.text() + "\n", encoding="utf-8")
        (description / "study.json").write_text(json_text(self._values, "study"), encoding="utf-8")
        command = [find_program(), "sweep", description / "study.json", "-o", folder]
        if jobs is not None:
            command += ["--jobs", str(jobs)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 2 or done.returncode == 64:
            raise _apart.InputError(done.stderr.strip())
        if done.returncode != 0:
            raise _apart.SolverError(done.stderr.strip() or f"apart sweep ended with {done.returncode}")
        return StudyResults(folder)


class StudyResults:
    """The results of a study: rows of results.csv, one a run, and the run directories."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        if not (self.folder / "results.csv").exists():
            raise _apart.InputError(f"{self.folder}: has no results.csv; name the folder of a study that was run")
        with open(self.folder / "results.csv", encoding="utf-8", newline="") as file:
            self.rows = [{name: self._value(text) for name, text in row.items()} for row in csv.DictReader(file)]

    @staticmethod
    def _value(text):
        if text == "":
            return None
        try:
            return json.loads(text)
        except ValueError:
            return text

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, name):
        """A column: a parameter, a number of the summary, or a result, of each run."""
        if self.rows and name not in self.rows[0]:
            raise KeyError(f"there is no column {name!r}; the columns are {', '.join(self.rows[0])}")
        return [row[name] for row in self.rows]

    def run(self, number):
        """The run directory of a run."""
        return Run(self.folder / "runs" / f"{number:06}")

    def to_pandas(self):
        """The table as a DataFrame of pandas, which must be installed."""
        import pandas

        return pandas.DataFrame(self.rows)
