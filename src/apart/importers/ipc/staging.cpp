#include <apart/importers/ipc/stage_tools.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/scene/validation.hpp>

namespace apart {

namespace {

using namespace ipc_stage;

/// Arranges one scene. The functions named like scripts are what docs/coming-from-ipc.md describes.
class Stage : StageTools {
 public:
  using StageTools::StageTools;
  IpcStaging arrange();

 private:
  struct Named {
    std::string_view name;
    void (Stage::*arrange)();
    std::string_view refused = {};  ///< why it cannot be carried over
  };
  static std::span<const Named> table();

  // ---- scripts: parts are held ------------------------------------------------------------------

  void null() { staging_.uses_shape_options = true; }
  void nothing() {}

  void hang() {
    for (int side = 0; side < 2; ++side)
      if (const auto place = last(all_of({border(side)}))) hold({{}, *place});
  }
  void hang2() { hold(all_of({high(y, 0.01)})); }
  void hang_top_left() {
    hold({{{border(0), high(y, 0.01), high(z, 0.01)}, {border(0), high(y, 0.01), low(z, 0.01)}}, {}});
  }
  void stamp() { hold(all_of({border(0)})); }
  void swing() {
    const Aabb b = box();
    lift(1.3 * (b.upper - b.lower)[y]);
    hold(all_of({low(x, 0.05)}));
  }
  void stamp_top_left() { hold(all_of({border(0), high(y, 0.01)})); }
  void stamp_both() {
    hold(all_of({border(0)}));
    hold(all_of({border(1)}));
  }
  void stand() { hold(all_of({low(y, 0.01)})); }
  void topbottomfix() {
    hold(all_of({low(y, 0.02)}));
    hold(all_of({high(y, 0.02)}));
  }
  void fix_lower_half() { hold(all_of({low(y, 0.5)})); }
  void corner() { hold({{{low(x, 0.01)}, {low(y, 0.01)}, {low(z, 0.01)}}, {}}); }
  void fix_rightmost() {
    if (const auto place = first(all_of({high(x, 1e-3)}))) hold({{}, *place});
  }

  // ---- scripts: parts are moved -----------------------------------------------------------------

  void push() {
    const IpcChoice top = all_of({high(y, 0.01)});
    hold(all_of({low(y, 0.01)}));
    const double at = first_at(top, y);
    move(top, until(moment(at, -1, at - 0.5), {0, -1, 0}));
  }
  void tear() {
    const IpcChoice top = all_of({high(y, 0.01)});
    hold(all_of({low(y, 0.01)}));
    const double at = first_at(top, x);
    move(top, bouncing({-5, 0, 0}, at, -5, at - 4, infinity));
  }
  void undstamp() {
    const double at = first_at(all_of({border(0)}), y);
    move(all_of({border(0)}), bouncing({0, 1.8, 0}, at, 1.8, at - 0.6, at + 0.6));
  }
  void upndown() {
    const double at = first_at(all_of({border(0)}), y);
    move_borders(bouncing({0, 1.8, 0}, at, 1.8, at - 0.6, at + 0.6),
                 bouncing({0, -1.8, 0}, at, 1.8, at - 0.6, at + 0.6));
  }
  void stretch() { move_borders(steady({-0.1, 0, 0}), steady({0.1, 0, 0})); }
  void squash() { move_borders(steady({0.03, 0, 0}), steady({-0.03, 0, 0})); }
  void stretch_and_pause() {
    // The pause is at a place of the world, not after a way.
    const IpcChoice left = all_of({low(x, 0.01)}), right = all_of({high(x, 0.01)});
    const auto place = last(left);
    double at = place ? position(*place)[x] : 0;
    Index k = 0;
    for (; k < steps_ && at >= -0.28; ++k) at -= dt_;
    const double pause = k < steps_ ? double(k) * dt_ : infinity;
    move(left, until(pause, {-1, 0, 0}));
    move(right, until(pause, {1, 0, 0}));
  }
  void stretchnsquash() { move_to_and_fro(0.9, 0.8, 0.4, std::nullopt); }

  /// The ends move apart and together, the left one between -out and +in from where it starts; they may turn.
  void move_to_and_fro(double speed, double out, double in, std::optional<double> rate) {
    const double at = first_at(all_of({border(0)}), x);
    IpcMovement left = bouncing({-speed, 0, 0}, at, -speed, at - out, at + in),
                right = bouncing({speed, 0, 0}, at, -speed, at - out, at + in);
    if (rate) {
      left.spin = IpcSpin{Vector3::UnitX(), -*rate, rest_box().centre()};
      right.spin = IpcSpin{Vector3::UnitX(), *rate, rest_box().centre()};
    }
    move_borders(left, right);
  }

  void bend() {
    for (int side = 0; side < 2; ++side)
      if (const auto hinge = last(all_of({border(side)})))
        move(all_of({border(side)}), spinning(Vector3::UnitZ(), side == 0 ? -9 : 9, position(*hinge)));
  }
  void twist() {
    const Vector3 center = rest_box().centre();
    move_borders(spinning(Vector3::UnitX(), -72, center), spinning(Vector3::UnitX(), 72, center));
  }
  void twistnstretch() {
    const Vector3 center = rest_box().centre();
    IpcMovement left = steady({-0.1, 0, 0}), right = steady({0.1, 0, 0});
    left.spin = IpcSpin{Vector3::UnitX(), -18, center};
    right.spin = IpcSpin{Vector3::UnitX(), 18, center};
    move_borders(left, right);
  }
  void twistnsns() { move_to_and_fro(1.2, 1.2, 0.4, 72); }
  void twistnsns_old() { move_to_and_fro(0.9, 0.8, 0.4, 72); }

  void rubber_band_pull() {
    const IpcChoice waist = all_of({other_side(high(y, 0.48)), other_side(low(y, 0.48))});
    const double at = first_at(waist, x), release = moment(at, -2.5, at - 5);
    move(all_of({low(y, 0.02)}), until(release, {0, -0.2, 0}));
    move(all_of({high(y, 0.02)}), until(release, {0, 0.2, 0}));
    move(waist, steady({-2.5, 0, 0}), release);
  }
  void four_leg_pull() {
    const IpcChoice left_bottom = all_of({low(y, 0.02), low(x, 0.25)});
    const double at = first_at(left_bottom, y), release = moment(at, -3.5, at - 5);
    hold(all_of({high(y, 0.129), low(x, 0.16)}));
    move(all_of({high(y, 0.16), high(x, 0.16)}), steady({2.5, 0, 0}), release);
    move(all_of({low(y, 0.02), high(x, 0.25)}), steady({2.5, -3.5, 0}), release);
    move(left_bottom, steady({0, -3.5, 0}), release);
  }
  void head_tail_pull() {
    const IpcChoice left = all_of({low(z, 0.02)});
    const double at = first_at(left, x), release = moment(at, 3.5, at + 4.5);
    move(left, steady({3.5, 0, 0}), release);
    move(all_of({high(z, 0.02)}), steady({3.5, 0, 0}), release);
    hold(all_of({other_side(low(z, 0.46)), low(z, 0.54)}));
  }
  void toggle_top() {
    const IpcChoice top = all_of({high(y, 0.02)});
    const double at = first_at(top, x);
    move(top, steady({-0.5, 0, 0}), moment(at, -0.5, at - 0.1));
  }
  void curtain() {
    const Aabb b = box();
    const double width = (b.upper - b.lower)[x];
    for (int pin = 0; pin < 8; ++pin) {
      const double at = b.lower[x] + width / 7 * pin;
      const IpcChoice where =
          all_of({cut(x, false, at - 0.0025 * width), cut(x, true, at + 0.0025 * width), high(y, 0.005)});
      if (pin < 7)
        move(where, steady({0.04 * (7 - pin) / 7, 0, 0}));
      else
        hold(where);
    }
  }
  void push_rightmost() {
    if (const auto place = first(all_of({high(x, 1e-3)}))) move({{}, *place}, steady({-0.15, 0, 0}));
  }
  void dragdown() {
    lift_by_half_diagonal();
    move(all_of({low(y, 0.1), other_side(low(x, 0.42)), low(x, 0.52)}), steady({0, -1.5, 0}));
  }
  void dragright() {
    lift_by_half_diagonal();
    if (mesh_obstacles_.empty()) return;  // the reference lets go at once if there is nothing to pass
    double right = -infinity;
    for (const Matrix3X& points : mesh_obstacles_) right = std::max(right, points.row(x).maxCoeff());
    double at = box().lower[x], release = infinity;
    for (Index k = 0; k < steps_ && release == infinity; ++k, at += 0.5 * dt_)
      if (at > right) release = double(k) * dt_;
    if (release < infinity)
      staging_.notes.push_back(
          fmt::format("{}:{}: script 'dragright' lets go when everything has passed the meshCO; here it does "
                      "at {:g} s, which is "
                      "when a body that does not deform has passed",
                      script_.file.string(), script_.script_line, release));
    move(all_of({high(x, 0.04)}), steady({0.5, 0, 0}), release);
  }

  // ---- scripts: everything moves at the start, or is pushed -------------------------------------

  void fall() { lift_by_half_diagonal(); }
  void drop() {
    for (std::size_t c = 0; c < components_.size(); ++c) staging_.initial_velocity[c] = Vector3(0, -1, 0);
  }
  void left_hit_right() {
    const IpcCut left = low(x, 0.5);
    for (std::size_t c = 0; c < components_.size(); ++c) {
      Index count = 0;
      for (Index i = 0; i < components_[c].start.cols(); ++i) count += holds(left, components_[c], i);
      if (count == 0) continue;
      if (count < components_[c].start.cols())
        fail("throws the left half of the scene to the right, and a shape lies in both halves; move it");
      staging_.initial_velocity[c] = Vector3(1, 0, 0);
    }
  }
  void hit_wall() {
    const double speed = script_.script_parameters.empty() ? 1000 : script_.script_parameters[0];
    for (std::size_t c = 0; c < components_.size(); ++c)
      if (components_[c].dimension == 3) staging_.initial_velocity[c] = Vector3(speed, 0, 0);
  }
  void drag_left() {
    hold(all_of({low(y, 0.05)}));
    staging_.pushes.push_back({all_of({high(y, 0.05)}), {-600, 0, 0}});
  }
  void drag_forward() {
    hold(all_of({low(y, 0.05)}));
    staging_.pushes.push_back({all_of({high(y, 0.05)}), {0, 0, 600}});
  }
  void utopia() {
    const Aabb b = box();
    const double thin = (b.upper - b.lower)[x] * 1e-4;
    hold(all_of({cut(y, true, b.lower[y] + thin)}));
    staging_.pushes.push_back({all_of({cut(y, false, b.upper[y] - thin)}), {0, -1.5, 0}});
  }

  // ---- scripts: obstacles move ------------------------------------------------------------------

  double plane_gap(std::size_t a, int axis) const {
    return script_.half_spaces[a + 1].origin[axis] - script_.half_spaces[a].origin[axis];
  }
  void planes_approach(std::size_t a, int axis, double nearest) {
    const auto signs = approach(plane_gap(a, axis), nearest);
    staging_.half_spaces[a] = along(Vector3::Unit(axis), signs);
    staging_.half_spaces[a + 1] = along(-Vector3::Unit(axis), signs);
  }
  void planes_squash() {
    need_half_spaces(2);
    planes_approach(0, x, 0.1);
  }
  void planes_squash6() {
    need_half_spaces(6);
    for (int axis = 0; axis < 3; ++axis) planes_approach(std::size_t(2 * axis), axis, 0.2);
  }
  void planes_shear() {
    need_half_spaces(2);
    double distance = plane_gap(0, x);
    bool near = false;
    std::vector<double> going;
    for (Index k = 0; k < steps_; ++k) {
      near = near || distance < 0.8;
      if (!near) distance -= 2 * dt_;
      going.push_back(near ? 0 : 1);
    }
    staging_.half_spaces[0] = along(Vector3::UnitX(), going);
    staging_.half_spaces[1] = by_rule(
        [&](Index k) -> Vector3 { return going[std::size_t(k)] > 0 ? Vector3(-1, 0, 0) : Vector3(0, 1, 0); });
  }
  void meshes_squash() {
    need_mesh_obstacles(2);
    const auto signs =
        approach(script_.mesh_obstacles[1].origin[x] - script_.mesh_obstacles[0].origin[x], 1.5);
    staging_.mesh_obstacles[0] = along(Vector3::UnitX(), signs);
    staging_.mesh_obstacles[1] = along(-Vector3::UnitX(), signs);
  }
  void meshes_turn_squash() {
    need_mesh_obstacles(2);
    const IpcMeshObstacle &a = script_.mesh_obstacles[0], &b = script_.mesh_obstacles[1];
    staging_.mesh_obstacles[0] = spinning(Vector3::UnitZ(), 180, a.origin + Vector3(0, a.scale / 2, 0));
    staging_.mesh_obstacles[1] = spinning(Vector3::UnitZ(), 180, b.origin - Vector3(0, b.scale / 2, 0));
  }
  static constexpr struct {
    int axis;
    double rate;
  } cylinders[] = {{x, 90}, {x, -90}, {z, -90}, {z, 90}};
  void mesh_cylinders() {
    need_mesh_obstacles(4);
    for (std::size_t i = 0; i < 4; ++i)
      staging_.mesh_obstacles[i] =
          spinning(Vector3::Unit(cylinders[i].axis), cylinders[i].rate, script_.mesh_obstacles[i].origin);
  }
  void shape_cylinders() {
    need_components(5);
    for (std::size_t i = 0; i < 4; ++i)
      staging_.components[i] = spinning(Vector3::Unit(cylinders[i].axis), cylinders[i].rate, center_of(i));
  }
  void rollers() {
    need_components(7);
    constexpr double to_degrees = 57.295779513082323;
    const double rates[] = {-4, -2, 2, 4, 2, -2};  // [rad/s]
    for (std::size_t i = 0; i < 6; ++i)
      staging_.components[i] = spinning(Vector3::Unit(i < 4 ? z : x), rates[i] * to_degrees, center_of(i));
  }
  void shapes_approach(std::size_t pairs) {
    const auto signs =
        approach(components_[1].start.row(x).minCoeff() - components_[0].start.row(x).maxCoeff(), 0.1);
    for (std::size_t p = 0; p < pairs; ++p) {
      staging_.components[2 * p] = along(Vector3::Unit(int(p)), signs);
      staging_.components[2 * p + 1] = along(-Vector3::Unit(int(p)), signs);
    }
  }
  void shapes_squash() {
    need_components(3);
    shapes_approach(1);
  }
  void shapes_squash6() {
    need_components(7);
    shapes_approach(3);
  }
  void segment_bed() {
    const std::size_t half = (components_.size() + 1) / 2;
    double top = infinity, bottom = -infinity;
    for (std::size_t c = 0; c < components_.size(); ++c) {
      if (components_[c].dimension == 3) continue;
      if (c >= half)
        top = std::min(top, components_[c].start.row(y).minCoeff());
      else
        bottom = std::max(bottom, components_[c].start.row(y).maxCoeff());
    }
    const IpcMovement down = by_rule([&, gap = top - bottom](Index) mutable -> Vector3 {
      if (!(gap > 0.1)) return Vector3::Zero();
      gap -= dt_;
      return {0, -1, 0};
    });
    for (std::size_t c = half; c < components_.size(); ++c)
      if (components_[c].dimension < 3) staging_.components[c] = down;
  }
  void squeeze_out() {
    need_components(2);
    if (components_[0].dimension == 3 || components_[1].dimension == 3)
      fail("needs a plunger and a tube without tetrahedra as its first two shapes; put them first");
    const double top = components_[0].start.row(y).maxCoeff(), low = components_[1].start.row(y).minCoeff(),
                 high = components_[1].start.row(y).maxCoeff();
    staging_.components[0] = until(moment(top, -0.3, low + (high - low) / 3.8 * 0.9), {0, -0.3, 0});
  }
  void hammer() {
    need_components(2);
    const Aabb b = bounding_box(components_[1].start);
    const Vector3 hinge(b.upper[x], b.lower[y], b.centre()[z]);
    IpcMovement swing = spinning(Vector3::UnitZ(), 30, hinge);
    for (Index k = 0; k < steps_; ++k) {
      const double angle = double(k) * dt_ * 30 / 57.295779513082323, c = std::cos(angle),
                   s = std::sin(angle);
      double lowest = infinity;
      for (Index i = 0; i < components_[1].start.cols(); ++i) {
        const Vector3 arm = components_[1].start.col(i) - hinge;
        lowest = std::min(lowest, s * arm[x] + c * arm[y] + hinge[y]);
      }
      if (lowest > 0.05) continue;
      swing.pieces.push_back({double(k) * dt_, Vector3::Zero(), false});
      break;
    }
    if (swing.pieces.size() > 1 && swing.pieces[1].time == 0) swing = {};
    staging_.components[1] = swing;
  }
  void cut_down() {
    need_components(2);
    const double lowest = components_[1].start.row(y).minCoeff();
    staging_.components[1] = until(moment(lowest, -1, 0.001), {0, -1, -1});
  }
  void follow_folder() { staging_.follows_folder = true; }
};

std::span<const Stage::Named> Stage::table() {
  static constexpr std::string_view deformed =
      "starts from a deformed state, which a scene cannot describe; give a mesh of the shape at rest, and "
      "move its "
      "parts with DBC";
  static constexpr Named scripts[] = {
      {"null", &Stage::null},
      {"scaleF", nullptr, deformed},
      {"hang", &Stage::hang},
      {"hang2", &Stage::hang2},
      {"hangTopLeft", &Stage::hang_top_left},
      {"hangLeft", &Stage::stamp},
      {"swing", &Stage::swing},
      {"stamp", &Stage::stamp},
      {"stampTopLeft", &Stage::stamp_top_left},
      {"stampBoth", &Stage::stamp_both},
      {"undstamp", &Stage::undstamp},
      {"stampInv", nullptr, deformed},
      {"stand", &Stage::stand},
      {"standInv", nullptr, deformed},
      {"topbottomfix", &Stage::topbottomfix},
      {"fixLowerHalf", &Stage::fix_lower_half},
      {"corner", &Stage::corner},
      {"push", &Stage::push},
      {"tear", &Stage::tear},
      {"upndown", &Stage::upndown},
      {"stretch", &Stage::stretch},
      {"stretchAndPause", &Stage::stretch_and_pause},
      {"squash", &Stage::squash},
      {"stretchnsquash", &Stage::stretchnsquash},
      {"bend", &Stage::bend},
      {"twist", &Stage::twist},
      {"twistnstretch", &Stage::twistnstretch},
      {"twistnsns", &Stage::twistnsns},
      {"twistnsns_old", &Stage::twistnsns_old},
      {"rubberBandPull", &Stage::rubber_band_pull},
      {"fourLegPull", &Stage::four_leg_pull},
      {"headTailPull", &Stage::head_tail_pull},
      {"onepoint", nullptr,
       "starts with all points in one place, where no contact is defined; choose another"},
      {"random", nullptr, "starts from random positions, which intersect; choose another"},
      {"fall", &Stage::fall},
      {"fallNoShift", &Stage::nothing},
      {"dragdown", &Stage::dragdown},
      {"dragright", &Stage::dragright},
      {"toggleTop", &Stage::toggle_top},
      {"leftHitRight", &Stage::left_hit_right},
      {"drop", &Stage::drop},
      {"XYRotate", nullptr,
       "gives the top and the bottom of a body different velocities at the start, which a scene cannot; use "
       "initVel"},
      {"curtain", &Stage::curtain},
      {"fixRightMost1", &Stage::fix_rightmost},
      {"pushRightMost1", &Stage::push_rightmost},
      {"NMFixBottomDragLeft", &Stage::drag_left},
      {"NMFixBottomDragForward", &Stage::drag_forward},
      {"ACOSquash", &Stage::planes_squash},
      {"ACOSquash6", &Stage::planes_squash6},
      {"ACOSquashShear", &Stage::planes_shear},
      {"MCOSquash", &Stage::meshes_squash},
      {"MCORotSquash", &Stage::meshes_turn_squash},
      {"MCORotCylinders", &Stage::mesh_cylinders},
      {"DCORotCylinders", &Stage::shape_cylinders},
      {"DCOSquash", &Stage::shapes_squash},
      {"DCOSquash6", &Stage::shapes_squash6},
      {"DCOFix", &Stage::nothing},
      {"DCOSegBedSquash", &Stage::segment_bed},
      {"DCOBallHitWall", &Stage::hit_wall},
      {"DCOSqueezeOut", &Stage::squeeze_out},
      {"DCOVerschoorRoller", &Stage::rollers},
      {"DCOHammerWalnut", &Stage::hammer},
      {"DCOCut", &Stage::cut_down},
      {"utopiaComparison", &Stage::utopia},
      {"meshSeqFromFile", &Stage::follow_folder},
      {"slip", nullptr, "is named in the reference's manual, but the program has none; choose another"},
  };
  return scripts;
}

IpcStaging Stage::arrange() {
  constexpr Index most_steps = 10000000;
  if (steps_ > most_steps)
    throw InputError(
        "{}: asks for {:.3g} s in steps of {:.3g} s, at most {} steps are made; use larger steps",
        script_.file.string(), script_.duration, dt_, most_steps);
  std::vector<std::string_view> names;
  for (const Named& named : table()) {
    names.push_back(named.name);
    if (named.name != script_.script) continue;
    if (!named.refused.empty()) fail(named.refused);
    (this->*named.arrange)();
    return std::move(staging_);
  }
  const std::string near = nearest_name(script_.script, names);
  throw InputError("{}:{}: unknown script {}; {}", script_.file.string(), script_.script_line,
                   apart::quoted(script_.script),
                   near.empty() ? "docs/coming-from-ipc.md lists the known ones"
                                : fmt::format("did you mean '{}'?", near));
}

}  // namespace

Index ipc_steps(const IpcScript& script) {
  // Rounding must not add a step to 5 s in steps of 0.025 s.
  return std::max(Index(1), Index(std::min(1e9, std::ceil(script.duration / script.dt * (1 - 1e-12)))));
}

IpcStaging stage_ipc_script(const IpcScript& script, std::vector<IpcComponent>& components,
                            const IpcPoints& mesh_obstacles) {
  return Stage(script, components, mesh_obstacles).arrange();
}

}  // namespace apart
