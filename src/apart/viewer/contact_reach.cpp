#include <apart/io/file_reader.hpp>
#include <apart/viewer/contact_reach.hpp>

#include <nlohmann/json.hpp>

#include <cmath>

namespace apart {

namespace {

using Json = nlohmann::json;

/// A length of the scene: metres, or "1e-3 L" in sizes of the scene.
double length(const Json& value, double size) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return 0;
  std::string text = value.get<std::string>();
  const std::size_t unit = text.find('L');
  if (unit != text.npos) text.resize(unit);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return parse_real(text).value_or(0) * (unit == text.npos ? 1 : size);
}

}  // namespace

double contact_reach(const Json& scene, const Json& summary, const Frame& frame) {
  const double size =
      summary.contains("size") && summary["size"].is_number() ? summary["size"].get<double>() : 0;
  double reach = 0;
  if (scene.contains("contact") && scene["contact"].is_object())
    for (const char* key : {"dhat", "thickness"})
      if (scene["contact"].contains(key)) reach += length(scene["contact"][key], size);
  if (!(reach > 0) && frame.mesh.point_count() > 0)
    reach = 1e-3 * (frame.mesh.points.rowwise().maxCoeff() - frame.mesh.points.rowwise().minCoeff()).norm();
  return std::isfinite(reach) && reach > 0 ? 2 * reach : 1e-3;
}

}  // namespace apart
