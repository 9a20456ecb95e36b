#include <apart/core/error.hpp>
#include <apart/scene/expression.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <span>

namespace apart {

namespace {

constexpr int deepest = 64;             // brackets inside brackets, and places on the stack
constexpr std::size_t longest = 10000;  // characters
constexpr std::string_view variables = "xyzt";

struct Function {
  std::string_view name;
  int arguments;
  double (*call)(double, double);
};

constexpr Function functions[] = {
    {"abs", 1, [](double a, double) { return std::abs(a); }},
    {"acos", 1, [](double a, double) { return std::acos(a); }},
    {"asin", 1, [](double a, double) { return std::asin(a); }},
    {"atan", 1, [](double a, double) { return std::atan(a); }},
    {"atan2", 2, [](double a, double b) { return std::atan2(a, b); }},
    {"ceil", 1, [](double a, double) { return std::ceil(a); }},
    {"cos", 1, [](double a, double) { return std::cos(a); }},
    {"exp", 1, [](double a, double) { return std::exp(a); }},
    {"floor", 1, [](double a, double) { return std::floor(a); }},
    {"log", 1, [](double a, double) { return std::log(a); }},
    {"max", 2, [](double a, double b) { return std::max(a, b); }},
    {"min", 2, [](double a, double b) { return std::min(a, b); }},
    {"mod", 2, [](double a, double b) { return a - b * std::floor(a / b); }},
    {"pow", 2, [](double a, double b) { return std::pow(a, b); }},
    {"sign", 1, [](double a, double) { return double((a > 0) - (a < 0)); }},
    {"sin", 1, [](double a, double) { return std::sin(a); }},
    {"sqrt", 1, [](double a, double) { return std::sqrt(a); }},
    {"step", 1, [](double a, double) { return double(a >= 0); }},
    {"tan", 1, [](double a, double) { return std::tan(a); }},
};

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

enum class Expression::Operation : std::uint8_t {
  number,
  variable,
  negate,
  invert,
  add,
  subtract,
  multiply,
  divide,
  power,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  both,
  either,
  call,
  curve
};

/// Recursive descent, one function per level of binding.
class ExpressionParser {
 public:
  using Operation = Expression::Operation;

  explicit ExpressionParser(std::string_view text) : text_(text) {
    if (text.size() > longest)
      throw InputError("got a formula of {} characters, at most {} are read; shorten it", text.size(),
                       longest);
    level(0);
    skip_space();
    if (position_ < text_.size()) fail("unexpected '{}'", "remove it, or write an operator before it");
  }
  std::vector<Expression::Instruction> code;

 private:
  struct Binary {
    std::string_view symbol;
    Operation operation;
  };
  // Longer symbols first, so that "<=" is not read as "<".
  static constexpr Binary either[] = {{"||", Operation::either}};
  static constexpr Binary both[] = {{"&&", Operation::both}};
  static constexpr Binary compare[] = {{"<=", Operation::less_equal}, {">=", Operation::greater_equal},
                                       {"==", Operation::equal},      {"!=", Operation::not_equal},
                                       {"<", Operation::less},        {">", Operation::greater}};
  static constexpr Binary sum[] = {{"+", Operation::add}, {"-", Operation::subtract}};
  static constexpr Binary product[] = {{"*", Operation::multiply}, {"/", Operation::divide}};
  static constexpr std::span<const Binary> levels[] = {either, both, compare, sum, product};

  void level(std::size_t which) {
    if (which == std::size(levels)) return unary();
    level(which + 1);
    while (const Binary* binary = take_one_of(levels[which])) {
      level(which + 1);
      emit(binary->operation, -1);
    }
  }

  void unary() {
    const Nesting nesting(*this);
    if (take("-")) {
      unary();
      emit(Operation::negate, 0);
    } else if (take("+")) {
      unary();
    } else if (!next_is("!=") && take("!")) {
      unary();
      emit(Operation::invert, 0);
    } else {
      primary();
      if (take("^")) {
        unary();  // binds to the right, and allows 2^-3
        emit(Operation::power, -1);
      }
    }
  }

  void primary() {
    skip_space();
    const char c = position_ < text_.size() ? text_[position_] : '\0';
    if (take("(")) {
      level(0);
      expect(")");
    } else if (is_digit(c) || c == '.') {
      number();
    } else if (is_letter(c)) {
      name();
    } else if (position_ == text_.size()) {
      fail("a value is missing", "complete the formula");
    } else {
      fail("unexpected '{}'", "write a number, x, y, z, t, a function or '('");
    }
  }

  void number() {
    double value = 0;
    const char* begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) fail("a number no double can hold", "use a smaller one");
    if (error != std::errc{}) fail("unexpected '{}'", "write numbers like 0.5 or 1e-3");
    position_ += std::size_t(end - begin);
    emit(Operation::number, 1, value);
  }

  void name() {
    const std::size_t begin = position_;
    std::size_t end = position_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    const std::string_view word = text_.substr(begin, end - begin);
    if (word == "pi" || word == "e") {
      position_ = end;
      emit(Operation::number, 1, word == "pi" ? std::numbers::pi : std::numbers::e);
      return;
    }
    if (word.size() == 1 && variables.find(word[0]) != variables.npos) {
      position_ = end;
      emit(Operation::variable, 1, 0, int(variables.find(word[0])));
      return;
    }
    for (std::size_t f = 0; f < std::size(functions); ++f)
      if (functions[f].name == word) {
        position_ = end;
        expect("(");
        for (int k = 0; k < functions[f].arguments; ++k) {
          if (k > 0) expect(",");
          level(0);
        }
        expect(")");
        emit(Operation::call, 1 - functions[f].arguments, 0, int(f));
        return;
      }
    fail(fmt::format("unknown name '{}'", word),
         fmt::format("known are x, y, z, t, pi, e and {}", Expression::function_names()));
  }

  void skip_space() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t')) ++position_;
  }
  bool next_is(std::string_view symbol) {
    skip_space();
    return text_.substr(position_).starts_with(symbol);
  }
  bool take(std::string_view symbol) {
    if (!next_is(symbol)) return false;
    position_ += symbol.size();
    return true;
  }
  const Binary* take_one_of(std::span<const Binary> choices) {
    for (const Binary& choice : choices)
      if (take(choice.symbol)) return &choice;
    return nullptr;
  }
  void expect(std::string_view symbol) {
    if (!take(symbol)) fail(fmt::format("'{}' is missing", symbol), "add it");
  }

  /// `growth` of the stack: a number adds a place, a sum of two takes one away.
  void emit(Operation operation, int growth, double number = 0, int which = 0) {
    code.push_back({operation, number, which});
    places_ += growth;
    if (places_ > deepest) fail("too many nested parts", "simplify the formula");
  }

  /// Bounds the recursion.
  struct Nesting {
    explicit Nesting(ExpressionParser& p) : parser(p) {
      if (++parser.depth_ > deepest) parser.fail("too many nested parts", "simplify the formula");
    }
    ~Nesting() { --parser.depth_; }
    ExpressionParser& parser;
  };

  /// A zero would end the message, and other control characters confuse terminals.
  static std::string printable(std::string_view text) {
    std::string result(text);
    for (char& c : result)
      if (static_cast<unsigned char>(c) < 32) c = '?';
    return result;
  }

  /// '{}' in `problem` stands for the character here.
  [[noreturn]] void fail(std::string problem, std::string_view remedy) const {
    const std::string_view rest = text_.substr(position_);
    if (const std::size_t at = problem.find("{}"); at != problem.npos)
      problem.replace(at, 2, printable(rest.substr(0, 1)));
    const std::string_view shown = text_.substr(0, 60);
    throw InputError("got '{}{}', {} at character {}; {}", printable(shown),
                     shown.size() < text_.size() ? "..." : "", problem, position_ + 1, remedy);
  }

  std::string_view text_;
  std::size_t position_ = 0;
  int depth_ = 0;
  int places_ = 0;
};

Expression::Expression(std::string_view text) : code_(ExpressionParser(text).code) {}
Expression::Expression(double constant) : code_{{Operation::number, constant}} {}

Expression::Expression(std::vector<std::array<double, 2>> curve)
    : curve_(std::move(curve)), code_{{Operation::curve}} {}

namespace {

double value_at(const std::vector<std::array<double, 2>>& curve, double t) {
  const auto next =
      std::partition_point(curve.begin(), curve.end(), [&](const auto& p) { return p[0] <= t; });
  if (next == curve.begin()) return curve.front()[1];
  if (next == curve.end()) return curve.back()[1];
  const auto &a = next[-1], &b = next[0];
  const double s = (t - a[0]) / (b[0] - a[0]);
  return (1 - s) * a[1] + s * b[1];
}

}  // namespace

double Expression::operator()(double x, double y, double z, double t) const {
  const std::array<double, 4> values = {x, y, z, t};
  std::array<double, deepest> stack;
  std::size_t size = 0;
  const auto binary = [&](auto&& f) {
    --size;
    stack[size - 1] = f(stack[size - 1], stack[size]);
  };
  for (const Instruction& i : code_) {
    switch (i.operation) {
      case Operation::number:
        stack[size++] = i.number;
        break;
      case Operation::variable:
        stack[size++] = values[std::size_t(i.which)];
        break;
      case Operation::negate:
        stack[size - 1] = -stack[size - 1];
        break;
      case Operation::invert:
        stack[size - 1] = stack[size - 1] == 0;
        break;
      case Operation::add:
        binary([](double a, double b) { return a + b; });
        break;
      case Operation::subtract:
        binary([](double a, double b) { return a - b; });
        break;
      case Operation::multiply:
        binary([](double a, double b) { return a * b; });
        break;
      case Operation::divide:
        binary([](double a, double b) { return a / b; });
        break;
      case Operation::power:
        binary([](double a, double b) { return std::pow(a, b); });
        break;
      case Operation::less:
        binary([](double a, double b) { return double(a < b); });
        break;
      case Operation::less_equal:
        binary([](double a, double b) { return double(a <= b); });
        break;
      case Operation::greater:
        binary([](double a, double b) { return double(a > b); });
        break;
      case Operation::greater_equal:
        binary([](double a, double b) { return double(a >= b); });
        break;
      case Operation::equal:
        binary([](double a, double b) { return double(a == b); });
        break;
      case Operation::not_equal:
        binary([](double a, double b) { return double(a != b); });
        break;
      case Operation::both:
        binary([](double a, double b) { return double(a != 0 && b != 0); });
        break;
      case Operation::either:
        binary([](double a, double b) { return double(a != 0 || b != 0); });
        break;
      case Operation::curve:
        stack[size++] = value_at(curve_, t);
        break;
      case Operation::call: {
        const Function& f = functions[i.which];
        if (f.arguments == 2)
          binary(f.call);
        else
          stack[size - 1] = f.call(stack[size - 1], 0);
        break;
      }
    }
  }
  return stack[0];
}

bool Expression::uses(char variable) const {
  for (const Instruction& i : code_)
    if ((i.operation == Operation::variable && variables[std::size_t(i.which)] == variable) ||
        (i.operation == Operation::curve && variable == 't'))
      return true;
  return false;
}

std::string Expression::function_names() {
  std::string names;
  for (const Function& f : functions) {
    if (!names.empty()) names += ", ";
    names += f.name;
  }
  return names;
}

}  // namespace apart
