#include <apart/remesh/remeshing.hpp>

#include <apart/core/error.hpp>
#include <apart/remesh/body_pass.hpp>
#include <apart/remesh/state_transfer.hpp>

#include <algorithm>

namespace apart {

namespace {

/// A body whose mesh changes.
struct ChangedBody {
  BodyPass pass;
  std::vector<Index> points;  ///< of the new mesh: the editor's numbers
};

class NodeTransfer final : public NodeFieldTransfer {
 public:
  NodeTransfer(const Model& before, const Model& after, const std::map<int, ChangedBody>& changes)
      : before_(before), after_(after), changes_(changes) {
    for (const auto& [b, change] : changes) {
      const BodyPass& pass = change.pass;
      const Body* from = &before.bodies[std::size_t(b)];
      if (!pass.split().empty()) splits_.emplace(b, &pass.split());
      if (!pass.projects()) continue;
      if (pass.split_shape()) from = &split_.emplace(b, with_shape(*from, *pass.split_shape())).first->second;
      std::vector<Blend> points;
      for (const Index p : change.points) points.push_back(pass.place(p));
      projections_.try_emplace(b, *from, after.bodies[std::size_t(b)], std::move(points));
    }
  }

  Matrix3X restricted(const Matrix3X& field) const override {
    return by_body(field, [&](int b, const Matrix3X& part) {
      const auto projection = projections_.find(b);
      return projection == projections_.end() ? part : projection->second.restricted(part);
    });
  }
  Matrix3X correction(const Matrix3X& field, const CollapseTransfer::Mask& held) const override {
    return by_body(field, [&](int b, const Matrix3X& part) -> Matrix3X {
      const Index first = after_.first_node[std::size_t(b)], n = after_.bodies[std::size_t(b)].node_count();
      const auto projection = projections_.find(b);
      if (projection == projections_.end()) return Matrix3X::Zero(3, n);
      return projection->second.correction(part, held.middleCols(first, n));
    });
  }
  bool projects() const override { return !projections_.empty(); }
  std::vector<int> reshaped() const override {
    std::vector<int> result;
    for (const auto& [b, change] : changes_)
      if (change.pass.reshapes()) result.push_back(b);
    return result;
  }

  VertexRenumbering vertices() const override {
    VertexRenumbering result;
    for (int b = 0; b < int(before_.bodies.size()); ++b) result.body.emplace(b, b);
    for (std::size_t v = 0; v < before_.surface_point.size(); ++v) {
      const int b = before_.surface.vertex_body[v];
      if (const Index now = vertex_at(b, before_.surface_point[v] - before_.first_point[std::size_t(b)]);
          now >= 0)
        result.vertex.emplace(Index(v), now);
    }
    for (const auto& [b, change] : changes_) {
      for (const auto& [removed, kept] : change.pass.collapsed())
        if (const Index gone = before_.find_vertex(b, removed); gone >= 0)
          result.merged.emplace(gone, vertex_at(b, kept));
      Index created = before_.bodies[std::size_t(b)].mesh.point_count();
      for (const auto& [end, other] : change.pass.split())
        if (const Index middle = vertex_at(b, created++); middle >= 0)
          result.middles.push_back({middle, b, {vertex_at(b, end), vertex_at(b, other)}});
    }
    return result;
  }

 private:
  /// −1 if the point, in the numbers of the mesh before and of what was created, is removed or inside.
  Index vertex_at(int b, Index point) const {
    const auto change = changes_.find(b);
    if (change == changes_.end()) return after_.find_vertex(b, point);
    const std::vector<Index>& points = change->second.points;
    const auto found = std::ranges::lower_bound(points, point);
    return found != points.end() && *found == point ? after_.find_vertex(b, Index(found - points.begin()))
                                                    : -1;
  }
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
  const std::map<int, ChangedBody>& changes_;
  std::map<int, const std::vector<std::array<Index, 2>>*> splits_;
  std::map<int, Body> split_;  ///< with the split edges, where more is done
  std::map<int, CollapseTransfer> projections_;
};

class BodyRemesher final : public Remesher {
 public:
  explicit BodyRemesher(std::vector<RemeshOptions> options) : options_(std::move(options)) {}

  int pass_count() const override {
    int rounds = 0;
    for (const RemeshOptions& o : options_) rounds = std::max(rounds, o.rounds);
    return rounds;
  }

  Improvement improve(const SolvedStep& step, int pass) const override {
    const auto time = step.problem.timings.measure(Phase::remeshing);
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
      result.report += body.report();
      if (!body.changed()) continue;
      MeshEditor::Result changed = body.result();
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
        if (const auto found = change.pass.shifts().find(change.points[i]);
            found != change.pass.shifts().end())
          made.ahead.col(first_made + Index(i)) += found->second;
    }
    if (carry_state(step, transfer, made)) {
      result.step = std::move(made);
      result.next_pass = pass + 1;
    } else {
      result.report = {.trials = result.report.trials};
    }
    return result;
  }

 private:
  std::vector<RemeshOptions> options_;
};

}  // namespace

std::shared_ptr<const Remesher> make_remesher(std::vector<RemeshOptions> options) {
  for (const RemeshOptions& o : options)
    ensure((o.criterion == RemeshCriterion::sizing_field ? o.longest_edge > 0 && !o.swaps && !o.smoothing
                                                         : o.delta_split > 0 && o.delta_collapse <= 0) &&
               o.min_edge >= 0 && o.rounds >= 1,
           "RemeshOptions: out of range");
  return std::make_shared<BodyRemesher>(std::move(options));
}

}  // namespace apart
