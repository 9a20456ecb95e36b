#include <apart/io/atomic_file.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/formats.hpp>
#include <apart/io/mesh_builder.hpp>
#include <apart/io/text_writer.hpp>

#include <algorithm>
#include <compare>
#include <limits>
#include <map>
#include <ostream>

namespace apart {

namespace {

/// An element type of Gmsh that a Mesh can hold, or (lines and triangles of higher degree) that only says
/// what is in a group.
struct ElementType {
  int number;
  int dimension;
  int degree;
  int nodes;
};
constexpr ElementType element_types[] = {{15, 0, 1, 1},  {1, 1, 1, 2},  {8, 1, 2, 3}, {26, 1, 3, 4},
                                         {27, 1, 4, 5},  {2, 2, 1, 3},  {9, 2, 2, 6}, {21, 2, 3, 10},
                                         {23, 2, 4, 15}, {3, 2, 1, 4},  {4, 3, 1, 4}, {11, 3, 2, 10},
                                         {29, 3, 3, 20}, {30, 3, 4, 35}};
constexpr int gmsh_line = 1, gmsh_triangle = 2, gmsh_quadrangle = 3, gmsh_tetrahedron = 4, gmsh_point = 15;

/// Null if the type is not supported.
const ElementType* element_type(std::int64_t number) {
  const auto found = std::ranges::find(element_types, number, &ElementType::number);
  return found == std::end(element_types) ? nullptr : found;
}

std::string why_unsupported(std::int64_t type) {
  if (type >= 5 && type <= 7)
    return fmt::format("element type {} ({}) is not supported; mesh the volume with tetrahedra", type,
                       type == 5   ? "hexahedron"
                       : type == 6 ? "prism"
                                   : "pyramid");
  if (type == 31)
    return "element type 31 is a tetrahedron of degree 5, must be of degree 1 to 4; save the mesh with "
           "elements of a lower order (gmsh -order 4)";
  if (type >= 8 && type <= 36)
    return fmt::format(
        "element type {} of higher order is not supported; tetrahedra of degree 1 to 4 are (4, 11, 29, 30), "
        "or save the mesh with elements of first order (gmsh -order 1)",
        type);
  return fmt::format(
      "element type {} is not supported; save the mesh with tetrahedra (4), triangles (2), lines (1) or "
      "points (15)",
      type);
}

constexpr std::int64_t most_memberships = 100'000'000;

/// What Gmsh calls the things of each dimension; a physical group without a name is called "surface 3".
constexpr std::string_view dimension_names[] = {"point", "curve", "surface", "volume"};

/// Tags of nodes and elements are arbitrary numbers; mostly they are 1, 2, 3, ...
class Tags {
 public:
  void add(std::int64_t tag) { tags_.emplace_back(tag, int(tags_.size())); }
  std::size_t size() const { return tags_.size(); }

  /// To be called after the last add. Returns a tag that was added twice, if there is one.
  std::optional<std::int64_t> sort() {
    std::sort(tags_.begin(), tags_.end());
    for (std::size_t i = 1; i < tags_.size(); ++i)
      if (tags_[i].first == tags_[i - 1].first) return tags_[i].first;
    consecutive_ = !tags_.empty() &&
                   std::uint64_t(tags_.back().first) - std::uint64_t(tags_.front().first) + 1 == tags_.size();
    return std::nullopt;
  }

  std::optional<int> find(std::int64_t tag) const {
    if (tags_.empty() || tag < tags_.front().first || tag > tags_.back().first) return std::nullopt;
    if (consecutive_) return tags_[std::size_t(tag - tags_.front().first)].second;
    const auto found = std::lower_bound(tags_.begin(), tags_.end(), std::pair(tag, 0));
    return found->first == tag ? std::optional(found->second) : std::nullopt;
  }

 private:
  std::vector<std::pair<std::int64_t, int>> tags_;  ///< tag, index; sorted by sort()
  bool consecutive_ = false;
};

class GmshReader {
 public:
  explicit GmshReader(const std::filesystem::path& file) : reader_(file) {}

  Mesh read() {
    bool nodes = false, elements = false;
    while (reader_.skip_blank()) {
      const std::string_view name = reader_.token("section");
      reader_.line();
      if (name == "$MeshFormat") {
        read_format();
      } else if (name.size() < 2 || name.front() != '$' || !format_seen_) {
        reader_.fail("got {}, expected {}; the file is damaged or no Gmsh mesh", apart::quoted(name),
                     format_seen_ ? "a section like $Nodes" : "$MeshFormat");
      } else if (name == "$Nodes") {
        if (nodes) reader_.fail("a second $Nodes section; keep one mesh per file");
        version4_ ? read_nodes_4() : read_nodes_2();
        if (const auto tag = tags_.sort()) reader_.fail("node {} is given twice; the file is damaged", *tag);
        nodes = true;
        end_section("$EndNodes");
      } else if (name == "$Elements") {
        if (!nodes) reader_.fail("$Elements comes before $Nodes; the file is damaged");
        version4_ ? read_elements_4() : read_elements_2();
        elements = true;
        end_section("$EndElements");
      } else if (name == "$PhysicalNames") {
        read_physical_names();
        end_section("$EndPhysicalNames");
      } else if (name == "$Entities" && version4_) {
        read_entities();
        end_section("$EndEntities");
      } else if (name == "$ElementData" && elements) {
        read_element_data();
        end_section("$EndElementData");
      } else if (name == "$ParametricNodes") {
        reader_.fail(
            "nodes with parametric coordinates are not supported in version 2.2; save the mesh without them");
      } else {
        skip_section(name);
      }
    }
    if (!nodes || !elements)
      reader_.fail("the file has no {} section; it was cut off or holds no mesh",
                   nodes ? "$Elements" : "$Nodes");
    if (has_curved_triangles_ && builder_.has_no_cells())
      reader_.fail(
          "holds triangles of higher order and no tetrahedra; save it with elements of first order (gmsh "
          "-order 1)");
    for (auto& [key, group] : groups_) {
      const auto found = physical_names_.find(key);
      MeshGroup& named = builder_.groups[found != physical_names_.end()
                                             ? found->second
                                             : fmt::format("{} {}", dimension_names[key.dimension], key.tag)];
      named.points.insert(named.points.end(), group.points.begin(), group.points.end());
      named.tetrahedra.insert(named.tetrahedra.end(), group.tetrahedra.begin(), group.tetrahedra.end());
      named.triangles.insert(named.triangles.end(), group.triangles.begin(), group.triangles.end());
    }
    return builder_.build();
  }

 private:
  /// A physical group, or (in version 4) an entity of the geometry.
  struct Key {
    int dimension;
    std::int64_t tag;
    auto operator<=>(const Key&) const = default;
  };

  int dimension(std::int64_t value) {
    if (value < 0 || value > 3) reader_.fail("dimension: got {}, must be 0 to 3; the file is damaged", value);
    return int(value);
  }

  /// A text in quotes; these sections are text in binary files too.
  std::string quoted_text(std::string_view what) {
    const std::string_view rest = reader_.line();
    const std::size_t begin = rest.find('"'), end = rest.rfind('"');
    if (begin == end) reader_.fail("{}: got {}, expected a text in quotes", what, apart::quoted(rest));
    return std::string(rest.substr(begin + 1, end - begin - 1));
  }

  void read_physical_names() {
    const Index count = reader_.count("number of names", 6);
    reader_.line();
    for (Index i = 0; i < count; ++i) {
      const int d = dimension(reader_.integer("dimension"));
      const std::int64_t tag = reader_.integer("tag of a physical group");
      physical_names_[{d, tag}] = quoted_text("name of a physical group");
    }
  }

  /// Version 4: physical groups are given for the entities of the geometry, not for elements.
  void read_entities() {
    std::int64_t counts[4];
    for (std::int64_t& n : counts) n = long_integer("number of entities");
    for (int d = 0; d < 4; ++d)
      for (std::int64_t i = 0; i < counts[d]; ++i) {
        const std::int64_t tag = integer("tag of an entity");
        for (int k = 0; k < (d == 0 ? 3 : 6); ++k) real("bounds of an entity");
        const Index groups = long_count("number of physical groups", 1, 4);
        std::vector<std::int64_t>& physical = entities_[{d, tag}];
        for (Index k = 0; k < groups; ++k) {
          const std::int64_t group = integer("physical group");
          if (group < -std::numeric_limits<std::int64_t>::max())
            reader_.fail("physical group: got {}, which is no tag; the file is damaged", group);
          physical.push_back(std::abs(group));  // a negative tag means the group turned round
        }
        const Index bounding = d == 0 ? 0 : long_count("number of bounding entities", 1, 4);
        for (Index k = 0; k < bounding; ++k) integer("bounding entity");
      }
  }

  /// A number for each of some elements; those of tetrahedra are kept, vectors and tensors skipped.
  void read_element_data() {
    const Index texts = reader_.count("number of texts", 2);
    reader_.line();
    std::string name;
    for (Index i = 0; i < texts; ++i) {
      std::string text = quoted_text("name of the data");
      if (i == 0) name = std::move(text);
    }
    const Index reals = reader_.count("number of real tags", 2);
    for (Index i = 0; i < reals; ++i) reader_.real("real tag");
    const Index integers = reader_.count("number of integer tags", 2);
    std::int64_t components = 1, elements = 0;
    for (Index i = 0; i < integers; ++i) {
      const std::int64_t value = reader_.integer("integer tag");
      if (i == 1) components = value;
      if (i == 2) elements = value;
    }
    reader_.line();
    if (components < 1 || components > 9)
      reader_.fail("components of the data: got {}, must be 1, 3 or 9", components);
    reader_.checked_count(elements, "number of elements with data",
                          std::size_t(components + 1) * (binary_ ? 4 : 2));
    if (!element_tags_sorted_) {
      if (const auto tag = element_tags_.sort())
        reader_.fail("element {} is given twice, so its data mean nothing; the file is damaged", *tag);
      element_tags_sorted_ = true;
    }
    if (!builder_.has_room_for_cell_data())
      reader_.fail("more data for elements than are read, {} numbers; remove some",
                   MeshBuilder::most_cell_data);
    VectorX values =
        VectorX::Constant(builder_.tetrahedron_count(), std::numeric_limits<double>::quiet_NaN());
    for (std::int64_t i = 0; i < elements; ++i) {
      const std::optional<int> cell = element_tags_.find(integer("element"));
      for (std::int64_t k = 0; k < components; ++k) {
        const double value = real("value of an element");
        if (cell) values[*cell] = value;
      }
    }
    if (components == 1 && !name.empty()) builder_.cell_data[name] = std::move(values);
  }

  void end_section(std::string_view name) {
    const std::string_view token = reader_.token(name);
    if (token != name)
      reader_.fail("got {}, expected {}; the section is longer than announced or damaged",
                   apart::quoted(token), name);
    reader_.line();
  }

  void skip_section(std::string_view name) {
    const std::string end = "$End" + std::string(name.substr(1));
    const std::size_t found = reader_.content().find(end, reader_.position());
    if (found == std::string_view::npos)
      reader_.fail("section {} has no end; the file was cut off, write it again", apart::quoted(name));
    reader_.seek(found + end.size());
    reader_.line();
  }

  void read_format() {
    const std::string version(reader_.token("version"));
    version4_ = version == "4.1";
    if (!version4_ && version != "2.2" && version != "2.1" && version != "2" && version != "2.0")
      reader_.fail("version {} is not supported; save the mesh as version 4.1 or 2.2 (gmsh -format msh41)",
                   apart::quoted(version));
    const std::int64_t type = reader_.integer("file type");
    if (type != 0 && type != 1) reader_.fail("file type: got {}, must be 0 (text) or 1 (binary)", type);
    binary_ = type == 1;
    const std::int64_t size = reader_.integer("data size");
    if (binary_ && size != 8)
      reader_.fail("data size: got {}, must be 8; save the file on a 64-bit machine", size);
    reader_.line();
    reader_.set_binary(binary_);
    if (binary_) {
      // The number one, as the writing machine stores it.
      const std::string_view one = reader_.bytes(4, "byte order");
      if (one == std::string_view("\1\0\0\0", 4))
        reader_.set_byte_order(std::endian::little);
      else if (one == std::string_view("\0\0\0\1", 4))
        reader_.set_byte_order(std::endian::big);
      else
        reader_.fail("the mark of the byte order is damaged; write the file again");
    }
    format_seen_ = true;
    end_section("$EndMeshFormat");
  }

  // Numbers as text or binary.
  std::int64_t integer(std::string_view what) {
    return binary_ ? reader_.value<std::int32_t>(what) : reader_.integer(what);
  }
  std::int64_t long_integer(std::string_view what) {
    return binary_ ? reader_.value<std::int64_t>(what) : reader_.integer(what);
  }
  double real(std::string_view what) { return binary_ ? reader_.value<double>(what) : reader_.real(what); }
  /// A count of rows of `numbers` numbers, each at least `bytes` long if binary.
  Index long_count(std::string_view what, std::size_t numbers, std::size_t bytes) {
    return reader_.checked_count(long_integer(what), what, numbers * (binary_ ? bytes : 2));
  }

  void add_point() {
    double x[3];
    for (double& c : x) c = reader_.finite(real("coordinate"), "coordinate");
    builder_.add_point(x[0], x[1], x[2]);
  }

  void read_nodes_2() {
    const Index count = reader_.count("number of nodes", binary_ ? 28 : 8);
    reader_.line();
    for (Index i = 0; i < count; ++i) {
      tags_.add(integer("node number"));
      add_point();
    }
  }

  void read_nodes_4() {
    const std::int64_t blocks = long_integer("number of node blocks");
    long_count("number of nodes", 4, 8);
    long_integer("smallest node tag");
    long_integer("largest node tag");
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::int64_t dimension = integer("dimension of a block");
      if (dimension < 0 || dimension > 3)
        reader_.fail("dimension of a block: got {}, must be 0 to 3", dimension);
      integer("tag of a block");
      const std::int64_t parametric = integer("parametric");
      const Index count = long_count("number of nodes in a block", 4, 8);
      for (Index i = 0; i < count; ++i) tags_.add(long_integer("node tag"));
      for (Index i = 0; i < count; ++i) {
        add_point();
        for (std::int64_t d = 0; parametric != 0 && d < dimension; ++d) real("parametric coordinate");
      }
    }
    if (tags_.size() > std::size_t(std::numeric_limits<Index>::max())) reader_.fail("too many nodes");
  }

  const ElementType& supported(std::int64_t number) {
    const ElementType* type = element_type(number);
    if (!type) reader_.fail("{}", why_unsupported(number));
    if (type->dimension == 3) {
      if (degree_ == 0) degree_ = type->degree;
      if (degree_ != type->degree)
        reader_.fail("tetrahedra of degree {} and of degree {}, must be of one degree; save the mesh so",
                     degree_, type->degree);
    }
    return *type;
  }

  /// `tag` is the element's own, `physical` those of its groups.
  template <class ReadTag>
  void add_element(std::int64_t tag, const ElementType& type, std::span<const std::int64_t> physical,
                   ReadTag read_tag) {
    std::array<int, 35> cell;
    for (int k = 0; k < type.nodes; ++k) {
      const std::int64_t node = read_tag("node of an element");
      const std::optional<int> found = tags_.find(node);
      if (!found) reader_.fail("node of an element: {} does not exist; the file is damaged", node);
      cell[std::size_t(k)] = *found;
    }
    const std::span<const int> span(cell.data(), std::size_t(type.nodes));
    for (const std::int64_t group : physical) {
      if (group == 0) continue;  // none
      // Entities name groups once for all their elements, so little text can ask for a lot of memory.
      if (++memberships_ > most_memberships)
        reader_.fail(
            "elements are in more than {} physical groups, counted for each element; use fewer groups",
            most_memberships);
      MeshGroup& g = groups_[{type.dimension, group}];
      g.points.insert(g.points.end(), span.begin(), span.end());
      if (type.dimension == 3) g.tetrahedra.push_back(builder_.tetrahedron_count());
      const int corners = type.dimension == 2 ? (type.number == gmsh_quadrangle ? 4 : 3) : 0;
      for (int k = 2; k < corners; ++k)
        g.triangles.push_back({cell[0], cell[std::size_t(k) - 1], cell[std::size_t(k)]});
    }
    if (type.dimension == 3) element_tags_.add(tag);
    if (type.dimension == 2) {
      if (type.degree == 1) builder_.add_polygon(span);
    } else if (type.dimension == 3 && type.degree > 1) {
      std::vector<int>& list = builder_.curved[type.degree];
      list.insert(list.end(), span.begin(), span.end());
    } else if (type.degree == 1) {
      std::vector<int>& list = type.dimension == 3   ? builder_.tetrahedra
                               : type.dimension == 1 ? builder_.edges
                                                     : builder_.vertices;
      list.insert(list.end(), span.begin(), span.end());
    }
    has_curved_triangles_ = has_curved_triangles_ || (type.dimension == 2 && type.degree > 1);
  }

  void read_elements_2() {
    const Index count = reader_.count("number of elements", binary_ ? 8 : 8);
    reader_.line();
    const auto read_tag = [&](std::string_view what) { return integer(what); };
    for (Index done = 0; done < count;) {
      // Binary files hold runs of one type; in text every element is such a run of length one, its number in
      // front.
      std::int64_t number = binary_ ? 0 : reader_.integer("element number");
      const std::int64_t type = integer("element type");
      const ElementType& kind = supported(type);
      const std::int64_t run = binary_ ? integer("number of elements of a type") : 1;
      if (run < 1 || run > count - done)
        reader_.fail("number of elements of a type: got {}, must lie in [1, {}]", run, count - done);
      const std::int64_t tags = integer("number of tags");
      reader_.checked_count(tags, "number of tags", binary_ ? 4 : 2);
      for (std::int64_t i = 0; i < run; ++i) {
        if (binary_) number = integer("element number");
        std::int64_t physical = 0;  // the first tag
        for (std::int64_t t = 0; t < tags; ++t) {
          const std::int64_t tag = integer("tag");
          if (t == 0) physical = tag;
        }
        add_element(number, kind, std::span(&physical, 1), read_tag);
      }
      done += Index(run);
    }
  }

  void read_elements_4() {
    const std::int64_t blocks = long_integer("number of element blocks");
    long_count("number of elements", 2, 8);
    long_integer("smallest element tag");
    long_integer("largest element tag");
    const auto read_tag = [&](std::string_view what) { return long_integer(what); };
    for (std::int64_t b = 0; b < blocks; ++b) {
      const int d = dimension(integer("dimension of a block"));
      const auto entity = entities_.find({d, integer("tag of a block")});
      const std::int64_t type = integer("element type");
      const ElementType& kind = supported(type);
      const Index count = long_count("number of elements in a block", std::size_t(kind.nodes) + 1, 8);
      for (Index i = 0; i < count; ++i) {
        const std::int64_t tag = long_integer("element tag");
        add_element(tag, kind, entity == entities_.end() ? std::span<const std::int64_t>() : entity->second,
                    read_tag);
      }
    }
  }

  FileReader reader_;
  MeshBuilder builder_;
  Tags tags_;          ///< of nodes
  Tags element_tags_;  ///< of tetrahedra
  std::map<Key, std::string> physical_names_;
  std::map<Key, std::vector<std::int64_t>> entities_;  ///< physical groups of each
  std::map<Key, MeshGroup> groups_;
  std::int64_t memberships_ = 0;  ///< of elements in groups
  bool element_tags_sorted_ = false;
  int degree_ = 0;                     ///< of tetrahedra; 0: none yet
  bool has_curved_triangles_ = false;  ///< triangles of higher degree were read
  bool version4_ = false, binary_ = false, format_seen_ = false;
};

}  // namespace

Mesh read_gmsh(const std::filesystem::path& file) {
  return GmshReader(file).read();
}

void write_gmsh(const std::filesystem::path& file, const Mesh& mesh) {
  write_atomically(file, [&](std::ostream& out) {
    TextWriter text(out);
    const Eigen::Index nodes = mesh.points.cols();
    const Eigen::Index counts[4] = {mesh.vertices.size(), mesh.edges.cols(), mesh.faces.cols(),
                                    mesh.cell_count()};
    const Eigen::Index elements = counts[0] + counts[1] + counts[2] + counts[3];
    const auto blocks = std::count_if(counts, counts + 3, [](Eigen::Index n) { return n > 0; }) +
                        (mesh.tetrahedra.cols() > 0) + std::ssize(mesh.curved);
    const int dimension = counts[3] > 0 ? 3 : counts[2] > 0 ? 2 : counts[1] > 0 ? 1 : 0;

    out << "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n"
        << fmt::format("{} {} 1 {}\n{} 1 0 {}\n", nodes > 0 ? 1 : 0, nodes, nodes, dimension, nodes);
    for (Eigen::Index i = 1; i <= nodes; ++i) out << i << '\n';
    text.columns("", mesh.points);
    out << fmt::format("$EndNodes\n$Elements\n{} {} 1 {}\n", blocks, elements, elements);
    Eigen::Index tag = 0;
    const auto block = [&](int cell_dimension, int type, const auto& cells) {
      if (cells.cols() == 0) return;
      out << fmt::format("{} 1 {} {}\n", cell_dimension, type, cells.cols());
      for (Eigen::Index c = 0; c < cells.cols(); ++c) text.columns(fmt::format("{}", ++tag), cells.col(c), 1);
    };
    block(3, gmsh_tetrahedron, mesh.tetrahedra);
    for (const CurvedCells& cells : mesh.curved)
      for (const ElementType& type : element_types)
        if (type.dimension == 3 && type.degree == cells.degree) block(3, type.number, cells.points);
    block(2, gmsh_triangle, mesh.faces);
    block(1, gmsh_line, mesh.edges);
    block(0, gmsh_point, mesh.vertices.transpose());
    out << "$EndElements\n";
  });
}

}  // namespace apart
