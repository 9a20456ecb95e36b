#include <apart/importers/polyfem/sides.hpp>

#include <cmath>

namespace apart::polyfem {

namespace {

/// ±1 to ±3, or a letter with a sign.
std::pair<int, bool> axis_of(const LocatedJson& at) {
  if (at.value().get_if<double>()) {
    const Index number = at.integer();
    if (std::abs(number) < 1 || std::abs(number) > 3) at.fail("got {}, must be 1 to 3 or -1 to -3", number);
    return {int(std::abs(number)) - 1, number > 0};
  }
  const std::string& text = at.text();
  const std::size_t letter = std::string("xyz").find(text.empty() ? ' ' : text.back());
  if (letter == std::string::npos || text.size() > 2)
    at.fail("got {}, must be such as \"-y\"", to_short_text(at.value()));
  return {int(letter), text[0] != '-'};
}

}  // namespace

std::vector<LocatedJson> entries(const LocatedJson& at) {
  if (at.value().get_if<JsonValue::Array>()) return at.items();
  return {at};
}

Index volume_id(const LocatedJson& at) {
  if (at.value().get_if<double>()) return at.integer();
  if (const auto* members = at.value().get_if<JsonValue::Object>();
      members && members->size() == 1 && at.has("id"))
    return at["id"].integer();
  at.fail("got {}, must be one id for all tetrahedra", to_short_text(at.value()));
}

std::vector<Side> sides_of(const LocatedJson& at, const Aabb& box, Notes& notes) {
  std::vector<Side> sides;
  for (const LocatedJson& item : entries(at)) {
    if (item.value().get_if<double>()) {
      sides.push_back({item.integer(), ""});
      continue;
    }
    Section section(item, "surface_selection", notes);
    Side side{item["id"].integer(), ""};
    section.find("id");
    bool relative = false;
    section.take_boolean("relative", relative);
    const double slack = 1e-7 * box.diagonal();
    const auto place = [&](int axis, double value) {
      return relative ? box.lower[axis] + value * (box.upper - box.lower)[axis] : value;
    };
    if (const auto axis = section.find("axis")) {
      const auto [number, up] = axis_of(*axis);
      const double limit = place(number, item["position"].number());
      section.find("position");
      side.where =
          fmt::format("{} {} {:.12g}", "xyz"[number], up ? ">=" : "<=", limit + (up ? -slack : slack));
    } else if (const auto corners = section.find("box")) {
      const LocatedJson lowest = (*corners)[std::size_t(0)], highest = (*corners)[std::size_t(1)];
      const int dimensions = lowest.size() == 2 ? 2 : 3;  // in the plane or in space
      Vector3 lower = Vector3::Zero(), upper = lower;
      if (dimensions == 3) {
        lower = lowest.vector();
        upper = highest.vector();
      }
      for (std::size_t k = 0; dimensions == 2 && k < 2; ++k) {
        lower[Index(k)] = lowest[k].number();
        upper[Index(k)] = highest[k].number();
      }
      for (int k = 0; k < dimensions; ++k)
        side.where += fmt::format("{}{} >= {:.12g} && {} <= {:.12g}", k > 0 ? " && " : "", "xyz"[k],
                                  place(k, lower[k]) - slack, "xyz"[k], place(k, upper[k]) + slack);
    } else if (item.value().get_if<JsonValue::Object>()->size() > 1) {
      item.fail("got {}, must select by \"axis\" and \"position\", or by \"box\"",
                to_short_text(item.value()));
    }
    section.finish();
    sides.push_back(std::move(side));
  }
  return sides;
}

}  // namespace apart::polyfem
