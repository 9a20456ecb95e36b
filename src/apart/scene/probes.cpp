#include <apart/bodies/body_rules.hpp>
#include <apart/scene/probes.hpp>

#include <algorithm>

namespace apart {

namespace {

void check_name(const ProbeBase& d) {
  if (d.name.find_first_of(",\"\n") != std::string::npos)
    d.place["name"].fail("got {}, must have no comma, quote or line end; it heads columns of a table",
                         to_short_text(JsonValue(d.name)));
}

/// The points that a probe measures, of each body.
std::vector<PointSet> measured(const PointProbe& d, Probe::Kind quantity, std::vector<Body>& bodies,
                               const ProbedBodies& of) {
  std::vector<PointSet> result;
  for (std::size_t k = 0; k < of.bodies.size(); ++k) {
    Body& body = bodies[std::size_t(of.bodies[k])];
    if (body.mesh.point_count() == 0)
      d.place["body"].fail("'{}' has no points; name another body", body.name);
    std::vector<Index> chosen = select_points(d.where, of.placed[k]);
    if (quantity == Probe::Kind::reaction && moves_as_whole(body) &&
        Index(chosen.size()) != body.mesh.point_count())
      d.place["where"].fail("chooses {} of {} points; the body is held as a whole: use {{\"all\": true}}",
                            chosen.size(), body.mesh.point_count());
    result.push_back(body.sets.add_points(set_name(d.where), std::move(chosen)));
  }
  return result;
}

}  // namespace

Probe make_probe(const ProbeDescription& probe, std::vector<Body>& bodies, const ProbedBodies& of) {
  return std::visit(
      [&]<class T>(const T& d) {
        Probe result{d.name, T::quantity, of.bodies, of.others, {}, of.joint};
        check_name(d);
        for (const int b : of.others)
          if (std::find(of.bodies.begin(), of.bodies.end(), b) != of.bodies.end())
            d.place["bodies"].fail("has '{}' on both sides; name two different bodies",
                                   bodies[std::size_t(b)].name);
        if constexpr (std::derived_from<T, PointProbe>) result.points = measured(d, T::quantity, bodies, of);
        return result;
      },
      probe);
}

}  // namespace apart
