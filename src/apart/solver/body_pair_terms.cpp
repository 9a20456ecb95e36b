#include <apart/core/error.hpp>
#include <apart/solver/body_pair_terms.hpp>

#include <algorithm>

namespace apart {

namespace {

constexpr std::size_t most_points = 4;
constexpr Index longest_run = 256;  // terms that are in memory at once

/// Whether a point that belongs to no body with a chart may move.
bool moves(const Term& term, const PointMaps& maps, Index point) {
  const auto is_free = [&](Index node) { return maps.free.block(maps.chart.unknown_of(node)) >= 0; };
  if (term.points == PointKind::nodes) return is_free(point);
  return std::ranges::any_of(maps.map.influences(point), [&](const Influence& i) { return is_free(i.node); });
}

/// JᵀHJ of a term of n points. `body`: of each point, 0, 1 or −1; `slopes`: transposed, of those of a body.
///
/// Where the first unknown of a body is its displacement, two thirds of its columns' products are with zero.
template <int n, class Sums>
void add_products(const double* hessian, const std::array<int, most_points>& body,
                  const std::array<PaddedSlope, most_points>& slopes, Sums& sums) {
  const Eigen::Map<const Eigen::Matrix<double, 3 * n, 3 * n>> h(hessian);
  std::array<bool, n> shifts;
  for (std::size_t p = 0; p < n; ++p) {
    const auto& s = slopes[p];
    shifts[p] = body[p] >= 0 && s(1, 0) == 0 && s(2, 0) == 0 && s(0, 1) == 0 && s(2, 1) == 0 &&
                s(0, 2) == 0 && s(1, 2) == 0;
  }
  for (int second = 0; second < 2; ++second) {
    if (std::find(body.begin(), body.begin() + n, second) == body.begin() + n) continue;
    using Column = Eigen::Matrix<double, 3 * n, 1>;
    Eigen::Matrix<double, 3 * n, 6> panel;  // H ∂(points)/∂(unknowns of that body)
    for (int c = 0; c < 6; ++c) {
      Column column = Column::Zero();
      for (std::size_t p = 0; p < n; ++p) {
        if (body[p] != second) continue;
        if (c < 3 && shifts[p])
          column += slopes[p](c, c) * h.col(3 * int(p) + c);
        else
          for (int i = 0; i < 3; ++i) column += slopes[p](c, i) * h.col(3 * int(p) + i);
      }
      panel.col(c) = column;
    }
    for (std::size_t p = 0; p < n; ++p) {
      if (body[p] < second) continue;
      auto& sum = sums[std::size_t(body[p] + second)];
      for (int c = 0; c < 6; ++c)
        for (int i = 0; i < 3; ++i) sum.col(c) += panel(3 * int(p) + i, c) * slopes[p].col(i);
    }
  }
}

}  // namespace

bool BodyPairTerms::find(const Term& term, const PointMaps& maps, std::pair<Index, Index> own) {
  potential_ = term.potential;
  points_ = term.points;
  runs_.clear();
  run_of_term_.clear();
  if (maps.chart.is_identity()) return false;
  const auto blocks_of = [&](Index part, Index unknown) {
    return part < 0 ? -1 : maps.free.block(maps.chart.parts()[std::size_t(part)].first_unknown + unknown);
  };
  for (Index t = 0; t < potential_->term_count(); ++t) {
    Bodies bodies = {-1, -1};
    if (own.first <= t && t < own.second) {
      const TermPoints points = potential_->term(t);
      if (points.empty() || points.size() > most_points) return false;
      for (const Index point : points) {
        const Index part = maps.parts.of(points_, point);
        if (part < 0 && moves(term, maps, point)) return false;
        if (part < 0 || part == bodies[0] || part == bodies[1]) continue;
        if (maps.chart.parts()[std::size_t(part)].chart->unknown_count() != 2) return false;
        if (blocks_of(part, 0) < 0 && blocks_of(part, 1) < 0) continue;
        if (bodies[1] >= 0) return false;
        bodies[bodies[0] < 0 ? 0 : 1] = part;
      }
      if (bodies[1] >= 0 && bodies[1] < bodies[0]) std::swap(bodies[0], bodies[1]);
    }
    if (runs_.empty() || runs_.back().bodies != bodies ||
        runs_.back().end - runs_.back().begin == longest_run)
      runs_.push_back({t,
                       t,
                       bodies,
                       {blocks_of(bodies[0], 0), blocks_of(bodies[0], 1), blocks_of(bodies[1], 0),
                        blocks_of(bodies[1], 1)},
                       {}});
    runs_.back().end = t + 1;
    run_of_term_.push_back(Index(runs_.size()) - 1);
  }
  return true;
}

bool BodyPairTerms::locate(const BlockSparse& matrix) {
  for (Run& run : runs_) {
    std::size_t k = 0;
    for (std::size_t a = 0; a < 4; ++a)
      for (std::size_t b = 0; b <= a; ++b, ++k) {
        run.slots[k] = -1;
        if (run.blocks[a] < 0 || run.blocks[b] < 0) continue;
        run.slots[k] = matrix.find(run.blocks[a], run.blocks[b]);
        if (run.slots[k] < 0) return false;
      }
  }
  return true;
}

void BodyPairTerms::move(std::span<const Index> moved) {
  for (Run& run : runs_)
    for (Index& slot : run.slots)
      if (slot >= 0) slot = moved[std::size_t(slot)];
}

bool BodyPairTerms::equals(const BodyPairTerms& other) const {
  return std::ranges::equal(runs_, other.runs_, [](const Run& a, const Run& b) {
    return a.begin == b.begin && a.end == b.end && a.bodies == b.bodies && a.blocks == b.blocks;
  });
}

bool BodyPairTerms::touches(Index term, const BlockColumns& columns) const {
  return std::ranges::any_of(run_of(term).blocks,
                             [&](Index block) { return block >= 0 && columns.contain(block); });
}

void BodyPairTerms::add_term(Index term, const double* hessian, const PointMaps& maps,
                             const ChartSlopes& slopes, Sums& sums) const {
  const Bodies& bodies = run_of(term).bodies;
  const TermPoints points = potential_->term(term);
  std::array<int, most_points> body;
  std::array<PaddedSlope, most_points> of_point;
  for (std::size_t p = 0; p < points.size(); ++p) {
    const Index part = maps.parts.of(points_, points[p]);
    body[p] = part < 0 ? -1 : part == bodies[0] ? 0 : part == bodies[1] ? 1 : -1;
    const Influence self{points[p], 1};
    if (body[p] >= 0)
      of_point[p] = slopes.transposed(
          part, points_ == PointKind::nodes ? std::span(&self, 1) : maps.map.influences(points[p]));
  }
  switch (points.size()) {
    case 1:
      return add_products<1>(hessian, body, of_point, sums);
    case 2:
      return add_products<2>(hessian, body, of_point, sums);
    case 3:
      return add_products<3>(hessian, body, of_point, sums);
    default:
      return add_products<4>(hessian, body, of_point, sums);
  }
}

void BodyPairTerms::flush(const Run& run, const Sums& sums, const FreeCoordinates& free,
                          const BlockColumns& columns, BlockSparse& matrix) {
  std::size_t k = 0;
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = 0; b <= a; ++b, ++k) {
      const Index column = run.blocks[b];
      if (run.slots[k] < 0 || !columns.contain(column)) continue;
      Matrix3 block = sums[a / 2 + b / 2].block<3, 3>(3 * int(a % 2), 3 * int(b % 2));
      if (!free.held().empty()) mask_held(free, run.blocks[a], column, block);
      matrix.add(run.slots[k], block);
    }
}

void BodyPairTerms::add(const LocalHessians& local, const PointMaps& maps, const ChartSlopes& slopes,
                        const BlockColumns& columns, BlockSparse& matrix) const {
  for (Index t = local.begin(); t < local.end();) {
    const Run& run = run_of(t);
    ensure(run.begin == t && run.end <= local.end(), "BodyPairTerms: part of a run");
    if (touches(t, columns)) {
      Sums sums;
      for (auto& sum : sums) sum.setZero();
      for (; t < run.end; ++t) add_term(t, local[t].data(), maps, slopes, sums);
      flush(run, sums, maps.free, columns, matrix);
    }
    t = run.end;
  }
}

}  // namespace apart
