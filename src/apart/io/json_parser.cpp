#include <apart/io/file_reader.hpp>
#include <apart/io/located_json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace apart {

namespace {

constexpr int deepest = 100;  // levels; the parser recurses
constexpr std::size_t longest = std::size_t(1)
                                << 26;  // bytes; a value takes about 50 times its shortest text

/// Length of the UTF-8 character at the start of the text; 0 if it is none (RFC 3629).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto between = [](unsigned value, unsigned low, unsigned high) {
    return low <= value && value <= high;
  };
  const auto continues = [&](std::size_t i) { return between(byte(i), 0x80, 0xBF); };
  const unsigned lead = byte(0), second = byte(1);
  if (lead < 0x80) return 1;
  if (between(lead, 0xC2, 0xDF)) return continues(1) ? 2 : 0;
  if (between(lead, 0xE0, 0xEF)) {
    const unsigned low = lead == 0xE0 ? 0xA0 : 0x80, high = lead == 0xED ? 0x9F : 0xBF;
    return between(second, low, high) && continues(2) ? 3 : 0;
  }
  if (between(lead, 0xF0, 0xF4)) {
    const unsigned low = lead == 0xF0 ? 0x90 : 0x80, high = lead == 0xF4 ? 0x8F : 0xBF;
    return between(second, low, high) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

void append_utf8(std::string& text, unsigned code) {
  if (code < 0x80) {
    text += char(code);
  } else if (code < 0x800) {
    text += char(0xC0 | code >> 6);
    text += char(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    text += char(0xE0 | code >> 12);
    text += char(0x80 | (code >> 6 & 0x3F));
    text += char(0x80 | (code & 0x3F));
  } else {
    text += char(0xF0 | code >> 18);
    text += char(0x80 | (code >> 12 & 0x3F));
    text += char(0x80 | (code >> 6 & 0x3F));
    text += char(0x80 | (code & 0x3F));
  }
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& source)
      : text_(text), source_(std::make_shared<const std::string>(source)) {}

  JsonValue document() {
    if (text_.size() > longest)
      throw InputError("{}: has {} bytes, at most {} are read; keep large meshes in files of their own",
                       *source_, text_.size(), longest);
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);  // byte order mark
    check_encoding();
    skip_space();
    if (at_end()) fail(position_, "holds no value; write a scene, for example with 'apart examples'");
    JsonValue result = value(0);
    skip_space();
    if (!at_end()) fail(position_, fmt::format("got {} after the end of the value; remove it", here()));
    return result;
  }

 private:
  void check_encoding() const {
    for (std::size_t i = 0; i < text_.size();) {
      const std::size_t n = utf8_length(text_.substr(i));
      if (n == 0)
        fail(i, fmt::format("byte 0x{:02X} is not valid UTF-8; save the file with UTF-8 encoding",
                            static_cast<unsigned char>(text_[i])));
      i += n;
    }
  }

  bool at_end() const { return position_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[position_]; }
  bool take(char c) {
    if (at_end() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  /// What stands at the place of an error, for the message.
  std::string here() const {
    if (at_end()) return "the end of the text";
    std::size_t end = position_;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '_'))
      ++end;
    if (end == position_) end += utf8_length(text_.substr(position_));
    return apart::quoted(text_.substr(position_, end - position_));
  }

  [[noreturn]] void fail(std::size_t at, std::string_view what) const {
    const auto [line, column] = place(at);
    throw InputError("{}:{}:{}: {}", *source_, line, column, what);
  }

  std::pair<int, int> place(std::size_t at) const {
    const std::string_view before = text_.substr(0, at);
    const std::size_t line_start = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
    return {1 + int(std::count(before.begin(), before.end(), '\n')), 1 + int(at - line_start)};
  }

  void skip_space() {
    while (!at_end()) {
      const char c = peek();
      if (c == '\n') {
        ++position_;
        ++line_;
        line_start_ = position_;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++position_;
      } else if (c == '/') {
        skip_comment();
      } else {
        return;
      }
    }
  }

  void skip_comment() {
    const std::string_view rest = text_.substr(position_);
    if (rest.starts_with("//")) {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (rest.starts_with("/*")) {
      const std::size_t end = text_.find("*/", position_ + 2);
      if (end == text_.npos) fail(position_, "this comment is never closed; end it with */");
      for (; position_ < end; ++position_)
        if (text_[position_] == '\n') {
          ++line_;
          line_start_ = position_ + 1;
        }
      position_ = end + 2;
    } else {
      fail(position_, "got '/'; comments begin with // or /*");
    }
  }

  JsonValue value(int depth) {
    if (depth > deepest)
      fail(position_, fmt::format("nested deeper than {} levels; flatten the file", deepest));
    JsonValue result;
    result.source = source_;
    result.line = line_;
    result.column = int(position_ - line_start_) + 1;
    const char c = peek();
    if (c == '{') {
      result.data = object(depth);
    } else if (c == '[') {
      result.data = array(depth);
    } else if (c == '"') {
      result.data = string();
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      result.data = number();
    } else if (take_word("true")) {
      result.data = true;
    } else if (take_word("false")) {
      result.data = false;
    } else if (!take_word("null")) {
      fail_at_value();
    }
    return result;
  }

  bool take_word(std::string_view word) {
    if (!text_.substr(position_).starts_with(word)) return false;
    const std::size_t end = position_ + word.size();
    if (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '_'))
      return false;
    position_ = end;
    return true;
  }

  [[noreturn]] void fail_at_value() const {
    std::string_view remedy = "write a number, a text in double quotes, true, false, null, [...] or {...}";
    const std::string_view rest = text_.substr(position_);
    if (rest.starts_with("NaN") || rest.starts_with("nan") || rest.starts_with("Inf") ||
        rest.starts_with("inf"))
      remedy = "every number must be finite";
    else if (rest.starts_with("'"))
      remedy = "texts stand in double quotes";
    else if (rest.starts_with("+") || rest.starts_with("."))
      remedy = "numbers begin with a digit or a minus sign";
    else if (rest.starts_with("}") || rest.starts_with("]"))
      remedy = "remove the comma before it, or add the missing value";
    fail(position_, fmt::format("got {} where a value must stand; {}", here(), remedy));
  }

  JsonValue::Object object(int depth) {
    const std::size_t begin = position_++;
    JsonValue::Object members;
    std::set<std::string, std::less<>> keys;
    skip_space();
    if (take('}')) return members;
    while (true) {
      skip_space();
      if (at_end()) fail(begin, "this '{' is never closed; add the missing '}'");
      if (peek() != '"')
        fail(position_,
             fmt::format("got {} where a key must stand; {}", here(),
                         peek() == '}' ? "remove the comma before it" : "keys stand in double quotes"));
      const std::size_t at = position_;
      std::string key = string();
      if (!keys.insert(key).second)
        fail(at, fmt::format("the key {} stands twice in this object; remove one", apart::quoted(key)));
      skip_space();
      if (!take(':'))
        fail(position_, fmt::format("got {} after the key {}; write ':'", here(), apart::quoted(key)));
      skip_space();
      JsonValue member = value(depth + 1);
      members.emplace_back(std::move(key), std::move(member));
      skip_space();
      if (take('}')) return members;
      if (at_end()) fail(begin, "this '{' is never closed; add the missing '}'");
      if (!take(','))
        fail(position_, fmt::format("got {} after the value of {}; write ',' or '}}'", here(),
                                    apart::quoted(members.back().first)));
    }
  }

  JsonValue::Array array(int depth) {
    const std::size_t begin = position_++;
    JsonValue::Array items;
    skip_space();
    if (take(']')) return items;
    while (true) {
      skip_space();
      if (at_end()) fail(begin, "this '[' is never closed; add the missing ']'");
      items.push_back(value(depth + 1));
      skip_space();
      if (take(']')) return items;
      if (at_end()) fail(begin, "this '[' is never closed; add the missing ']'");
      if (!take(',')) fail(position_, fmt::format("got {} in a list; write ',' or ']'", here()));
    }
  }

  double number() {
    const std::size_t begin = position_;
    const auto digits = [&] {
      const std::size_t first = position_;
      while (peek() >= '0' && peek() <= '9') ++position_;
      return position_ - first;
    };
    take('-');
    const std::size_t integer_begin = position_;
    bool good = digits() > 0 && (text_[integer_begin] != '0' || position_ == integer_begin + 1);
    if (good && take('.')) good = digits() > 0;
    if (good && (peek() == 'e' || peek() == 'E')) {
      ++position_;
      if (peek() == '+' || peek() == '-') ++position_;
      good = digits() > 0;
    }
    if (std::isalnum(static_cast<unsigned char>(peek())) || peek() == '_' || peek() == '.') good = false;
    while (std::isalnum(static_cast<unsigned char>(peek())) || peek() == '.' || peek() == '_') ++position_;
    const std::string_view text = text_.substr(begin, position_ - begin);
    if (!good)
      fail(begin,
           fmt::format("got {}, which is not a number; write it like -12.5 or 1e-3 (a text needs quotes)",
                       apart::quoted(text)));
    double result = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    if (error != std::errc{} || end != text.data() + text.size())
      fail(begin,
           fmt::format("got {}, which no double can hold; use a number between 1e-307 and 1e308 in size",
                       apart::quoted(text)));
    return result;
  }

  unsigned hex4() {
    unsigned code = 0;
    const char* first = text_.data() + position_;
    if (text_.size() - position_ < 4 || std::from_chars(first, first + 4, code, 16).ptr != first + 4)
      fail(position_, "\\u needs four hexadecimal digits");
    position_ += 4;
    return code;
  }

  std::string string() {
    const std::size_t begin = position_++;
    std::string result;
    while (true) {
      if (at_end() || peek() == '\n') fail(begin, "this text is never closed; add the missing '\"'");
      const char c = text_[position_++];
      if (c == '"') return result;
      if (static_cast<unsigned char>(c) < 0x20)
        fail(position_ - 1,
             "control characters are not allowed inside a text; write \\t, or \\u and its number");
      if (c != '\\') {
        result += c;
        continue;
      }
      static constexpr std::string_view escapes = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
      const char escape = peek();
      if (escape == 'u') {
        ++position_;
        unsigned code = hex4();
        if (code >= 0xD800 && code < 0xDC00 && text_.substr(position_).starts_with("\\u")) {
          position_ += 2;
          const unsigned low = hex4();
          if (low < 0xDC00 || low > 0xDFFF)
            fail(position_ - 4, "the second half of a surrogate pair must be DC00 to DFFF");
          code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        } else if (code >= 0xD800 && code < 0xE000) {
          fail(position_ - 4, "half a surrogate pair; write the character itself");
        }
        append_utf8(result, code);
      } else if (const std::size_t which = escapes.find(escape); !at_end() && which != escapes.npos) {
        ++position_;
        result += meanings[which];
      } else {
        fail(position_ - 1, fmt::format("unknown escape \\{}; a backslash itself is written \\\\", escape));
      }
    }
  }

  std::string_view text_;
  std::shared_ptr<const std::string> source_;
  std::size_t position_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
};

}  // namespace

JsonValue parse_json(std::string_view text, const std::string& source) {
  return Parser(text, source).document();
}

JsonValue read_json(const std::filesystem::path& file) {
  std::error_code error;
  if (const auto size = std::filesystem::file_size(file, error); !error && size > longest)
    throw InputError("{}: has {} bytes, at most {} are read; keep large meshes in files of their own",
                     file.string(), size, longest);
  return parse_json(FileReader(file).content(), file.string());
}

}  // namespace apart
