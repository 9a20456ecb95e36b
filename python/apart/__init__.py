"""Simulation of bodies in contact that never pass through each other, and proofs that they did not.

Scenes are made of parts: ``apart.Scene``, ``apart.body.Volume``, ``apart.mesh.Sphere``, ``apart.material.NeoHookean``
and so on, one class for each kind in the scene format, with the keys of the format as keyword arguments::

    import apart

    scene = apart.Scene(
        time=apart.Time(dt=0.02, tend=1.0),
        bodies=[
            apart.body.HalfSpace(name="floor"),
            apart.body.Volume(name="ball", mesh=apart.mesh.Sphere(radius=0.1),
                              transform=apart.Transform(translate=(0, 0.3, 0))),
        ])
    run = apart.run(scene, "out")        # as the program apart does it
    print(run.verify())                  # the proof

    simulation = apart.Simulation(scene)  # or step by step
    simulation.step()
    print(simulation.positions("ball"))

All units are SI. Arrays of points have the shape (n, 3). ``apart.kernel`` has the geometry by itself.
"""

from ._apart import (  # noqa: F401
    InputError,
    InternalError,
    MemoryLimitError,
    SolverError,
    examples,
    set_threads,
    threads,
)
from ._apart import version as __version__  # noqa: F401
from . import _parts
from ._parts import Part  # noqa: F401
from ._run import Certificate, Run, Table, VerificationError, check, resume, run, verify  # noqa: F401
from ._simulation import Contacts, Simulation, SimulationState  # noqa: F401
from ._study import Study, StudyResults  # noqa: F401
from ._viewer import Viewer, view  # noqa: F401
from . import kernel  # noqa: F401
from .records import *  # noqa: F401,F403

globals().update(_parts.modules)
