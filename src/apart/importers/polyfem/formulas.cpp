#include <apart/importers/polyfem/formulas.hpp>

#include <apart/scene/expression.hpp>

#include <cctype>
#include <cmath>
#include <map>

namespace apart::polyfem {

namespace {

constexpr std::size_t longest = 10000;  ///< characters of a formula with its functions written out

using Arguments = std::vector<std::string>;
struct Function {
  std::size_t arguments;
  std::string (*text)(const Arguments&);
};

const std::map<std::string, Function, std::less<>>& functions() {
  static const std::map<std::string, Function, std::less<>> all = {
      {"rotate_2D_x",
       {3,
        [](const Arguments& a) {
          return fmt::format("(({})*cos({})-({})*sin({}))", a[0], a[2], a[1], a[2]);
        }}},
      {"rotate_2D_y",
       {3,
        [](const Arguments& a) {
          return fmt::format("(({})*sin({})+({})*cos({}))", a[0], a[2], a[1], a[2]);
        }}},
      {"smooth_abs",  // a tanh(k a)
       {2,
        [](const Arguments& a) { return fmt::format("(({0})*(1-2/(exp(2*({1})*({0}))+1)))", a[0], a[1]); }}},
      {"smoothstep",
       {1,
        [](const Arguments& a) {
          return fmt::format("(min(max({0},0),1)^2*(3-2*min(max({0},0),1)))", a[0]);
        }}},
      {"deg2rad", {1, [](const Arguments& a) { return fmt::format("(({})*pi/180)", a[0]); }}},
      {"if", {3, [](const Arguments& a) {
                return fmt::format("((({0})>=0)*({1})+(({0})<0)*({2}))", a[0], a[1], a[2]);
              }}}};
  return all;
}

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// The text with these functions written out; `at` for messages.
std::string written_out(std::string_view text, const LocatedJson& at) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_name(text[i])) {
      result += text[i++];
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_name(text[end])) ++end;
    const std::string_view name = text.substr(i, end - i);
    const auto found = functions().find(name);
    std::size_t open = end;
    while (open < text.size() && text[open] == ' ') ++open;
    if (found == functions().end() || open == text.size() || text[open] != '(') {
      result += name;
      i = end;
      continue;
    }
    Arguments arguments;
    std::size_t begin = open + 1, close = begin;
    for (int depth = 1; depth > 0; ++close) {
      if (close == text.size()) at.fail("got {}, in which a ')' is missing", to_short_text(at.value()));
      depth += text[close] == '(' ? 1 : text[close] == ')' ? -1 : 0;
      if (depth == 0 || (depth == 1 && text[close] == ',')) {
        arguments.push_back(written_out(text.substr(begin, close - begin), at));
        begin = close + 1;
      }
    }
    if (arguments.size() != found->second.arguments)
      at.fail("got {}, in which {} has {} values, must be {}", to_short_text(at.value()), name,
              arguments.size(), found->second.arguments);
    result += found->second.text(arguments);
    if (result.size() > longest) at.fail("is too long a formula");
    i = close;
  }
  return result;
}

}  // namespace

Formula formula(const LocatedJson& value) {
  if (value.value().get_if<double>()) return value.number();
  return written_out(value.text(), value);
}

namespace {

Expression parsed(const Formula& formula, const LocatedJson& at) {
  return at.locate([&] { return std::visit([](const auto& f) { return Expression(f); }, formula); });
}

}  // namespace

void begin_at_rest(FormulaVector& displacement, const LocatedJson& at) {
  for (Formula& formula : displacement) {
    const Expression expression = parsed(formula, at);
    // A formula that is zero at places without a pattern is zero everywhere.
    const auto begins = [&](double x, double y, double z) { return expression(x, y, z, 0) == 0; };
    if (begins(0, 0, 0) && begins(0.7310585, -1.3179022, 2.6457513) &&
        begins(-5.1961524, 3.6055513, 0.1234567))
      continue;
    const double* number = std::get_if<double>(&formula);  // else text: PolyFEM has no curves
    formula =
        fmt::format("(t > 0)*({})", number ? fmt::format("{}", *number) : std::get<std::string>(formula));
  }
}

Vector3 take_start(FormulaVector& displacement, const LocatedJson& at) {
  Vector3 start = Vector3::Zero();
  for (std::size_t k = 0; k < 3; ++k) {
    Formula& formula = displacement[k];
    const Expression expression = parsed(formula, at);
    if (expression.uses('x') || expression.uses('y') || expression.uses('z')) continue;
    const double value = expression(0, 0, 0, 0);
    if (value == 0 || !std::isfinite(value)) continue;
    start[Index(k)] = value;
    if (const auto* text = std::get_if<std::string>(&formula))
      formula = fmt::format("({}) - ({})", *text, value);
    else
      formula = 0.0;
  }
  return start;
}

}  // namespace apart::polyfem
