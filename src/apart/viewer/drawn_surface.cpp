#include <apart/core/error.hpp>
#include <apart/viewer/drawn_surface.hpp>

#include <algorithm>
#include <cstring>

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
