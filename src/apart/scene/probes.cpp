#include <apart/bodies/body_rules.hpp>
#include <apart/scene/probes.hpp>

#include <algorithm>
#include <numeric>

namespace apart {

namespace {

void check_name(const ProbeBase& d) {
  if (d.name.find_first_of(",\"\n") != std::string::npos)
    d.place["name"].fail("got {}, must have no comma, quote or line end; it heads columns of a table",
                         to_short_text(JsonValue(d.name)));
}

/// The points, or for a reaction the nodes, that a probe of some points measures.
std::vector<Index> measured(const PointProbe& d, Probe::Kind quantity, const Model& model,
                            const ProbedBodies& of) {
  std::vector<Index> result;
  for (std::size_t k = 0; k < of.bodies.size(); ++k) {
    const auto i = std::size_t(of.bodies[k]);
    const Body& body = model.bodies[i];
    if (body.mesh.point_count() == 0)
      d.place["body"].fail("'{}' has no points; name another body", body.name);
    std::vector<Index> chosen = select_points(d.where, of.placed[k]);
    const bool of_nodes = quantity == Probe::Kind::reaction;
    if (of_nodes && moves_as_whole(body)) {
      if (Index(chosen.size()) != body.mesh.point_count())
        d.place["where"].fail("chooses {} of {} points; the body is held as a whole: use {{\"all\": true}}",
                              chosen.size(), body.mesh.point_count());
      chosen.resize(std::size_t(body.node_count()));
      std::iota(chosen.begin(), chosen.end(), 0);
    }
    const Index first = of_nodes ? model.first_node[i] : model.first_point[i];
    for (const Index p : chosen) result.push_back(first + p);
  }
  return result;
}

}  // namespace

Probe make_probe(const ProbeDescription& probe, const Model& model, const ProbedBodies& of) {
  return std::visit(
      [&]<class T>(const T& d) {
        Probe result{d.name, T::quantity, of.bodies, of.others, {}};
        check_name(d);
        for (const int b : of.others)
          if (std::find(of.bodies.begin(), of.bodies.end(), b) != of.bodies.end())
            d.place["bodies"].fail("has '{}' on both sides; name two different bodies",
                                   model.bodies[std::size_t(b)].name);
        if constexpr (std::derived_from<T, PointProbe>) result.points = measured(d, T::quantity, model, of);
        return result;
      },
      probe);
}

}  // namespace apart
