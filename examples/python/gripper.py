"""A gripper as an environment with reset, step and observe, and a controller that lifts a box with it."""

import numpy

import apart


class Gripper:
    """Two fingers that close along x and lift along y; actions are their speeds [m/s]."""

    gap, reach = 0.06, 0.03

    def __init__(self):
        finger = {"mesh": apart.mesh.Box(size=(0.02, 0.06, 0.04), cells=1),
                  "motion": apart.motion.Keyframes(keyframes=[{"t": 0}])}
        self.simulation = apart.Simulation(apart.Scene(
            time=apart.Time(dt=0.02, steps=1000),
            bodies=[
                apart.body.HalfSpace(name="table"),
                apart.body.Volume(name="box", mesh=apart.mesh.Box(size=0.05, cells=2),
                                  transform=apart.Transform(translate=(0, 0.0256, 0)),
                                  material=apart.material.NeoHookean(E=1e5, nu=0.4, rho=1000)),
                apart.body.Obstacle(name="left", transform={"translate": [-self.gap, 0.04, 0]}, **finger),
                apart.body.Obstacle(name="right", transform={"translate": [self.gap, 0.04, 0]}, **finger),
            ],
            contact=apart.Contact(dhat=1e-3, friction_coefficient=0.8)))
        self.start = self.simulation.state
        self.reset()

    def reset(self):
        """Back to the beginning; returns the observation."""
        self.simulation.state = self.start
        self.closed = self.lifted = 0.0
        return self.observe()

    def step(self, close, lift):
        """Moves the fingers for a step; returns the observation."""
        dt = self.simulation.dt
        self.closed = min(self.closed + close * dt, self.reach)
        self.lifted += lift * dt
        self.simulation.move("left", translate=(self.closed, self.lifted, 0))
        self.simulation.move("right", translate=(-self.closed, self.lifted, 0))
        self.simulation.step()
        return self.observe()

    def observe(self):
        """Height of the box [m], and how hard each finger presses on it [N]."""
        contacts = self.simulation.contacts()
        names = self.simulation.bodies
        box = names.index("box")

        def press(finger):
            pair = {box, names.index(finger)}
            return sum(f for f, bodies in zip(contacts.forces, contacts.bodies) if set(bodies) == pair)

        return {"height": float(numpy.mean(self.simulation.positions("box")[:, 1])),
                "left": press("left"), "right": press("right")}


def control(gripper, steps=40):
    """Closes until both fingers press with 4 N, then lifts."""
    seen = gripper.reset()
    heights = []
    for _ in range(steps):
        holds = min(seen["left"], seen["right"]) > 4
        seen = gripper.step(close=0.0 if holds else 0.06, lift=0.1 if holds else 0.0)
        heights.append(seen["height"])
    return heights


if __name__ == "__main__":
    gripper = Gripper()
    first = control(gripper)
    print(f"lifted by {1e3 * (first[-1] - first[0]):.1f} mm")
    assert control(gripper) == first, "the same actions have the same results, bit by bit"
