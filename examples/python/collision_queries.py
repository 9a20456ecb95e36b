"""Collision queries in a program with its own solver: gradient descent of an energy, without a simulation.

A triangulated sheet sags onto a spike; each step of the descent is bounded so that nothing ever touches.
"""

import numpy

from apart import kernel

# The sheet, held at its edges, and the spike below it, as one mesh of two bodies.
n = 7
grid = numpy.stack(numpy.meshgrid(range(n), range(n), indexing="ij"), axis=-1).reshape(-1, 2)
sheet = numpy.column_stack([grid[:, 0] / (n - 1) - 0.5, numpy.full(len(grid), 0.06), grid[:, 1] / (n - 1) - 0.5])
corner = numpy.array([i * n + j for i in range(n - 1) for j in range(n - 1)])
triangles = numpy.vstack([numpy.column_stack([corner, corner + 1, corner + n]),
                          numpy.column_stack([corner + 1, corner + n + 1, corner + n])])
spike = numpy.array([[0.03, 0.05, 0.02], [0.2, -0.3, 0], [-0.1, -0.3, 0.2], [-0.1, -0.3, -0.2]])
faces = numpy.array([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]]) + len(sheet)

x = numpy.vstack([sheet, spike])
mesh = kernel.CollisionMesh(x, numpy.vstack([triangles, faces]), dhat=0.01,
                            bodies=numpy.repeat([0, 1], [len(sheet), len(spike)]))
barrier = kernel.Barrier(mesh, stiffness=1e4)
free = numpy.zeros(len(x), bool)
free[: len(sheet)] = (grid > 0).all(axis=1) & (grid < n - 1).all(axis=1)
edges = mesh.edges[(mesh.edges < len(sheet)).all(axis=1)]
lengths = numpy.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1)


def energy(x):
    """Springs along the edges, weight, contact."""
    along = numpy.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1) - lengths
    return 20 * (along**2).sum() + x[: len(sheet), 1].sum() * 0.02 + barrier.value(x)


def gradient(x):
    between = x[edges[:, 0]] - x[edges[:, 1]]
    now = numpy.linalg.norm(between, axis=1)
    pull = (40 * (now - lengths) / now)[:, None] * between
    result = barrier.gradient(x)
    numpy.add.at(result, edges[:, 0], pull)
    numpy.add.at(result, edges[:, 1], -pull)
    result[: len(sheet), 1] += 0.02
    result[~free] = 0
    return result


value = energy(x)
for _ in range(60):
    g = gradient(x)
    step = 0.02 * mesh.step_bound(x, x - 0.02 * g)
    while energy(x - step * g) > value:
        step /= 2
    x = x - step * g
    value = energy(x)

assert not mesh.self_intersects(x)
contacts = barrier.contacts(x)
print(f"energy {value:.4g} J, {len(contacts['forces'])} contacts, smallest distance {contacts['distances'].min():.3g} m")
