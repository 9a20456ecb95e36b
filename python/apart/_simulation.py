"""Simulations that are advanced step by step."""

import dataclasses

from . import _apart
from ._scene import change_texts, scene_file


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


class Simulation:
    """A scene that is advanced step by step.

    A step either ends converged and free of intersections, or raises SolverError and leaves the state as it was.
    """

    def __init__(self, scene, changes=None):
        self._stepper = _apart.Stepper(scene_file(scene, changes))
        self._spans = {name: slice(begin, end) for name, begin, end in self._stepper.bodies}
        self._poses = {}
        self._frame = None

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
        self._frame = None
        return self._stepper.step(count, callback)

    def _of(self, values, body):
        if body is None:
            return values
        if body not in self._spans:
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
        self._stepper.change(change_texts(changes))
        self._frame = None

    def move(self, body, translate=(0, 0, 0), rotate=(0, 0, 0)):
        """Where a body with a motion is at the end of the next step, relative to its start [m, degrees]."""
        pose = {"translate": [float(v) for v in translate], "rotate": [float(v) for v in rotate]}
        frames = [{"t": 0.0}, {"t": (self.step_count + 1) * self.dt, **pose}]
        if self.step_count > 0:
            frames.insert(1, {"t": self.step_count * self.dt, **self._poses.get(body, {})})
        self.change({f"bodies[{body}].motion": {"keyframes": frames}})
        self._poses[body] = pose
