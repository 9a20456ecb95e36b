#include <apart/core/error.hpp>
#include <apart/verify/gaps.hpp>
#include <apart/verify/thickness.hpp>

#include <algorithm>
#include <array>

namespace apart::verify {

Thickness::Thickness(const Frame& first, std::vector<Index> piece) {
  if (first.thickness.empty()) return;
  if (first.thickness.size() != first.bodies.size() || first.self_reach.size() != first.bodies.size())
    throw InputError("{} bodies, but the thickness of {}; the frame is damaged", first.bodies.size(),
                     first.thickness.size());
  of_body_ = first.thickness;
  self_reach_ = first.self_reach;
  piece_ = std::move(piece);
  point_body_ = first.point_body;
  start_ = first.mesh.points;
  // Half the thickness of its body on either side, as pairs have the mean; more where a pair has another.
  const double thickest = *std::max_element(of_body_.begin(), of_body_.end());
  std::vector<double> most = of_body_;
  if (!first.pair_thickness.empty())
    for (double& t : most) t = 0.5 * (t + thickest);
  for (PairThickness t : first.pair_thickness) {
    if (t.a > t.b) std::swap(t.a, t.b);
    if (t.a < 0 || t.b >= int(most.size()))
      throw InputError("thickness of the bodies {} and {}, but there are {}; the frame is damaged", t.a, t.b,
                       most.size());
    for (const int b : {t.a, t.b}) most[std::size_t(b)] = std::max(most[std::size_t(b)], t.thickness);
    exceptions_[{t.a, t.b}] = t.thickness;
  }
  margins_.resize(std::size_t(start_.cols()));
  for (Index i = 0; i < start_.cols(); ++i)
    margins_[std::size_t(i)] = 0.5 * most[std::size_t(point_body_[i])];
}

double Thickness::of_bodies(int a, int b) const {
  if (!exceptions_.empty())
    if (const auto found = exceptions_.find(std::minmax(a, b)); found != exceptions_.end())
      return found->second;
  return 0.5 * (of_body_[std::size_t(a)] + of_body_[std::size_t(b)]);
}

double Thickness::of_pair(const exact::PrimitivePair& pair) const {
  const Index i = pair.a.vertices[0], j = pair.b.vertices[0];
  const int a = point_body_[i], b = point_body_[j];
  const double whole = of_bodies(a, b);
  if (a != b || piece_[i] != piece_[j]) return whole;
  std::array<Vector3, 3> x, y;
  for (int k = 0; k < pair.a.size(); ++k) x[k] = start_.col(pair.a.vertices[k]);
  for (int k = 0; k < pair.b.size(); ++k) y[k] = start_.col(pair.b.vertices[k]);
  const double start =
      separating_directions({x.data(), std::size_t(pair.a.size())}, {y.data(), std::size_t(pair.b.size())})
          .shortest.norm();
  const double reach = self_reach_[std::size_t(a)];
  // A pair at the border may fall to either side of it by rounding.
  return start < reach * (1 + 1e-12) ? whole * start / (2 * reach) : whole;
}

}  // namespace apart::verify
