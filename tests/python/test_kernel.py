"""The geometry by itself, against formulas and finite differences."""

import math

import numpy
import pytest

import apart
from apart import InputError, kernel

KINDS = {"point_point": 2, "point_edge": 3, "point_triangle": 4, "edge_edge": 4}


def two_triangles(gap=0.02):
    """One above the other, shifted so that no features are parallel."""
    below = numpy.array([[0, 0, 0], [1, 0, 0], [0, 0, 1.0]])
    above = numpy.array([[0.21, gap, 0.2], [1.1, gap + 0.31, 0.3], [0.3, gap + 0.2, 1.2]])
    return numpy.vstack([below, above]), numpy.array([[0, 2, 1], [3, 5, 4]])


def differences(f, x, h=1e-6):
    """Central differences of f, whose values are flattened."""
    flat = x.ravel()
    columns = []
    for i in range(flat.size):
        step = numpy.zeros_like(flat)
        step[i] = h
        columns.append((numpy.ravel(f((flat + step).reshape(x.shape)))
                        - numpy.ravel(f((flat - step).reshape(x.shape)))) / (2 * h))
    return numpy.array(columns).T


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_of_distances(kind):
    x = numpy.random.default_rng(3).normal(size=(5, KINDS[kind], 3))
    gradients = kernel.squared_distance_gradient(kind, x)
    hessians = kernel.squared_distance_hessian(kind, x)
    for i in range(5):
        assert gradients[i].ravel() == pytest.approx(
            differences(lambda y: kernel.squared_distance(kind, y), x[i]).ravel(), abs=1e-7)
        assert hessians[i] == pytest.approx(
            differences(lambda y: kernel.squared_distance_gradient(kind, y), x[i]), abs=1e-6)
        w = kernel.closest_weights(kind, x[i])
        assert numpy.linalg.norm(w @ x[i]) ** 2 == pytest.approx(kernel.squared_distance(kind, x[i]))


def test_distances_of_known_pairs():
    assert kernel.squared_distance("point_triangle", [[0.2, 2, 0.2], [0, 0, 0], [1, 0, 0], [0, 0, 1]]) == pytest.approx(4)
    assert kernel.squared_distance("edge_edge", [[-1, 0, 0], [1, 0, 0], [0, 3, -1], [0, 3, 1]]) == pytest.approx(9)
    value, first, second = kernel.barrier([0.25, 1.0, 2.0], 1.0)
    assert value == pytest.approx([0.75 ** 2 * math.log(4), 0, 0])
    assert first[0] < 0 and second[0] > 0


@pytest.mark.parametrize("method", ["additive", "tight_inclusion"])
def test_times_of_impact_are_never_late_and_hardly_early(method):
    start = [[0, 1, 0], [-1, 0, -1], [1, 0, -1], [0, 0, 1.0]]
    end = [[0, -1, 0], [-1, 0, -1], [1, 0, -1], [0, 0, 1.0]]
    time = kernel.time_of_impact("point_triangle", start, end, method=method)
    assert 0.5 - 1e-3 < time <= 0.5
    thick = kernel.time_of_impact("point_triangle", start, end, method=method, separation=0.2)
    assert 0.4 - 1e-3 < thick <= 0.4
    miss = numpy.array(end) + [[5, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert kernel.time_of_impact("point_triangle", [start, start], [miss, end], method=method)[0] == math.inf


def test_curved_paths():
    """A point on a circle of radius 1 meets a fixed one after a quarter of a turn."""
    def path(t):
        angle = 0.75 * math.pi * t
        return [[math.cos(angle), math.sin(angle), 0], [0, 1, 0]]

    bend = [(0.75 * math.pi) ** 2, 0]
    time, corners = kernel.curved_time_of_impact("point_point", path, bend, gap_fraction=0.01)
    assert 0.62 < time <= 2 / 3 and all(corner < time for corner in corners)
    free, _ = kernel.curved_time_of_impact("point_point", lambda t: [path(t)[0], [0, 0, 0]], bend)
    assert free == math.inf


def test_meshes_find_candidates_impacts_and_bounds():
    x, triangles = two_triangles()
    found = {}
    for name in kernel.broad_phases():
        mesh = kernel.CollisionMesh(x, triangles, broad_phase=name)
        pairs = mesh.candidates(x, radius=0.05)
        found[name] = {kind: {tuple(row) for row in rows} for kind, rows in pairs.items()}
        assert (3, 0, 2, 1) in found[name]["point_triangle"]
    assert all(found["bvh"][kind] >= rows for kind, rows in found["brute_force"].items())
    mesh = kernel.CollisionMesh(x, triangles)
    down = x + numpy.array([[0, 0, 0]] * 3 + [[0, -0.1, 0]] * 3)
    time, kind, vertices = mesh.earliest_impact(x, down)
    assert time == pytest.approx(0.2, abs=1e-4) and kind == "point_triangle" and vertices[0] == 3
    assert not mesh.is_step_free(x, down) and mesh.is_step_free(x, x)
    bound = mesh.step_bound(x, down)
    assert 0.1 < bound < 0.2
    share, corners = mesh.curved_step_bound(lambda t: x + t * (down - x), numpy.zeros(6))
    assert share == pytest.approx(bound) and not corners
    assert mesh.self_intersects(down) and not mesh.self_intersects(x)
    grounded = kernel.CollisionMesh(x, triangles, half_spaces=[([0, -0.5, 0], [0, 1, 0])])
    far_down = x - [0, 2, 0]
    time, kind, (vertex, plane) = grounded.earliest_impact(x, far_down)
    assert time == pytest.approx((x[:, 1].min() + 0.5) / 2) and kind == "half_space" and plane == 0
    assert x[vertex, 1] == x[:, 1].min() and not grounded.is_step_free(x, far_down)
    assert kernel.inversion_free_step([[0, 1, 2, 3]], [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
                                      [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, -1]]) < 0.5


def test_gradients_and_hessians_of_barrier_and_friction():
    x, triangles = two_triangles()
    mesh = kernel.CollisionMesh(x, triangles, dhat=0.05, friction=0.4, epsv=0.01)
    barrier = kernel.Barrier(mesh, stiffness=1e3)
    assert barrier.value(x) > 0
    assert barrier.gradient(x).ravel() == pytest.approx(differences(barrier.value, x, 1e-7).ravel(), rel=1e-4, abs=1e-9)
    exact = barrier.hessian(x, project=False).toarray()
    assert exact == pytest.approx(differences(barrier.gradient, x, 1e-7), rel=1e-4, abs=1e-5)
    assert numpy.linalg.eigvalsh(barrier.hessian(x).toarray()).min() > -1e-9
    assert numpy.linalg.eigvalsh(exact).min() < -1e-6
    contacts = barrier.contacts(x)
    assert contacts["distances"].min() == pytest.approx(0.02) and contacts["normals"][0] == pytest.approx([0, 1, 0])

    moved = x + numpy.random.default_rng(1).normal(scale=1e-4, size=x.shape)
    friction = kernel.Friction(barrier, lagged=x, start=x, dt=0.01)
    assert friction.gradient(x) == pytest.approx(0, abs=1e-12) and friction.value(moved) > friction.value(x)
    assert friction.gradient(moved).ravel() == pytest.approx(
        differences(friction.value, moved, 1e-7).ravel(), rel=1e-3, abs=1e-9)
    assert friction.hessian(moved, project=False).toarray() == pytest.approx(
        differences(friction.gradient, moved, 1e-7), rel=1e-3, abs=1e-6)
    # Sliding far, friction is mu times the normal force.
    slid = x + numpy.array([[0, 0, 0]] * 3 + [[0.01, 0, 0]] * 3)
    assert numpy.abs(friction.gradient(slid)[3:].sum(axis=0)) == pytest.approx(
        [0.4 * contacts["forces"].sum(), 0, 0], rel=0.2, abs=0.2 * contacts["forces"].sum())


def test_bodies_pairs_and_half_spaces():
    x, triangles = two_triangles()
    bodies = [0, 0, 0, 1, 1, 1]
    apart_ = kernel.CollisionMesh(x, triangles, bodies=bodies, pairs={(0, 1): {"enabled": False}}, dhat=0.05)
    assert not len(apart_.candidates(x, radius=0.05)["point_triangle"])
    floor = kernel.CollisionMesh(x[3:], [[0, 1, 2]], half_spaces=[((0, 0, 0), (0, 2, 0))], dhat=0.05)
    barrier = kernel.Barrier(floor, 1.0)
    assert barrier.contacts(x[3:])["distances"] == pytest.approx([0.02])
    assert floor.step_bound(x[3:], x[3:] - [0, 0.1, 0]) < 0.2


BAD = [
    (lambda x, f: kernel.CollisionMesh(x[:, :2], f), r"rest: got an array of shape \(6, 2\), must be \(n, 3\)"),
    (lambda x, f: kernel.CollisionMesh(x * math.nan, f), "rest: got nan in row 0, must be finite"),
    (lambda x, f: kernel.CollisionMesh("mesh", f), "rest: got .*, must be an array of numbers"),
    (lambda x, f: kernel.CollisionMesh(x, f + 9), "triangles: got 9 in row 0, must be from 0 to 5"),
    (lambda x, f: kernel.CollisionMesh(x, f - 1), "triangles: got -1 in row 0"),
    (lambda x, f: kernel.CollisionMesh(x, f * 1.0), r"whole numbers; convert it with .astype\(int\)"),
    (lambda x, f: kernel.CollisionMesh(x, f[:, :2]), r"triangles: got an array of shape \(2, 2\), must be \(n, 3\)"),
    (lambda x, f: kernel.CollisionMesh(x, f, dhat=-1), "dhat|d̂"),
    (lambda x, f: kernel.CollisionMesh(x, f, reach=1), "reach: unknown setting of contact"),
    (lambda x, f: kernel.CollisionMesh(x, f, bodies=[0, 0, 0, 9, 9, 9]), "number bodies from 0"),
    (lambda x, f: kernel.CollisionMesh(x, f, broad_phase="bhv"), "bhv"),
    (lambda x, f: kernel.CollisionMesh(x, f).candidates(x[:2]), "start: .* must have 6 rows"),
    (lambda x, f: kernel.CollisionMesh(x, f).candidates(x, radius=-1), "radius: got -1"),
    (lambda x, f: kernel.CollisionMesh(x, f).step_bound(x, x, method="fast"), "must be additive or tight_inclusion"),
    (lambda x, f: kernel.Barrier(kernel.CollisionMesh(x, f), 0), "stiffness: got 0, must be positive"),
    (lambda x, f: kernel.squared_distance("edge_face", x[:4]), "must be one of point_point"),
    (lambda x, f: kernel.squared_distance("edge_edge", x), r"must be \(4, 3\) or \(n, 4, 3\)"),
    (lambda x, f: kernel.time_of_impact("point_point", x[:2], x[:2], separation=-1), "separation: got -1"),
    (lambda x, f: kernel.curved_time_of_impact("point_point", lambda t: x, [0, 0]), r"path\(t\): got an array"),
]


@pytest.mark.parametrize("call,text", BAD)
def test_wrong_arguments_raise_with_a_remedy(call, text):
    x, triangles = two_triangles()
    with pytest.raises(InputError, match=text):
        call(x, triangles)


def test_what_is_no_mesh_is_refused():
    for mesh in (None, 5, "mesh"):
        with pytest.raises(TypeError):
            kernel.Barrier(mesh, 1.0)
    with pytest.raises(TypeError):
        kernel.Friction(None, [[0, 0, 0]], [[0, 0, 0]], 0.1)


def test_energies_are_infinite_and_have_no_derivatives_where_primitives_touch():
    x = numpy.array([[0, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0.1, 0], [1, 0.1, 0], [0, 0.1, 1.0]])
    barrier = kernel.Barrier(kernel.CollisionMesh(x, [[0, 1, 2], [3, 4, 5]], dhat=0.2), 1.0)
    assert 0 < barrier.value(x) < math.inf
    on_each_other = x * [1, 0, 1]  # edges lie on parallel ones, points on points
    assert barrier.value(on_each_other) == math.inf
    for derivative in (barrier.gradient, barrier.hessian):
        with pytest.raises(InputError, match=r"primitives touch there.*value\(\) is inf"):
            derivative(on_each_other)


def test_errors_of_a_path_are_raised():
    x, triangles = two_triangles()
    mesh = kernel.CollisionMesh(x, triangles, dhat=0.05)

    def path(t):
        if 0 < t < 1:
            raise ZeroDivisionError("in the middle")
        return x + t * numpy.array([[0, 0, 0]] * 3 + [[0, -0.1, 0]] * 3)

    with pytest.raises(ZeroDivisionError, match="in the middle"):
        mesh.curved_step_bound(path, numpy.full(6, 1.0))


def test_positions_whose_products_overflow_are_refused():
    x, triangles = two_triangles()
    barrier = kernel.Barrier(kernel.CollisionMesh(x, triangles, dhat=0.05), 1e3)
    assert barrier.value(1e60 * x) == 0
    for query in (barrier.value, barrier.gradient, barrier.hessian, barrier.contacts):
        with pytest.raises(InputError, match="must be at most 1e.?70"):
            query(1e80 * x)


def test_settings_of_pairs_and_threads_are_checked():
    x = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    for pairs in ({0: {}}, {(0, 0): 5}, {(0, 0.5): {}}, {(0, 0, 0): {}}):
        with pytest.raises(InputError, match="pairs: got"):
            kernel.CollisionMesh(x, triangles=[[0, 1, 2]], dhat=0.1, pairs=pairs)
    with pytest.raises(InputError, match="must be True or False"):
        kernel.CollisionMesh(x, triangles=[[0, 1, 2]], dhat=0.1, enabled=5)
    before = apart.threads()
    for count in (10**9, 10**30, 1.5, True, -1):
        with pytest.raises(InputError, match="must"):
            apart.set_threads(count)
    assert apart.threads() == before
