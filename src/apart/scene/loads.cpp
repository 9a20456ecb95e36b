#include <apart/bodies/body_rules.hpp>
#include <apart/scene/describe.hpp>
#include <apart/scene/expression.hpp>
#include <apart/scene/loads.hpp>
#include <apart/scene/motion.hpp>
#include <apart/scene/prescriber.hpp>
#include <apart/scene/selection.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace apart {

namespace {

constexpr Index most_tried_steps = 100000;

std::function<Vector3(const Vector3&, double)> make_field(const FormulaVector& v) {
  return [f = std::array<Expression, 3>{make_expression(v[0]), make_expression(v[1]), make_expression(v[2])}](
             const Vector3& x, double t) {
    return Vector3(f[0](x[0], x[1], x[2], t), f[1](x[0], x[1], x[2], t), f[2](x[0], x[1], x[2], t));
  };
}

/// Throws InputError, naming the formula, unless the load is finite in every step it acts in; of many points
/// only some are tried, the others are seen when the step comes.
void check_finite(const Place& formula, const Load& load, const Body& body, const Clock& clock) {
  const std::size_t stride = std::max<std::size_t>(load.points.size() / 8, 1);
  const Matrix3X& x = load.per_mass ? body.nodes : body.mesh.points;
  for (Index k = 1; k <= std::min<Index>(clock.steps, most_tried_steps); ++k)
    for (std::size_t i = 0; load.when.covers(k * clock.dt) && i < load.points.size(); i += stride)
      if (!load.field(x.col(load.points[i]), k * clock.dt).allFinite())
        formula.fail("is not finite at {} at t = {:.6g} s; rewrite the formula",
                     text_of(x.col(load.points[i])), k * clock.dt);
}

/// Triangles of the body's surface: those of a group, or those all corners of which are chosen.
std::vector<Index> chosen_faces(const SelectionDescription& where, const Body& body,
                                const PlacedMesh& placed) {
  std::vector<Index> faces = select_triangles(where, placed, body.surface_faces);
  if (faces.empty())
    place_of(where).fail("got {}, which holds no whole triangle of the body's surface; choose more points",
                         short_text(where));
  return faces;
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
  Load load{make_field(d.acceleration), true, {}, {}, make_time_range(d, clock)};
  load.points = select_points(d.where, placed);
  if (whole) {
    if (Index(load.points.size()) != body.mesh.point_count())
      d.place["where"].fail(
          "chooses {} of {} points; a body force acts on this body as a whole: use {{\"all\": true}}",
          load.points.size(), body.mesh.point_count());
    load.points.resize(std::size_t(body.node_count()));
    std::iota(load.points.begin(), load.points.end(), 0);
  }
  check_finite(d.place["acceleration"], load, body, clock);
  body.loads.push_back(std::move(load));
}

void add(Body& body, const TractionDescription& d, const PlacedMesh& placed, const Clock& clock) {
  VectorX area = VectorX::Zero(body.mesh.point_count());  // a third of each triangle to each corner
  for (const Index f : chosen_faces(d.where, body, placed)) {
    const auto c = body.surface_faces.col(f);
    const Matrix3X& x = body.mesh.points;
    const Vector3 normal = (x.col(c[1]) - x.col(c[0])).cross(x.col(c[2]) - x.col(c[0]));
    for (int k = 0; k < 3; ++k) area[c[k]] += normal.norm() / 6;
  }
  Load load{make_field(d.traction), false, {}, {}, make_time_range(d, clock)};
  for (Index p = 0; p < area.size(); ++p)
    if (area[p] > 0) load.points.push_back(p);
  load.weights.resize(Index(load.points.size()));
  for (std::size_t i = 0; i < load.points.size(); ++i) load.weights[Index(i)] = area[load.points[i]];
  check_finite(d.place["traction"], load, body, clock);
  body.loads.push_back(std::move(load));
}

void add(Body& body, const PointForceDescription& d, const PlacedMesh& placed, const Clock& clock) {
  Load load{make_field(d.force), false, select_points(d.where, placed), {}, make_time_range(d, clock)};
  load.weights = VectorX::Ones(Index(load.points.size()));
  check_finite(d.place["force"], load, body, clock);
  body.loads.push_back(std::move(load));
}

void add(Body& body, const PressureDescription& d, const PlacedMesh& placed, const Clock& clock) {
  const Expression formula = make_expression(d.pressure);
  for (const char name : {'x', 'y', 'z'})
    if (formula.uses(name))
      d.place["pressure"].fail(
          "got \"{}\", must not use {}; pressure is the same everywhere on its patch, write it in t",
          std::get<std::string>(d.pressure), name);
  const TimeRange when = make_time_range(d, clock);
  for (Index k = 1; k <= std::min<Index>(clock.steps, most_tried_steps); ++k)
    if (when.covers(k * clock.dt) && !std::isfinite(formula(0, 0, 0, k * clock.dt)))
      d.place["pressure"].fail("is not finite at t = {:.6g} s; rewrite the formula", k * clock.dt);
  body.pressures.push_back(
      {chosen_faces(d.where, body, placed), [formula](double t) { return formula(0, 0, 0, t); }, when});
}

void add(Body& body, const WindDescription& d, const PlacedMesh& placed, const Clock& clock) {
  const std::vector<Index> points = select_points(d.where, placed);
  const auto chosen = [&](const auto& corners) {
    return std::all_of(corners.begin(), corners.end(),
                       [&](int c) { return std::binary_search(points.begin(), points.end(), Index(c)); });
  };
  Wind wind;
  wind.faces = select_triangles(d.where, placed, body.surface_faces);
  if (body.kind == BodyKind::rod)
    for (Index e = 0; e < body.free_segments.cols(); ++e)
      if (chosen(body.free_segments.col(e))) wind.segments.push_back(e);
  if (body.kind == BodyKind::particles) wind.points = points;
  if (wind.faces.empty() && wind.segments.empty() && wind.points.empty())
    place_of(d.where).fail(
        "got {}, which holds no whole triangle or segment of the body's surface; choose more points",
        short_text(d.where));
  wind.velocity = make_field(d.velocity);
  wind.density = d.density;
  wind.normal = d.drag;
  wind.tangential = d.friction;
  wind.when = make_time_range(d, clock);
  check_finite(d.place["velocity"], {wind.velocity, false, points, {}, wind.when}, body, clock);
  body.winds.push_back(std::move(wind));
}

void add(Body& body, const TorqueDescription& d, const PlacedMesh&, const Clock& clock) {
  std::array<Expression, 3> formulas = {make_expression(d.torque[0]), make_expression(d.torque[1]),
                                        make_expression(d.torque[2])};
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
  body.torques.push_back(std::move(torque));
}

}  // namespace

void add_load(Body& body, const LoadDescription& load, const PlacedMesh& placed, const Clock& clock) {
  std::visit([&](const auto& d) { add(body, d, placed, clock); }, load);
}

}  // namespace apart
