"""Scenes as objects, with the messages of scene files."""

import ast
import copy
import inspect
import json
import pickle

import numpy
import pytest

import apart
from apart import _parts, _stubs


def message(call):
    with pytest.raises(apart.InputError) as error:
        call()
    return str(error.value)


def test_every_kind_of_the_catalog_is_a_class_with_documentation():
    for (group, name), made in _parts.classes.items():
        keys = [key["name"] for key in made._row["keys"]]
        assert made.__doc__ and inspect.signature(made), (group, name)
        for key in made._keys:
            assert f"{key}" in made.__doc__, (group, name, key)
        assert len(made._keys) >= len(keys) - 1
    assert apart.mesh.Sphere.__doc__.startswith("ball") or "radius" in apart.mesh.Sphere.__doc__
    assert inspect.signature(apart.mesh.Sphere).parameters["radius"].default == 0.5


def test_type_stubs_have_every_class_and_key():
    stubs = _stubs.stubs()
    for (group, name), made in _parts.classes.items():
        module = "records" if _parts.is_record(group) else group
        tree = ast.parse(stubs[module])
        found = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == made.__name__)
        names = {node.target.id for node in found.body if isinstance(node, ast.AnnAssign)}
        assert names == set(made._keys), (group, name)


def test_wrong_keys_and_values_have_the_messages_of_files():
    assert message(lambda: apart.mesh.Sphere(radus=1)) == "mesh.radus: unknown key; did you mean 'radius'?"
    assert message(lambda: apart.material.NeoHookean(nu=0.5)) == (
        "material.nu: got 0.5, must lie in (-1, 0.5); for rubber try 0.49")
    assert "must be a whole number" in message(lambda: apart.mesh.Sphere(resolution=2.5))
    assert "the key 'mesh' is missing" in message(lambda: apart.body.Volume())
    assert "did you mean \"sphere\"" in message(lambda: apart.body.Volume(mesh={"generator": "spere"}))
    assert "must be finite" in message(lambda: apart.mesh.Sphere(radius=float("nan")))
    assert "got an object of type set" in message(lambda: apart.mesh.Sphere(radius={1}))
    assert "only motions and loads" in message(lambda: apart.mesh.Sphere(radius=lambda t: t))
    contained = []
    contained.append(contained)
    assert "levels" in message(lambda: apart.mesh.Inline(points=contained))
    with pytest.raises(AttributeError, match="has no 'sizes'"):
        apart.mesh.Box().sizes


def test_materials_may_be_given_by_name():
    ball = apart.body.Volume(name="ball", mesh=apart.mesh.Sphere(), material={"like": "steel", "rho": 8000})
    assert ball.to_dict()["material"] == {"like": "steel", "rho": 8000}
    assert apart.check(apart.Scene(time=apart.Time(steps=1), bodies=[ball])).ok
    ball.material = "rubber"
    with pytest.raises(apart.InputError, match="must be one of"):
        ball.material = "rober"
    assert ball.material == "rubber"


def test_attributes_have_defaults_and_are_checked():
    ball = apart.mesh.Sphere()
    assert ball.radius == 0.5
    ball.radius = 2
    assert ball.to_dict() == {"generator": "sphere", "radius": 2}
    message(lambda: setattr(ball, "radius", -1))
    assert ball.radius == 2
    scene = apart.Scene(time=apart.Time(steps=1), bodies=[{"type": "half_space", "name": "floor"}])
    scene.contact.dhat = 2e-3
    assert scene.to_dict()["contact"] == {"dhat": 2e-3}
    scene["floor"].normal = (0, 0, 1)
    assert scene.bodies[0].normal == [0, 0, 1]
    with pytest.raises(KeyError, match="floor"):
        scene["roof"]
    assert apart.load.PointForce(force=(0, 0, 0), where={"all": True}, from_=0.5).to_dict()["from"] == 0.5


def test_scenes_are_copied_pickled_and_written(falling_ball, tmp_path):
    assert copy.copy(falling_ball) == falling_ball
    assert pickle.loads(pickle.dumps(falling_ball)).to_dict() == falling_ball.to_dict()
    falling_ball.save(tmp_path / "scene.json")
    again = apart.Scene.open(tmp_path / "scene.json")
    assert again["ball"].material.E == 1e5
    assert again["ball"].mesh.resolution == 2
    assert apart.Scene.open("five-cubes").bodies
    assert "did you mean" in message(lambda: apart.Scene.open("five-cube"))


def test_arrays_are_meshes_and_selections():
    points = numpy.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    mesh = apart.mesh.Inline(points=points, tetrahedra=numpy.array([[0, 1, 2, 3]]))
    body = apart.body.Volume(name="one", mesh=mesh, fixed=[apart.Fixed(where=points[:, 2] > 0.5)])
    assert list(body.fixed[0].where.indices) == [3]
    scene = apart.Scene(time=apart.Time(steps=1), bodies=[body])
    simulation = apart.Simulation(scene)
    numpy.testing.assert_array_equal(simulation.positions("one"), points)
    points[0, 0] = numpy.inf
    assert "must be finite" in message(lambda: apart.mesh.Inline(points=points))


def test_functions_of_time_are_values_at_the_ends_of_steps():
    scene = apart.Scene(
        time=apart.Time(dt=0.1, steps=3),
        bodies=[
            apart.body.Obstacle(name="plate", mesh=apart.mesh.Box(), motion=lambda t: (0, t * t, 0)),
            apart.body.Volume(name="ball", mesh=apart.mesh.Sphere(resolution=1), transform={"translate": [3, 0, 0]},
                              fixed=[apart.Fixed(where={"all": True}, from_=0.15,
                                                 motion=lambda t: {"rotate": (0, 10 * t, 0)})],
                              loads=[apart.load.BodyForce(acceleration=lambda t: (0, 5 * t, 0)),
                                     apart.load.Pressure(pressure=lambda t: 100 * t)]),
        ])
    plate, ball = scene.to_dict()["bodies"]
    assert [frame["translate"][1] for frame in plate["motion"]["keyframes"]] == pytest.approx([0, 0.01, 0.04, 0.09])
    assert [frame["t"] for frame in ball["fixed"][0]["motion"]["keyframes"]] == pytest.approx([0, 0.05, 0.15])
    assert [point[1] for point in ball["loads"][0]["acceleration"][1]] == pytest.approx([0, 0.5, 1, 1.5])
    assert ball["loads"][1]["pressure"][2] == pytest.approx([0.2, 20])
    simulation = apart.Simulation(scene)
    simulation.step(2)
    assert simulation.positions("plate")[:, 1].max() == pytest.approx(0.54)
    scene["ball"].loads[0].acceleration = lambda t: (0, 0)
    assert "must be 3 numbers" in message(scene.to_dict)


def test_a_load_over_time_accelerates_as_mechanics_says():
    """a(t) = 2 t up to 1 s, sampled: implicit Euler sums a at the ends of steps."""
    scene = apart.Scene(
        time=apart.Time(dt=0.1, steps=10), gravity=(0, 0, 0),
        bodies=[apart.body.Rigid(name="box", mesh=apart.mesh.Box(cells=1),
                                 loads=[apart.load.BodyForce(acceleration=lambda t: (2 * t, 0, 0))])])
    simulation = apart.Simulation(scene)
    simulation.step(10)
    expected = sum(2 * 0.1 * k * 0.1 for k in range(1, 11))
    assert simulation.velocities("box")[:, 0] == pytest.approx(expected, rel=1e-6)


def test_times_of_a_curve_must_increase():
    load = apart.load.Pressure(pressure=[[0, 1], [0.2, 2], [0.1, 3]])
    scene = apart.Scene(time=apart.Time(steps=1), bodies=[apart.body.Volume(mesh=apart.mesh.Box(), loads=[load])])
    assert message(lambda: apart.Simulation(scene)) == (
        "bodies[0].loads[0].pressure[2]: has the time 0.1, must be later than the one before (0.2); sort the list by time")


def test_check_says_what_the_program_says(falling_ball):
    found = apart.check(falling_ball)
    assert found.ok and [body["name"] for body in found["bodies"]] == ["floor", "ball"]
    assert found["bodies"][1]["mass"] == pytest.approx(1000 * found["bodies"][1]["volume"])
    falling_ball["ball"].transform.translate = (0, 0.05, 0)
    found = apart.check(falling_ball)
    assert not found.ok and "ball" in str(found)
    assert "ball" in message(lambda: apart.Simulation(falling_ball))
    assert "must be a Scene" in message(lambda: apart.check(3))
    assert message(lambda: apart.check(falling_ball, {"bodies[bell].name": "x"})).startswith("bodies has no entry named 'bell'")
    assert "must be finite" in message(lambda: apart.check(falling_ball, {"contact.dhat": float("inf")}))


def test_the_scene_of_a_dictionary_is_that_of_its_parts(falling_ball):
    plain = json.loads(json.dumps(falling_ball.to_dict()))
    assert apart.Simulation(plain).bodies == ["floor", "ball"]


def held(where):
    """A box of eight points, some of which are held."""
    return apart.Scene(time=apart.Time(dt=0.01, steps=1), bodies=[
        apart.body.Volume(name="box", mesh=apart.mesh.Box(size=(1, 1, 1), cells=(1, 1, 1)), fixed=[{"where": where}])])


def test_truth_values_are_one_for_each_point_of_the_mesh():
    lower = numpy.arange(8) < 4
    assert apart.Simulation(held(lower)).step()["converged"]
    for count in (4, 7, 9, 40):
        with pytest.raises(apart.InputError, match=f"got {count}, but the mesh has 8 points"):
            apart.Simulation(held(numpy.arange(count) < 4))
    with pytest.raises(apart.InputError, match="0 of them true"):
        held(numpy.zeros(8, bool))
    with pytest.raises(apart.InputError, match=r"of shape \(8, 1\)"):
        held(lower.reshape(8, 1))
    with pytest.raises(apart.InputError, match="truth values and others"):
        held([True, 3])


def test_masked_entries_are_refused():
    with pytest.raises(apart.InputError, match="masked entries"):
        held(numpy.ma.array([0, 1], mask=[False, True]))
    points = numpy.ma.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]], mask=[[False] * 3, [True] * 3, [False] * 3])
    with pytest.raises(apart.InputError, match="masked entries"):
        apart.mesh.Inline(points=points, triangles=[[0, 1, 2]])
    with pytest.raises(apart.InputError, match="masked entries"):
        apart.kernel.CollisionMesh(points, triangles=[[0, 1, 2]], dhat=0.1)
