#include <apart/io/partitioned_frame.hpp>

#include <apart/core/error.hpp>
#include <apart/geometry/space_partition.hpp>
#include <apart/io/atomic_file.hpp>

#include <algorithm>
#include <ostream>
#include <vector>

namespace apart {

namespace {

/// The columns of a matrix, or entries of a vector, with these numbers; none if it has none.
template <class Matrix>
Matrix chosen(const Matrix& all, const std::vector<Index>& which) {
  if (all.size() == 0) return all;
  if constexpr (Matrix::ColsAtCompileTime == 1)
    return all(which);
  else
    return all(Eigen::all, which);
}

/// Takes cells of a frame, and numbers their points anew.
class Piece {
 public:
  Piece(const Frame& frame, const std::vector<int>& part, int own)
      : frame_(frame), part_(part), own_(own), number_(std::size_t(frame.mesh.points.cols()), -1) {}

  Frame take() {
    const Mesh& mesh = frame_.mesh;
    Frame piece;
    piece.time = frame_.time;
    piece.topology = frame_.topology;
    piece.bodies = frame_.bodies;
    std::vector<Index> solid;  // tetrahedra and triangles
    piece.mesh.tetrahedra = cells(mesh.tetrahedra, 0, &solid);
    piece.mesh.faces = cells(mesh.faces, Index(mesh.tetrahedra.cols()), &solid);
    piece.mesh.edges = cells(mesh.edges);
    piece.mesh.vertices = cells(Eigen::RowVectorXi(mesh.vertices.transpose())).transpose();
    for (const CurvedCells& curved : mesh.curved)
      piece.mesh.curved.push_back({curved.degree, cells(curved.points)});
    piece.mesh.points = chosen(mesh.points, points_);
    piece.point_body = chosen(frame_.point_body, points_);
    piece.velocity = chosen(frame_.velocity, points_);
    piece.contact_force = chosen(frame_.contact_force, points_);
    piece.von_mises = chosen(frame_.von_mises, solid);
    piece.strain = chosen(frame_.strain, solid);
    return piece;
  }

 private:
  /// Appends the numbers of the cells taken, counted from `first`, to `taken`.
  template <class Cells>
  Cells cells(const Cells& all, Index first = 0, std::vector<Index>* taken = nullptr) {
    std::vector<Index> own;
    for (Index c = 0; c < Index(all.cols()); ++c) {
      const Index point = all(0, c);
      if (part_[std::size_t(point)] != own_ ||
          std::ranges::count(frame_.absent, frame_.point_body[point]) > 0)
        continue;
      own.push_back(c);
      if (taken) taken->push_back(first + c);
    }
    Cells result = all(Eigen::all, own);
    for (auto& point : result.reshaped()) {
      Index& number = number_[std::size_t(point)];
      if (number < 0) {
        number = Index(points_.size());
        points_.push_back(Index(point));
      }
      point = number;
    }
    return result;
  }

  const Frame& frame_;
  const std::vector<int>& part_;
  int own_;
  std::vector<Index> number_;  ///< of each point of the frame in the piece; −1: not there
  std::vector<Index> points_;  ///< of the piece
};

/// The index of the pieces: which arrays they have, and where they are.
void write_index(std::ostream& out, const Frame& frame, const std::string& folder, int pieces) {
  const auto array = [&](std::string_view type, std::string_view name, int components) {
    out << fmt::format("      <PDataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\"/>\n", type, name,
                       components);
  };
  out << "<?xml version=\"1.0\"?>\n"
         "<VTKFile type=\"PUnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" "
         "header_type=\"UInt64\">\n"
         "  <PUnstructuredGrid GhostLevel=\"0\">\n    <PPoints>\n";
  array("Float64", "Points", 3);
  out << "    </PPoints>\n    <PPointData>\n";
  array("Int32", "body", 1);
  if (frame.velocity.size() > 0) array("Float64", "velocity", 3);
  if (frame.contact_force.size() > 0) array("Float64", "contact_force", 3);
  out << "    </PPointData>\n    <PCellData>\n";
  array("Int32", "body", 1);
  if (frame.von_mises.size() > 0) array("Float64", "von_mises", 1);
  if (frame.strain.size() > 0) array("Float64", "strain", 1);
  out << "    </PCellData>\n";
  for (int p = 0; p < pieces; ++p) out << fmt::format("    <Piece Source=\"{}/{}.vtu\"/>\n", folder, p);
  out << "  </PUnstructuredGrid>\n</VTKFile>\n";
}

}  // namespace

void write_partitioned_frame(const std::filesystem::path& file, const Frame& frame, int pieces) {
  const std::filesystem::path folder = file.parent_path() / file.stem();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw InputError("{}: cannot be created: {}; check the space on the disk", folder.string(),
                     error.message());
  const std::vector<int> part = divide_space(frame.mesh.points, pieces);
  for (int p = 0; p < pieces; ++p)
    write_frame_part(folder / fmt::format("{}.vtu", p), Piece(frame, part, p).take(), frame);
  std::filesystem::path index = folder;
  index += ".pvtu";
  write_atomically(
      index, [&](std::ostream& out) { write_index(out, frame, folder.filename().string(), pieces); },
      Flush::later);
}

}  // namespace apart
