// Which folder may include which is declared once, by the calls of apart_layer, apart_program and
// apart_module in src/apart/CMakeLists.txt. These tests read that file and every source file, and reject an
// include that goes upward or sideways, and an outside library that leaves the one place that wraps it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace apart::test {
namespace {

namespace fs = std::filesystem;

const fs::path source_directory = fs::path(APART_SOURCE_DIR) / "src" / "apart";

/// Folder → the folders it may include, itself among them.
using Layers = std::map<std::string, std::set<std::string>>;

/// An outside library and the only place whose files may include it: a file, or a folder ending in '/'.
/// Programs have the same library of arguments, and a row each.
struct Wrapped {
  std::string_view header;  ///< how its includes begin
  std::string_view place;   ///< relative to src/apart
  bool one_file = true;     ///< if the place is a folder: one file of it at most
};
constexpr Wrapped wrapped_libraries[] = {
    {"tbb/", "core/parallel.cpp"},
    {"oneapi/", "core/parallel.cpp"},
    {"CGAL/", "geometry/exact_intersection.cpp"},
    {"gmp", "geometry/rational.cpp"},
    {"mpfr", "geometry/exact_intersection.cpp"},
    {"amd", "solver/ordering.cpp"},
    {"suitesparse/", "solver/ordering.cpp"},
    {"expat", "io/", false},
    {"zlib", "io/", false},
    {"hdf5", "io/hdf5_archive.cpp", false},
    {"hdf5", "cluster/parallel_archive.cpp", false},
    {"basix", "basis/quadrature.cpp"},
    {"embree", "viewer/", false},
    {"png", "viewer/", false},
    {"httplib", "web/view_server.cpp"},
    {"openssl/", "web/view_server.cpp"},
    {"CLI/", "cli/", false},
    {"CLI/", "cluster/", false},
    {"mpi", "cluster/", false},
    {"petsc", "cluster/", false},
    {"sqlite3", "studies/results_database.cpp"},
    {"pybind11/", "python/", false},
};

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The declared layers, lowest first. A layer may depend only on layers declared before it, so there are no
/// cycles.
Layers read_layers(const std::string& cmake) {
  static const std::regex call(R"(\bapart_(?:layer|program|module)\((\w+)([^)]*)\))");
  Layers layers;
  for (std::sregex_iterator i(cmake.begin(), cmake.end(), call), end; i != end; ++i) {
    const std::string name = (*i)[1];
    std::set<std::string> allowed = {name};
    std::istringstream arguments((*i)[2]);
    bool depends = false;
    for (std::string word; arguments >> word;) {
      if (word == "DEPENDS" || word == "PUBLIC" || word == "LINKS" || word == "OUTPUT" || word == "COLD") {
        depends = word == "DEPENDS";
      } else if (depends) {
        if (!layers.contains(word))
          throw std::runtime_error(name + " depends on " + word + ", which is not declared before it");
        allowed.insert(layers[word].begin(), layers[word].end());
      }
    }
    layers[name] = allowed;
  }
  return layers;
}

struct Include {
  std::string name;
  bool in_quotes;
};

std::vector<Include> includes_of(const std::string& text) {
  static const std::regex directive(R"((?:^|\n)[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"])");
  std::vector<Include> includes;
  for (std::sregex_iterator i(text.begin(), text.end(), directive), end; i != end; ++i)
    includes.push_back({(*i)[2], (*i)[1] == "\""});
  return includes;
}

/// What is wrong with the includes of one file, one line each. `file` is relative to src/apart.
std::vector<std::string> violations(const Layers& layers, const std::string& file, const std::string& text) {
  std::vector<std::string> found;
  const std::string folder = file.substr(0, file.find('/'));
  if (!layers.contains(folder)) return {file + ": the folder is not declared in src/apart/CMakeLists.txt"};
  for (const Include& include : includes_of(text)) {
    if (include.in_quotes) {
      found.push_back(file + ": includes \"" + include.name + "\"; write <apart/folder/name.hpp>");
    } else if (include.name.starts_with("apart/")) {
      const std::string target = include.name.substr(6, include.name.find('/', 6) - 6);
      if (!layers.at(folder).contains(target))
        found.push_back(file + ": " + folder + " may not include <" + include.name + ">");
    }
    std::string places;
    bool inside = false;
    for (const Wrapped& library : wrapped_libraries) {
      if (!include.name.starts_with(library.header)) continue;
      places += (places.empty() ? "" : " and ") + std::string(library.place);
      inside |= library.place.ends_with('/') ? file.starts_with(library.place) : file == library.place;
    }
    if (!places.empty() && !inside)
      found.push_back(file + ": <" + include.name + "> may be included only in " + places);
  }
  return found;
}

/// Relative path → text of every source file.
std::map<std::string, std::string> source_files() {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(source_directory))
    if (entry.path().extension() == ".hpp" || entry.path().extension() == ".cpp")
      files[fs::relative(entry.path(), source_directory).generic_string()] = text_of(entry.path());
  return files;
}

Layers declared_layers() {
  return read_layers(text_of(source_directory / "CMakeLists.txt"));
}

TEST(Layering, NoSourceFileIncludesWhatItsLayerMayNot) {
  const Layers layers = declared_layers();
  const auto files = source_files();
  EXPECT_GE(files.size(), 20u) << "hardly any source was found below " << source_directory;
  for (const auto& [file, text] : files)
    for (const std::string& violation : violations(layers, file, text)) ADD_FAILURE() << violation;
}

TEST(Layering, LibrariesWrappedInOneFileAreIncludedByOneFile) {
  for (const Wrapped& library : wrapped_libraries) {
    if (!library.one_file) continue;
    std::set<std::string> users;
    for (const auto& [file, text] : source_files())
      for (const Include& include : includes_of(text))
        if (include.name.starts_with(library.header)) users.insert(file);
    EXPECT_LE(users.size(), 1u) << library.header << " is included by " << testing::PrintToString(users);
  }
}

TEST(Layering, EveryLayerIsExplainedInTheArchitecturePage) {
  const std::string page = text_of(fs::path(APART_SOURCE_DIR) / "docs" / "architecture.md");
  for (const auto& [layer, allowed] : declared_layers())
    EXPECT_NE(page.find("| `" + layer + "` |"), std::string::npos) << layer;
}

TEST(Layering, DependenciesAreTransitive) {
  const Layers layers = read_layers(R"(
    apart_layer(low PUBLIC Some::library LINKS high)
    apart_layer(middle DEPENDS low LINKS other)
    apart_layer(beside DEPENDS low COLD)
    apart_program(top OUTPUT name DEPENDS middle LINKS beside))");
  EXPECT_EQ(layers.at("low"), (std::set<std::string>{"low"}));
  EXPECT_EQ(layers.at("top"), (std::set<std::string>{"low", "middle", "top"}));
  EXPECT_THROW(read_layers("apart_layer(low DEPENDS high)\napart_layer(high)"), std::runtime_error);
}

TEST(Layering, PlantedIncludesAreCaught) {
  const Layers layers = declared_layers();
  const auto count = [&](const std::string& file, const std::string& text) {
    return violations(layers, file, text).size();
  };
  // Upward, sideways, past the check, and into an undeclared folder.
  EXPECT_EQ(count("core/x.hpp", "#pragma once\n#include <apart/math/svd.hpp>\n"), 1u);
  EXPECT_EQ(count("solver/x.cpp", "#include <vector>\n  # include <apart/scene/catalog.hpp>\n"), 1u);
  EXPECT_EQ(count("materials/x.cpp", "#include <apart/collision/ccd.hpp>"), 1u);
  EXPECT_EQ(count("math/x.cpp", "#include \"../scene/catalog.hpp\""), 1u);
  EXPECT_EQ(count("elsewhere/x.cpp", ""), 1u);
  // Outside libraries away from their wrapper.
  EXPECT_EQ(count("solver/x.cpp", "#include <tbb/parallel_for.h>"), 1u);
  EXPECT_EQ(count("verify/x.cpp", "#include <CGAL/intersections.h>"), 1u);
  EXPECT_EQ(count("geometry/exact_intersection.hpp", "#include <CGAL/intersections.h>"), 1u);
  EXPECT_EQ(count("simulation/x.cpp", "#include <amd.h>"), 1u);
  EXPECT_EQ(count("cli/x.cpp", "#include <embree3/rtcore.h>"), 1u);
  EXPECT_EQ(count("run/x.cpp", "#include <CLI/CLI.hpp>"), 1u);
  EXPECT_EQ(count("solver/x.cpp", "#include <mpi.h>\n#include <petscksp.h>\n"), 2u);
  // What is allowed, or only looks like an include.
  EXPECT_EQ(count("solver/x.cpp", "#include <apart/core/types.hpp>\n#include <apart/solver/newton.hpp>\n"),
            0u);
  EXPECT_EQ(count("geometry/exact_intersection.cpp", "#include <CGAL/intersections.h>"), 0u);
  EXPECT_EQ(count("core/x.hpp", "// #include <apart/math/svd.hpp>\n"), 0u);
  EXPECT_EQ(count("cluster/x.cpp", "#include <CLI/CLI.hpp>\n#include <mpi.h>\n"), 0u);
}

/// What proofs may share with the solver, of the folders below both: the exact predicates, and how a frame
/// stores half-spaces. docs/verification.md names the same.
constexpr std::string_view shared_with_proofs[] = {
    "apart/geometry/exact_intersection.hpp", "apart/geometry/exact_enclosure.hpp",
    "apart/geometry/half_space.hpp", "apart/geometry/rational.hpp"};

/// What is wrong with the includes of a file of verify.
std::vector<std::string> shared_code(const std::string& file, const std::string& text) {
  std::vector<std::string> found;
  for (const Include& include : includes_of(text)) {
    if (!include.name.starts_with("apart/")) continue;
    const bool own = include.name.starts_with("apart/verify/") || include.name.starts_with("apart/core/") ||
                     include.name.starts_with("apart/io/");
    if (!own && std::ranges::find(shared_with_proofs, include.name) == std::end(shared_with_proofs))
      found.push_back(file + ": proofs may not use <" + include.name + ">");
  }
  return found;
}

TEST(Layering, ProofsShareWithTheSolverOnlyTheExactPredicates) {
  const Layers layers = declared_layers();
  for (const char* solver : {"collision", "materials", "bodies", "potentials", "solver", "simulation"})
    EXPECT_FALSE(layers.at("verify").contains(solver)) << solver;
  std::size_t files = 0;
  for (const auto& [file, text] : source_files()) {
    if (!file.starts_with("verify/")) continue;
    ++files;
    for (const std::string& violation : shared_code(file, text)) ADD_FAILURE() << violation;
  }
  EXPECT_GE(files, 10u);
  EXPECT_EQ(shared_code("verify/x.cpp", "#include <apart/geometry/squared_distance.hpp>\n").size(), 1u);
  EXPECT_EQ(shared_code("verify/x.cpp", "#include <apart/collision/ccd.hpp>\n").size(), 1u);
  EXPECT_EQ(shared_code("verify/x.cpp", "#include <apart/geometry/exact_intersection.hpp>\n").size(), 0u);
  const std::string page = text_of(fs::path(APART_SOURCE_DIR) / "docs" / "verification.md");
  for (const std::string_view name : shared_with_proofs)
    EXPECT_NE(page.find(name.substr(6)), std::string::npos)
        << name << " is not named in docs/verification.md";
}

TEST(Layering, AnUpwardIncludePlantedInARealFileIsCaught) {
  const Layers layers = declared_layers();
  for (const auto& [file, text] : source_files()) {
    if (file.starts_with("cli/")) continue;  // nothing lies above it
    const std::string above = file.starts_with("cluster/") ? "python" : "cli";
    EXPECT_GT(violations(layers, file, text + "\n#include <apart/" + above + "/planted.hpp>\n").size(),
              violations(layers, file, text).size())
        << file;
  }
}

}  // namespace
}  // namespace apart::test
