#include <apart/io/file_reader.hpp>
#include <apart/studies/study_folder.hpp>
#include <apart/viewer/plot.hpp>

#include <algorithm>
#include <limits>

namespace apart {

namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (c == '<' || c == '>' || c == '&')
      result += fmt::format("&#{};", int(c));
    else
      result += c;
  return result;
}

/// A result over a parameter, by increasing values of that; without runs that have no number for one of them.
/// `alone`: points are not joined by lines.
PlotCurve curve_of(const StudyTable& table, std::size_t parameter, std::size_t result, bool alone) {
  std::vector<std::pair<double, double>> points;
  for (const auto& row : table.rows) {
    const auto x = parse_real(row[parameter]), y = parse_real(row[result]);
    if (x && y) points.emplace_back(*x, *y);
  }
  std::ranges::sort(points);
  PlotCurve curve;
  curve.name = table.names[result];
  for (const auto& [x, y] : points) {
    curve.x.push_back(x);
    curve.y.push_back(y);
    if (!alone) continue;
    curve.x.push_back(x);
    curve.y.push_back(std::numeric_limits<double>::quiet_NaN());
  }
  return curve;
}

std::string with_unit(const std::string& name, const std::string& unit) {
  return unit.empty() ? name : fmt::format("{} [{}]", name, unit);
}

}  // namespace

std::string study_page(const Study& study, const StudyTable& table, const std::set<std::string>& pictures) {
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n"
      "<style>body {{ font-family: sans-serif }} td, th {{ padding: 0 0.6em; text-align: right "
      "}}</style></head>\n"
      "<body><h1>{0}</h1>\n<p>{1} of {2} runs of {3}</p>\n",
      escaped(study.name), table.rows.size(), study.runs.size(), escaped(study.scene));
  const std::size_t first = table.names.size() - study.results.size();
  for (std::size_t result = first; result < table.names.size(); ++result)
    for (std::size_t k = 0; k < study.paths.size(); ++k) {
      PlotCurve curve = curve_of(table, 3 + k, result, study.paths.size() > 1);
      if (curve.x.empty()) continue;  // texts, or nothing is done yet
      page += plot_svg({.title = fmt::format("{} over {}", table.names[result], study.paths[k]),
                        .x_label = with_unit(study.paths[k], study.units[k]),
                        .y_label = with_unit(table.names[result], table.result_units[result - first]),
                        .curves = {std::move(curve)}});
    }
  page += "<table><tr>";
  for (const std::string& name : table.names) page += fmt::format("<th>{}</th>", escaped(name));
  page += pictures.empty() ? "</tr>\n" : "<th>last frame</th></tr>\n";
  for (const auto& row : table.rows) {
    page += "<tr>";
    const int run = std::stoi(row[0]);
    for (std::size_t i = 0; i < row.size(); ++i)
      page += i == 0 ? fmt::format("<td><a href=\"runs/{0:06}\">{0}</a></td>", run)
                     : fmt::format("<td>{}</td>", escaped(row[i]));
    if (pictures.contains(row[0]))
      page += fmt::format(
          "<td><img src=\"runs/{0:06}.png\" alt=\"last frame of run {0}\" loading=\"lazy\"></td>", run);
    page += "</tr>\n";
  }
  return page + "</table></body></html>\n";
}

}  // namespace apart
