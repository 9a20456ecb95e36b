#include <apart/core/error.hpp>
#include <apart/queries/query_recorder.hpp>

#include <algorithm>
#include <ostream>

namespace apart {

QueryRecorder::QueryRecorder(std::size_t most) : most_(most) {
  ensure(most >= 2, "QueryRecorder: keeps at least 2");
}

void QueryRecorder::add(const Candidates& candidates, const Matrix3X& x, const Matrix3X& p) {
  for (const Stencil& stencil : candidates) {
    bool moves = false;
    for (int i = 0; i < stencil.size(); ++i) moves |= (p.col(stencil.vertices[i]).array() != 0).any();
    if (!moves) continue;
    Sampler& into = stencil.kind == PairKind::edge_edge ? edges_ : faces_;
    if (into.seen++ % into.stride != 0) continue;
    QueryPair pair;
    for (int i = 0; i < 4; ++i) {
      const Index v = stencil.vertices[std::min(i, stencil.size() - 1)];
      pair.from[i] = x.col(v);
      pair.to[i] = x.col(v) + p.col(v);
    }
    auto& kept = into.kept.pairs;
    kept.push_back(pair);
    if (kept.size() <= most_) continue;
    for (std::size_t i = 0; 2 * i < kept.size(); ++i) kept[i] = kept[2 * i];
    kept.resize((kept.size() + 1) / 2);
    into.stride *= 2;
  }
}

void QueryRecorder::write(const std::filesystem::path& folder, std::string_view name) const {
  for (const Sampler* sampler : {&faces_, &edges_}) {
    const auto file = query_file_in(folder, sampler->kept.kind, name);
    if (sampler->kept.pairs.empty()) {
      remove_query_file(file);
      continue;
    }
    write_query_file(file, [&](std::ostream& out) {
      QueryWriter writer(out, sampler->kept.kind,
                         fmt::format("{} of {} recorded, every {}", sampler->kept.pairs.size(), sampler->seen,
                                     sampler->stride));
      for (const QueryPair& pair : sampler->kept.pairs) writer.add(pair);
    });
  }
}

}  // namespace apart
