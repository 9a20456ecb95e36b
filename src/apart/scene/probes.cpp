#include <apart/scene/probes.hpp>

#include <algorithm>
#include <map>
#include <numeric>

namespace apart {

Probe read_probe(const LocatedJson& v, const Model& model, std::vector<int> bodies, std::vector<int> others,
                 const std::vector<PlacedMesh>& placed) {
  static const std::map<std::string, Probe::Kind, std::less<>> kinds = {
      {"position", Probe::Kind::position}, {"velocity", Probe::Kind::velocity},
      {"momentum", Probe::Kind::momentum}, {"energy", Probe::Kind::energy},
      {"reaction", Probe::Kind::reaction}, {"contact", Probe::Kind::contact},
      {"gap", Probe::Kind::gap},           {"strain", Probe::Kind::strain}};
  Probe probe{v["name"].text(), kinds.at(v["type"].text()), std::move(bodies), std::move(others), {}};
  if (probe.name.find_first_of(",\"\n") != std::string::npos)
    v["name"].fail("got {}, must have no comma, quote or line end; it heads columns of a table",
                   to_short_text(v["name"].value()));
  for (const int b : probe.others)
    if (std::find(probe.bodies.begin(), probe.bodies.end(), b) != probe.bodies.end())
      v["bodies"].fail("has '{}' on both sides; name two different bodies",
                       model.bodies[std::size_t(b)].name);
  if (!v.has("where")) return probe;
  for (std::size_t k = 0; k < probe.bodies.size(); ++k) {
    const auto i = std::size_t(probe.bodies[k]);
    const Body& body = model.bodies[i];
    if (body.mesh.point_count() == 0) v["body"].fail("'{}' has no points; name another body", body.name);
    std::vector<Index> chosen = select_points(v["where"], placed[k]);
    Index first = model.first_point[i];
    if (probe.kind == Probe::Kind::reaction) {
      if (body.kind == BodyKind::affine) {
        if (Index(chosen.size()) != body.mesh.point_count())
          v["where"].fail("chooses {} of {} points; an affine body is held as a whole: use {{\"all\": true}}",
                          chosen.size(), body.mesh.point_count());
        chosen.resize(std::size_t(body.node_count()));
        std::iota(chosen.begin(), chosen.end(), 0);
      }
      first = model.first_node[i];
    }
    for (const Index p : chosen) probe.points.push_back(first + p);
  }
  return probe;
}

}  // namespace apart
