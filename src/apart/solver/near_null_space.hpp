#pragma once
#include <apart/bodies/chart.hpp>
#include <apart/solver/free_coordinates.hpp>

namespace apart {

/// The rigid motions of all bodies together, in the unknowns of a linear system: translations along the three
/// axes, and rotations about those through the origin. Elastic energies do not resist them, so the errors
/// that an iterative solver removes most slowly are made of such motions of large parts of the system.
/// Multigrid and two-level methods build their coarse spaces from them (CoarseSpace does), part by part;
/// positions say which blocks make up a part.
struct NearNullSpace {
  using Modes = Eigen::Matrix<double, Eigen::Dynamic, 6>;
  Matrix3X positions;  ///< [m] of the node of each block; of a body with a chart, its middle
  Modes modes;         ///< three rows per block; zero where a coordinate is held
};

/// Of the unknowns that are free, where the nodes are at q. Unknowns of a chart get the step whose motion of
/// the nodes is nearest to the rigid one.
NearNullSpace near_null_space(const Chart& chart, const Matrix3X& q, const FreeCoordinates& free);

}  // namespace apart
