#include <apart/basis/lattice_numbering.hpp>
#include <apart/core/error.hpp>
#include <apart/viewer/drawn_surface.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace apart {

DrawnSurface drawn_surface(const Frame& frame) {
  const Mesh& mesh = frame.mesh;
  const Index tets = Index(mesh.tetrahedra.cols()), faces = Index(mesh.faces.cols());
  const Faces boundary = boundary_faces(mesh.tetrahedra);
  DrawnSurface surface;
  surface.triangles.resize(3, boundary.cols() + faces);
  surface.triangles << boundary, mesh.faces;
  surface.triangle_cell.resize(surface.triangles.cols());

  // Boundary faces stand in the order of their tetrahedra, and each belongs to one only: walk along both.
  Index tet = 0;
  for (Index f = 0; f < boundary.cols(); ++f) {
    const auto belongs = [&](Index t) {
      const auto corners = mesh.tetrahedra.col(t);
      for (int k = 0; k < 3; ++k)
        if ((corners.array() != boundary(k, f)).all()) return false;
      return true;
    };
    while (tet < tets && !belongs(tet)) ++tet;
    ensure(tet < tets, "boundary faces follow their tetrahedra");
    surface.triangle_cell[f] = tet;
  }
  for (Index f = 0; f < faces; ++f) surface.triangle_cell[Index(boundary.cols()) + f] = tets + f;
  surface.segments = mesh.edges;
  surface.balls = mesh.vertices;

  std::vector<int> position(std::size_t(mesh.point_count()), -1);
  const auto mark = [&](const auto& cells) {
    for (Eigen::Index i = 0; i < cells.size(); ++i) position[std::size_t(cells.data()[i])] = 0;
  };
  mark(surface.triangles);
  mark(surface.segments);
  mark(surface.balls);
  std::vector<int> used;
  for (std::size_t p = 0; p < position.size(); ++p)
    if (position[p] == 0) {
      position[p] = int(used.size());
      used.push_back(int(p));
    }
  surface.points = Eigen::VectorXi::Map(used.data(), Eigen::Index(used.size()));
  const auto renumber = [&](auto& cells) {
    for (Eigen::Index i = 0; i < cells.size(); ++i) cells.data()[i] = position[std::size_t(cells.data()[i])];
  };
  renumber(surface.triangles);
  renumber(surface.segments);
  renumber(surface.balls);
  return surface;
}

namespace {

constexpr int most_parts = 8;               // of each edge of a curved face
constexpr double most_triangles = 400'000;  // of a body

/// The curved cells of one body, and a finer surface of them.
class FineSurface {
 public:
  /// `chosen`, `faces`: those of the body among `cells` and among the triangles of the frame.
  FineSurface(const Frame& frame, const CurvedCells& cells, const std::vector<Index>& chosen,
              const std::vector<Index>& faces)
      : basis_(cells.degree) {
    points_.resize(cells.points.rows(), Eigen::Index(chosen.size()));
    for (std::size_t t = 0; t < chosen.size(); ++t)
      points_.col(Eigen::Index(t)) = cells.points.col(chosen[t]);
    boundary_ = boundary_faces(points_.topRows<4>());
    const auto count = std::size_t(boundary_.cols());
    parts_ = count == 0 || faces.size() % count != 0 ? 0 : faces.size() / count;
    // On the boundary of the cells the triangles of each of their faces follow each other.
    for (std::size_t f = 0; f < count && parts_ > 0; ++f) {
      bool has_corner = false;
      for (std::size_t k = f * parts_; k < (f + 1) * parts_; ++k)
        has_corner |= (frame.mesh.faces.col(faces[k]).array() == boundary_(0, Eigen::Index(f))).any();
      if (!has_corner) parts_ = 0;
    }
    resolution_ = cells.degree == 1 ? 1 : most_parts;
    while (resolution_ > 1 && double(count) * resolution_ * resolution_ > most_triangles) --resolution_;
  }

  /// Whether the body's triangles are on the boundary of its cells, and coarser than they could be.
  bool is_finer() const { return parts_ > 0 && std::size_t(resolution_) * std::size_t(resolution_) > parts_; }
  /// Whether its triangles are a mesh of their own.
  bool is_beside() const { return parts_ == 0 && boundary_.cols() > 0; }

  /// The triangle of the frame, of the body's, whose values each face of a cell has: one of those on it, or
  /// the nearest of a mesh of its own.
  std::vector<Index> sources(const Frame& frame, const std::vector<Index>& faces) const {
    std::vector<Index> result(std::size_t(boundary_.cols()));
    const auto middle = [&](const auto& corners) -> Vector3 {
      return frame.mesh.points(Eigen::all, corners).rowwise().mean();
    };
    for (std::size_t f = 0; f < result.size(); ++f) {
      if (parts_ > 0) {
        result[f] = faces[f * parts_];
        continue;
      }
      const Vector3 at = middle(boundary_.col(Eigen::Index(f)));
      result[f] = *std::ranges::min_element(
          faces, {}, [&](Index face) { return (middle(frame.mesh.faces.col(face)) - at).squaredNorm(); });
    }
    return result;
  }

  /// Calls triangle(face, corners) for each triangle, with points counted from 0, and point(combine) for each
  /// new point before, where combine(values) is the mean of a row of values of the frame's points there.
  template <class Triangle, class Point>
  void make(const Triangle& triangle, const Point& point) const {
    std::map<std::array<int, 3>, Eigen::Index> cell_of;
    for (Eigen::Index t = 0; t < points_.cols(); ++t)
      for (int opposite = 0; opposite < 4; ++opposite) {
        std::array<int, 3> key;
        for (int k = 0, n = 0; k < 4; ++k)
          if (k != opposite) key[std::size_t(n++)] = points_(k, t);
        std::sort(key.begin(), key.end());
        cell_of[key] = t;
      }
    LatticeNumbering numbering(resolution_);
    for (Eigen::Index f = 0; f < boundary_.cols(); ++f) {
      const std::array<Index, 3> corners = {boundary_(0, f), boundary_(1, f), boundary_(2, f)};
      std::array<int, 3> key = {boundary_(0, f), boundary_(1, f), boundary_(2, f)};
      std::sort(key.begin(), key.end());
      const auto cell = points_.col(cell_of.at(key));
      const auto at = [&](int i, int j) {
        const std::array<int, 3> place = {resolution_ - i - j, i, j};
        const Index before = numbering.count(), number = numbering.number(corners, place);
        if (number == before) {
          Eigen::Array4d lambda = Eigen::Array4d::Zero();
          for (int k = 0; k < 4; ++k)
            for (std::size_t c = 0; c < 3; ++c)
              if (cell[k] == corners[c]) lambda[k] = double(place[c]) / resolution_;
          const VectorX values = basis_.values({lambda[1], lambda[2], lambda[3]});
          point([&](const Matrix3X& of) -> Vector3 { return of(Eigen::all, cell) * values; });
        }
        return int(number);
      };
      for (int j = 0; j < resolution_; ++j)
        for (int i = 0; i + j < resolution_; ++i) {
          triangle(std::size_t(f), Eigen::Vector3i(at(i, j), at(i + 1, j), at(i, j + 1)));
          if (i + j + 1 < resolution_)
            triangle(std::size_t(f), Eigen::Vector3i(at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)));
        }
    }
  }

 private:
  LagrangeTetrahedron basis_;
  Eigen::MatrixXi points_;  ///< of each cell
  Faces boundary_;          ///< corners of its faces
  std::size_t parts_ = 0;
  int resolution_ = 1;
};

/// Replaces the surfaces of bodies in a copy of a frame.
class Refinement {
 public:
  explicit Refinement(Frame& frame) : frame_(frame), original_(frame) {}

  /// `faces`: those of a body, as columns of the frame's.
  void replace(const FineSurface& fine, const std::vector<Index>& faces, int body) {
    const int first = int(original_.mesh.points.cols()) + int(points_.size());
    std::vector<Triangle>& made = instead_[faces.front()];
    for (const Index f : faces) instead_[f];  // no longer there
    const std::vector<Index> sources = fine.sources(original_, faces);
    fine.make(
        [&](std::size_t face, const Eigen::Vector3i& corners) {
          made.push_back({corners.array() + first, sources[face]});
        },
        [&](const auto& combine) {
          points_.push_back(combine(original_.mesh.points));
          velocity_.push_back(original_.velocity.cols() > 0 ? combine(original_.velocity) : Vector3::Zero());
          body_.push_back(body);
        });
  }

  void finish() {
    if (instead_.empty()) return;
    const auto append = [](Matrix3X& to, const std::vector<Vector3>& more) {
      const Eigen::Index count = to.cols();
      to.conservativeResize(3, count + Eigen::Index(more.size()));
      for (std::size_t i = 0; i < more.size(); ++i) to.col(count + Eigen::Index(i)) = more[i];
    };
    append(frame_.mesh.points, points_);
    if (frame_.velocity.cols() > 0) append(frame_.velocity, velocity_);
    if (frame_.contact_force.cols() > 0)
      append(frame_.contact_force, std::vector<Vector3>(points_.size(), Vector3::Zero()));
    const Eigen::Index count = frame_.point_body.size();
    frame_.point_body.conservativeResize(count + Eigen::Index(body_.size()));
    frame_.point_body.tail(Eigen::Index(body_.size())) =
        Eigen::VectorXi::Map(body_.data(), Eigen::Index(body_.size()));
    std::vector<Triangle> all;
    for (Index f = 0; f < original_.mesh.faces.cols(); ++f) {
      const auto at = instead_.find(f);
      if (at == instead_.end())
        all.push_back({original_.mesh.faces.col(f), f});
      else
        all.insert(all.end(), at->second.begin(), at->second.end());
    }
    frame_.mesh.faces.resize(3, Eigen::Index(all.size()));
    const Eigen::Index tets = original_.mesh.tetrahedra.cols();
    const auto carry = [&](VectorX& to, const VectorX& from) {
      if (from.size() == 0) return;
      to.conservativeResize(tets + Eigen::Index(all.size()));
      for (std::size_t t = 0; t < all.size(); ++t) to[tets + Eigen::Index(t)] = from[tets + all[t].was];
    };
    for (std::size_t t = 0; t < all.size(); ++t) frame_.mesh.faces.col(Eigen::Index(t)) = all[t].corners;
    carry(frame_.von_mises, original_.von_mises);
    carry(frame_.strain, original_.strain);
  }

 private:
  struct Triangle {
    Eigen::Vector3i corners;
    Index was;  ///< the triangle of the frame whose values it has
  };
  Frame& frame_;
  const Frame original_;
  std::vector<Vector3> points_, velocity_;
  std::vector<int> body_;
  std::map<Index, std::vector<Triangle>> instead_;  ///< of triangles of the frame
};

}  // namespace

namespace {
constexpr std::pair<std::string_view, ShownSurface> surfaces[] = {
    {"shape", ShownSurface::shape}, {"collision", ShownSurface::collision}, {"cells", ShownSurface::cells}};
}

ShownSurface surface_named(std::string_view name) {
  for (const auto& [known, surface] : surfaces)
    if (name == known) return surface;
  throw InputError("got '{}', must be 'shape', 'collision' or 'cells'", name);
}

std::string_view name_of(ShownSurface surface) {
  return std::ranges::find(surfaces, surface, [](const auto& entry) { return entry.second; })->first;
}

bool has_other_surfaces(const Frame& frame) {
  return !frame.mesh.curved.empty();
}

Frame shown_frame(Frame frame, ShownSurface shown) {
  if (shown == ShownSurface::collision || !has_other_surfaces(frame)) return frame;
  std::map<int, std::vector<Index>> faces;  // of each body
  for (Index f = 0; f < frame.mesh.faces.cols(); ++f)
    faces[frame.point_body[frame.mesh.faces(0, f)]].push_back(f);
  const std::vector<CurvedCells> all = frame.mesh.curved;
  Refinement refinement(frame);
  for (const CurvedCells& cells : all) {
    std::map<int, std::vector<Index>> chosen;  // cells of each body
    for (Index t = 0; t < cells.points.cols(); ++t) chosen[frame.point_body[cells.points(0, t)]].push_back(t);
    for (const auto& [body, of_body] : chosen) {
      if (!faces.contains(body)) continue;
      const FineSurface fine(frame, cells, of_body, faces.at(body));
      if (fine.is_finer() || (shown == ShownSurface::cells && fine.is_beside()))
        refinement.replace(fine, faces.at(body), body);
    }
  }
  refinement.finish();
  return frame;
}

namespace {

/// Takes eight bytes at a time: each is mixed so that every bit of it reaches every bit of the state.
class Hash {
 public:
  void add(const void* data, std::size_t size) {
    const char* bytes = static_cast<const char*>(data);
    mix(size);
    for (; size > 0;) {
      std::uint64_t word = 0;
      const std::size_t n = std::min(size, sizeof word);
      std::memcpy(&word, bytes, n);
      mix(word);
      bytes += n;
      size -= n;
    }
  }
  template <class Matrix>
  void add(const Matrix& matrix) {
    add(matrix.data(), std::size_t(matrix.size()) * sizeof(*matrix.data()));
  }
  void add(const std::string& text) { add(text.data(), text.size()); }
  std::uint64_t value() const { return state_; }

 private:
  void mix(std::uint64_t word) {
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15u;
    state_ ^= state_ >> 29;
    state_ *= 0xbf58476d1ce4e5b9u;
    state_ ^= state_ >> 32;
  }
  std::uint64_t state_ = 0x2545f4914f6cdd1du;
};

}  // namespace

std::uint64_t topology_key(const Frame& frame) {
  Hash hash;
  hash.add(frame.mesh.tetrahedra);
  hash.add(frame.mesh.faces);
  hash.add(frame.mesh.edges);
  hash.add(frame.mesh.vertices);
  hash.add(frame.point_body);
  for (const FrameBody& body : frame.bodies) {
    hash.add(body.name);
    hash.add(body.kind);
  }
  return hash.value();
}

NumberedCell cell_of(const Frame& frame, Index cell) {
  const Mesh& mesh = frame.mesh;
  Index rest = cell;
  const auto within = [&](const auto& cells) {
    if (rest >= 0 && rest < cells.cols()) return true;
    rest -= Index(cells.cols());
    return false;
  };
  if (cell >= 0) {
    if (within(mesh.tetrahedra)) return {"tetrahedron", rest, 4, &mesh.tetrahedra(0, rest)};
    if (within(mesh.faces)) return {"triangle", rest, 3, &mesh.faces(0, rest)};
    if (within(mesh.edges)) return {"segment", rest, 2, &mesh.edges(0, rest)};
    if (within(mesh.vertices.transpose())) return {"point", rest, 1, &mesh.vertices[rest]};
  }
  throw InputError("cell {}: the frame has none of that number; choose one from 0 on", cell);
}

}  // namespace apart
