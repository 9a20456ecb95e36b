#include <apart/remesh/original_shape.hpp>

#include <apart/geometry/squared_distance.hpp>
#include <apart/remesh/mesh_editor.hpp>

#include <algorithm>
#include <cmath>

namespace apart {

Aabb SurfacePiece::box(double margin) const {
  Aabb box;
  for (int k = 0; k < size; ++k) box.include(corners[std::size_t(k)]);
  box.lower.array() -= margin;
  box.upper.array() += margin;
  return box;
}

double SurfacePiece::distance(const Vector3& x) const {
  const PairKind kind = size == 3 ? PairKind::point_triangle : PairKind::point_edge;
  return closest_points(kind, {x, corners[0], corners[1], corners[2]}).r.norm();
}

bool SurfacePiece::matches(const SurfacePiece& other) const {
  return size == other.size && sets == other.sets &&
         (normal.isZero(0) ? other.normal.isZero(0) : normal.dot(other.normal) > 0);
}

namespace {

// Parts that a piece is divided into, at most. Coarsening a ball by an order of magnitude needs tens.
constexpr int most_parts = 1000;

class Cover {
 public:
  Cover(double tolerance, int size) : tolerance_(tolerance), size_(std::size_t(size)) {}

  using Corners3 = std::array<Vector3, 3>;
  using List = std::vector<const SurfacePiece*>;
  /// The distance from a convex piece is a convex function: over a part it is largest at a corner.
  bool holds(const Corners3& part, const List& by, const List& gone, bool all_matters) {
    if (--parts_left_ < 0) return false;
    const auto reaches = [&](const SurfacePiece* piece, std::size_t k) {
      return piece->distance(part[k]) <= tolerance_;
    };
    for (const SurfacePiece* piece : by) {
      bool all = true;
      for (std::size_t k = 0; k < size_ && all; ++k) all = reaches(piece, k);
      if (all) return true;
    }
    Vector3 centre = Vector3::Zero();
    for (std::size_t k = 0; k < size_; ++k) centre += part[k] / double(size_);
    double radius = 0;
    for (std::size_t k = 0; k < size_; ++k) radius = std::max(radius, (part[k] - centre).norm());
    const auto near = [&](const List& list) {
      List result;
      std::ranges::copy_if(list, std::back_inserter(result), [&](const SurfacePiece* piece) {
        return piece->distance(centre) <= tolerance_ + radius;
      });
      return result;
    };
    const List near_gone = near(gone);
    if (!all_matters && near_gone.empty()) return true;
    for (std::size_t k = 0; k < size_; ++k) {
      const auto there = [&](const SurfacePiece* piece) { return reaches(piece, k); };
      if ((all_matters || std::ranges::any_of(near_gone, there)) && std::ranges::none_of(by, there))
        return false;
    }
    // Halves at the longest edge.
    std::size_t from = 0, to = 1;
    for (std::size_t k = 0; k < size_; ++k)
      if (const std::size_t next = (k + 1) % size_;
          (part[k] - part[next]).norm() > (part[from] - part[to]).norm()) {
        from = k;
        to = next;
      }
    const Vector3 middle = 0.5 * (part[from] + part[to]);
    const List near_by = near(by);
    for (const std::size_t end : {from, to}) {
      Corners3 half = part;
      half[end] = middle;
      if (!holds(half, near_by, near_gone, all_matters)) return false;
    }
    return true;
  }

 private:
  double tolerance_;
  std::size_t size_;
  int parts_left_ = most_parts;
};

std::vector<Aabb> boxes_of(const SurfacePieces& pieces) {
  std::vector<Aabb> boxes;
  for (const SurfacePiece& piece : pieces) boxes.push_back(piece.box());
  return boxes;
}

}  // namespace

bool is_covered(const SurfacePiece& piece, const SurfacePieces& by, double tolerance,
                const SurfacePieces* gone) {
  const auto matching = [&](const SurfacePieces& list) {
    Cover::List result;
    for (const SurfacePiece& other : list)
      if (other.matches(piece)) result.push_back(&other);
    return result;
  };
  return Cover(tolerance, piece.size)
      .holds(piece.corners, matching(by), gone ? matching(*gone) : Cover::List(), !gone);
}

PlacedPieces::PlacedPieces(SurfacePieces pieces) : pieces_(std::move(pieces)), index_(boxes_of(pieces_)) {}

SurfacePieces PlacedPieces::near(const Aabb& box, const SurfacePiece& like) const {
  SurfacePieces result;
  for (const Index i : index_.meeting(box))
    if (pieces_[std::size_t(i)].matches(like)) result.push_back(pieces_[std::size_t(i)]);
  return result;
}

OriginalShape::OriginalShape(const BodyShape& shape, bool is_shell, double tolerance)
    : tolerance_(tolerance) {
  const MeshEditor editor({.shape = shape, .states = {}, .is_shell = is_shell});
  for (std::size_t which = 0; which < editor.position_count(); ++which) {
    MeshEditor::Outline outline = editor.outline(which);
    surfaces_.push_back({PlacedPieces(std::move(outline.facets)), PlacedPieces(std::move(outline.creases))});
  }
}

void scale_density(Body& body, double factor) {
  body.mass *= factor;
  if (body.elastic)
    for (double& density : body.elastic->density) density *= factor;
  if (body.planar)
    for (double& density : body.planar->density) density *= factor;
  if (body.shell) body.shell->density *= factor;
}

void keep_mass(Body& body) {
  body.remake = [plain = body.remake, mass = total_mass(body)](const BodyShape& shape) {
    Body made = plain(shape);
    scale_density(made, mass / total_mass(made));
    return made;
  };
}

Body part_of(const Body& whole, const BodyShape& shape) {
  Body part = whole.remake(shape);
  const auto density = [](const Body& body) {
    return body.shell     ? body.shell->density
           : body.elastic ? body.elastic->density[0]
                          : body.planar->density[0];
  };
  if (density(part) != density(whole)) scale_density(part, density(whole) / density(part));
  return part;
}

}  // namespace apart
