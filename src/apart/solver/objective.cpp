#include <apart/core/memory.hpp>
#include <apart/solver/objective.hpp>

#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace apart {

FreeCoordinates::FreeCoordinates(Eigen::Array<bool, 3, Eigen::Dynamic> free) : free_(std::move(free)) {
  block_.assign(free_.cols(), -1);
  for (Index n = 0; n < free_.cols(); ++n)
    if (free_.col(n).any()) {
      block_[n] = Index(node_.size());
      for (int axis = 0; axis < 3; ++axis)
        if (!free_(axis, n)) held_.emplace_back(block_[n], axis);
      node_.push_back(n);
    }
}

VectorX FreeCoordinates::restrict_to_free(const Matrix3X& g) const {
  VectorX r(3 * block_count());
  for (Index b = 0; b < block_count(); ++b)
    for (int axis = 0; axis < 3; ++axis) r[3 * b + axis] = free_(axis, node_[b]) ? g(axis, node_[b]) : 0.0;
  return r;
}

Matrix3X FreeCoordinates::extend(const VectorX& r) const {
  Matrix3X p = Matrix3X::Zero(3, free_.cols());
  for (Index b = 0; b < block_count(); ++b) p.col(node_[b]) = r.segment<3>(3 * b);
  return p;
}

Objective::Objective(const CoordinateMap& map, std::vector<Potential*> node_potentials,
                     std::vector<Potential*> vertex_potentials)
    : map_(map),
      node_potentials_(std::move(node_potentials)),
      vertex_potentials_(std::move(vertex_potentials)) {}

void Objective::set_free(FreeCoordinates free) {
  free_ = std::move(free);
  pattern_valid_ = false;
}

void Objective::prepare(const Matrix3X& q) {
  q_ = q;
  x_ = map_.positions(q);
  for (Potential* p : node_potentials_) p->prepare(q_);
  for (Potential* p : vertex_potentials_) p->prepare(x_);
}

double Objective::value() const {
  double sum = 0;
  for (const Potential* p : node_potentials_) sum += p->value(q_);
  for (const Potential* p : vertex_potentials_) sum += p->value(x_);
  return sum;
}

std::vector<std::pair<std::string_view, double>> Objective::values() const {
  std::vector<std::pair<std::string_view, double>> result;
  for (const Potential* p : node_potentials_) result.emplace_back(p->name(), p->value(q_));
  for (const Potential* p : vertex_potentials_) result.emplace_back(p->name(), p->value(x_));
  return result;
}

double Objective::magnitude() const {
  double sum = 0;
  for (const Potential* p : node_potentials_) sum += std::abs(p->value(q_));
  for (const Potential* p : vertex_potentials_) sum += std::abs(p->value(x_));
  return sum;
}

Matrix3X Objective::gradient() const {
  Matrix3X on_vertices = Matrix3X::Zero(3, x_.cols());
  for (const Potential* p : vertex_potentials_) p->add_gradient(x_, on_vertices);
  Matrix3X g = map_.pull_back(q_, on_vertices);
  for (const Potential* p : node_potentials_) p->add_gradient(q_, g);
  return g;
}

VectorX Objective::acting() const {
  VectorX sum = VectorX::Zero(q_.cols());
  const auto add = [&](const Matrix3X& g) { sum += g.colwise().norm().transpose(); };
  for (const Potential* p : node_potentials_) {
    Matrix3X g = Matrix3X::Zero(3, q_.cols());
    p->add_gradient(q_, g);
    add(g);
  }
  for (const Potential* p : vertex_potentials_) {
    if (p->term_count() == 0) continue;
    Matrix3X g = Matrix3X::Zero(3, x_.cols());
    p->add_gradient(x_, g);
    add(map_.pull_back(q_, g));
  }
  return sum;
}

VectorX Objective::gradient_rounding() {
  // A coordinate is off by half a unit in its last place; a few more are lost on the way to a force.
  constexpr double places = 64 * std::numeric_limits<double>::epsilon();
  VectorX result = VectorX::Zero(q_.cols());
  const double farthest = q_.cwiseAbs().maxCoeff();
  if (hessian_.block_count() != free_.block_count()) return result;  // none since coordinates were held
  for (Index b = 0; b < hessian_.block_count(); ++b) {
    double stiffness = 0;
    for (int axis = 0; axis < 3; ++axis)
      if (free_(axis, free_.node(b)))
        stiffness = std::max(stiffness, hessian_.at(3 * b + axis, 3 * b + axis));
    result[free_.node(b)] = places * farthest * stiffness;
  }
  return result;
}

namespace {

/// The blocks of the linear system one term touches, each once, with the weight it has in each of the term's
/// points.
struct TermBlocks {
  struct Entry {
    Index block;
    std::array<double, 4> weight;  ///< ∂(point)/∂(block), times the identity
  };
  std::array<Entry, 16> entries;  // at most four points of four influences each
  int count = 0;

  TermBlocks(const TermPoints& points, bool on_vertices, const CoordinateMap& map,
             const FreeCoordinates& free) {
    for (int p = 0; p < points.size; ++p) {
      if (!on_vertices) {
        add(free.block(points.ids[p]), p, 1);
        continue;
      }
      for (const Influence& i : map.influences(points.ids[p])) add(free.block(i.node), p, i.weight);
    }
  }

 private:
  void add(Index block, int point, double weight) {
    if (block < 0) return;
    int e = 0;
    while (e < count && entries[e].block != block) ++e;
    if (e == count) {
      ensure(count < int(entries.size()), "a contact term depends on more than 16 nodes");
      entries[count++] = {block, {}};
    }
    entries[e].weight[point] += weight;
  }
};

}  // namespace

void Objective::for_each_key(const Potential& potential, bool on_vertices,
                             FunctionRef<void(BlockKey)> visit) const {
  for (Index t = 0; t < potential.term_count(); ++t) {
    const TermBlocks blocks(potential.term(t), on_vertices, map_, free_);
    for (int a = 0; a < blocks.count; ++a)
      for (int b = 0; b < a; ++b) visit(block_key(blocks.entries[a].block, blocks.entries[b].block));
  }
}

namespace {

constexpr std::string_view pairs_of_nodes = "the pairs of nodes that act on each other";
constexpr std::string_view fewer_contacts =
    "lower contact.dhat, so that fewer things touch, or use a coarser mesh";

}  // namespace

void Objective::update_pattern() {
  if (pattern_valid_) {
    bool covered = true;
    for (const Potential* p : vertex_potentials_)
      for_each_key(*p, true, [&](BlockKey k) { covered = covered && hessian_.has(k); });
    if (covered) return;
  }
  const auto keys_of = [&](const std::vector<Potential*>& potentials, bool on_vertices) {
    std::vector<BlockKey> keys;
    const auto tidy = [&] {
      std::sort(keys.begin(), keys.end());
      keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    };
    // Many contacts act on the same pairs of nodes: repetitions go before they fill the memory.
    std::size_t room = std::size_t(1) << 24;
    for (const Potential* p : potentials)
      for_each_key(*p, on_vertices, [&](BlockKey k) {
        if (keys.size() >= room) {
          tidy();
          room = std::max(room, 2 * keys.size());
          ensure_memory(double(2 * room * sizeof(BlockKey)), pairs_of_nodes, fewer_contacts);
        }
        keys.push_back(k);
      });
    tidy();
    return keys;
  };
  std::vector<BlockKey> contact_keys = keys_of(vertex_potentials_, true);
  if (!pattern_valid_) node_keys_ = keys_of(node_potentials_, false);
  // Contacts come and go between iterations: the pattern keeps those it has had, so that it soon covers all
  // that do, but not so many that the fill they cause would cost more than a new analysis.
  const auto merged = [](const std::vector<BlockKey>& a, const std::vector<BlockKey>& b) {
    std::vector<BlockKey> all;
    all.reserve(a.size() + b.size());
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
    return all;
  };
  if (pattern_valid_) {
    std::vector<BlockKey> kept = merged(contact_keys_, contact_keys);
    contact_keys_ = kept.size() <= 2 * contact_keys.size() ? std::move(kept) : std::move(contact_keys);
  } else {
    contact_keys_ = std::move(contact_keys);
  }
  pattern_valid_ = true;
  std::vector<BlockKey> keys = merged(node_keys_, contact_keys_);
  if (keys == keys_ && hessian_.block_count() == free_.block_count()) return;
  keys_ = std::move(keys);
  // Nine numbers and an index here, nine indices in the solver.
  ensure_memory(double(keys_.size()) * (9 * 8 + 4 + 9 * 4), pairs_of_nodes, fewer_contacts);
  hessian_ = BlockSparse(free_.block_count(), keys_);
  pattern_changed_ = true;
}

void Objective::mask(Matrix3& block, Index row, Index column) const {
  for (int axis = 0; axis < 3; ++axis) {
    if (!free_(axis, free_.node(row))) block.row(axis).setZero();
    if (!free_(axis, free_.node(column))) block.col(axis).setZero();
  }
}

void Objective::assemble(const Potential& potential, bool on_vertices, Projection projection) {
  // Local matrices in parallel, added one after the other: the sums do not depend on the number of threads.
  constexpr Index batch = 2048, chunk = 64;
  const Index count = potential.term_count();
  std::vector<LocalHessian> local(std::min(count, batch));
  const Matrix3X& points = on_vertices ? x_ : q_;
  for (Index begin = 0; begin < count; begin += batch) {
    const Index n = std::min(batch, count - begin);
    parallel_chunks(n, chunk, [&](Index from, Index to) {
      potential.hessians(points, begin + from, projection, std::span(local).subspan(from, to - from));
    });
    for (Index t = 0; t < n; ++t) {
      const TermBlocks blocks(local[t].points, on_vertices, map_, free_);
      for (int a = 0; a < blocks.count; ++a)
        for (int b = 0; b < blocks.count; ++b) {
          const auto &row = blocks.entries[a], &column = blocks.entries[b];
          if (row.block < column.block) continue;  // the lower triangle
          Matrix3 block = Matrix3::Zero();
          for (int p = 0; p < local[t].points.size; ++p)
            for (int q = 0; q < local[t].points.size; ++q)
              if (const double weight = row.weight[p] * column.weight[q]; weight != 0)
                block += weight * local[t].matrix.block<3, 3>(3 * p, 3 * q);
          if (!free_.held().empty()) mask(block, row.block, column.block);
          hessian_.add(hessian_.slot(row.block, column.block), column.block, block);
        }
    }
  }
}

const BlockSparse& Objective::hessian(Projection projection) {
  update_pattern();
  hessian_.set_zero();
  for (const Potential* p : node_potentials_) assemble(*p, false, projection);
  for (const Potential* p : vertex_potentials_) assemble(*p, true, projection);
  for (const auto& [block, axis] : free_.held()) hessian_.at(3 * block + axis, 3 * block + axis) = 1;
  return hessian_;
}

}  // namespace apart
