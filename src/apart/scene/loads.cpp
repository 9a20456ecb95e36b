#include <apart/bodies/acting_parts.hpp>
#include <apart/bodies/body_rules.hpp>
#include <apart/scene/describe.hpp>
#include <apart/scene/expression.hpp>
#include <apart/scene/loads.hpp>
#include <apart/scene/motion.hpp>
#include <apart/scene/script_builder.hpp>
#include <apart/scene/selection.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace apart {

namespace {

constexpr Index most_tried_steps = 100000;

using SpaceField = std::function<Vector3(const Vector3& place, double time)>;

SpaceField make_field(const FormulaVector& v, const Place& place) {
  return [f = make_expressions(v, place)](const Vector3& x, double t) {
    return Vector3(f[0](x[0], x[1], x[2], t), f[1](x[0], x[1], x[2], t), f[2](x[0], x[1], x[2], t));
  };
}

/// Throws InputError, naming the formula, unless the load is finite in every step it acts in; of many points
/// only some are tried, the others are seen when the step comes.
void check_finite(const Place& formula, const SpaceField& field, const TimeRange& when,
                  const Matrix3X& places, const Clock& clock) {
  const Index stride = std::max(Index(places.cols()) / 8, Index(1));
  for (Index k = 1; k <= std::min<Index>(clock.steps, most_tried_steps); ++k)
    for (Index i = 0; when.covers(k * clock.dt) && i < places.cols(); i += stride)
      if (!field(places.col(i), k * clock.dt).allFinite())
        formula.fail("is not finite at {} at t = {:.6g} s; rewrite the formula", text_of(places.col(i)),
                     k * clock.dt);
}
void check_finite(const Place& formula, const Load& load, const Body& body, const Clock& clock) {
  const Matrix3X& x = load.kind == Load::Kind::acceleration ? body.nodes : body.mesh.points;
  const LoadedPart part = loaded_part(body, load);
  Matrix3X places = x(Eigen::all, part.points);
  if (!part.samples.empty()) {
    places.resize(3, Index(part.samples.size()));
    for (std::size_t i = 0; i < part.samples.size(); ++i) places.col(Index(i)) = part.samples[i].place;
  }
  check_finite(formula, load.field, load.when, places, clock);
}

/// What acts in the plane of a planar body has nothing along z.
void check_in_plane(const Place& formula, const Body& body, const SpaceField& field, const TimeRange& when,
                    const Clock& clock) {
  if (!body.planar) return;
  for (Index k = 1; k <= std::min<Index>(clock.steps, 100); ++k)
    if (const Vector3 x = body.nodes.col(0), v = field(x, k * clock.dt);
        when.covers(k * clock.dt) && v[2] != 0)
      formula.fail("is {} at t = {:.6g} s, must be 0 along z: a planar body never leaves its plane",
                   text_of(v), k * clock.dt);
}

/// What of the body's surface is loaded: triangles, or the segments of a planar body.
struct ChosenSurface {
  FacetSet facets;
  SegmentSet segments;
};
ChosenSurface chosen_surface(const SelectionDescription& where, Body& body, const PlacedMesh& placed) {
  if (body.planar) {
    const std::vector<Index> points = select_points(where, placed);
    std::vector<Index> segments;
    for (Index e = 0; e < body.free_segments.cols(); ++e)
      if (std::ranges::all_of(body.free_segments.col(e), [&](int p) {
            return std::binary_search(points.begin(), points.end(), Index(p));
          }))
        segments.push_back(e);
    if (segments.empty())
      place_of(where).fail("got {}, which holds no whole segment of the body's boundary; choose more points",
                           short_text(where));
    return {{}, body.sets.add_segments(set_name(where), std::move(segments))};
  }
  std::vector<Index> faces = select_triangles(where, placed, body.surface_faces);
  if (faces.empty())
    place_of(where).fail("got {}, which holds no whole triangle of the body's surface; choose more points",
                         short_text(where));
  return {body.sets.add_facets(set_name(where), std::move(faces)), {}};
}

void refuse_place(const BodyForceDescription& d) {
  for (std::size_t k = 0; k < 3; ++k)
    if (const auto* text = std::get_if<std::string>(&d.acceleration[k]))
      for (const char name : {'x', 'y', 'z'})
        if (Expression(*text).uses(name))
          d.place["acceleration"][k].fail(
              "got \"{}\", must not use {}: the body is accelerated as a whole; write it in t", *text, name);
}

void add(Body& body, const BodyForceDescription& d, const PlacedMesh& placed, const Clock& clock) {
  const bool whole = moves_as_whole(body);
  if (whole) refuse_place(d);
  Load load{Load::Kind::acceleration,
            make_field(d.acceleration, d.place["acceleration"]),
            {},
            {},
            make_time_range(d, clock)};
  std::vector<Index> points = select_points(d.where, placed);
  if (whole && Index(points.size()) != body.mesh.point_count())
    d.place["where"].fail(
        "chooses {} of {} points; a body force acts on this body as a whole: use {{\"all\": true}}",
        points.size(), body.mesh.point_count());
  load.points = body.sets.add_points(set_name(d.where), std::move(points));
  check_finite(d.place["acceleration"], load, body, clock);
  check_in_plane(d.place["acceleration"], body, load.field, load.when, clock);
  body.loads.push_back(std::move(load));
}

void add(Body& body, const TractionDescription& d, const PlacedMesh& placed, const Clock& clock) {
  const ChosenSurface surface = chosen_surface(d.where, body, placed);
  Load load{Load::Kind::traction,
            make_field(d.traction, d.place["traction"]),
            {},
            surface.facets,
            make_time_range(d, clock),
            surface.segments};
  check_finite(d.place["traction"], load, body, clock);
  check_in_plane(d.place["traction"], body, load.field, load.when, clock);
  body.loads.push_back(std::move(load));
}

void add(Body& body, const PointForceDescription& d, const PlacedMesh& placed, const Clock& clock) {
  const PointSet points = body.sets.add_points(set_name(d.where), select_points(d.where, placed));
  Load load{Load::Kind::force, make_field(d.force, d.place["force"]), points, {}, make_time_range(d, clock)};
  check_finite(d.place["force"], load, body, clock);
  check_in_plane(d.place["force"], body, load.field, load.when, clock);
  body.loads.push_back(std::move(load));
}

void add(Body& body, const PressureDescription& d, const PlacedMesh& placed, const Clock& clock) {
  const Expression formula = make_expression(d.pressure, d.place["pressure"]);
  for (const char name : {'x', 'y', 'z'})
    if (formula.uses(name))
      d.place["pressure"].fail(
          "got \"{}\", must not use {}; pressure is the same everywhere on its patch, write it in t",
          std::get<std::string>(d.pressure), name);
  const TimeRange when = make_time_range(d, clock);
  for (Index k = 1; k <= std::min<Index>(clock.steps, most_tried_steps); ++k)
    if (when.covers(k * clock.dt) && !std::isfinite(formula(0, 0, 0, k * clock.dt)))
      d.place["pressure"].fail("is not finite at t = {:.6g} s; rewrite the formula", k * clock.dt);
  const ChosenSurface surface = chosen_surface(d.where, body, placed);
  body.pressures.push_back(
      {surface.facets, [formula](double t) { return formula(0, 0, 0, t); }, when, surface.segments});
}

void add(Body& body, const WindDescription& d, const PlacedMesh& placed, const Clock& clock) {
  if (body.planar)
    d.place.fail("is for bodies with a surface in space; use tractions or pressure on a planar body");
  const std::vector<Index> points = select_points(d.where, placed);
  const auto chosen = [&](const auto& corners) {
    return std::all_of(corners.begin(), corners.end(),
                       [&](int c) { return std::binary_search(points.begin(), points.end(), Index(c)); });
  };
  const std::string name = set_name(d.where);
  std::vector<Index> faces = select_triangles(d.where, placed, body.surface_faces), segments;
  if (body.kind == BodyKind::rod)
    for (Index e = 0; e < body.free_segments.cols(); ++e)
      if (chosen(body.free_segments.col(e))) segments.push_back(e);
  const bool balls = body.kind == BodyKind::particles;
  if (faces.empty() && segments.empty() && !balls)
    place_of(d.where).fail(
        "got {}, which holds no whole triangle or segment of the body's surface; choose more points",
        short_text(d.where));
  Wind wind;
  if (!faces.empty()) wind.facets = body.sets.add_facets(name, std::move(faces));
  if (!segments.empty()) wind.segments = body.sets.add_segments(name, std::move(segments));
  if (balls) wind.points = body.sets.add_points(name, points);
  wind.velocity = make_field(d.velocity, d.place["velocity"]);
  wind.density = d.density;
  wind.normal = d.drag;
  wind.tangential = d.friction;
  wind.when = make_time_range(d, clock);
  check_finite(d.place["velocity"], wind.velocity, wind.when, body.mesh.points(Eigen::all, points), clock);
  body.winds.push_back(std::move(wind));
}

void add(Body& body, const TorqueDescription& d, const PlacedMesh&, const Clock& clock) {
  const std::array<Expression, 3> formulas = make_expressions(d.torque, d.place["torque"]);
  for (std::size_t k = 0; k < 3; ++k)
    for (const char name : {'x', 'y', 'z'})
      if (formulas[k].uses(name))
        d.place["torque"][k].fail(
            "got \"{}\", must not use {}; a torque acts on the whole body, write it in t",
            std::get<std::string>(d.torque[k]), name);
  Torque torque{[formulas](double t) {
                  return Vector3(formulas[0](0, 0, 0, t), formulas[1](0, 0, 0, t), formulas[2](0, 0, 0, t));
                },
                make_time_range(d, clock)};
  for (Index k = 1; k <= std::min<Index>(clock.steps, most_tried_steps); ++k)
    if (torque.when.covers(k * clock.dt) && !torque.torque(k * clock.dt).allFinite())
      d.place["torque"].fail("is not finite at t = {:.6g} s; rewrite the formula", k * clock.dt);
  if (body.planar)
    for (Index k = 1; k <= std::min<Index>(clock.steps, 100); ++k)
      if (const Vector3 t = torque.torque(k * clock.dt); t[0] != 0 || t[1] != 0)
        d.place["torque"].fail(
            "is {} at t = {:.6g} s, must be about z alone: a planar body never leaves its "
            "plane",
            text_of(t), k * clock.dt);
  body.torques.push_back(std::move(torque));
}

}  // namespace

void add_load(Body& body, const LoadDescription& load, const PlacedMesh& placed, const Clock& clock) {
  std::visit([&](const auto& d) { add(body, d, placed, clock); }, load);
}

}  // namespace apart
