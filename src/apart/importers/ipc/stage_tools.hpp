#pragma once
// Building blocks of named scripts. For staging.cpp only.
#include <apart/core/error.hpp>
#include <apart/geometry/aabb.hpp>
#include <apart/importers/ipc/staging.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace apart::ipc_stage {

inline constexpr int x = 0, y = 1, z = 2;

/// The speed in each step, as a function of the number of the step. Runs of equal ones become one piece.
using Rule = std::function<Vector3(Index step)>;

/// What named scripts use to arrange scenes: positions, selections of points, and motions.
class StageTools {
 public:
  StageTools(const IpcScript& script, std::vector<IpcComponent>& components, const IpcPoints& mesh_obstacles)
      : script_(script),
        components_(components),
        mesh_obstacles_(mesh_obstacles),
        dt_(script.dt),
        steps_(ipc_steps(script)) {}

 protected:
  [[noreturn]] void fail(std::string_view what) const {
    throw InputError("{}:{}: script '{}' {}", script_.file.string(), script_.script_line, script_.script,
                     what);
  }

  // ---- positions --------------------------------------------------------------------------------

  Aabb box() const {
    Aabb all;
    for (const IpcComponent& c : components_) all.include(bounding_box(c.start));
    return all;
  }
  Aabb rest_box() const {
    Aabb all;
    for (const IpcComponent& c : components_) all.include(bounding_box(c.rest));
    return all;
  }

  /// Half the diagonal of the whole scene.
  void lift_by_half_diagonal() { lift(0.5 * box().diagonal()); }
  void lift(double height) {
    for (IpcComponent& c : components_) c.start.row(y).array() += height;
  }

  static IpcCut cut(int axis, bool below, double threshold) {
    return {Vector3::Unit(axis), below, threshold};
  }
  /// The part of the scene below or above a fraction of its height along an axis.
  IpcCut low(int axis, double fraction) const {
    const Aabb b = box();
    return cut(axis, true, b.lower[axis] + (b.upper - b.lower)[axis] * fraction);
  }
  IpcCut high(int axis, double fraction) const {
    const Aabb b = box();
    return cut(axis, false, b.upper[axis] - (b.upper - b.lower)[axis] * fraction);
  }
  static IpcCut other_side(IpcCut c) {
    c.below = !c.below;
    return c;
  }
  /// The left (0) and right (1) end of the scene, before rotateModel.
  IpcCut border(int side) const {
    const Aabb b = rest_box();
    const double width = (b.upper - b.lower)[x] * script_.handle_ratio;
    IpcCut c = cut(x, side == 0, side == 0 ? b.lower[x] + width : b.upper[x] - width);
    c.rest = true;
    return c;
  }

  static IpcChoice all_of(std::vector<IpcCut> cuts) { return {{std::move(cuts)}, {}}; }

  static bool holds(const IpcCut& c, const IpcComponent& component, Index i) {
    const double value = c.direction.dot((c.rest ? component.rest : component.start).col(i));
    return c.below ? value < c.threshold : value > c.threshold;
  }
  static bool holds(const IpcChoice& choice, const IpcComponent& component, Index i) {
    for (const auto& cuts : choice.any_of) {
      bool inside = true;
      for (const IpcCut& c : cuts) inside = inside && holds(c, component, i);
      if (inside) return true;
    }
    return false;
  }

  using Place = std::pair<std::size_t, Index>;
  std::optional<Place> first(const IpcChoice& choice) const {
    for (std::size_t c = 0; c < components_.size(); ++c)
      for (Index i = 0; i < components_[c].start.cols(); ++i)
        if (holds(choice, components_[c], i)) return Place{c, i};
    return std::nullopt;
  }
  std::optional<Place> last(const IpcChoice& choice) const {
    for (std::size_t c = components_.size(); c-- > 0;)
      for (Index i = Index(components_[c].start.cols()); i-- > 0;)
        if (holds(choice, components_[c], i)) return Place{c, i};
    return std::nullopt;
  }
  Vector3 position(const Place& place) const { return components_[place.first].start.col(place.second); }
  /// Where the first of the chosen points is along an axis; 0 if there is none, since then nothing moves.
  double first_at(const IpcChoice& choice, int axis) const {
    const auto place = first(choice);
    return place ? position(*place)[axis] : 0;
  }

  // ---- motions ----------------------------------------------------------------------------------

  static IpcMovement steady(const Vector3& velocity) { return {{{0, velocity, true}}, {}}; }
  static IpcMovement spinning(const Vector3& axis, double rate, const Vector3& center) {
    return {{{0, Vector3::Zero(), true}}, IpcSpin{axis, rate, center}};
  }

  IpcMovement by_rule(const Rule& rule) const {
    IpcMovement movement;
    for (Index k = 0; k < steps_; ++k) {
      const Vector3 v = rule(k);
      if (movement.pieces.empty() || v != movement.pieces.back().velocity)
        movement.pieces.push_back({double(k) * dt_, v, true});
    }
    return movement;
  }

  /// The start of the first step that finds a point, which starts at `from` and moves with `speed`, at
  /// `limit` or beyond.
  double moment(double from, double speed, double limit) const {
    double at = from;
    for (Index k = 0; k < steps_; ++k) {
      if (speed < 0 ? at <= limit : at >= limit) return double(k) * dt_;
      at += speed * dt_;
    }
    return infinity;
  }
  static IpcMovement until(double moment, const Vector3& velocity) {
    if (moment == 0) return {};
    IpcMovement movement = steady(velocity);
    if (moment < infinity) movement.pieces.push_back({moment, Vector3::Zero(), true});
    return movement;
  }

  /// To and fro: `velocity` turns round in each step that finds a point, which starts at `from` and moves
  /// with `speed`, at or outside of [low, high].
  IpcMovement bouncing(const Vector3& velocity, double from, double speed, double low, double high) const {
    double at = from, sign = 1;
    return by_rule([=, dt = dt_](Index) mutable -> Vector3 {
      if (at <= low || at >= high) sign = -sign;
      at += sign * speed * dt;
      return sign * velocity;
    });
  }

  /// Two things that approach each other with 1 m/s each along an axis, and turn round in each step that
  /// finds them nearer than `nearest`. Gives +1 or -1 for each step.
  std::vector<double> approach(double distance, double nearest) const {
    std::vector<double> signs;
    double sign = 1;
    for (Index k = 0; k < steps_; ++k) {
      if (distance < nearest) sign = -sign;
      distance -= 2 * sign * dt_;
      signs.push_back(sign);
    }
    return signs;
  }
  IpcMovement along(const Vector3& velocity, const std::vector<double>& signs) const {
    return by_rule([&](Index k) -> Vector3 { return signs[std::size_t(k)] * velocity; });
  }

  void hold(IpcChoice where) { staging_.handles.push_back({std::move(where), {}}); }
  void move(IpcChoice where, IpcMovement movement, double until = infinity) {
    staging_.handles.push_back({std::move(where), std::move(movement), until});
  }
  void move_borders(const IpcMovement& left, const IpcMovement& right) {
    move(all_of({border(0)}), left);
    move(all_of({border(1)}), right);
  }

  Vector3 center_of(std::size_t component) const {
    return bounding_box(components_[component].start).centre();
  }

  void need_components(std::size_t count) const {
    if (components_.size() < count)
      fail(fmt::format("needs at least {} shapes, there are {}; add some", count, components_.size()));
  }
  void need_mesh_obstacles(std::size_t count) const {
    if (script_.mesh_obstacles.size() < count)
      fail(fmt::format("needs {} meshCO, there are {}; add some", count, script_.mesh_obstacles.size()));
  }
  void need_half_spaces(std::size_t count) const {
    if (script_.half_spaces.size() < count)
      fail(fmt::format("needs {} half-spaces, there are {}; add some", count, script_.half_spaces.size()));
  }

  const IpcScript& script_;
  std::vector<IpcComponent>& components_;
  const IpcPoints& mesh_obstacles_;
  double dt_;
  Index steps_;
  IpcStaging staging_;
};

}  // namespace apart::ipc_stage
