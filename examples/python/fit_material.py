"""Finds Young's modulus of a rubber from a measured curve of a tensile test.

The measured values are those of a Neo-Hookean bar of E = 1.2 MPa, with an error of one percent.
"""

import numpy
from scipy import optimize

import apart

stretch = numpy.array([1.05, 1.10, 1.15, 1.20])
measured = numpy.array([5.79, 10.89, 15.96, 20.33])  # [N] of a bar of 1 cm x 1 cm
nu, steps = 0.45, len(stretch)

# A bar of 2 cm that is pulled to each stretch in turn, free to become thinner.
length = 0.02
scene = apart.Scene(
    time=apart.Time(dt=1.0, steps=steps, integrator="quasi_static"),
    gravity=(0, 0, 0),
    bodies=[apart.body.Volume(
        name="bar", mesh=apart.mesh.Box(size=(length, 0.01, 0.01), cells=(4, 2, 2)),
        material=apart.material.NeoHookean(E=1e6, nu=nu),
        fixed=[apart.Fixed(where={"expression": f"x < {-length / 2 + 1e-6}"}, axes="x"),
               apart.Fixed(where={"expression": f"x > {length / 2 - 1e-6}"}, axes="x",
                           motion=lambda t: (length * numpy.interp(t, range(steps + 1), [0, *(stretch - 1)]), 0, 0)),
               apart.Fixed(where={"expression": "abs(y) < 1e-6 && abs(z) < 1e-6"}, axes="yz")])],
    probes=[apart.probe.Reaction(name="pull", body="bar", where={"expression": f"x > {length / 2 - 1e-6}"})],
)
simulation = apart.Simulation(scene)
start = simulation.state


def forces(_, modulus):
    """What a bar of that modulus would show."""
    simulation.state = start
    simulation.change({"bodies[bar].material.E": modulus})
    result = []
    for _ in range(steps):
        simulation.step()
        result.append(simulation.probes()["pull.x"])
    return numpy.array(result)


(modulus,), variance = optimize.curve_fit(forces, stretch, measured, p0=[8e5], epsfcn=1e-4)
print(f"E = {modulus:.4g} +- {numpy.sqrt(variance[0, 0]):.2g} Pa")
