#pragma once
#include <apart/collision/stencil.hpp>
#include <apart/core/team.hpp>

namespace apart {

/// A contact the barrier acts on.
struct Contact {
  Stencil stencil;  ///< reduced to its closest feature, except for mollified edge–edge pairs
  /// How many candidate pairs reduce to this stencil [thesis A.7.1]; if the surface has weights, the sum of
  /// theirs [m²], which may be negative.
  double weight = 1;
  /// ε of edge_edge_mollifier.hpp; 0: not mollified
  double mollifier_threshold = 0;
  double dhat = 0;             ///< d̂ [m]
  double thickness = 0;        ///< ξ [m]
  double stiffness_scale = 1;  ///< PairSettings::stiffness_scale, for this d̂ and ξ
};

/// A vertex near a half-space.
struct PlaneContact {
  Index vertex = 0;
  Index plane = 0;    ///< index into CollisionSurface::half_spaces
  double weight = 1;  ///< if the surface has weights, the vertex's area [m²]
};

struct ActiveSet {
  /// Sorted by stencil, each once; then mollified ones; then those of shortened thickness [stencil.hpp], in
  /// the order of their candidates, and not merged.
  std::vector<Contact> contacts;
  std::vector<PlaneContact> plane_contacts;  ///< sorted by plane, then vertex
  /// Smallest distance of the contacts and plane contacts above [m]; +infinity if there are none. Pairs
  /// farther apart than ξ + d̂ do not count, so that it does not depend on how many of them the candidates
  /// contain.
  double min_distance = 0;
  double min_gap = 0;  ///< the same with each pair's thickness taken off [m]
};

/// The candidate pairs closer than ξ + d̂ at x, point–triangle and edge–edge pairs reduced to the feature that
/// is closest and merged with the sum of their weights. Edge–edge pairs with c < ε stay edge–edge, mollified.
/// The same for any number of threads and for any candidates that contain all pairs closer than ξ + d̂. Of a
/// team each process has some of these; all get the whole set, the same for any number of processes but for
/// the order of contacts of shortened thickness.
ActiveSet find_active_set(const CollisionSurface& surface, const NearPairs& candidates, const Matrix3X& x,
                          const Team& team = Team::alone());

}  // namespace apart
