#pragma once
// The mesh of a body. One struct for each row of the catalog's group "mesh", with a maker defined beside that
// row; units and ranges stand there too.
#include <apart/geometry/generators.hpp>
#include <apart/scene/description_values.hpp>

#include <memory>
#include <vector>

namespace apart {

/// What a body needs of its mesh.
struct MeshRequest {
  generate::Content content = generate::Content::surface;
  bool keep_points = false;  ///< other meshes must have the same points, so none may be merged
};
struct MeshResult {
  Mesh mesh;
  std::string note = {};  ///< what was changed, for the user; empty: nothing
};

struct MeshSource {
  static constexpr std::string_view group = "mesh";
  Place place = {};
};

struct BoxMesh : MeshSource {
  static constexpr std::string_view kind = "box";
  PerAxis size = 1.0;
  CellsPerAxis cells = 4;
  MeshResult make(const MeshRequest& request) const;
};
struct SphereMesh : MeshSource {
  static constexpr std::string_view kind = "sphere";
  double radius = 0.5;
  Index resolution = 4;
  int curve = 1;
  MeshResult make(const MeshRequest& request) const;
};
struct TorusMesh : MeshSource {
  static constexpr std::string_view kind = "torus";
  double major = 0.5, minor = 0.2;
  Index ring_cells = 24, tube_cells = 12;
  int curve = 1;
  MeshResult make(const MeshRequest& request) const;
};
struct CylinderMesh : MeshSource {
  static constexpr std::string_view kind = "cylinder";
  double radius = 0.5, length = 1;
  Index resolution = 4, length_cells = 8;
  int curve = 1;
  MeshResult make(const MeshRequest& request) const;
};
struct MatMesh : MeshSource {
  static constexpr std::string_view kind = "mat";
  double width = 1, thickness = 0.02;
  Index cells = 20;
  MeshResult make(const MeshRequest& request) const;
};
struct BarMesh : MeshSource {
  static constexpr std::string_view kind = "rod";
  double length = 1, thickness = 0.05;
  Index cells = 20, cross_cells = 1;
  double bend = 0;
  int curve = 1;
  MeshResult make(const MeshRequest& request) const;
};
struct SpikeMesh : MeshSource {
  static constexpr std::string_view kind = "spike";
  double width = 1, height = 2;
  MeshResult make(const MeshRequest& request) const;
};
struct WedgeMesh : MeshSource {
  static constexpr std::string_view kind = "wedge";
  double width = 1, height = 2, length = 2;
  MeshResult make(const MeshRequest& request) const;
};
struct VoussoirMesh : MeshSource {
  static constexpr std::string_view kind = "voussoir";
  double inner = 1, outer = 1.2, depth = 0.5;
  double from = 80, to = 100;
  CellsPerAxis cells = 1;
  MeshResult make(const MeshRequest& request) const;
};
struct PrismMesh : MeshSource {
  static constexpr std::string_view kind = "prism";
  std::vector<Eigen::Vector2d> corners = {{0, 0}, {1, 0}, {0, 1}};
  std::vector<std::vector<Eigen::Vector2d>> holes;
  double depth = 1;
  std::optional<double> edge;
  MeshResult make(const MeshRequest& request) const;
};
struct GridMesh : MeshSource {
  static constexpr std::string_view kind = "grid";
  Eigen::Vector2d size{1, 1};
  Eigen::Vector2i cells{10, 10};
  MeshResult make(const MeshRequest& request) const;
};
struct RectangleMesh : MeshSource {
  static constexpr std::string_view kind = "rectangle";
  Eigen::Vector2d size{1, 1};
  Eigen::Vector2i cells{10, 10};
  MeshResult make(const MeshRequest& request) const;
};
struct QuadrilateralMesh : MeshSource {
  static constexpr std::string_view kind = "quadrilateral";
  std::vector<Eigen::Vector2d> corners = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  Eigen::Vector2i cells{10, 10};
  MeshResult make(const MeshRequest& request) const;
};
struct DiscMesh : MeshSource {
  static constexpr std::string_view kind = "disc";
  double radius = 0.5;
  Index resolution = 8;
  MeshResult make(const MeshRequest& request) const;
};
struct PolygonMesh : MeshSource {
  static constexpr std::string_view kind = "polygon";
  std::vector<Eigen::Vector2d> corners = {{0, 0}, {1, 0}, {0, 1}};
  std::vector<std::vector<Eigen::Vector2d>> holes;
  double edge = 0.1;
  MeshResult make(const MeshRequest& request) const;
};
struct BowlMesh : MeshSource {
  static constexpr std::string_view kind = "bowl";
  double radius = 1, angle = 70;
  Index resolution = 12;
  MeshResult make(const MeshRequest& request) const;
};
struct RevolutionMesh : MeshSource {
  static constexpr std::string_view kind = "revolution";
  std::vector<Eigen::Vector2d> profile = {{0.5, 0}, {0.5, 1}};
  Index resolution = 24;
  MeshResult make(const MeshRequest& request) const;
};
struct RibbonMesh : MeshSource {
  static constexpr std::string_view kind = "ribbon";
  std::vector<Vector3> path = {{-0.5, 0, 0}, {0.5, 0, 0}};
  double width = 0.1;
  Eigen::Vector2i cells{40, 4};
  MeshResult make(const MeshRequest& request) const;
};
struct SegmentsMesh : MeshSource {
  static constexpr std::string_view kind = "segments";
  double length = 1;
  Index cells = 10;
  MeshResult make(const MeshRequest& request) const;
};
struct BundleMesh : MeshSource {
  static constexpr std::string_view kind = "bundle";
  double length = 1;
  Index cells = 20;
  Eigen::Vector2i counts{5, 5};
  double spacing = 0.05;
  bool round = false;
  MeshResult make(const MeshRequest& request) const;
};
struct HelixMesh : MeshSource {
  static constexpr std::string_view kind = "helix";
  double radius = 0.1, pitch = 0.1;
  Index turns = 5, turn_cells = 24;
  MeshResult make(const MeshRequest& request) const;
};
struct RingMesh : MeshSource {
  static constexpr std::string_view kind = "ring";
  double radius = 0.5;
  Index cells = 24;
  MeshResult make(const MeshRequest& request) const;
};
struct NetMesh : MeshSource {
  static constexpr std::string_view kind = "net";
  double size = 1;
  Index count = 10, cells = 40;
  double distance = 0.02;
  MeshResult make(const MeshRequest& request) const;
};
struct PointsMesh : MeshSource {
  static constexpr std::string_view kind = "points";
  Eigen::Vector3i counts{5, 1, 5};
  double spacing = 0.1;
  MeshResult make(const MeshRequest& request) const;
};
struct PackingMesh : MeshSource {
  static constexpr std::string_view kind = "packing";
  PerAxis size = 1.0;
  double radius = 0.05, gap = 0;
  std::optional<Index> count;
  Index seed = 0;
  MeshResult make(const MeshRequest& request) const;
};

struct TetrahedralizationDescription {
  static constexpr std::string_view group = "tetrahedralization", kind = "tetrahedralization";
  Place place = {};
  double radius_edge_ratio = 2;
  std::optional<double> max_volume;
};
/// Whether a closed surface is filled with tetrahedra, and how.
using Tetrahedralize = std::variant<bool, TetrahedralizationDescription>;

struct FileMesh : MeshSource {
  static constexpr std::string_view kind = "file";
  std::string file;
  double weld = 1e-7;
  Tetrahedralize tetrahedralize = false;
  std::optional<int> curve;
  std::optional<std::string> to;
  MeshResult make(const MeshRequest& request) const;
};
struct InlineMesh : MeshSource {
  static constexpr std::string_view kind = "inline";
  std::vector<Vector3> points;
  std::vector<Eigen::Vector4i> tetrahedra;
  std::vector<Eigen::Vector3i> triangles;
  std::vector<Eigen::Vector2i> segments;
  Tetrahedralize tetrahedralize = false;
  MeshResult make(const MeshRequest& request) const;
};

/// A mesh inside the description of another.
struct MeshHolder;
class NestedMesh {
 public:
  NestedMesh();  ///< a sphere
  NestedMesh(const MeshHolder& mesh);
  const MeshHolder* operator->() const { return mesh_.get(); }

 private:
  std::shared_ptr<const MeshHolder> mesh_;
};
struct HairMesh : MeshSource {
  static constexpr std::string_view kind = "hair";
  NestedMesh surface;
  double length = 0.2;
  Index cells = 10;
  double root = 0;
  Index every = 1;
  MeshResult make(const MeshRequest& request) const;
};

struct MeshKinds
    : Kinds<BoxMesh, SphereMesh, TorusMesh, CylinderMesh, MatMesh, BarMesh, SpikeMesh, WedgeMesh,
            VoussoirMesh, PrismMesh, GridMesh, RectangleMesh, QuadrilateralMesh, DiscMesh, PolygonMesh,
            BowlMesh, RevolutionMesh, RibbonMesh, SegmentsMesh, BundleMesh, HelixMesh, RingMesh, NetMesh,
            HairMesh, PointsMesh, PackingMesh, FileMesh, InlineMesh> {};
using MeshDescription = OneOf<MeshKinds>;

struct MeshHolder {
  MeshDescription mesh;
};

const Place& place_of(const MeshDescription& mesh);

}  // namespace apart
