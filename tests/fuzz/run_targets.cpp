// What a run leaves behind and reads again, and files of queries.
#include "fuzz_target.hpp"

#include <apart/io/frame.hpp>
#include <apart/io/hdf5_archive.hpp>
#include <apart/io/iterates.hpp>
#include <apart/io/run_digests.hpp>
#include <apart/io/run_frames.hpp>
#include <apart/io/sealed_file.hpp>
#include <apart/queries/query_file.hpp>
#include <apart/run/checkpoint.hpp>
#include <apart/scene/scene_builder.hpp>

#include <support/temporary_directory.hpp>

#include <zlib.h>

#include <cstring>
#include <sstream>

namespace apart::test {

namespace {

/// Equal bits, so that −0 and NaN count too.
template <class Matrix>
bool same_bits(const Matrix& a, const Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), std::size_t(a.size()) * sizeof(*a.data())) == 0);
}

}  // namespace

void read_query_file(std::string_view input) {
  QuerySet set;
  const auto file = input_file("vertex-face.csv", input);
  if (!accepted([&] { set = read_queries(file); })) return;
  std::ostringstream text;
  QueryWriter writer(text, set.kind, "", set.separation);
  for (const QueryPair& pair : set.pairs) writer.add(pair);
  const QuerySet again = read_queries(input_file("copy.csv", text.view()));
  require(
      again.kind == set.kind && again.separation == set.separation && again.pairs.size() == set.pairs.size(),
      "queries as written are read as the same");
  for (std::size_t i = 0; i < set.pairs.size(); ++i) {
    const QueryPair &a = set.pairs[i], &b = again.pairs[i];
    require(a.truth == b.truth && a.from == b.from && a.to == b.to, "a query as written is read as the same");
  }
}

void read_frame_file(std::string_view input) {
  Frame frame;
  const auto file = input_file("frame.vtu", input);
  if (!accepted([&] { frame = read_frame(file); })) return;
  const auto copy = input_file("copy.vtu", "");
  write_frame(copy, frame);
  const Frame again = read_frame(copy);
  require(
      same_bits(frame.mesh.points, again.mesh.points) && same_bits(frame.velocity, again.velocity) &&
          same_bits(frame.point_body, again.point_body) &&
          same_bits(frame.mesh.tetrahedra, again.mesh.tetrahedra) &&
          same_bits(frame.mesh.faces, again.mesh.faces) && same_bits(frame.mesh.edges, again.mesh.edges) &&
          same_bits(frame.rest_shape, again.rest_shape) && frame.absent == again.absent &&
          frame.ignored_pairs == again.ignored_pairs && frame.allow_nested == again.allow_nested &&
          frame.thickness == again.thickness && frame.drawn_thickness == again.drawn_thickness &&
          frame.bodies.size() == again.bodies.size() && frame.half_spaces.size() == again.half_spaces.size(),
      "a frame as written is read as the same");
  // And everything else that a file says: written once more, it is the same file.
  const auto third = input_file("third.vtu", "");
  write_frame(third, again);
  require(read_file(third) == read_file(copy), "a frame as read is written as the same");
}

void read_frame_index_file(std::string_view input) {
  const auto file = input_file("frames.pvd", input);
  accepted([&] { read_frame_index(file.parent_path()); });
  accepted([&] { list_frames(file.parent_path()); });
}

/// As it is, and with the checksum that it would need.
void read_iterates_file(std::string_view input) {
  const auto crc = std::uint32_t(
      ::crc32_z(::crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(input.data()), input.size()));
  std::string sealed(input);
  sealed.append(reinterpret_cast<const char*>(&crc), sizeof crc);
  for (const std::string_view bytes : {input, std::string_view(sealed)}) {
    Iterates iterates;
    const auto file = input_file("step.bin", bytes);
    if (!accepted([&] { iterates = read_iterates(file); })) continue;
    write_iterates(file.parent_path(), iterates);
    const auto files = list_iterates(file.parent_path());
    require(files.size() == 1 && read_file(files.front()) == bytes, "iterates as written are the same bytes");
    std::filesystem::remove(files.front());
  }
}

void read_digests_file(std::string_view input) {
  std::vector<FileDigest> list;
  const auto file = input_file(digests_name, input);
  if (!accepted([&] { list = read_digests(file.parent_path()); })) return;
  std::string text;
  for (const FileDigest& line : list) text += line.line();
  write_file(file, text);
  const std::vector<FileDigest> again = read_digests(file.parent_path());
  require(std::equal(list.begin(), list.end(), again.begin(), again.end(),
                     [](const FileDigest& a, const FileDigest& b) { return a.line() == b.line(); }),
          "a list of digests as written is read as the same");
}

/// The seal is checked first, so the input is what lies behind it: whoever can make the content can make the
/// seal.
void read_checkpoint_file(std::string_view input) {
  // The corpus has checkpoints of this scene.
  static const SceneFile scene_file = parse_scene(R"({
  "version": 1,
  "description": "unit test: a single tetrahedron falls exactly onto the tip of another",
  "time": {"dt": 0.025, "tend": 2.5},
  "bodies": [
    {"type": "half_space", "name": "floor"},
    {"type": "volume", "name": "tetrahedron",
     "mesh": {"points": [[-0.5, 0, -0.3], [0.5, 0, -0.3], [0, 0, 0.6], [0, 0.8, 0]], "tetrahedra": [[0, 2, 1, 3]]},
     "transform": {"translate": [0, 0.05, 0]},
     "array": {"counts": [1, 2, 1], "spacing": [0, 0.9, 0]},
     "material": {"type": "fixed_corotated", "E": 1e5, "nu": 0.4, "rho": 1000}}
  ]
})",
                                                  "scene.json", ".");
  static const Scene scene = build_scene(scene_file);
  static const std::uint64_t id = fingerprint(scene_file, *scene.model);
  const auto plain = input_file("plain", input);
  accepted([&] { read_checkpoint(plain, scene.model, id); });
  const auto file = input_file("checkpoint", "");
  write_sealed(file, checkpoint_mark, checkpoint_format, input);
  Archive archive;
  if (!accepted([&] { archive = read_archive(file, checkpoint_mark, checkpoint_format); })) return;
  accepted([&] { read_checkpoint(file, scene.model, id); });
  const auto copy = input_file("copy", "");
  // HDF5 refuses some names, such as those with a slash.
  if (!accepted([&] { write_archive(copy, checkpoint_mark, checkpoint_format, archive); })) return;
  const Archive again = read_archive(copy, checkpoint_mark, checkpoint_format);
  require(archive.integers == again.integers && archive.reals.size() == again.reals.size() &&
              archive.vectors.size() == again.vectors.size() &&
              archive.matrices.size() == again.matrices.size(),
          "an archive as written is read as the same");
  for (const auto& [name, vector] : archive.vectors)
    require(same_bits(vector, again.vectors.at(name)), "a vector as written is read as the same");
  for (const auto& [name, matrix] : archive.matrices)
    require(same_bits(matrix, again.matrices.at(name)), "a matrix as written is read as the same");
}

}  // namespace apart::test
