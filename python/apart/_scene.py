"""Scenes: opened from files and examples, checked, saved, run."""

import contextlib
import json
import math
import os

from . import _apart
from ._parts import Clock, Part, part_of


def change_texts(changes):
    """Changes path → value as the program's option --set has them."""
    if changes is not None and not isinstance(changes, dict):
        raise _apart.InputError(
            f"changes: got an object of type {type(changes).__name__}, must be a dictionary of paths and values, such as "
            '{"bodies[ball].material.E": 1e5}'
        )
    return [f"{path}={json_text(value, path)}" for path, value in (changes or {}).items()]


@contextlib.contextmanager
def in_words_of_python(texts=()):
    """What messages say of the program's options, they say of the arguments of functions instead."""
    try:
        yield
    except _apart.InputError as error:
        message = str(error)
        for text in texts:
            message = message.replace(f"--set {text}: ", "")
        raise _apart.InputError(message.replace("with --force", "with force=True")) from None


def json_text(value, path):
    def other(item):
        for method in ("to_dict", "tolist", "__fspath__"):
            if hasattr(item, method):
                return getattr(item, method)()
        raise _apart.InputError(
            f"{path}: got an object of type {type(item).__name__}, must be a number, text, list, dictionary or array"
        )

    try:
        return json.dumps(value, default=other, allow_nan=False)
    except ValueError as error:
        if isinstance(error, _apart.InputError):
            raise
        rule = "contains itself" if "Circular" in str(error) else "must be finite; give other numbers"
        raise _apart.InputError(f"{path}: got {str(value)[:80]}, {rule}") from None


def scene_file(scene, changes=None, feedback=None):
    """The scene as understood: of a Scene, a dictionary, a file, or the name of an example.

    feedback: a list that gets its functions of time and state; None: they are refused.
    """
    texts = change_texts(changes)
    with in_words_of_python(texts):
        return _understood(scene, texts, feedback)


def _understood(scene, texts, feedback):
    if isinstance(scene, _apart.SceneFile):
        return _apart.SceneFile.understand(json.loads(scene.text()), "", texts) if texts else scene
    if isinstance(scene, Part):
        values = scene._plain(scene._clock(feedback), "scene") if isinstance(scene, SceneBase) else scene.to_dict()
        return _apart.SceneFile.understand(values, os.getcwd(), texts)
    if isinstance(scene, dict):
        made = part_of("scene", scene)
        if isinstance(made, dict):  # check() says what is wrong with it
            return _apart.SceneFile.understand(made, os.getcwd(), texts)
        return _understood(made, texts, feedback)
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

    def _clock(self, feedback=None):
        time = self.time
        dt = time.dt
        steps = time.steps if time.steps is not None else math.ceil((time.tend or 0.0) / dt - 1e-9)
        return Clock(dt, int(steps), feedback=feedback)

    def save(self, file):
        """Writes a scene file, with every value written out."""
        text = scene_file(self).text()
        with open(file, "w", encoding="utf-8") as out:
            out.write(text + "\n")
