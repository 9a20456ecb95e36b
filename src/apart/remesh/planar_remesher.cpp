#include <apart/remesh/planar_remesher.hpp>

#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/remesh/collapse_path.hpp>
#include <apart/remesh/planar_patch.hpp>
#include <apart/remesh/planar_screening.hpp>
#include <apart/remesh/state_transfer.hpp>

#include <algorithm>
#include <map>

namespace apart {

namespace {

using Pair = std::array<Index, 2>;

// As in space: volume_remesher.cpp.
constexpr double promising_share = 0.5, promising_loss = 4, least_triangle_quality = 0.2;
constexpr Index most_planar_trials = 2000;

/// One planar body in one pass.
class PlanarPass {
 public:
  PlanarPass(const SolvedStep& step, const PlacedSurface& placed, const RemeshOptions& options)
      : step_(step),
        placed_(placed),
        options_(options),
        body_(step.problem.model.bodies[std::size_t(options.body)]),
        editor_(source()) {
    pinned_.assign(std::size_t(body_.node_count()), false);
    for (const PointSet set : attached_sets())
      for (const Index p : body_.sets[set]) pinned_[std::size_t(p)] = true;
  }

  void try_splits() {
    std::vector<std::pair<double, Pair>> promising;
    for (const SplitEstimate& e : estimate_splits(step_, options_.body, editor_)) {
      const double length = (editor_.position(0, e.edge[0]) - editor_.position(0, e.edge[1])).norm();
      if (e.gain > promising_share * options_.delta_split && length >= 2 * options_.min_edge)
        promising.emplace_back(e.gain, e.edge);
    }
    split_ = try_all(std::move(promising), true);
  }
  /// The youngest points first, so that collapses lead back to the mesh that splits began with.
  void try_collapses() {
    std::vector<std::pair<double, Pair>> promising;
    const Index first = options_.coarsen ? 0 : options_.scene_points;
    for (const CollapseEstimate& e : estimate_collapses(step_, options_.body, editor_, first))
      if (e.loss < -promising_loss * options_.delta_collapse)
        promising.emplace_back(double(e.removed), Pair{e.removed, e.kept});
    collapsed_ = try_all(std::move(promising), false);
  }

  bool changed() const { return editor_.operation_count() > 0; }
  Index trials() const { return trials_; }
  const std::vector<Pair>& split() const { return split_; }  ///< edges
  const std::vector<Pair>& collapsed() const {
    return collapsed_;
  }  ///< removed points and what they moved onto
  PlanarEditor::Result result() const { return editor_.result(); }

 private:
  /// Points of attachments and joints: no patch knows what pulls them.
  std::vector<PointSet> attached_sets() const {
    std::vector<PointSet> sets;
    const auto add = [&](int body, PointSet set) {
      if (body == options_.body && set.number >= 0) sets.push_back(set);
    };
    const Model& model = step_.problem.model;
    for (const Attachment& a : model.attachments) {
      add(a.body, a.points);
      add(a.other, a.other_points);
    }
    for (const Joint& joint : model.joints)
      for (const JointSide& side : joint.sides) add(side.body, side.points);
    return sets;
  }

  PlanarEditor::Source source() const {
    const Index first = step_.problem.model.first_node[std::size_t(options_.body)], n = body_.node_count();
    PlanarEditor::Source source;
    source.shape = shape_of(body_);
    for (const Matrix3X* state : {&step_.nodes, &step_.before.nodes, &step_.before.previous_nodes})
      source.states.push_back(state->middleCols(first, n));
    for (const PointSet set : attached_sets()) source.individual.push_back(set.number);
    for (const Load& load : body_.loads)
      if (load.kind == Load::Kind::force && load.points.number >= 0)
        source.individual.push_back(load.points.number);
    source.lasting_points = options_.coarsen ? 0 : options_.scene_points;
    return source;
  }

  bool apply(const Pair& points, bool is_split) {
    return is_split ? editor_.split(points[0], points[1], least_triangle_quality)
                    : editor_.collapse(points[0], points[1], least_triangle_quality);
  }

  std::vector<Index> cells_around(const Pair& points) const {
    std::vector<Index> cells;
    for (const Index p : points_around(editor_, points[0], points[1]))
      cells.insert(cells.end(), editor_.cells_of(p).begin(), editor_.cells_of(p).end());
    return cells;
  }

  /// A trial that is ready to be evaluated.
  struct Trial {
    Pair points;
    PlanarPatch before, after;
    std::vector<Index> cells;  ///< of the patch, before
    double gain = 0;           ///< [J]
  };
  std::optional<Trial> make_trial(const Pair& points, bool is_split) {
    std::vector<Index> around = points_around(editor_, points[0], points[1]);
    Trial trial{points, planar_patch(editor_, around), {}, cells_around(points)};
    if (!apply(points, is_split)) return std::nullopt;
    if (is_split)
      around.push_back(editor_.point_count() - 1);
    else
      std::erase(around, points[0]);
    trial.after = planar_patch(editor_, around);
    if (is_split) trial.after.midpoint_of = points;
    editor_.undo();
    return trial;
  }

  /// Tries operations, the best first, in batches that share no cell, and does those that are accepted.
  /// Whatever is accepted blocks its patch. Returns the points of the accepted ones.
  std::vector<Pair> try_all(std::vector<std::pair<double, Pair>> open, bool is_split) {
    std::ranges::sort(open, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    const PlanarTrial evaluate(step_, options_.body, pinned_);
    const double least = is_split ? options_.delta_split : options_.delta_collapse;
    std::vector<char> blocked(std::size_t(editor_.cell_count()), false);
    const auto any = [](const std::vector<Index>& cells, const std::vector<char>& flags) {
      return std::ranges::any_of(cells, [&](Index c) { return bool(flags[std::size_t(c)]); });
    };
    std::vector<Pair> accepted;
    while (!open.empty() && trials_ < most_planar_trials) {
      std::vector<char> taken = blocked;
      std::vector<Trial> batch;
      std::vector<std::pair<double, Pair>> later;
      for (const auto& operation : open) {
        const std::vector<Index> cells = cells_around(operation.second);
        if (any(cells, blocked)) continue;
        if (any(cells, taken)) {  // in the way of a better one: waits for the next batch
          later.push_back(operation);
          continue;
        }
        std::optional<Trial> trial = make_trial(operation.second, is_split);
        if (!trial) continue;
        for (const Index c : cells) taken[std::size_t(c)] = true;
        batch.push_back(std::move(*trial));
      }
      parallel_for(
          Index(batch.size()),
          [&](Index i) {
            Trial& t = batch[std::size_t(i)];
            t.gain = evaluate.gain(t.before, t.after);
          },
          1);
      trials_ += Index(batch.size());
      for (const Trial& t : batch) {
        if (!(t.gain > least) ||
            (!is_split && !way_is_free(step_.problem.model, placed_, options_.body, t.points)))
          continue;
        accepted.push_back(t.points);
        for (const Index c : t.cells) blocked[std::size_t(c)] = true;
      }
      open = std::move(later);
    }
    for (const Pair& points : accepted)
      ensure(apply(points, is_split), "PlanarRemesher: what was tried can be done");
    return accepted;
  }

  const SolvedStep step_;
  const PlacedSurface& placed_;
  const RemeshOptions& options_;
  const Body& body_;
  PlanarEditor editor_;
  std::vector<char> pinned_;
  std::vector<Pair> split_, collapsed_;
  Index trials_ = 0;
};

class PlanarNodeTransfer final : public NodeFieldTransfer {
 public:
  PlanarNodeTransfer(const Model& before, const Model& after, const std::map<int, PlanarPass>& passes)
      : before_(before), after_(after), passes_(passes) {
    for (const auto& [b, pass] : passes)
      if (!pass.collapsed().empty())
        collapses_.try_emplace(b, before.bodies[std::size_t(b)], after.bodies[std::size_t(b)],
                               pass.result().points);
  }
  Matrix3X restricted(const Matrix3X& field) const override {
    return by_body(field, [&](int b, const Matrix3X& part) -> Matrix3X {
      if (const auto collapse = collapses_.find(b); collapse != collapses_.end())
        return collapse->second.restricted(part);
      const auto pass = passes_.find(b);
      return pass == passes_.end() ? part : with_midpoints(part, pass->second.split());
    });
  }
  Matrix3X correction(const Matrix3X& field, const CollapseTransfer::Mask& held) const override {
    return by_body(field, [&](int b, const Matrix3X& part) -> Matrix3X {
      const Index first = after_.first_node[std::size_t(b)], n = after_.bodies[std::size_t(b)].node_count();
      const auto collapse = collapses_.find(b);
      if (collapse == collapses_.end()) return Matrix3X::Zero(3, n);
      return collapse->second.correction(part, held.middleCols(first, n));
    });
  }
  bool has_collapses() const override { return !collapses_.empty(); }

 private:
  template <class Part>
  Matrix3X by_body(const Matrix3X& field, const Part& part) const {
    Matrix3X result(3, after_.node_count());
    for (std::size_t b = 0; b < before_.bodies.size(); ++b)
      result.middleCols(after_.first_node[b], after_.bodies[b].node_count()) =
          part(int(b), field.middleCols(before_.first_node[b], before_.bodies[b].node_count()));
    return result;
  }
  const Model &before_, &after_;
  const std::map<int, PlanarPass>& passes_;
  std::map<int, CollapseTransfer> collapses_;
};

class PlanarRemesher final : public Remesher {
 public:
  explicit PlanarRemesher(std::vector<RemeshOptions> options) : options_(std::move(options)) {}

  /// Collapses first: what they remove is older than this step.
  int pass_count() const override {
    int rounds = 0;
    for (const RemeshOptions& o : options_) rounds = std::max(rounds, o.rounds);
    return 1 + rounds;
  }

  Improvement improve(const SolvedStep& step, int pass) const override {
    Improvement result;
    result.next_pass = pass == 0 ? 1 : pass_count();
    const Model& model = step.problem.model;
    const PlacedSurface placed(step);
    std::map<int, PlanarPass> passes;
    std::map<int, BodyShape> shapes;
    for (const RemeshOptions& o : options_) {
      if (!step.problem.present[std::size_t(o.body)] || pass > o.rounds) continue;
      PlanarPass& body = passes.try_emplace(o.body, step, placed, o).first->second;
      if (pass == 0)
        body.try_collapses();
      else
        body.try_splits();
      result.report.trials += body.trials();
      result.report.splits += Index(body.split().size());
      result.report.collapses += Index(body.collapsed().size());
      if (body.changed()) shapes.emplace(o.body, body.result().shape);
    }
    if (shapes.empty()) return result;
    RemeshedStep made;
    made.model = with_shapes(model, std::move(shapes), model.topology + 1);
    const PlanarNodeTransfer transfer(model, *made.model, passes);
    made.nodes = transfer.restricted(step.nodes);
    made.leaving = step.nodes;
    made.entering = made.ahead = made.nodes;
    for (const auto& [b, body] : passes) {
      const Index old_first = model.first_node[std::size_t(b)],
                  first = made.model->first_node[std::size_t(b)];
      for (const auto& [removed, kept] : body.collapsed())
        made.leaving.col(old_first + removed) = step.nodes.col(old_first + kept);
      Index created = first + model.bodies[std::size_t(b)].node_count();
      for (const auto& [a, other] : body.split()) made.entering.col(created++) = made.nodes.col(first + a);
    }
    if (carry_state(step, transfer, made)) {
      result.step = std::move(made);
      result.next_pass = pass + 1;
    } else {
      result.report.splits = result.report.collapses = 0;
    }
    return result;
  }

 private:
  std::vector<RemeshOptions> options_;
};

class JoinedRemesher final : public Remesher {
 public:
  JoinedRemesher(std::shared_ptr<const Remesher> first, std::shared_ptr<const Remesher> second)
      : first_(std::move(first)), second_(std::move(second)) {}
  int pass_count() const override { return first_->pass_count() + second_->pass_count(); }
  Improvement improve(const SolvedStep& step, int pass) const override {
    const int n = first_->pass_count();
    if (pass < n) return first_->improve(step, pass);
    Improvement result = second_->improve(step, pass - n);
    result.next_pass += n;
    return result;
  }

 private:
  std::shared_ptr<const Remesher> first_, second_;
};

}  // namespace

std::shared_ptr<const Remesher> make_planar_remesher(std::vector<RemeshOptions> options) {
  for (const RemeshOptions& o : options)
    ensure(o.delta_split > 0 && o.delta_collapse <= 0 && o.min_edge >= 0 && o.rounds >= 1,
           "RemeshOptions: out of range");
  return std::make_shared<PlanarRemesher>(std::move(options));
}

std::shared_ptr<const Remesher> joined(std::shared_ptr<const Remesher> first,
                                       std::shared_ptr<const Remesher> second) {
  if (!first || !second) return first ? first : second;
  return std::make_shared<JoinedRemesher>(std::move(first), std::move(second));
}

}  // namespace apart
