#include <apart/core/error.hpp>
#include <apart/io/atomic_file.hpp>
#include <apart/run/profile.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <ostream>

namespace apart {

namespace {

/// A part of the time, and the parts within it.
struct Node {
  double seconds = 0;
  std::int64_t calls = 0;
  std::array<std::unique_ptr<Node>, phase_names.size()> parts;

  Node& part(Phase phase) {
    auto& p = parts[std::size_t(phase)];
    if (!p) p = std::make_unique<Node>();
    return *p;
  }
};

void print(const Node& node, double total, int indent, std::string& text) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < phase_names.size(); ++i)
    if (node.parts[i]) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return node.parts[a]->seconds > node.parts[b]->seconds;
  });
  double within = 0;
  for (const std::size_t i : order) {
    const Node& part = *node.parts[i];
    within += part.seconds;
    text += fmt::format("{:{}}{:<{}} {:>10.3f} s {:>6.1f} % {:>10} calls\n", "", indent, phase_names[i],
                        24 - indent, part.seconds, 100 * part.seconds / total, part.calls);
    print(part, total, indent + 2, text);
  }
  if (!order.empty())
    text += fmt::format("{:{}}{:<{}} {:>10.3f} s {:>6.1f} %\n", "", indent, "itself", 24 - indent,
                        node.seconds - within, 100 * (node.seconds - within) / total);
}

}  // namespace

std::string time_tree(const std::vector<Timings::Span>& spans, double total) {
  // Spans come in the order in which they ended: those within one stand before it, one level deeper.
  std::vector<std::vector<std::pair<Phase, Node>>> open;  // by depth: what has ended within the scope around
  const auto merge = [](Node& into, Node&& from, const auto& self) -> void {
    into.seconds += from.seconds;
    into.calls += from.calls;
    for (std::size_t i = 0; i < phase_names.size(); ++i)
      if (from.parts[i]) self(into.part(Phase(i)), std::move(*from.parts[i]), self);
  };
  Node root;
  root.seconds = total;
  for (const Timings::Span& span : spans) {
    const auto depth = std::size_t(span.depth);
    if (open.size() < depth + 2) open.resize(depth + 2);
    Node node;
    node.seconds = span.end - span.begin;
    node.calls = 1;
    for (auto& [phase, within] : open[depth + 1]) merge(node.part(phase), std::move(within), merge);
    open[depth + 1].clear();
    if (depth == 0)
      merge(root.part(span.phase), std::move(node), merge);
    else
      open[depth].emplace_back(span.phase, std::move(node));
  }
  std::string text = fmt::format("{:<24} {:>10.3f} s\n", "total", total);
  print(root, total, 2, text);
  return text;
}

void write_trace(const std::filesystem::path& file, const std::vector<Timings::Span>& spans,
                 const std::vector<std::pair<double, double>>& steps, Index first) {
  write_atomically(file, [&](std::ostream& out) {
    std::string line;
    const auto event = [&](std::string_view name, double begin, double end) {
      line += line.empty() ? "{\"traceEvents\":[\n" : ",\n";
      line += fmt::format(R"({{"name":"{}","ph":"X","pid":1,"tid":1,"ts":{:.3f},"dur":{:.3f}}})", name,
                          1e6 * begin, 1e6 * (end - begin));
      if (line.size() > 1 << 16) {
        out << line;
        line = " ";
      }
    };
    for (std::size_t i = 0; i < steps.size(); ++i)
      event(fmt::format("step {}", first + Index(i)), steps[i].first, steps[i].second);
    for (const Timings::Span& span : spans) event(phase_names[std::size_t(span.phase)], span.begin, span.end);
    if (line.empty()) line = "{\"traceEvents\":[\n";
    out << line << "\n],\"displayTimeUnit\":\"ms\"}\n";
  });
}

}  // namespace apart
