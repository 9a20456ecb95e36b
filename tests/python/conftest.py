import pytest

import apart


@pytest.fixture(autouse=True)
def two_threads():
    """Whatever a test sets, the next begins with the same."""
    apart.set_threads(2)


@pytest.fixture
def falling_ball():
    """A ball that falls on the floor, and is measured."""
    return apart.Scene(
        time=apart.Time(dt=0.01, steps=12),
        bodies=[
            apart.body.HalfSpace(name="floor"),
            apart.body.Volume(name="ball", mesh=apart.mesh.Sphere(radius=0.1, resolution=2),
                              transform=apart.Transform(translate=(0, 0.105, 0)), velocity=(0, -0.5, 0),
                              material=apart.material.NeoHookean(E=1e5, nu=0.4)),
        ],
        contact=apart.Contact(dhat=1e-3, friction_coefficient=0.3),
        probes=[apart.probe.Position(name="centre", body="ball", where={"all": True}),
                apart.probe.Contact(name="push", bodies=["ball", "floor"])])
