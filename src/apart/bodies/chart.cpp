#include <apart/bodies/chart.hpp>

#include <apart/core/error.hpp>

#include <algorithm>

namespace apart {

BodyColumns BodyChart::push_forward(const BodyColumns& q, const BodyColumns& y) const {
  BodyColumns result = BodyColumns::Zero(3, node_count());
  for (Index k = 0; k < node_count(); ++k)
    for (Index u = 0; u < unknown_count(); ++u) result.col(k) += slope(q, k, u) * y.col(u);
  return result;
}

BodyColumns BodyChart::pull_back(const BodyColumns& q, const BodyColumns& g) const {
  BodyColumns result = BodyColumns::Zero(3, unknown_count());
  for (Index k = 0; k < node_count(); ++k)
    for (Index u = 0; u < unknown_count(); ++u) result.col(u) += slope(q, k, u).transpose() * g.col(k);
  return result;
}

BodyColumns BodyChart::free_motion(const BodyColumns& q, const BodyColumns& rates,
                                   const Eigen::SparseMatrix<double>&, double time) const {
  return retract(q, time * rates);
}

Chart::Chart(Index node_count) : node_count_(node_count), unknown_count_(node_count) {}

void Chart::add(Index first_node, std::shared_ptr<const BodyChart> body) {
  const Index earliest = parts_.empty() ? 0 : parts_.back().first_node + parts_.back().chart->node_count();
  ensure(body && first_node >= earliest && first_node + body->node_count() <= node_count_,
         "Chart: bodies in the order of their nodes");
  ensure(std::max(body->node_count(), body->unknown_count()) <= Index(BodyColumns::MaxColsAtCompileTime),
         "Chart: bodies of few nodes");
  const Index first_unknown = first_node - (node_count_ - unknown_count_);
  unknown_count_ += body->unknown_count() - body->node_count();
  parts_.push_back({first_node, first_unknown, std::move(body)});
}

std::vector<Chart::Part>::const_iterator Chart::after(Index node) const {
  return std::upper_bound(parts_.begin(), parts_.end(), node,
                          [](Index n, const Part& part) { return n < part.first_node; });
}

const Chart::Part* Chart::part_of(Index node) const {
  const auto next = after(node);
  if (next == parts_.begin()) return nullptr;
  const Part& part = *(next - 1);
  return node < part.first_node + part.chart->node_count() ? &part : nullptr;
}

Index Chart::unknown_of(Index node) const {
  const auto next = after(node);
  if (next == parts_.begin()) return node;
  const Part& part = *(next - 1);
  const Index beyond = node - part.first_node - part.chart->node_count();
  return beyond < 0 ? part.first_unknown : part.first_unknown + part.chart->unknown_count() + beyond;
}

template <class Move>
void Chart::for_each_stretch(const Move& move) const {
  Index node = 0, unknown = 0;
  for (const Part& part : parts_) {
    move(node, unknown, part.first_node - node);
    node = part.first_node + part.chart->node_count();
    unknown = part.first_unknown + part.chart->unknown_count();
  }
  move(node, unknown, node_count_ - node);
}

Matrix3X Chart::retract(const Matrix3X& q, const Matrix3X& y) const {
  if (is_identity()) return q + y;
  Matrix3X result(3, node_count_);
  for_each_stretch([&](Index node, Index unknown, Index n) {
    result.middleCols(node, n) = q.middleCols(node, n) + y.middleCols(unknown, n);
  });
  for (const Part& part : parts_)
    result.middleCols(part.first_node, part.chart->node_count()) =
        part.chart->retract(part.nodes(q), part.unknowns(y));
  return result;
}

Matrix3X Chart::push_forward(const Matrix3X& q, const Matrix3X& y) const {
  if (is_identity()) return y;
  Matrix3X result = Matrix3X::Zero(3, node_count_);
  for_each_stretch(
      [&](Index node, Index unknown, Index n) { result.middleCols(node, n) = y.middleCols(unknown, n); });
  for (const Part& part : parts_)
    result.middleCols(part.first_node, part.chart->node_count()) =
        part.chart->push_forward(part.nodes(q), part.unknowns(y));
  return result;
}

Matrix3X Chart::pull_back(const Matrix3X& q, const Matrix3X& g) const {
  if (is_identity()) return g;
  Matrix3X result = Matrix3X::Zero(3, unknown_count_);
  for_each_stretch(
      [&](Index node, Index unknown, Index n) { result.middleCols(unknown, n) = g.middleCols(node, n); });
  for (const Part& part : parts_)
    result.middleCols(part.first_unknown, part.chart->unknown_count()) =
        part.chart->pull_back(part.nodes(q), part.nodes(g));
  return result;
}

Matrix3X Chart::bend(const Matrix3X& q, const Matrix3X& y) const {
  Matrix3X result = Matrix3X::Zero(3, node_count_);
  for (const Part& part : parts_)
    result.middleCols(part.first_node, part.chart->node_count()) =
        part.chart->bend(part.nodes(q), part.unknowns(y));
  return result;
}

double Chart::turn(const Matrix3X& y) const {
  double largest = 0;
  for (const Part& part : parts_) largest = std::max(largest, part.chart->turn(part.unknowns(y)));
  return largest;
}

Chart::Mask Chart::free_unknowns(const Mask& free_nodes) const {
  if (is_identity()) return free_nodes;
  Mask result(3, unknown_count_);
  for_each_stretch([&](Index node, Index unknown, Index n) {
    result.middleCols(unknown, n) = free_nodes.middleCols(node, n);
  });
  for (const Part& part : parts_) {
    auto unknowns = result.middleCols(part.first_unknown, part.chart->unknown_count());
    if (free_nodes.middleCols(part.first_node, part.chart->node_count()).any())
      unknowns = part.chart->free();
    else
      unknowns = false;
  }
  return result;
}

}  // namespace apart
