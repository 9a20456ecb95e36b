#include <apart/verify/topology_change.hpp>

#include <apart/core/disjoint_sets.hpp>

#include <algorithm>

namespace apart::verify {

PlacedSurface::PlacedSurface(const Frame& frame, const exact::Surface& surface, const Matrix3X& points) {
  const auto add = [&](const exact::Primitive& primitive) {
    Part part{frame.point_body[primitive.vertices[0]], {}};
    const std::size_t size = std::size_t(primitive.size());
    for (std::size_t k = 0; k < 3; ++k) {
      const auto x = points.col(primitive.vertices[std::min(k, size - 1)]);
      part.corners[k] = {x[0], x[1], x[2]};
    }
    std::sort(part.corners.begin(), part.corners.begin() + std::ptrdiff_t(size));
    for (std::size_t k = size; k < 3; ++k)
      part.corners[k] = part.corners[size - 1];  // whatever their numbers
    if (size == 2 && part.corners[0] == part.corners[1]) return;
    if (size == 3 && (part.corners[0] == part.corners[1] || part.corners[1] == part.corners[2])) return;
    parts_.push_back(part);
  };
  std::ranges::for_each(surface.faces, add);
  std::ranges::for_each(surface.segments, add);
  std::ranges::for_each(surface.points, add);
  std::ranges::sort(parts_);
}

MergedPoints::MergedPoints(const Frame& frame, std::initializer_list<const Matrix3X*> places) {
  DisjointSets sets(frame.mesh.point_count());
  for (const auto& cell : frame.mesh.tetrahedra.colwise())
    for (int i = 0; i < 4; ++i)
      for (int j = i + 1; j < 4; ++j)
        for (const Matrix3X* x : places)
          if (x->col(cell[i]) == x->col(cell[j])) {
            sets.join(cell[i], cell[j]);
            any_ = true;
          }
  for (const auto& face : frame.mesh.faces.colwise())
    for (int i = 0; i < 3; ++i)
      for (const Matrix3X* x : places)
        if (x->col(face[i]) == x->col(face[(i + 1) % 3])) {
          sets.join(face[i], face[(i + 1) % 3]);
          any_ = true;
        }
  if (!any_) return;
  name_ = std::move(sets).names();
  is_merged_.assign(name_.size(), false);
  for (std::size_t p = 0; p < name_.size(); ++p)
    if (name_[p] != Index(p)) is_merged_[p] = is_merged_[std::size_t(name_[p])] = true;
}

bool MergedPoints::join(const exact::Primitive& a, const exact::Primitive& b) const {
  if (!any_) return false;
  for (int i = 0; i < a.size(); ++i)
    for (int j = 0; j < b.size(); ++j)
      if (name_[std::size_t(a.vertices[std::size_t(i)])] == name_[std::size_t(b.vertices[std::size_t(j)])])
        return true;
  return false;
}

bool MergedPoints::flatten(const Eigen::Ref<const Eigen::Vector4i>& cell) const {
  if (!any_) return false;
  for (int i = 0; i < 4; ++i)
    for (int j = i + 1; j < 4; ++j)
      if (name_[std::size_t(cell[i])] == name_[std::size_t(cell[j])]) return true;
  return false;
}

}  // namespace apart::verify
