"""Steps, states, changes, and what other threads, processes and signals do meanwhile."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading

import numpy
import pytest

import apart


def test_steps_report_and_move(falling_ball):
    simulation = apart.Simulation(falling_ball)
    before = simulation.positions("ball")
    reports = []
    last = simulation.step(3, callback=reports.append)
    assert [report["step"] for report in reports] == [1, 2, 3] and last["converged"] == 1
    assert simulation.step_count == 3 and simulation.time == pytest.approx(0.03)
    assert simulation.positions("ball")[:, 1].mean() < before[:, 1].mean()
    assert simulation.probes()["centre.y"] == pytest.approx(simulation.positions("ball")[:, 1].mean())
    assert simulation.positions().shape == (simulation.frame().points.shape[0], 3)
    with pytest.raises(apart.InputError, match="must be one of floor, ball"):
        simulation.positions("bell")
    with pytest.raises(apart.InputError, match="at least 1"):
        simulation.step(0)


def test_contacts_carry_what_the_probe_measures(falling_ball):
    simulation = apart.Simulation(falling_ball)
    assert len(simulation.contacts()) == 0
    while not len(simulation.contacts()):
        simulation.step()
    contacts = simulation.contacts()
    assert contacts.forces.sum() == pytest.approx(simulation.probes()["push.pressing"])
    assert numpy.abs(contacts.normals[:, 1]) == pytest.approx(1)
    assert (contacts.distances > 0).all() and (contacts.distances < 1e-3).all()
    heights = simulation.positions()[contacts.points[:, 0], 1]
    assert heights == pytest.approx(contacts.distances)
    assert simulation.contact_forces("ball")[:, 1].sum() == pytest.approx(contacts.forces.sum(), rel=1e-6)


def test_arrays_of_frames_and_states_show_memory_that_cannot_be_written(falling_ball):
    simulation = apart.Simulation(falling_ball)
    simulation.step()
    frame, state = simulation.frame(), simulation.state
    points, nodes = frame.points, state.core.nodes
    assert numpy.shares_memory(points, frame.points) and numpy.shares_memory(nodes, state.core.nodes)
    del frame, simulation
    assert numpy.isfinite(points).all()
    for array in (points, nodes):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1


def test_a_state_that_was_saved_gives_the_same_bits(falling_ball):
    simulation = apart.Simulation(falling_ball)
    simulation.step(4)
    state = pickle.loads(pickle.dumps(simulation.state))
    simulation.step(4)
    end = simulation.positions()
    for _ in range(2):
        simulation.state = state
        assert simulation.step_count == 4
        apart.set_threads(1)
        simulation.step(4)
        assert numpy.array_equal(simulation.positions(), end)
    other = apart.Simulation("five-cubes")
    with pytest.raises(apart.InputError, match="belongs to another scene"):
        other.state = state
    with pytest.raises(apart.InputError, match="must be what Simulation.state was"):
        simulation.state = 5


def test_parameters_and_loads_change_between_steps(falling_ball):
    falling_ball["ball"].transform.translate = (0, 1, 0)
    falling_ball["ball"].loads = [apart.load.BodyForce(acceleration=(0, 0, 0))]
    simulation = apart.Simulation(falling_ball)
    simulation.step()
    velocity = simulation.velocities("ball").mean(axis=0)
    simulation.change({"bodies[ball].loads[0].acceleration": numpy.array([5, 0, 0]), "gravity": [0, 0, 0]})
    simulation.step()
    assert simulation.velocities("ball").mean(axis=0) - velocity == pytest.approx([0.05, 0, 0], abs=1e-6)
    with pytest.raises(apart.InputError, match=r"^bodies\[1\].material.E: got -1, must be positive"):
        simulation.change({"bodies[ball].material.E": -1})
    with pytest.raises(apart.InputError, match="make a new Simulation"):
        simulation.change({"bodies[ball].mesh.radius": 0.05})
    with pytest.raises(apart.InputError, match="set_velocities"):
        simulation.change({"bodies[ball].velocity": [1, 0, 0]})
    simulation.step()  # a refused change leaves everything as it was
    simulation.set_velocities(numpy.zeros_like(simulation.state.core.velocity))
    assert simulation.velocities() == pytest.approx(0)
    with pytest.raises(apart.InputError, match=r"velocities: got an array of shape \(2, 3\), must have"):
        simulation.set_velocities(numpy.zeros((2, 3)))


def test_a_body_goes_where_it_is_moved():
    scene = apart.Scene(time=apart.Time(dt=0.1, steps=10),
                        bodies=[apart.body.Obstacle(name="plate", mesh=apart.mesh.Box(cells=1),
                                                    motion=apart.motion.Keyframes(keyframes=[{"t": 0}])),
                                apart.body.Rigid(name="free", mesh=apart.mesh.Box(cells=1),
                                                 transform={"translate": [5, 0, 0]})])
    simulation = apart.Simulation(scene)
    start = simulation.positions("plate")
    saved = None
    for k in range(3):
        simulation.move("plate", translate=(0, 0.1 * (k + 1), 0), rotate=(0, 10 * k, 0))
        simulation.step()
        assert simulation.positions("plate")[:, 1] == pytest.approx(start[:, 1] + 0.1 * (k + 1))
        saved = saved or simulation.state
    simulation.state = saved
    simulation.move("plate", translate=(0, 0.05, 0))
    simulation.step()
    assert simulation.positions("plate") == pytest.approx(start + [0, 0.05, 0])


def test_pictures_are_arrays(falling_ball):
    image = apart.Simulation(falling_ball).render((64, 48), samples=1)
    assert image.shape == (48, 64, 3) and image.dtype == numpy.uint8
    assert image.std() > 5
    with pytest.raises(apart.InputError, match="speed, stress"):
        apart.Simulation(falling_ball).render((64, 48), samples=1, colour="weight")
    with pytest.raises(apart.InputError, match="at least 16"):
        apart.Simulation(falling_ball).render((4, 4))


def test_errors_of_callbacks_and_of_the_solver_leave_a_state_to_go_on_from(falling_ball):
    simulation = apart.Simulation(falling_ball)

    def refuse(report):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        simulation.step(3, callback=refuse)
    assert simulation.step_count == 1
    with pytest.raises(ValueError, match="callback of its own"):
        simulation.step(callback=lambda report: simulation.step())
    simulation.change({"solver.max_iterations": 1, "solver.tolerance": 1e-9})
    before = simulation.positions()
    with pytest.raises(apart.SolverError):
        simulation.step(10)
    assert simulation.step_count < 12 and numpy.isfinite(before).all()
    simulation.change({"solver.max_iterations": 1000, "solver.tolerance": "auto"})
    simulation.step()


def test_other_threads_run_while_a_step_is_computed(falling_ball):
    simulations = [apart.Simulation(falling_ball) for _ in range(3)]
    errors = []

    def advance(simulation):
        try:
            simulation.step(5)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=advance, args=(simulation,)) for simulation in simulations]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    for simulation in simulations[1:]:
        assert numpy.array_equal(simulation.positions(), simulations[0].positions())


def advance_in_child(simulation, connection):
    try:
        simulation.step(2)
        try:
            apart.set_threads(2)
        except apart.InputError as error:
            connection.send((simulation.positions(), str(error)))
    except BaseException as error:
        connection.send((None, repr(error)))


def test_a_forked_process_continues_a_simulation_with_one_thread(falling_ball):
    simulation = apart.Simulation(falling_ball)
    simulation.step(2)
    here, there = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=advance_in_child, args=(simulation, there))
    child.start()
    assert here.poll(60)
    positions, text = here.recv()
    child.join(60)
    assert child.exitcode == 0
    assert "spawn" in text
    simulation.step(2)
    assert numpy.array_equal(positions, simulation.positions())


def test_a_load_may_depend_on_the_state():
    # a = -k (y - 1) - c v with k = 100, c = 20 is critically damped: y = 1 - 0.5 (1 + 10 t) exp(-10 t).
    def pull(t, simulation):
        return 0, -100 * (simulation.positions("ball")[:, 1].mean() - 1) - 20 * simulation.velocities("ball")[:, 1].mean(), 0

    ball = apart.body.Rigid(name="ball", mesh=apart.mesh.Sphere(radius=0.1, resolution=1),
                            transform=apart.Transform(translate=(0, 0.5, 0)),
                            loads=[apart.load.BodyForce(acceleration=pull)])
    scene = apart.Scene(time=apart.Time(dt=0.002, steps=100), gravity=(0, 0, 0), bodies=[ball])
    simulation = apart.Simulation(scene)
    simulation.step(50)
    middle = simulation.state
    simulation.step(50)
    t = simulation.time
    expected = 1 - 0.5 * (1 + 10 * t) * numpy.exp(-10 * t)
    assert simulation.positions("ball")[:, 1].mean() == pytest.approx(expected, abs=0.01)
    end = simulation.positions()
    simulation.state = middle
    simulation.step(50)
    assert numpy.array_equal(simulation.positions(), end)
    with pytest.raises(apart.InputError, match="only a Simulation can ask"):
        apart.run(scene, "unused")


def test_a_motion_may_depend_on_the_state():
    scene = apart.Scene(time=apart.Time(dt=0.01, steps=9), gravity=(0, 0, 0), bodies=[
        apart.body.Volume(name="ball", mesh=apart.mesh.Sphere(radius=0.1, resolution=1), velocity=(1, 0, 0)),
        apart.body.Obstacle(name="shadow", mesh=apart.mesh.Sphere(radius=0.1, resolution=1),
                            transform=apart.Transform(translate=(0, 1, 0)),
                            motion=lambda t, simulation: (simulation.positions("ball")[:, 0].mean(), 0, 0))])
    simulation = apart.Simulation(scene)
    simulation.step(9)
    # It goes where the ball was at the beginning of the step.
    assert simulation.positions("shadow")[:, 0].mean() == pytest.approx(0.08, abs=1e-9)
    for wrong in (lambda t, simulation: (0, float("nan"), 0), lambda t, simulation: (1, 2), lambda t, simulation: "up"):
        scene["shadow"].motion = wrong
        with pytest.raises(apart.InputError, match="bodies.1..motion"):
            apart.Simulation(scene).step()


def test_objects_without_content_cannot_be_made(falling_ball):
    simulation = apart.Simulation(falling_ball)
    for kind in (type(simulation.frame()), type(simulation.state.core), type(simulation._stepper), apart.kernel.CollisionMesh):
        with pytest.raises(TypeError):
            kind.__new__(kind)


def test_a_simulation_that_computes_cannot_be_read(falling_ball):
    simulation = apart.Simulation("bowl-of-shapes")
    seen = []

    def read(report):  # between two steps it can
        seen.append(simulation.positions().shape)

    thread = threading.Thread(target=lambda: simulation.step(3, read))
    thread.start()
    refused = 0
    while thread.is_alive():
        try:
            simulation.state
        except ValueError:
            refused += 1
    thread.join()
    assert refused > 0 and len(seen) == 3


def test_pictures_show_displacements(falling_ball):
    simulation = apart.Simulation(falling_ball)
    simulation.step(2)
    assert simulation.render((64, 48), colour="displacement", samples=1).shape == (48, 64, 3)
    start = simulation.frame()
    simulation.step()
    moved = simulation.frame().field("displacement", start=start)
    assert moved == pytest.approx(numpy.linalg.norm(simulation.frame().points - start.points, axis=1))
    with pytest.raises(apart.InputError, match="first frame"):
        start.field("displacement")


INTERRUPTED = """
import apart, sys
simulation = apart.Simulation("bowl-of-shapes")
try:
    print("ready", flush=True)
    simulation.step(10**6, callback=lambda report: print(report["step"], flush=True))
except KeyboardInterrupt:
    simulation.positions()
    print("stopped", flush=True)
"""


def test_ctrl_c_ends_a_step_and_keeps_the_state():
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True, env=os.environ)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0 and out.endswith("stopped\n")


def test_threads_are_set_within_bounds():
    apart.set_threads(1)
    assert apart.threads() == 1
    with pytest.raises(apart.InputError, match="must not be negative"):
        apart.set_threads(-1)
