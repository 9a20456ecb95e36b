"""A springy arm is pushed past a round edge, bends, and snaps past it: its force over the way, with matplotlib.

Writes snap_fit.png. Prints the largest force.
"""

import matplotlib.pyplot as plt
import numpy

import apart

speed, dt = 0.05, 0.01  # [m/s], [s]

# Held at its left end, which is moved up. Linear cells (basis_order 1) as thick as the arm would be far too stiff in bending.
arm = apart.body.Volume(
    name="arm",
    basis_order=2,
    mesh=apart.mesh.Rod(length=0.06, thickness=0.006, cells=8),
    material=apart.material.NeoHookean(E=2e7, nu=0.35, rho=1100),
    fixed=[apart.Fixed(where=apart.selection.Box(box={"min": [0, 0, 0], "max": [0.01, 1, 1], "relative": True}),
                       motion=lambda t: (0, speed * t, 0))],
)
scene = apart.Scene(
    time=apart.Time(dt=dt, steps=40),
    gravity=(0, 0, 0),
    bodies=[
        arm,
        # A round bar across the way, on which the tip catches until it slips off.
        apart.body.Obstacle(name="edge", mesh=apart.mesh.Cylinder(radius=0.004, length=0.02, resolution=6, length_cells=1),
                            transform=apart.Transform(rotate=(90, 0, 0), translate=(0.0335, 0.0085, 0))),
    ],
    contact=apart.Contact(dhat=2e-4, friction_coefficient=0.2),
    probes=[apart.probe.Contact(name="edge", bodies=["arm", "edge"])],
)

simulation = apart.Simulation(scene)
way, force = [], []
for _ in range(simulation.steps):
    simulation.step()
    way.append(speed * simulation.time)
    force.append(-(simulation.probes()["edge.normal_y"] + simulation.probes()["edge.friction_y"]))

plt.plot(1e3 * numpy.array(way), force)
plt.xlabel("way [mm]")
plt.ylabel("force [N]")
plt.savefig("snap_fit.png")
print(f"largest force {max(force):.3g} N at {1e3 * way[int(numpy.argmax(force))]:.3g} mm")
