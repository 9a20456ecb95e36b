"""A cloth falls on an OBJ file: python draping.py [FILE.obj] [STEPS]

Writes the run to draping/ and a picture of its end to draping.png.
"""

import pathlib
import sys

import matplotlib.pyplot as plt

import apart

file = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("pedestal.obj")
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 60

scene = apart.Scene(
    name="draping",
    time=apart.Time(dt=0.01, steps=steps),
    bodies=[
        apart.body.Obstacle(name="pedestal", mesh=apart.mesh.File(file=file)),
        apart.body.Shell(
            name="cloth",
            mesh=apart.mesh.Grid(size=(0.4, 0.4), cells=(16, 16)),
            transform=apart.Transform(rotate=(0, 20, 0), translate=(0.02, 0.11, 0)),
            material=apart.shell_material.NeoHookean(E=1e5, nu=0.3, rho=300, thickness=1e-3),
        ),
    ],
    contact=apart.Contact(dhat=2e-3, friction_coefficient=0.3),
)

run = apart.run(scene, "draping", force=True,
                progress=lambda report: print(f"step {report['step']:.0f} of {report['steps']}", end="\r"))
print(run.verify())
plt.imsave("draping.png", run.render(size=(640, 480)))
