#include <apart/remesh/body_pass.hpp>

#include <apart/core/error.hpp>
#include <apart/core/parallel.hpp>
#include <apart/remesh/collapse_path.hpp>

#include <algorithm>

namespace apart {

namespace {

// An operation is tried if its estimate, which moves one point alone, promises this share of what it must
// gain, or less than this multiple of what it may lose. A patch gains 1.3 to 1.4 times the estimate, and
// loses 0.6 to 1 times it; of shells, whose bending is not counted, less.
constexpr double hopeful_share = 0.7, hopeful_loss = 1.2, hopeful_loss_of_shells = 3;
// Edges that a collapse leaves are at most so long for a sizing field, which splits those of 1. [thesis 6.4]
constexpr double small_size = 0.8;
// Of what a split must gain: what a swap or a moved point must, which add no unknowns. Cook's membrane had
// the same errors with a tenth and a thousandth, and more of its cells at one.
constexpr double share_of_split = 0.1;
// Cells at rest stay better than this (1: regular), unless they were worse before.
constexpr double least_quality = 0.2;
// Operations of a body that are tried in one pass.
constexpr Index most_trials = 2000;

}  // namespace

BodyPass::BodyPass(const SolvedStep& step, const PlacedSurface& placed, const RemeshOptions& options)
    : step_(step),
      placed_(placed),
      options_(options),
      body_(step.problem.model.bodies[std::size_t(options.body)]),
      editor_(source()),
      pinned_(pinned_points()) {
  if (options.criterion == RemeshCriterion::sizing_field)
    field_.emplace(step, options.body, editor_, options.longest_edge);
  else
    split_estimates_ = estimate_splits(step, options.body, editor_);
}

MeshEditor::Source BodyPass::source() const {
  const Index first = step_.problem.model.first_node[std::size_t(options_.body)], n = body_.node_count();
  MeshEditor::Source source;
  source.shape = shape_of(body_);
  for (const Matrix3X* state : {&step_.nodes, &step_.before.nodes, &step_.before.previous_nodes})
    source.states.push_back(state->middleCols(first, n));
  for (const PointSet set : attached_sets()) source.individual.push_back(set.number);
  for (const Load& load : body_.loads)
    if (load.kind == Load::Kind::force && load.points.number >= 0)
      source.individual.push_back(load.points.number);
  source.lasting_points = options_.coarsen ? 0 : options_.scene_points;
  source.is_shell = body_.shell.has_value();
  source.original = options_.original;
  return source;
}

/// Points of attachments and joints.
std::vector<PointSet> BodyPass::attached_sets() const {
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

/// No patch knows what pulls these points.
std::vector<char> BodyPass::pinned_points() const {
  std::vector<char> pinned(std::size_t(body_.node_count()), false);
  for (const PointSet set : attached_sets())
    for (const Index p : body_.sets[set]) pinned[std::size_t(p)] = true;
  return pinned;
}

/// By how much an operation must lower the potential [J].
double BodyPass::least_gain(Kind kind) const {
  if (kind == Kind::collapse) return options_.delta_collapse;
  return kind == Kind::split ? options_.delta_split : share_of_split * options_.delta_split;
}

/// Splits and collapses that the sizing field asks for.
std::vector<BodyPass::Operation> BodyPass::wanted_by_field(Kind kind) const {
  std::vector<Operation> result;
  if (kind == Kind::split)
    for (const auto& [a, b] : editor_.edges())
      if (const double size = field_->size(a, b);
          size >= 1 && (editor_.position(0, a) - editor_.position(0, b)).norm() >= 2 * options_.min_edge)
        result.push_back({kind, {a, b}, size});
  if (kind == Kind::collapse)
    for (Index p = options_.coarsen ? 0 : options_.scene_points; p < editor_.point_count(); ++p)
      for (const Index kept : editor_.neighbours_of(p))
        if (field_->size_after_collapse(p, kept) <= small_size)
          result.push_back({kind, {p, kept}, double(p)});
  return result;
}

std::vector<BodyPass::Operation> BodyPass::hopeful(Kind kind) const {
  if (field_) return wanted_by_field(kind);
  std::vector<Operation> result;
  const double enough = hopeful_share * least_gain(kind);
  const auto length = [&](const std::array<Index, 2>& edge) {
    return (editor_.position(0, edge[0]) - editor_.position(0, edge[1])).norm();
  };
  switch (kind) {
    case Kind::split:
      for (const SplitEstimate& e : split_estimates_)
        if (e.gain > enough && length(e.edge) >= 2 * options_.min_edge)
          result.push_back({kind, {e.edge[0], e.edge[1]}, e.gain});
      break;
    case Kind::collapse: {
      const double share = body_.shell ? hopeful_loss_of_shells : hopeful_loss;
      for (const CollapseEstimate& e : estimate_collapses(
               step_, options_.body, editor_, options_.coarsen ? 0 : options_.scene_points, options_.swaps))
        if (e.loss < -share * options_.delta_collapse)
          result.push_back({kind, {e.removed, e.kept}, double(e.removed)});
      break;
    }
    case Kind::swap:
      for (const SwapEstimate& e : estimate_swaps(step_, options_.body, editor_))
        if (e.gain > enough) result.push_back({kind, e.gone, e.gain});
      break;
    case Kind::move: {
      // Where more points would not gain as much, one that moves does not either.
      std::set<Index> points;
      for (const SplitEstimate& e : split_estimates_)
        if (e.gain > enough) points.insert(e.edge.begin(), e.edge.end());
      for (const MoveEstimate& e : estimate_moves(step_, options_.body, editor_, points))
        if (e.gain > enough) result.push_back({kind, {e.to.from, e.to.to}, e.gain, e.to.share});
      break;
    }
  }
  return result;
}

void BodyPass::improve(bool collapses) {
  // All estimates are of the mesh that the step was solved on.
  std::vector<Operation> splits = hopeful(Kind::split);
  std::vector<std::vector<Operation>> others;
  if (collapses) others.push_back(hopeful(Kind::collapse));
  // Those of a shell are collapses.
  if (options_.swaps && !body_.shell) others.push_back(hopeful(Kind::swap));
  if (options_.smoothing) others.push_back(hopeful(Kind::move));
  blocked_.assign(std::size_t(editor_.cell_count()), false);
  try_all(std::move(splits));
  if (std::ranges::all_of(others, [](const auto& list) { return list.empty(); })) return;
  if (report_.splits > 0) split_shape_ = editor_.result().shape;
  for (std::vector<Operation>& operations : others) try_all(std::move(operations));
}

Blend BodyPass::place(Index point) const {
  const auto found = moved_.find(point);
  return found == moved_.end() ? Blend::of(point) : found->second;
}

Refusal BodyPass::apply(const Operation& o) {
  switch (o.kind) {
    case Kind::split:
      return editor_.split(o.points[0], o.points[1], least_quality);
    case Kind::collapse:
      return editor_.collapse(o.points[0], o.points[1], least_quality);
    case Kind::swap:
      return editor_.swap(o.points, least_quality);
    case Kind::move:
      return editor_.move(o.target(), least_quality);
  }
  throw InvariantError("BodyPass: an operation of a kind that there is");
}

/// None if an earlier operation has taken away what it is about.
std::vector<Index> BodyPass::changed_cells(const Operation& o) const {
  return o.kind == Kind::move ? editor_.cells_of(o.points[0]) : editor_.cells_with(o.points);
}

/// The cells that no other operation of the round may change: those that it changes itself, of a split those
/// of the edge, where alone its midpoint acts, so that gains add up; of a collapse all of its patch.
std::vector<Index> BodyPass::own_cells(const Operation& o) const {
  std::vector<Index> cells = changed_cells(o);
  if (o.kind != Kind::collapse) return cells;
  std::vector<Index> all;
  for (const Index p : points_of(editor_, cells))
    all.insert(all.end(), editor_.cells_of(p).begin(), editor_.cells_of(p).end());
  return all;
}

std::optional<BodyPass::Trial> BodyPass::make_trial(const Operation& o, const std::vector<char>& taken) {
  Trial trial{o, {}, {}, own_cells(o), {}};
  if (trial.cells.empty()) return std::nullopt;  // the edge was split
  for (const Index c : trial.cells)
    if (taken[std::size_t(c)]) return std::nullopt;
  std::vector<Index> around = points_of(editor_, changed_cells(o));
  trial.before = patch_mesh(editor_, around);
  // No patch contains what the step that was solved does not know.
  for (const Index c : trial.before.cells)
    if (changed_[std::size_t(c)]) return std::nullopt;
  if (apply(o) != Refusal::none) return std::nullopt;
  if (o.kind == Kind::split) around.push_back(editor_.point_count() - 1);
  if (o.kind == Kind::collapse) std::erase(around, o.points[0]);
  trial.after = patch_mesh(editor_, around);
  const bool allowed = within_limits(trial.after);
  editor_.undo();
  if (!allowed) return std::nullopt;
  const std::vector<Index>& points = trial.after.points;
  if (o.kind == Kind::split) {
    trial.after.is_finer = true;
    trial.after.blends.emplace(Index(points.size()) - 1, Blend::middle(o.points[0], o.points[1]));
  }
  if (o.kind == Kind::collapse) trial.after.merged.emplace(o.points[0], o.points[1]);
  if (o.kind == Kind::move)
    trial.after.blends.emplace(Index(std::ranges::lower_bound(points, o.points[0]) - points.begin()),
                               o.target());
  return trial;
}

/// Whether a shell keeps its strain limits on a new patch, in all positions of its points.
bool BodyPass::within_limits(const PatchMesh& patch) const {
  if (!body_.shell || !(body_.shell->limit || strain_limit_of(body_.shell->membrane))) return true;
  const Body part = body_.remake({patch.mesh, patch.rest_points, patch.sets});
  Matrix3X x(3, Index(patch.points.size()));
  for (std::size_t which = 0; which < editor_.position_count(); ++which) {
    for (std::size_t i = 0; i < patch.points.size(); ++i)
      x.col(Index(i)) = editor_.position(which, patch.points[i]);
    if (!apart::within_limits(*part.shell, x)) return false;
  }
  return true;
}

/// Whether only an operation of this batch is in the way, not one that was accepted.
bool BodyPass::waits(const Operation& o, const std::vector<char>& taken) const {
  bool in_the_way = false;
  for (const Index c : own_cells(o)) {
    if (blocked_[std::size_t(c)]) return false;
    in_the_way |= bool(taken[std::size_t(c)]);
  }
  return in_the_way;
}

bool BodyPass::is_accepted(const Trial& trial) const {
  const Operation& o = trial.operation;
  if (!field_ && !(trial.outcome.gain > least_gain(o.kind))) return false;
  return o.kind != Kind::collapse ||
         (!meets_swept(o) &&
          way_is_free(step_.problem.model, placed_, options_.body, {o.points[0], o.points[1]}));
}

/// What moves in a collapse of a shell, with half of the reach of contact around it.
Aabb BodyPass::swept_box(const Operation& o) const {
  Aabb box;
  const Index first = step_.problem.model.first_node[std::size_t(options_.body)];
  for (const Index p : points_of(editor_, editor_.cells_of(o.points[0])))
    box.include(Vector3(step_.nodes.col(first + p)));
  const double reach = 0.5 * placed_.surface.pairs.max_reach();
  box.lower.array() -= reach;
  box.upper.array() += reach;
  return box;
}

/// Collapses of one round move at once, but the way of each is proven alone. Parts of a shell that are far
/// apart on its mesh may be near each other in space.
bool BodyPass::meets_swept(const Operation& o) const {
  if (!body_.shell) return false;
  const Aabb box = swept_box(o);
  return std::ranges::any_of(swept_, [&](const Aabb& other) {
    return (box.lower.array() <= other.upper.array()).all() &&
           (other.lower.array() <= box.upper.array()).all();
  });
}

/// Tries operations of one kind, the best first, and does those that are accepted.
void BodyPass::try_all(std::vector<Operation> open) {
  std::ranges::sort(open, [](const Operation& a, const Operation& b) {
    return a.order != b.order ? a.order > b.order : a.points < b.points;
  });
  const PatchTrial patches(step_, placed_, options_.body, pinned_, editor_.has_tolerance());
  std::vector<Trial> accepted;
  changed_ = blocked_;
  const Index tried_before = report_.trials;
  while (!open.empty() && report_.trials - tried_before < most_trials) {
    // A batch of operations that change no cell in common; those in the way of a better one wait.
    std::vector<char> taken = blocked_;
    std::vector<Trial> batch;
    std::vector<Operation> later;
    for (const Operation& o : open) {
      std::optional<Trial> trial = make_trial(o, taken);
      if (!trial) {
        if (waits(o, taken)) later.push_back(o);
        continue;
      }
      for (const Index c : trial->cells) taken[std::size_t(c)] = true;
      batch.push_back(std::move(*trial));
    }
    parallel_for(
        Index(batch.size()),
        [&](Index i) {
          Trial& t = batch[std::size_t(i)];
          if (!field_) t.outcome = patches.compare(t.before, t.after);
        },
        1);
    report_.trials += Index(batch.size());
    for (Trial& t : batch) {
      if (!is_accepted(t)) continue;
      for (const Index c : t.cells) blocked_[std::size_t(c)] = true;
      if (body_.shell && t.operation.kind == Kind::collapse) swept_.push_back(swept_box(t.operation));
      accepted.push_back(std::move(t));
    }
    open = std::move(later);
  }
  for (const Trial& t : accepted) carry_out(t);
  blocked_.resize(std::size_t(editor_.cell_count()), true);
}

void BodyPass::carry_out(const Trial& t) {
  const Operation& o = t.operation;
  const Refusal refusal = apply(o);
  // Two collapses may each leave the rest shape near enough, and not both.
  if (refusal == Refusal::shape && editor_.has_tolerance()) return;
  ensure(refusal == Refusal::none, "BodyPass: what was tried can be done");
  switch (o.kind) {
    case Kind::split:
      ++report_.splits;
      split_.push_back({o.points[0], o.points[1]});
      break;
    case Kind::collapse:
      ++report_.collapses;
      collapsed_.push_back({o.points[0], o.points[1]});
      break;
    case Kind::swap:
      ++report_.swaps;
      break;
    case Kind::move:
      ++report_.moves;
      moved_.emplace(o.points[0], o.target());
      break;
  }
  if (field_) return;
  // Where patches overlap, what each has shifted adds up.
  const Index first = step_.problem.model.first_node[std::size_t(options_.body)];
  for (std::size_t i = 0; i < t.after.points.size(); ++i) {
    if (!t.after.moves[i]) continue;
    const auto blend = t.after.blends.find(Index(i));
    const bool is_new = o.kind == Kind::split && blend != t.after.blends.end();
    const Vector3 from = blend == t.after.blends.end() ? Vector3(step_.nodes.col(first + t.after.points[i]))
                                                       : blend->second.in(step_.nodes, first);
    shifts_.try_emplace(is_new ? editor_.point_count() - 1 : t.after.points[i], Vector3::Zero())
        .first->second += t.outcome.nodes.col(Index(i)) - from;
  }
}

}  // namespace apart
