#include <apart/io/stitches.hpp>
#include <apart/scene/attachments.hpp>
#include <apart/scene/script_builder.hpp>
#include <apart/scene/selection.hpp>
#include <apart/scene/surface_tree.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace apart {

namespace {

std::vector<AttachedSpring> springs(const NearestDescription& d, const AttachedPair& pair) {
  const Body &first = pair.bodies[std::size_t(pair.a)], &second = pair.bodies[std::size_t(pair.b)];
  if (pair.a == pair.b || (!first.is_dynamic() && !second.is_dynamic()) || second.mesh.point_count() == 0 ||
      first.mesh.point_count() == 0)
    d.place["bodies"].fail("got '{}' and '{}', must be two bodies with points of which one can move",
                           first.name, second.name);
  const double reach = d.max_distance.metres(pair.scene_size);
  std::vector<AttachedSpring> result;
  double closest = std::numeric_limits<double>::infinity();
  const SurfaceTree tree(second, d.to == AttachTo::vertices);
  for (const Index p : select_points(d.where, pair.placed)) {
    if (!std::binary_search(first.surface_points.begin(), first.surface_points.end(), p)) continue;
    const Foot foot = tree.nearest(first.mesh.points.col(p));
    closest = std::min(closest, foot.distance);
    if (!(foot.distance <= reach)) continue;
    result.push_back({p, foot.points, foot.weights, foot.distance, 0});
  }
  if (!std::isfinite(closest))
    place_of(d.where).fail("chooses no point on the surface of '{}'; attachments hold surfaces", first.name);
  if (result.empty())
    d.place.fail(
        "attaches nothing: the nearest points of '{}' and '{}' are {:.3g} m apart, max_distance is {:.3g} m; "
        "choose "
        "other points, or raise it",
        first.name, second.name, closest, reach);
  return result;
}

int whole_number(double value, const Place& place) {
  if (value != std::floor(value) || std::abs(value) > std::numeric_limits<int>::max())
    place.fail("got {}, must be a whole number", to_short_text(JsonValue(value)));
  return int(value);
}

std::vector<Stitch> stitches_of(const StitchesDescription& d) {
  const Place source = d.place["stitches"];
  if (const auto* file = std::get_if<std::string>(&d.stitches))
    return source.locate([&] { return read_stitches(std::filesystem::path(*file)); });
  std::vector<Stitch> stitches;
  const auto& list = std::get<1>(d.stitches);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::vector<double>& s = list[i];
    const Place at = source[i];
    if (s.size() != 2 && s.size() != 4) at.fail("has {} numbers, must be [a, b] or [a, b, c, t]", s.size());
    const bool on_edge = s.size() == 4;
    stitches.push_back({whole_number(s[0], at[0]), whole_number(s[1], at[1]),
                        on_edge ? whole_number(s[2], at[2]) : -1, on_edge ? s[3] : 0});
    if (stitches.back().t > 1) at[3].fail("got {}, must lie in [0, 1]", stitches.back().t);
  }
  return stitches;
}

std::vector<AttachedSpring> springs(const StitchesDescription& d, const AttachedPair& pair) {
  const int a = pair.a, b = pair.b;
  const Body &first = pair.bodies[std::size_t(a)], &second = pair.bodies[std::size_t(b)];
  if (!first.is_dynamic() && !second.is_dynamic())
    d.place["bodies"].fail("got '{}' and '{}', of which none can move", first.name, second.name);
  const Place source = d.place["stitches"];
  if (pair.renumbered)
    source.fail(
        "counts points, but the mesh has some that belong to no cell, or coincide with others, and were "
        "dropped; remove them");
  const std::vector<Stitch> stitches = stitches_of(d);
  std::vector<AttachedSpring> result;
  for (std::size_t i = 0; i < stitches.size(); ++i) {
    const Stitch& s = stitches[i];
    const auto check = [&](const Body& body, int p) {
      if (!std::binary_search(body.surface_points.begin(), body.surface_points.end(), Index(p)))
        source.fail("stitch {}: point {} is not on the surface of '{}', which has the points 0 to {}", i, p,
                    body.name, body.mesh.point_count() - 1);
    };
    check(first, s.a);
    check(second, s.b);
    if (s.c >= 0) check(second, s.c);
    if (a == b && (s.a == s.b || s.a == s.c || s.b == s.c))
      source.fail("stitch {}: point {} is sewn to itself", i, s.a == s.b || s.a == s.c ? s.a : s.b);
    AttachedSpring spring{s.a, {s.b, -1, -1}, {1, 0, 0}, d.length.metres(pair.scene_size), 0};
    if (s.c >= 0) {
      spring.others[1] = s.c;
      spring.weights << 1 - s.t, s.t, 0;
    }
    Vector3 difference = first.mesh.points.col(s.a);
    for (int k = 0; k < 2; ++k)
      if (spring.others[std::size_t(k)] >= 0)
        difference -= spring.weights[k] * second.mesh.points.col(spring.others[std::size_t(k)]);
    spring.start_length = difference.norm();
    result.push_back(spring);
  }
  return result;
}

}  // namespace

Attachment make_attachment(const AttachmentDescription& attachment, const AttachedPair& pair,
                           const Clock& clock) {
  return std::visit(
      [&]<class D>(const D& d) {
        std::vector<AttachedSpring> list = springs(d, pair);
        Attachment result{pair.a, pair.b, d.stiffness, make_time_range(d, clock), 0, {}, {}, {}};
        if constexpr (std::same_as<D, StitchesDescription>) result.closing = d.closing;
        attach(result, std::move(list), pair.bodies, d.place.path());
        return result;
      },
      attachment);
}

}  // namespace apart
