#include <apart/remesh/volume_remesher.hpp>

#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/remesh/collapse_path.hpp>
#include <apart/remesh/patch.hpp>
#include <apart/remesh/screening.hpp>
#include <apart/remesh/state_transfer.hpp>

#include <algorithm>

namespace apart {

namespace {

// An operation is tried if its estimate, which moves one point alone, promises this share of what it must
// gain, or less than this multiple of what it may lose. A patch gains 1.3 to 1.4 times the estimate.
constexpr double hopeful_share = 0.7, hopeful_loss = 3;
// Cells at rest stay better than this (1: regular), unless they were worse before.
constexpr double least_quality = 0.2;
// Operations of a body that are tried in one pass.
constexpr std::size_t most_trials = 2000;

/// A split of the edge, or a collapse of its first point onto the second.
struct Operation {
  std::array<Index, 2> points;
  double order;  ///< the larger, the sooner it is tried
};

/// One body in one pass.
class BodyPass {
 public:
  BodyPass(const SolvedStep& step, const PlacedSurface& placed, const RemeshOptions& options)
      : step_(step),
        placed_(placed),
        options_(options),
        body_(step.problem.model.bodies[std::size_t(options.body)]),
        editor_(source()),
        pinned_(pinned_points()) {}

  /// Splits edges and then, away from these, collapses others if asked to: the youngest points first, so that
  /// collapses lead back to the mesh that splits began with.
  void improve(bool collapses) {
    std::vector<Operation> to_split, to_collapse;
    for (const SplitEstimate& e : estimate_splits(step_, options_.body, editor_))
      if (e.gain > hopeful_share * options_.delta_split && length(e.edge) >= 2 * options_.min_edge)
        to_split.push_back({e.edge, e.gain});
    const Index first = options_.coarsen ? 0 : options_.scene_points;
    if (collapses)
      for (const CollapseEstimate& e : estimate_collapses(step_, options_.body, editor_, first))
        if (e.loss < -hopeful_loss * options_.delta_collapse)
          to_collapse.push_back({{e.removed, e.kept}, double(e.removed)});
    blocked_.assign(std::size_t(editor_.cell_count()), false);
    split_ = try_all(std::move(to_split), true);
    blocked_.resize(std::size_t(editor_.cell_count()), true);
    if (to_collapse.empty()) return;
    if (!split_.empty()) split_shape_ = editor_.result().shape;
    collapsed_ = try_all(std::move(to_collapse), false);
  }

  bool changed() const { return editor_.operation_count() > 0; }
  Index trials() const { return trials_; }
  const std::vector<std::array<Index, 2>>& split() const { return split_; }  ///< edges
  /// Removed points, each with the one that it was moved onto.
  const std::vector<std::array<Index, 2>>& collapsed() const { return collapsed_; }
  /// The mesh with what was split and nothing collapsed, if there is both.
  const std::optional<BodyShape>& split_shape() const { return split_shape_; }
  /// How far patches have moved points [m], by the editor's numbers.
  const std::map<Index, Vector3>& moved() const { return moved_; }
  VolumeEditor::Result result() const { return editor_.result(); }

 private:
  VolumeEditor::Source source() const {
    const Index first = step_.problem.model.first_node[std::size_t(options_.body)], n = body_.node_count();
    VolumeEditor::Source source;
    source.shape = shape_of(body_);
    for (const Matrix3X* state : {&step_.nodes, &step_.before.nodes, &step_.before.previous_nodes})
      source.states.push_back(state->middleCols(first, n));
    source.individual = individual_sets();
    source.lasting_points = options_.coarsen ? 0 : options_.scene_points;
    return source;
  }

  /// Sets whose members are individual points.
  std::vector<int> individual_sets() const {
    std::vector<int> sets;
    const auto add = [&](int body, PointSet set) {
      if (body == options_.body && set.number >= 0) sets.push_back(set.number);
    };
    const Model& model = step_.problem.model;
    for (const Load& load : body_.loads)
      if (load.kind == Load::Kind::force) add(options_.body, load.points);
    for (const Attachment& a : model.attachments) {
      add(a.body, a.points);
      add(a.other, a.other_points);
    }
    for (const Joint& joint : model.joints)
      for (const JointSide& side : joint.sides) add(side.body, side.points);
    return sets;
  }

  /// Points of attachments and joints: no patch knows what pulls them.
  std::vector<char> pinned_points() const {
    std::vector<char> pinned(std::size_t(body_.node_count()), false);
    const auto pin = [&](int body, PointSet set) {
      if (body != options_.body) return;
      for (const Index p : body_.sets[set]) pinned[std::size_t(p)] = true;
    };
    const Model& model = step_.problem.model;
    for (const Attachment& a : model.attachments) {
      pin(a.body, a.points);
      pin(a.other, a.other_points);
    }
    for (const Joint& joint : model.joints)
      for (const JointSide& side : joint.sides) pin(side.body, side.points);
    return pinned;
  }

  double length(const std::array<Index, 2>& edge) const {
    return (editor_.position(0, edge[0]) - editor_.position(0, edge[1])).norm();
  }

  Refusal apply(const Operation& o, bool is_split) {
    return is_split ? editor_.split(o.points[0], o.points[1], least_quality)
                    : editor_.collapse(o.points[0], o.points[1], least_quality);
  }

  /// A trial that is ready to be evaluated.
  struct Trial {
    Operation operation;
    PatchMesh before, after;
    std::vector<Index> cells;  ///< own_cells
    PatchTrial::Outcome outcome;
  };

  /// The cells that no other operation of the round may change: of a split those of the edge, where alone its
  /// midpoint acts, so that gains add up; of a collapse all of its patch.
  std::vector<Index> own_cells(const Operation& o, bool is_split) const {
    if (is_split) return editor_.cells_of_edge(o.points[0], o.points[1]);
    std::vector<Index> cells;
    for (const Index p : points_around(editor_, o.points[0], o.points[1]))
      for (const Index c : editor_.cells_of(p)) cells.push_back(c);
    return cells;
  }

  std::optional<Trial> make_trial(const Operation& o, bool is_split, const std::vector<char>& taken) {
    Trial trial{o, {}, {}, own_cells(o, is_split), {}};
    if (trial.cells.empty()) return std::nullopt;  // the edge was split
    for (const Index c : trial.cells)
      if (taken[std::size_t(c)]) return std::nullopt;
    const std::vector<Index> around = points_around(editor_, o.points[0], o.points[1]);
    trial.before = patch_mesh(editor_, around);
    if (apply(o, is_split) != Refusal::none) return std::nullopt;
    std::vector<Index> after = around;
    if (is_split)
      after.push_back(editor_.point_count() - 1);
    else
      std::erase(after, o.points[0]);
    trial.after = patch_mesh(editor_, after);
    if (is_split) trial.after.midpoint_of = o.points;
    editor_.undo();
    return trial;
  }

  /// Tries operations, the best first, and does those that are accepted. Returns their points.
  std::vector<std::array<Index, 2>> try_all(std::vector<Operation> open, bool is_split) {
    std::ranges::sort(open, [](const Operation& a, const Operation& b) {
      return a.order != b.order ? a.order > b.order : a.points < b.points;
    });
    const PatchTrial patches(step_, placed_, options_.body, pinned_);
    const double least = is_split ? options_.delta_split : options_.delta_collapse;
    std::vector<Trial> accepted;
    while (!open.empty() && std::size_t(trials_) < most_trials) {
      // A batch of operations that change no cell in common; those in the way of a better one wait.
      std::vector<char> taken = blocked_;
      std::vector<Trial> batch;
      std::vector<Operation> later;
      for (const Operation& o : open) {
        std::optional<Trial> trial = make_trial(o, is_split, taken);
        if (!trial) {
          if (waits(o, is_split, taken)) later.push_back(o);
          continue;
        }
        for (const Index c : trial->cells) taken[std::size_t(c)] = true;
        batch.push_back(std::move(*trial));
      }
      parallel_for(
          Index(batch.size()),
          [&](Index i) {
            Trial& t = batch[std::size_t(i)];
            t.outcome = patches.compare(t.before, t.after);
          },
          1);
      trials_ += Index(batch.size());
      for (Trial& t : batch) {
        if (!(t.outcome.gain > least)) continue;
        if (!is_split && !way_is_free(step_.problem.model, placed_, options_.body, t.operation.points))
          continue;
        for (const Index c : t.cells) blocked_[std::size_t(c)] = true;
        accepted.push_back(std::move(t));
      }
      open = std::move(later);
    }
    std::vector<std::array<Index, 2>> done;
    for (const Trial& t : accepted) {
      ensure(apply(t.operation, is_split) == Refusal::none, "VolumeRemesher: what was tried can be done");
      done.push_back(t.operation.points);
      // Where patches overlap, what each has moved adds up.
      const Index first = step_.problem.model.first_node[std::size_t(options_.body)];
      for (std::size_t i = 0; i < t.after.points.size(); ++i) {
        if (!t.after.moves[i]) continue;
        const bool created = is_split && i + 1 == t.after.points.size();
        const auto [a, b] = created ? t.operation.points : std::array{t.after.points[i], t.after.points[i]};
        const Vector3 from = 0.5 * (step_.nodes.col(first + a) + step_.nodes.col(first + b));
        moved_.try_emplace(created ? editor_.point_count() - 1 : a, Vector3::Zero()).first->second +=
            t.outcome.relaxed.col(Index(i)) - from;
      }
    }
    return done;
  }

  /// Whether only an operation of this batch is in the way, not one that was accepted.
  bool waits(const Operation& o, bool is_split, const std::vector<char>& taken) const {
    bool in_the_way = false;
    for (const Index c : own_cells(o, is_split)) {
      if (blocked_[std::size_t(c)]) return false;
      in_the_way |= bool(taken[std::size_t(c)]);
    }
    return in_the_way;
  }

  const SolvedStep step_;
  const PlacedSurface& placed_;
  const RemeshOptions& options_;
  const Body& body_;
  VolumeEditor editor_;
  std::vector<char> pinned_;
  std::vector<std::array<Index, 2>> split_, collapsed_;
  std::optional<BodyShape> split_shape_;
  std::vector<char> blocked_;  ///< cells of patches of accepted operations
  std::map<Index, Vector3> moved_;
  Index trials_ = 0;
};

/// A body whose mesh changes.
struct ChangedBody {
  BodyPass pass;
  std::vector<Index> points;  ///< of the new mesh: the editor's numbers
};

class NodeTransfer final : public NodeFieldTransfer {
 public:
  NodeTransfer(const Model& before, const Model& after, const std::map<int, ChangedBody>& changes)
      : before_(before), after_(after) {
    for (const auto& [b, change] : changes) {
      const BodyPass& pass = change.pass;
      const Body* from = &before.bodies[std::size_t(b)];
      if (!pass.split().empty()) splits_.emplace(b, &pass.split());
      if (pass.collapsed().empty()) continue;
      if (pass.split_shape()) from = &split_.emplace(b, with_shape(*from, *pass.split_shape())).first->second;
      collapses_.try_emplace(b, *from, after.bodies[std::size_t(b)], change.points);
    }
  }

  Matrix3X restricted(const Matrix3X& field) const override {
    return by_body(field, [&](int b, const Matrix3X& part) {
      const auto collapse = collapses_.find(b);
      return collapse == collapses_.end() ? part : collapse->second.restricted(part);
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
      result.middleCols(after_.first_node[b], after_.bodies[b].node_count()) = part(
          int(b), split(int(b), field.middleCols(before_.first_node[b], before_.bodies[b].node_count())));
    return result;
  }
  Matrix3X split(int b, const Matrix3X& part) const {
    const auto found = splits_.find(b);
    return found == splits_.end() ? part : with_midpoints(part, *found->second);
  }
  const Model &before_, &after_;
  std::map<int, const std::vector<std::array<Index, 2>>*> splits_;
  std::map<int, Body> split_;  ///< with the split edges, where others are collapsed
  std::map<int, CollapseTransfer> collapses_;
};

class VolumeRemesher final : public Remesher {
 public:
  explicit VolumeRemesher(std::vector<RemeshOptions> options) : options_(std::move(options)) {}

  int pass_count() const override {
    int rounds = 0;
    for (const RemeshOptions& o : options_) rounds = std::max(rounds, o.rounds);
    return rounds;
  }

  Improvement improve(const SolvedStep& step, int pass) const override {
    Improvement result;
    result.next_pass = pass_count();
    const Model& model = step.problem.model;
    const PlacedSurface placed(step);
    std::map<int, ChangedBody> changes;
    std::map<int, BodyShape> shapes;
    for (const RemeshOptions& o : options_) {
      if (!step.problem.present[std::size_t(o.body)] || pass >= o.rounds) continue;
      BodyPass body(step, placed, o);
      body.improve(pass == 0);
      result.report.trials += body.trials();
      result.report.splits += Index(body.split().size());
      result.report.collapses += Index(body.collapsed().size());
      if (!body.changed()) continue;
      VolumeEditor::Result changed = body.result();
      shapes.emplace(o.body, std::move(changed.shape));
      changes.emplace(o.body, ChangedBody{std::move(body), std::move(changed.points)});
    }
    if (shapes.empty()) return result;
    RemeshedStep made;
    made.model = with_shapes(model, std::move(shapes), model.topology + 1);
    const NodeTransfer transfer(model, *made.model, changes);
    made.nodes = transfer.restricted(step.nodes);
    made.leaving = step.nodes;
    made.entering = made.ahead = made.nodes;
    for (const auto& entry : changes) {
      const int b = entry.first;
      const ChangedBody& change = entry.second;
      const Index first = model.first_node[std::size_t(b)],
                  first_made = made.model->first_node[std::size_t(b)];
      for (const auto& [removed, kept] : change.pass.collapsed())
        made.leaving.col(first + removed) = step.nodes.col(first + kept);
      const auto made_node = [&, first_made](Index number) {
        return first_made + Index(std::ranges::lower_bound(change.points, number) - change.points.begin());
      };
      Index created = model.bodies[std::size_t(b)].node_count();
      for (const auto& [a, other] : change.pass.split())
        made.entering.col(made_node(created++)) = made.nodes.col(made_node(a));
      for (std::size_t i = 0; i < change.points.size(); ++i)
        if (const auto found = change.pass.moved().find(change.points[i]); found != change.pass.moved().end())
          made.ahead.col(first_made + Index(i)) += found->second;
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

}  // namespace

std::shared_ptr<const Remesher> make_volume_remesher(std::vector<RemeshOptions> options) {
  for (const RemeshOptions& o : options)
    ensure(o.delta_split > 0 && o.delta_collapse <= 0 && o.min_edge >= 0 && o.rounds >= 1,
           "RemeshOptions: out of range");
  return std::make_shared<VolumeRemesher>(std::move(options));
}

}  // namespace apart
