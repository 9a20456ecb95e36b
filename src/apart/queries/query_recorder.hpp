#pragma once
#include <apart/queries/query_file.hpp>

namespace apart {

/// Collects queries as they come and keeps a bounded number of them, evenly spread and the same every time:
/// every k-th of each kind, where k doubles whenever the limit is reached.
class QueryRecorder {
 public:
  /// `most`: of each kind, at least 2.
  explicit QueryRecorder(std::size_t most = 100'000);

  /// The paths x → x + p of all candidates in which a vertex moves. Points and edges are recorded as faces
  /// with vertices repeated.
  void add(const Candidates& candidates, const Matrix3X& x, const Matrix3X& p);

  /// Writes FOLDER/vertex-face/NAME.csv and FOLDER/edge-edge/NAME.csv, truth unknown, replacing earlier
  /// files; a kind that did not occur has no file.
  void write(const std::filesystem::path& folder, std::string_view name) const;

  const QuerySet& kept(PairKind kind) const { return sampler(kind).kept; }
  std::size_t seen(PairKind kind) const { return sampler(kind).seen; }

 private:
  struct Sampler {
    QuerySet kept;
    std::size_t seen = 0, stride = 1;
  };
  const Sampler& sampler(PairKind kind) const { return kind == PairKind::edge_edge ? edges_ : faces_; }

  std::size_t most_;
  Sampler faces_{{PairKind::point_triangle, {}}}, edges_{{PairKind::edge_edge, {}}};
};

}  // namespace apart
