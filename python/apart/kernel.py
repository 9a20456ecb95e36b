"""The geometry of contact by itself, for programs with a solver of their own.

A pair of primitives is of one of four kinds, "point_point", "point_edge", "point_triangle" and "edge_edge"; its points
are given as one array (k, 3), the first primitive's first, or many as (n, k, 3). Meshes are `CollisionMesh`, whose
positions (n, 3) are given with each query. Energies have gradients (n, 3) and Hessians as sparse matrices of scipy in
the flattened coordinates, ``positions.ravel()``.
"""

from . import _apart
from ._apart import (  # noqa: F401
    CollisionMesh,
    barrier,
    broad_phases,
    closest_weights,
    curved_time_of_impact,
    edge_edge_mollifier,
    inversion_free_step,
    squared_distance,
    squared_distance_gradient,
    squared_distance_hessian,
    time_of_impact,
)


def _matrix(entries, count):
    from scipy import sparse

    places, values = entries
    return sparse.csc_matrix((values, (places[:, 0], places[:, 1])), shape=(3 * count, 3 * count))


class Barrier(_apart.Barrier):
    __doc__ = _apart.Barrier.__doc__

    def hessian(self, positions, project=True):
        """Sparse (3n, 3n); with `project` each contact's part is made positive semi-definite."""
        return _matrix(self.hessian_entries(positions, project), len(positions))


class Friction(_apart.Friction):
    __doc__ = _apart.Friction.__doc__

    def hessian(self, positions, project=True):
        """Sparse (3n, 3n); with `project` each contact's part is made positive semi-definite."""
        return _matrix(self.hessian_entries(positions, project), len(positions))
