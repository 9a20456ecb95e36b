"""Runs in directories, as the program apart makes them."""

import json
import operator
import os
import pathlib

from . import _apart
from ._scene import Check, in_words_of_python, scene_file
from ._viewer import view


class VerificationError(RuntimeError):
    """The exact check found a violation in a run."""


class Table(dict):
    """Columns by name, as arrays."""

    @classmethod
    def read(cls, file):
        return cls(_apart.read_table(os.fspath(file)))

    def __missing__(self, name):
        raise KeyError(f"there is no column {name!r}; the columns are {', '.join(self)}")

    def to_pandas(self):
        """The same as a DataFrame of pandas, which must be installed."""
        try:
            import pandas
        except ImportError:
            raise ImportError("pandas is not installed; use the columns, which are arrays, or install python3-pandas") from None
        return pandas.DataFrame(dict(self))


class Certificate(dict):
    """What certificate.json says of a run; `str` is the summary that the program prints."""

    def __init__(self, ok, summary, values):
        super().__init__(values)
        self.ok, self.summary = ok, summary

    def __bool__(self):
        return self.ok

    def __str__(self):
        return self.summary


class Frames:
    """The frames of a run: a sequence that reads them as they are asked for."""

    def __init__(self, directory):
        self._files = _apart.list_frames(str(directory))

    def __len__(self):
        return len(self._files)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [_apart.Frame.read(file) for file in self._files[index]]
        try:
            return _apart.Frame.read(self._files[operator.index(index)])
        except TypeError:
            raise TypeError(f"frames: got {index!r}, must be the number of a frame, 0 to {len(self) - 1}, or a slice") from None
        except IndexError:
            raise IndexError(f"frames: got {index!r}, must be from 0 to {len(self) - 1}, or negative to count from the end") from None


class Run:
    """A run directory."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        if not (self.directory / "summary.json").exists():
            raise _apart.InputError(
                f"{self.directory}: is not a run directory, it has no summary.json; name one that run() has written"
            )

    def __repr__(self):
        return f"Run({str(self.directory)!r})"

    def __fspath__(self):
        return str(self.directory)

    @property
    def summary(self):
        """The run in numbers."""
        file = self.directory / "summary.json"
        try:
            return json.loads(file.read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            raise _apart.InputError(f"{file}: cannot be read: {error}; start the run again") from None

    @property
    def steps(self):
        """The same for each step."""
        return Table.read(self.directory / "steps.csv")

    @property
    def probes(self):
        """What the probes of the scene measured after each step."""
        file = self.directory / "probes.csv"
        if not file.exists():
            raise _apart.InputError(f"{self.directory}: the scene has no probes; add some to Scene.probes")
        return Table.read(file)

    @property
    def frames(self):
        return Frames(self.directory)

    def verify(self):
        """Proves the run from its files alone."""
        return verify(self)

    def render(self, frame=-1, size=(640, 480), **options):
        """A picture of a frame as an array (height, width, 3) of bytes; options as those of Frame.draw."""
        frames = self.frames
        if options.get("colour") == "displacement":
            options.setdefault("start", frames[0])
        return frames[frame].draw(size, **options)

    def view(self, **options):
        """Shows the run in the browser, or in a cell of Jupyter; options as those of view()."""
        return view(self, **options)


def verify(run):
    """Proves a run from its files alone; `bool` of the result says whether it holds."""
    directory = os.fspath(run)
    ok, summary = _apart.verify(directory)
    values = json.loads((pathlib.Path(directory) / "certificate.json").read_text(encoding="utf-8"))
    return Certificate(ok, summary, values)


def ended(end, reason, directory):
    if end == "refuted":
        raise VerificationError(f"{reason}\nThe result in {directory} is wrong; verify() lists all violations")
    if end != "finished":
        raise _apart.SolverError(
            f"{reason}\nThe last good state is in {directory}; apart.resume({str(directory)!r}) goes on from it"
        )
    return Run(directory)


def run(scene, output=None, *, steps=None, frames=True, record_iterates=False, force=False, progress=None,
        changes=None):
    """Simulates a scene into a run directory, which the result refers to.

    scene: a Scene, a dictionary, a file, or the name of a built-in example; changes: path → value, applied first.
    output: the directory; if omitted, run-NAME. force: replace the results of an earlier run there.
    steps: instead of the scene's number. frames: False to keep only the final state.
    record_iterates: so that verify() can prove all paths. progress: called after each step with its row of steps.csv
    as a dictionary, and `steps`, `seconds_left`, `wall_seconds`.

    An exception of `progress` and Ctrl-C end the run, which resume() continues.
    """
    file = scene_file(scene, changes)
    directory = os.fspath(output) if output is not None else _apart.fresh_run_directory(file)
    options = {"steps": steps, "frames": frames, "record_iterates": record_iterates, "force": force}
    with in_words_of_python():
        end, reason = _apart.run(file, directory, options, progress)
    return ended(end, reason, directory)


def resume(run, *, steps=None, record_iterates=False, progress=None):
    """Continues an interrupted run; the results are the same bits as without interruption."""
    directory = os.fspath(run)
    end, reason = _apart.resume(directory, {"steps": steps, "record_iterates": record_iterates}, progress)
    return ended(end, reason, directory)


def check(scene, changes=None):
    """What would keep a scene from running, and what looks like a mistake."""
    return Check(scene_file(scene, changes).check())
