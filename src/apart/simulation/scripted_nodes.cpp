#include <apart/core/error.hpp>
#include <apart/geometry/aabb.hpp>
#include <apart/simulation/scripted_nodes.hpp>

#include <algorithm>

namespace apart {

namespace {

constexpr double straightness = 5e-4;  // largest deviation from a chord, in sizes of the body
constexpr int most_pieces = 1024;      // of a motion in one step
// Where the deviation is measured: the golden section, which no number of whole turns brings back to the
// start.
constexpr double sample = 0.3819660112501051;

}  // namespace

ScriptedNodes::ScriptedNodes(const Model& model)
    : model_(model), planes_(Mask::Constant(3, model.node_count(), false)) {
  for (std::size_t b = 0; b < model.bodies.size(); ++b)
    if (model.bodies[b].planar)
      planes_.row(2).segment(model.first_node[b], model.bodies[b].node_count()) = true;
  for (std::size_t b = 0; b < model.bodies.size(); ++b)
    for (const ScriptedPart& part : model.acting[b].scripted) {
      const Script& script = model.bodies[b].scripts[part.script];
      const bool late = script.when.from > 0;
      places_.push_back({b, &script, &part, late ? anchor_count_ : -1});
      if (late) anchor_count_ += Index(part.nodes.size());
    }
}

ScriptedNodes::Mask ScriptedNodes::mask(double time) const {
  Mask mask = planes_;
  for (const Place& place : places_) {
    if (!place.script->when.covers(time)) continue;
    for (const Index n : place.part->nodes)
      for (int axis = 0; axis < 3; ++axis)
        mask(axis, model_.first_node[place.body] + n) |= place.part->axes[axis];
  }
  return mask;
}

bool ScriptedNodes::acts(const Place& place, double time) const {
  return place.script->when.covers(time) && model_.bodies[place.body].presence.covers(time);
}

Matrix3X ScriptedNodes::targets(const Place& place, const Matrix3X& anchors, double time) const {
  const Script& script = *place.script;
  const Index first = model_.first_node[place.body];
  const std::vector<Index>& nodes = place.part->nodes;
  Matrix3X target(3, Index(nodes.size()));
  for (Index i = 0; i < target.cols(); ++i)
    target.col(i) = place.first_anchor < 0 ? Vector3(model_.initial_nodes.col(first + nodes[std::size_t(i)]))
                                           : Vector3(anchors.col(place.first_anchor + i));
  if (script.motion) target = script.motion(target, std::max(time - script.when.from, 0.0));
  if (!target.allFinite())
    throw SolverError(
        fmt::format("the scripted motion of '{}' is not a finite number at t = {:.6g} s; correct its formula "
                    "or end the run before that time",
                    model_.bodies[place.body].name, time));
  return target;
}

ScriptedNodes::Curves ScriptedNodes::curves(const State& state, double length) const {
  Curves result;
  result.of_body.assign(model_.bodies.size(), 1);
  const double end = state.time + length;
  Matrix3X anchors;  // found when it is needed first
  for (const Place& place : places_) {
    const Script& script = *place.script;
    const Body& body = model_.bodies[place.body];
    if (!script.motion || !acts(place, end)) continue;
    if (anchors.cols() == 0 && anchor_count_ > 0) anchors = this->anchors(state, end);
    double size = body.half_space ? 0 : bounding_box(body.mesh.points).diagonal() + 2 * body.radius;
    if (size == 0) size = model_.size;
    const auto at = [&](double share) { return targets(place, anchors, state.time + share * length); };
    // How many pieces are not straight; `enough` of them need not be exceeded.
    const auto bent = [&](int pieces, int enough) {
      int count = 0;
      Matrix3X from = at(0);
      for (int k = 0; k < pieces && count < enough; ++k) {
        const Matrix3X to = at(double(k + 1) / pieces), between = at((k + sample) / pieces);
        bool is_bent = false;
        for (int axis = 0; axis < 3; ++axis)
          is_bent |= place.part->axes[std::size_t(axis)] &&
                     (between.row(axis) - (1 - sample) * from.row(axis) - sample * to.row(axis))
                             .cwiseAbs()
                             .maxCoeff() > straightness * size;
        count += is_bent;
        from = to;
      }
      return count;
    };
    int pieces = 1;
    while (pieces < most_pieces && bent(pieces, 1) > 0) pieces *= 2;
    // A jump stays a jump, in one piece. What is bent nearly everywhere turns too fast to be followed.
    if (pieces == most_pieces && bent(pieces, most_pieces / 2) == most_pieces / 2)
      throw SolverError(fmt::format(
          "the scripted motion of '{}' is too fast to be followed: of the step of {:.3g} s from t = "
          "{:.6g} s not even a {}th is straight; shorten time.dt or slow it down",
          body.name, length, state.time, most_pieces));
    int& of_body = result.of_body[place.body];
    of_body = std::max(of_body, pieces);
    result.most = std::max(result.most, pieces);
    if (body.is_dynamic() && Index(place.part->nodes.size()) < body.node_count())
      result.most_attached = std::max(result.most_attached, pieces);
  }
  return result;
}

Matrix3X ScriptedNodes::apply(Matrix3X q, const Matrix3X& anchors, double time) const {
  for (const Place& place : places_) {
    if (!acts(place, time)) continue;
    const ScriptedPart& part = *place.part;
    const Index first = model_.first_node[place.body];
    const Matrix3X target = targets(place, anchors, time);
    for (Index i = 0; i < target.cols(); ++i)
      for (int axis = 0; axis < 3; ++axis)
        if (part.axes[std::size_t(axis)]) q(axis, first + part.nodes[std::size_t(i)]) = target(axis, i);
  }
  return q;
}

Matrix3X ScriptedNodes::anchors(const State& state, double time) const {
  Matrix3X result = state.anchors;
  ensure(result.cols() == anchor_count_ || (result.cols() == 0 && state.step == 0),
         "ScriptedNodes: the state has other scripts than the model");
  if (result.cols() == 0) result = Matrix3X::Zero(3, anchor_count_);
  for (const Place& place : places_) {
    const Script& script = *place.script;
    if (place.first_anchor < 0 || !script.when.covers(time) || script.when.covers(state.time)) continue;
    const std::vector<Index>& nodes = place.part->nodes;
    for (Index i = 0; i < Index(nodes.size()); ++i)
      result.col(place.first_anchor + i) =
          state.nodes.col(model_.first_node[place.body] + nodes[std::size_t(i)]);
  }
  return result;
}

}  // namespace apart
