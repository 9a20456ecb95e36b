#include <apart/bodies/cell_shapes.hpp>

#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <unsupported/Eigen/BVH>

namespace apart {

CellShapes::CellShapes(Matrix3X points, Eigen::MatrixXi cells, int degree)
    : points_(std::move(points)), cells_(std::move(cells)), basis_(degree) {
  ensure(cells_.rows() == basis_.node_count(), "CellShapes: cells of another degree");
}

CellShapes::CellShapes(const Mesh& mesh)
    : CellShapes(mesh.points,
                 mesh.curved.empty() ? Eigen::MatrixXi(mesh.tetrahedra) : mesh.curved.front().points,
                 mesh.curved.empty() ? 1 : mesh.curved.front().degree) {
  ensure(mesh.curved.size() + (mesh.tetrahedra.cols() > 0) == 1, "CellShapes: cells of one degree");
}

std::optional<Vector3> CellShapes::inverse(Index cell, const Vector3& x) const {
  const Matrix3X at = points(cell);
  const double size = (at.leftCols<4>().rowwise().maxCoeff() - at.leftCols<4>().rowwise().minCoeff()).norm();
  Vector3 xi = Vector3::Constant(0.25);
  constexpr double room = 2;       // barycentric coordinates beyond it are no longer near the cell
  constexpr double longest = 0.5;  // step of ξ
  for (int i = 0; i < 60; ++i) {
    const Vector3 error = x - at * basis_.values(xi);
    const Matrix3 slope = at * basis_.gradients(xi).transpose();
    Vector3 step = slope.inverse() * error;
    if (!step.allFinite()) return std::nullopt;
    if (degree() > 1 && step.norm() > longest) step *= longest / step.norm();
    xi += step;
    if (degree() > 1 && (xi.cwiseAbs().maxCoeff() > room || std::abs(1 - xi.sum()) > room))
      return std::nullopt;
    // One step is exact for linear cells; others are done when steps are down to rounding.
    if (degree() == 1 || step.norm() < 1e-14 || (step.norm() < 1e-10 && error.norm() < 1e-13 * size))
      return slope.determinant() > 0 ? std::optional(xi) : std::nullopt;
  }
  return std::nullopt;
}

namespace {

using Box = Eigen::AlignedBox3d;

/// Boxes of cells in a tree. Curved cells may bulge beyond their points, so theirs are larger.
class CellBoxes {
 public:
  explicit CellBoxes(const CellShapes& shapes) {
    std::vector<Index> all;
    std::vector<Box> boxes;
    for (Index t = 0; t < shapes.count(); ++t) {
      const Matrix3X x = shapes.points(t);
      Box box(Vector3(x.rowwise().minCoeff()), Vector3(x.rowwise().maxCoeff()));
      const Vector3 more = (shapes.degree() == 1 ? 1e-9 : 0.25) * box.sizes();
      boxes.emplace_back(box.min() - more, box.max() + more);
      all.push_back(t);
    }
    tree_.init(all.begin(), all.end(), boxes.begin(), boxes.end());
    boxes_ = std::move(boxes);
  }

  /// Cells whose boxes are no farther than a distance, ascending.
  std::vector<Index> within(const Vector3& x, double distance) const {
    Search search{this, x, distance, {}};
    Eigen::BVIntersect(tree_, search);
    std::sort(search.found.begin(), search.found.end());
    return search.found;
  }
  /// A distance within which there is the nearest box, and room for its neighbours.
  double reach(const Vector3& x) const {
    Nearest nearest{this, x};
    Eigen::BVMinimize(tree_, nearest);
    return nearest.best + nearest.size;
  }

 private:
  struct Search {
    const CellBoxes* boxes;
    Vector3 x;
    double distance;
    std::vector<Index> found;
    bool intersectVolume(const Box& box) { return box.exteriorDistance(x) <= distance; }
    bool intersectObject(Index t) {
      if (intersectVolume(boxes->boxes_[std::size_t(t)])) found.push_back(t);
      return false;
    }
  };
  struct Nearest {
    using Scalar = double;
    const CellBoxes* boxes;
    Vector3 x;
    double best = std::numeric_limits<double>::infinity(), size = 0;
    double minimumOnVolume(const Box& box) { return box.exteriorDistance(x); }
    double minimumOnObject(Index t) {
      const Box& box = boxes->boxes_[std::size_t(t)];
      const double distance = box.exteriorDistance(x);
      if (distance < best) {
        best = distance;
        size = box.diagonal().norm();
      }
      return distance;
    }
  };
  Eigen::KdBVH<double, 3, Index> tree_;
  std::vector<Box> boxes_;
};

struct Followed {
  Index cell = -1;
  Vector3 xi = Vector3::Zero();
  double growth = std::numeric_limits<double>::infinity();
  bool inside = false;
};

Followed best_of(const std::vector<Index>& cells, const CellShapes& shapes, const Vector3& x) {
  Followed best;
  for (const Index t : cells) {
    const std::optional<Vector3> xi = shapes.inverse(t, x);
    if (!xi) continue;
    constexpr double border = 1e-9;  // of barycentric coordinates
    const bool inside = xi->minCoeff() >= -border && xi->sum() <= 1 + border;
    const double growth = shapes.basis().values(*xi).lpNorm<1>();
    if (inside != best.inside ? inside : growth < best.growth * (1 - 1e-9)) best = {t, *xi, growth, inside};
  }
  return best;
}

}  // namespace

Embedding embed(const Matrix3X& points, const CellShapes& shapes, const std::string& where) {
  const CellBoxes boxes(shapes);
  std::vector<Followed> followed(static_cast<std::size_t>(points.cols()));
  parallel_for(
      Index(points.cols()),
      [&](Index i) {
        const Vector3 x = points.col(i);
        Followed& f = followed[std::size_t(i)];
        f = best_of(boxes.within(x, 0), shapes, x);
        if (!f.inside) f = best_of(boxes.within(x, boxes.reach(x)), shapes, x);
      },
      16);
  Embedding result{std::vector<Index>(followed.size()), Matrix3X(3, points.cols()), VectorX(points.cols())};
  for (std::size_t i = 0; i < followed.size(); ++i) {
    const Followed& f = followed[i];
    if (f.cell < 0)
      throw InputError(
          "{}: point {} at ({:g}, {:g}, {:g}) is in no cell of the volume and cannot follow one near it; "
          "move "
          "the surface to the volume",
          where, i, points(0, Index(i)), points(1, Index(i)), points(2, Index(i)));
    result.cell[i] = f.cell;
    result.xi.col(Index(i)) = f.xi;
    result.growth[Index(i)] = f.growth;
    result.outside += !f.inside;
  }
  return result;
}

}  // namespace apart
