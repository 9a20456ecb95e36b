"""Simulations that are advanced step by step."""

import dataclasses
import math
import numbers

from . import _apart
from ._scene import change_texts, in_words_of_python, scene_file


def state_of(members):
    """The state of the library that was pickled so."""
    return _apart.State.of(members)


# Functions of the library cannot be pickled, those of Python can.
_apart.State.__reduce__ = lambda self: (state_of, (self.members(),))


@dataclasses.dataclass(frozen=True)
class SimulationState:
    """Where a simulation is: set it to go back there. From the same state the same steps follow, bit by bit."""

    core: object  # of the library
    poses: dict  # of the bodies that are moved by Simulation.move

    @property
    def step(self):
        return self.core.step

    @property
    def time(self):
        return self.core.time


@dataclasses.dataclass(frozen=True)
class Contacts:
    """The contacts at the end of a step, as arrays with a row for each."""

    bodies: object  #: (n, 2) positions in Simulation.bodies, of the first and the second primitive
    points: object  #: (n, 4) points of Simulation.positions(); -1 where there are fewer, and for half-spaces
    weights: object  #: (n, 4) of these points; their sum joins the closest points
    normals: object  #: (n, 3) unit vectors from the second primitive to the first
    forces: object  #: (n,) normal forces [N]
    distances: object  #: (n,) [m]

    def __len__(self):
        return len(self.forces)


def _three(values, name):
    try:
        numbers = [float(value) for value in values]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) != 3 or not all(map(math.isfinite, numbers)):
        raise _apart.InputError(f"{name}: got {values!r}, must be three finite numbers")
    return numbers


class Simulation:
    """A scene that is advanced step by step.

    A step either ends converged and free of intersections, or raises SolverError and leaves the state as it was.
    """

    def __init__(self, scene, changes=None):
        self._feedback = []  # functions of time and state
        self._stepper = _apart.Stepper(scene_file(scene, changes, self._feedback))
        self._spans = {name: slice(begin, end) for name, begin, end in self._stepper.bodies}
        self._poses = {}
        self._frame = None
        self._first = self.frame()  # displacements are measured from it

    def __repr__(self):
        return f"<Simulation of {self.name!r}, step {self.step_count}, t = {self.time:g} s>"

    @property
    def name(self):
        return self._stepper.scene.name

    @property
    def bodies(self):
        """Names, in the order of the scene."""
        return list(self._spans)

    @property
    def step_count(self):
        """Steps done."""
        return self._stepper.step_count

    @property
    def steps(self):
        """Steps that the scene asks for."""
        return self._stepper.steps

    @property
    def time(self):
        """[s]"""
        return self._stepper.time

    @property
    def dt(self):
        """[s]"""
        return self._stepper.dt

    def step(self, count=1, callback=None):
        """Takes steps. Returns the last one's row of steps.csv as a dictionary; `callback` is called with each."""
        if not isinstance(count, numbers.Integral) or count < 1:
            raise _apart.InputError(f"step: got {count!r} steps, must be a whole number, at least 1")
        if callback is not None and not callable(callback):
            raise _apart.InputError(f"callback: got an object of type {type(callback).__name__}, must be a function")
        self._frame = None
        if not self._feedback:
            return self._stepper.step(int(count), callback)
        for _ in range(count):
            self._ask_feedback()
            row = self._stepper.step(1, callback)
            self._frame = None
        return row

    def _ask_feedback(self):
        """Sets what functions of time and state want of the next step: they are asked first, then all is set."""
        changes, poses = {}, {}
        for feedback in self._feedback:
            t = (self.step_count + 1) * self.dt - feedback.start
            if t <= 0:
                continue
            if feedback.is_motion:
                pose = feedback.pose(t, self)
                changes[feedback.path] = self._keyframes(feedback.path, pose, feedback.start)
                poses[feedback.path] = {name: value for name, value in pose.items() if name != "t"}
            else:
                changes[feedback.path] = feedback.function(t, self)
        self.change(changes)
        self._poses.update(poses)

    def _keyframes(self, key, pose, start=0.0):
        """A motion from where it is now to a keyframe at the end of the next step."""
        frames = [{"t": 0.0}, pose]
        now = self.step_count * self.dt - start
        if now > 0:
            frames.insert(1, {"t": now, **self._poses.get(key, {})})
        return {"keyframes": frames}

    def _of(self, values, body):
        if body is None:
            return values
        if not isinstance(body, str) or body not in self._spans:
            raise _apart.InputError(f"body: got {body!r}, must be one of {', '.join(self._spans)}")
        return values[self._spans[body]]

    def positions(self, body=None):
        """(n, 3) [m]: points of a body, or of all."""
        return self._of(self._stepper.positions, body)

    def velocities(self, body=None):
        """(n, 3) [m/s] of the points of a body, or of all."""
        return self._of(self._stepper.velocities, body)

    def contact_forces(self, body=None):
        """(n, 3) [N]: contact and friction on the points of a body, or of all; not to be written."""
        return self._of(self.frame().contact_forces, body)

    def contacts(self):
        """The contacts at the end of the last step; none before the first, and after a change of scene or state."""
        return Contacts(**self._stepper.contacts())

    def probes(self):
        """What the probes of the scene measure after the last step: column → number."""
        return self._stepper.probes()

    def frame(self):
        """All bodies as they are now, with velocities, forces, stress; it can be drawn."""
        if self._frame is None:
            self._frame = self._stepper.frame()
        return self._frame

    def render(self, size=(640, 480), **options):
        """A picture as an array (height, width, 3) of bytes; options as those of Frame.draw."""
        if options.get("colour") == "displacement":
            options.setdefault("start", self._first)
        return self.frame().draw(size, **options)

    @property
    def state(self):
        """Where the simulation is. It can be pickled, and set."""
        return SimulationState(self._stepper.state, dict(self._poses))

    @state.setter
    def state(self, state):
        if not isinstance(state, SimulationState):
            raise _apart.InputError(
                f"state: got an object of type {type(state).__name__}, must be what Simulation.state was before"
            )
        self._stepper.state = state.core
        self._poses = dict(state.poses)
        self._frame = None

    def set_velocities(self, velocities):
        """Sets the velocities of all nodes [m/s], (n, 3) as in state.core.velocity."""
        self._stepper.set_velocities(velocities)
        self._frame = None

    def change(self, changes):
        """Changes the scene from now on: path → value, as {"bodies[ball].material.E": 1e5}.

        Materials, loads, motions, contact and solver settings may change; bodies, meshes and where they start not.
        """
        texts = change_texts(changes)
        with in_words_of_python(texts):
            self._stepper.change(texts)
        self._frame = None

    def move(self, body, translate=(0, 0, 0), rotate=(0, 0, 0)):
        """Where a body with a motion is at the end of the next step, relative to its start [m, degrees]."""
        pose = {"translate": _three(translate, "translate"), "rotate": _three(rotate, "rotate")}
        end = {"t": (self.step_count + 1) * self.dt, **pose}
        self.change({f"bodies[{body}].motion": self._keyframes(body, end)})
        self._poses[body] = pose
