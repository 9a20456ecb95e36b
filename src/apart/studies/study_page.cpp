#include <apart/io/file_reader.hpp>
#include <apart/studies/study_folder.hpp>
#include <apart/viewer/plot.hpp>

#include <algorithm>
#include <limits>

namespace apart {

namespace {

constexpr std::size_t first_parameter = 3;  ///< of the columns of a table

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (c == '<' || c == '>' || c == '&')
      result += fmt::format("&#{};", int(c));
    else
      result += c;
  return result;
}

/// More curves cannot be told apart.
constexpr std::size_t most_curves = 7;

/// The values of the other parameters of a run, in words.
std::string other_values(const Study& study, const std::vector<std::string>& row, std::size_t parameter) {
  std::string words;
  for (std::size_t k = 0; k < study.paths.size(); ++k) {
    if (k == parameter) continue;
    const std::string& text = row[first_parameter + k];
    const auto number = parse_real(text);
    words += fmt::format("{}{} = {}", words.empty() ? "" : ", ", study.paths[k],
                         number ? fmt::format("{:.4g}", *number) : text);
  }
  return words;
}

/// A result over a parameter: a curve for each choice of the other parameters, by increasing values of this
/// one. Loose points where there are too many choices, or hardly any is met twice. Runs that have no number
/// for one of the two are left out.
std::vector<PlotCurve> curves_of(const Study& study, const StudyTable& table, std::size_t parameter,
                                 std::size_t result) {
  struct Choice {
    std::string words;
    std::vector<std::pair<double, double>> points;
  };
  std::vector<Choice> choices;
  std::size_t count = 0;
  for (const auto& row : table.rows) {
    const auto x = parse_real(row[first_parameter + parameter]), y = parse_real(row[result]);
    if (!x || !y) continue;
    const std::string words = other_values(study, row, parameter);
    auto choice = std::ranges::find(choices, words, &Choice::words);
    if (choice == choices.end()) choice = choices.insert(choice, {words, {}});
    choice->points.emplace_back(*x, *y);
    ++count;
  }
  const bool loose = choices.size() > most_curves || count < 2 * choices.size();
  std::vector<PlotCurve> curves;
  for (Choice& choice : choices) {
    std::ranges::sort(choice.points);
    if (curves.empty() || !loose) curves.push_back({.name = choice.words, .x = {}, .y = {}, .marked = true});
    PlotCurve& curve = curves.back();
    for (const auto& [x, y] : choice.points) {
      curve.x.push_back(x);
      curve.y.push_back(y);
      if (!loose) continue;
      curve.x.push_back(x);
      curve.y.push_back(std::numeric_limits<double>::quiet_NaN());
    }
  }
  return curves;
}

/// Whether the numbers of curves are spread over more than a decade.
bool spans_decades(const std::vector<PlotCurve>& curves) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const PlotCurve& curve : curves)
    for (const double x : curve.x) {
      low = std::min(low, x);
      high = std::max(high, x);
    }
  return low > 0 && high > 20 * low;
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
      std::vector<PlotCurve> curves = curves_of(study, table, k, result);
      if (curves.empty()) continue;  // texts, or nothing is done yet
      const bool logarithmic = spans_decades(curves);
      page += plot_svg({.title = fmt::format("{} over {}", table.names[result], study.paths[k]),
                        .x_label = with_unit(study.paths[k], study.units[k]),
                        .y_label = with_unit(table.names[result], table.result_units[result - first]),
                        .curves = std::move(curves),
                        .logarithmic_x = logarithmic});
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
