#pragma once
#include <apart/geometry/exact_intersection.hpp>
#include <apart/io/frame.hpp>

#include <map>
#include <vector>

namespace apart::verify {

/// The thickness ξ that pairs of a run keep. Within one connected piece of a body it is shortened: a pair
/// that was closer than ξ + d̂ in the first frame, at d₀, has ξ d₀ / 2(ξ + d̂) to keep.
class Thickness {
 public:
  Thickness() = default;  ///< none
  /// `piece`: of connected_pieces. Throws InputError if the frame contradicts itself.
  Thickness(const Frame& first, std::vector<Index> piece);

  bool exists() const { return !of_body_.empty(); }
  double of_bodies(int a, int b) const;                    ///< [m]
  double of_pair(const exact::PrimitivePair& pair) const;  ///< [m]
  /// [m] per point: half the largest thickness of its body with any other. Empty: none has any.
  const std::vector<double>& margins() const { return margins_; }

 private:
  std::vector<double> of_body_, self_reach_;          ///< [m] by body
  std::map<std::pair<int, int>, double> exceptions_;  ///< [m] of pairs of bodies, the smaller first
  std::vector<double> margins_;
  std::vector<Index> piece_;
  Eigen::VectorXi point_body_;
  Matrix3X start_;  ///< [m] points of the first frame
};

}  // namespace apart::verify
