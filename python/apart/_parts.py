"""The parts of a scene as classes, one for each kind in the catalog of the scene format.

A kind of a group with several becomes a class in a module of that group, ``apart.mesh.Sphere``; a group of one kind a
class of the package, ``apart.Transform``. Keys are keyword arguments and attributes, with the checks, messages and
defaults of scene files. Keys that are words of Python have an underscore at the end: ``from_``.
"""

import inspect
import json
import keyword
import sys
import types

import numpy

from . import _apart

catalog = json.loads(_apart.catalog_text())
for _key in catalog["groups"]["scene"]["rows"][0]["keys"]:
    if _key["name"] == "version":  # that of this package, unless a file says otherwise
        _key.update(required=False, default=1)


def attribute_name(key):
    """How a key of the scene format is written in Python."""
    name = key.lstrip("$")
    return name + "_" if keyword.iskeyword(name) else name


def class_name(name):
    return "".join(word.capitalize() for word in name.split("_"))


class Clock:
    """When a function of time is asked: at the end of every step, and at the beginning.

    Functions of time and state cannot be asked in advance: those that are met are put into `feedback`, or refused if that is None.
    """

    def __init__(self, dt, steps, start=0.0, feedback=None):
        self.dt, self.steps, self.start, self.feedback = dt, steps, start, feedback

    def times(self):
        """From 0 on, in seconds after `start`."""
        return [0.0] + [t for t in (k * self.dt - self.start for k in range(1, self.steps + 1)) if t > 0]

    def after(self, start):
        return Clock(self.dt, self.steps, start, self.feedback)


class Feedback:
    """A function of time and state, f(t, simulation), that a simulation asks before every step."""

    def __init__(self, function, value_type, start, path):
        self.function, self.value_type, self.start = function, value_type, start
        self.path = path.removeprefix("scene.")

    def pose(self, t, simulation):
        """For a motion: the keyframe at the end of the step."""
        return keyframe(t, self.function(t, simulation))

    @property
    def is_motion(self):
        return is_motion(self.value_type)


def takes_state(function):
    """Whether a function needs two arguments, the time and the simulation."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some functions of C have none
        return False

    def takes(count):
        try:
            signature.bind(*[None] * count)
        except TypeError:
            return False
        return True

    return takes(2) and not takes(1)


def is_motion(value_type):
    return value_type["kind"] == "object" and value_type["name"] == "motion"


def is_formula(value_type):
    return value_type["kind"] == "any_of" and any(of["kind"] == "formula" for of in value_type["of"])


def object_group(value_type):
    """The group of objects that a value may be of; None if it may be none."""
    if value_type["kind"] == "object":
        return value_type["name"]
    if value_type["kind"] == "any_of":
        return next((of["name"] for of in value_type["of"] if of["kind"] == "object"), None)
    return None


def coerced(value, value_type):
    """Dictionaries become parts, arrays for selections indices."""
    group = object_group(value_type)
    if group and isinstance(value, dict):
        return part_of(group, value)
    if group == "selection" and isinstance(value, (numpy.ndarray, list, tuple, range)):
        chosen = numpy.asanyarray(value)
        if chosen.dtype != bool:
            if isinstance(value, (list, tuple)) and any(isinstance(item, (bool, numpy.bool_)) for item in value):
                raise _apart.InputError("where: got truth values and others in one list; give indices, or a truth value for each point")
            return part_of("selection", {"indices": chosen})
        if chosen.ndim != 1 or not numpy.any(chosen) or numpy.ma.is_masked(chosen):
            raise _apart.InputError(
                f"where: got truth values of shape {chosen.shape}, {numpy.count_nonzero(chosen)} of them true; give one for each "
                "point, some of them true"
            )
        return part_of("selection", {"indices": numpy.flatnonzero(chosen), "of": len(chosen)})
    if value_type["kind"] == "list" and isinstance(value, (list, tuple)):
        return [coerced(item, value_type["of"][0]) for item in value]
    return value


def refuse_function(path):
    raise _apart.InputError(
        f"{path}: got a function, which only motions and loads may be; give a value"
    )


def keyframe(t, pose):
    if isinstance(pose, Part):
        pose = pose.to_dict()
    return {"t": t, **pose} if isinstance(pose, dict) else {"t": t, "translate": pose}


def sampled(function, value_type, clock, path):
    """What a function of time is in a scene: its values at the ends of steps, with straight lines between them."""
    if takes_state(function):
        if clock.feedback is None:
            raise _apart.InputError(
                f"{path}: got a function of time and state, which only a Simulation can ask; use apart.Simulation, or a "
                "function of time"
            )
        clock.feedback.append(Feedback(function, value_type, clock.start, path))
        return placeholder(value_type, path)  # until the first step
    if is_motion(value_type):
        return {"keyframes": [keyframe(t, function(t)) for t in clock.times()]}
    if is_formula(value_type):
        return [[t, function(t)] for t in clock.times()]
    if value_type["kind"] == "list" and is_formula(value_type["of"][0]):
        times, values = clock.times(), []
        for t in times:
            value = numpy.asarray(function(t), dtype=float)
            if value.shape != (value_type["size"],):
                raise _apart.InputError(
                    f"{path}: the function returned {value!r} at t = {t:g} s, must be {value_type['size']} numbers"
                )
            values.append(value)
        return [[[t, v[k]] for t, v in zip(times, values)] for k in range(value_type["size"])]
    return refuse_function(path)


def placeholder(value_type, path):
    """Stands for a function where values are checked before the clock is known."""
    return sampled(lambda t: (0, 0, 0) if not is_formula(value_type) else 0, value_type, Clock(1, 0), path)


DEEPEST = 100  # lists in lists


def plain(value, value_type, clock, path, depth=0):
    """A value as dictionaries, lists, numbers and texts; arrays stay as they are."""
    if depth > DEEPEST:
        raise _apart.InputError(f"{path[:60]}: has more than {DEEPEST} levels; a list may contain itself")
    if isinstance(value, Part):
        return value._plain(clock, path)
    if callable(value):
        return sampled(value, value_type, clock, path) if clock else placeholder(value_type, path)
    if isinstance(value, (list, tuple)):
        item = value_type["of"][0] if value_type["kind"] == "list" else value_type
        return [plain(entry, item, clock, f"{path}[{i}]", depth + 1) for i, entry in enumerate(value)]
    return value


class Part:
    """A part of a scene. Attributes are the keys of the scene format; those that are not given have its defaults."""

    _group = ""
    _row = {}
    _keys = {}  # attribute → key

    def __init__(self, **values):
        object.__setattr__(self, "_values", {})
        for name, value in values.items():
            self._put(name, value)
        self.check()

    def _put(self, name, value):
        key = self._keys.get(name)
        if key is None:
            self._values[name] = value  # check() says what is wrong with it
        elif value is None:
            self._values.pop(key["name"], None)
        else:
            self._values[key["name"]] = coerced(value, key["type"])

    def __setattr__(self, name, value):
        before = dict(self._values)
        self._put(name, value)
        try:
            self.check()
        except Exception:
            object.__setattr__(self, "_values", before)
            raise

    def __getattr__(self, name):
        key = type(self)._keys.get(name)
        if key is None:
            raise AttributeError(
                f"{type(self).__name__} has no {name!r}; it has {', '.join(type(self)._keys)}"
            )
        values = self.__dict__["_values"]
        if key["name"] not in values:
            default = coerced(json.loads(json.dumps(key.get("default"))), key["type"])
            if not isinstance(default, (Part, list)):
                return default
            values[key["name"]] = default  # so that what it contains can be changed
        return values[key["name"]]

    def __dir__(self):
        return [*object.__dir__(self), *self._keys]

    def __eq__(self, other):
        return isinstance(other, Part) and str(self) == str(other)

    __hash__ = None

    def __repr__(self):
        given = ", ".join(
            f"{attribute_name(name)}={value!r}" for name, value in self._values.items() if name != self._row["tag"]
            or not self._row["tag_is_name"]
        )
        return f"{type(self).__qualname__}({given})"

    def __copy__(self):
        return part_of(self._group, self._tagged())

    def __reduce__(self):
        return part_of, (self._group, self._tagged())

    def _tagged(self):
        """What was given, and what kind it is."""
        return {self._row["tag"]: self._row["name"], **self._values} if self._row["tag_is_name"] else dict(self._values)

    def check(self):
        """Raises InputError unless all values are valid; what they refer to is checked with the whole scene."""
        _apart.check_part(self._group, self._plain(None, self._group))

    def to_dict(self):
        """The part as in a scene file: what was given, and what kind it is."""
        return self._plain(None, self._group)

    def _plain(self, clock, path):
        result = {}
        types = {key["name"]: key["type"] for key in self._row["keys"]}
        for name, value in self._tagged().items():
            at = clock
            if clock and self._group == "fixed" and name == "motion":
                at = clock.after(self._values.get("from", 0.0))  # its t begins there
            result[name] = plain(value, types.get(name, {"kind": "any"}), at, f"{path}.{name}")
        return result


def row_of(group, values):
    """The kind that a dictionary describes; None if there is none."""
    for row in catalog["groups"][group]["rows"]:
        if not row["tag"]:
            return row
        if row["tag"] in values and (not row["tag_is_name"] or values[row["tag"]] == row["name"]):
            return row
    return None


def part_of(group, values):
    """The part that a dictionary describes, or the dictionary if it describes none, which checks then report."""
    row = row_of(group, values)
    if row is None:
        return values
    given = {attribute_name(name): value for name, value in values.items()}
    if row["tag_is_name"]:
        given.pop(attribute_name(row["tag"]), None)
    return classes[group, row["name"]](**given)


def documentation(group, row):
    lines = [row["summary"] or group["summary"] or "A part of a scene.", ""]
    for key in shown_keys(row):
        unit = f" [{key['unit']}]" if key["unit"] else ""
        if key["required"]:
            default = "required"
        else:
            default = f"default: {json.dumps(key['default'])}" if "default" in key else "optional"
        lines.append(f"{attribute_name(key['name'])}{unit}: {key['summary']} ({default})")
    return "\n".join(lines)


def shown_keys(row):
    """All but the one that says which kind it is."""
    return [key for key in row["keys"] if not (row["tag_is_name"] and key["name"] == row["tag"])]


def make_class(group_name, row, base=Part):
    keys = {attribute_name(key["name"]): key for key in shown_keys(row)}
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY,
                          default=inspect.Parameter.empty if key["required"] else key.get("default"))
        for name, key in keys.items()
    ]
    return type(class_name(row["name"]), (base,), {
        "__doc__": documentation(catalog["groups"][group_name], row),
        "__signature__": inspect.Signature(parameters),
        "_group": group_name, "_row": row, "_keys": keys,
    })


def is_record(group):
    """Whether a group has a single kind, whose class is in the package itself."""
    return len(catalog["groups"][group]["rows"]) == 1


def make_modules():
    """All classes, in a module for each group; those of records in the module `records`."""
    from ._scene import SceneBase

    modules = {"records": types.ModuleType("apart.records", "Parts of which there is one kind.")}
    for group, content in catalog["groups"].items():
        name = "records" if is_record(group) else group
        if name not in modules:
            modules[name] = types.ModuleType(f"apart.{name}", content["summary"])
        for row in content["rows"]:
            made = make_class(group, row, SceneBase if group == "scene" else Part)
            made.__module__ = f"apart.{name}" if name != "records" else "apart"
            classes[group, row["name"]] = made
            setattr(modules[name], made.__name__, made)
    for name, module in modules.items():
        module.__all__ = [entry for entry in vars(module) if not entry.startswith("_")]
        sys.modules[f"apart.{name}"] = module
    return modules


classes = {}
modules = make_modules()
