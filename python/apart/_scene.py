"""Scenes: opened from files and examples, checked, saved, run."""

import json
import math
import os

from . import _apart
from ._parts import Clock, Part, part_of


def change_texts(changes):
    """Changes path → value as the program's option --set has them."""
    return [f"{path}={json_text(value)}" for path, value in (changes or {}).items()]


def json_text(value):
    def other(item):
        for method in ("to_dict", "tolist", "__fspath__"):
            if hasattr(item, method):
                return getattr(item, method)()
        raise _apart.InputError(
            f"got an object of type {type(item).__name__}, must be a number, text, list, dictionary or array"
        )

    try:
        return json.dumps(value, default=other, allow_nan=False)
    except ValueError as error:
        if isinstance(error, _apart.InputError):
            raise
        raise _apart.InputError("got a number that is not finite; give another one") from None


def scene_file(scene, changes=None):
    """The scene as understood: of a Scene, a dictionary, a file, or the name of an example."""
    texts = change_texts(changes)
    if isinstance(scene, _apart.SceneFile):
        return _apart.SceneFile.understand(json.loads(scene.text()), "", texts) if texts else scene
    if isinstance(scene, Part):
        return _apart.SceneFile.understand(scene.to_dict(), os.getcwd(), texts)
    if isinstance(scene, dict):
        return scene_file(part_of("scene", scene), changes)
    if isinstance(scene, (str, os.PathLike)):
        return _apart.SceneFile.open(os.fspath(scene), texts)
    raise _apart.InputError(
        f"scene: got an object of type {type(scene).__name__}, must be a Scene, a dictionary, a file or the name of an "
        "example"
    )


class Check(dict):
    """What `apart check` says: problems that keep the scene from running, warnings, notes, bodies."""

    @property
    def ok(self):
        return not self["problems"]

    def __str__(self):
        lines = self["problems"] + ["warning: " + text for text in self["warnings"]]
        return "\n".join(lines or ["No intersections, no gaps that are too small: ready to run."])


class SceneBase(Part):
    def __init__(self, **values):
        super().__init__(**{"version": 1, **values})

    @classmethod
    def open(cls, file_or_example, changes=None):
        """A scene file, or a scene of another program, or a built-in example, with changes path → value."""
        file = scene_file(os.fspath(file_or_example), changes)
        return part_of("scene", json.loads(file.brief_text()))

    def __getitem__(self, name):
        """The body of that name."""
        for body in self.bodies:
            if getattr(body, "name", None) == name:
                return body
        raise KeyError(f"no body is named {name!r}; the names are {[body.name for body in self.bodies]}")

    def to_dict(self):
        """The scene as in a scene file. Functions of time are written as their values at the ends of steps."""
        return self._plain(self._clock(), "scene")

    def _clock(self):
        time = self.time
        dt = time.dt
        steps = time.steps if time.steps is not None else math.ceil((time.tend or 0.0) / dt - 1e-9)
        return Clock(dt, int(steps))

    def save(self, file):
        """Writes a scene file, with every value written out."""
        text = scene_file(self).text()
        with open(file, "w", encoding="utf-8") as out:
            out.write(text + "\n")
