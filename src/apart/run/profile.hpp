#pragma once
#include <apart/core/diagnostics.hpp>
#include <apart/core/types.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace apart {

/// Where the time went, as an indented list: each part with its share, its calls, and the parts within it.
/// `total` [s]: of everything.
std::string time_tree(const std::vector<Timings::Span>& spans, double total);

/// The same as a timeline, for chrome://tracing or Perfetto. `steps`: begin and end of each time step [s],
/// the first of which has the number `first`.
void write_trace(const std::filesystem::path& file, const std::vector<Timings::Span>& spans,
                 const std::vector<std::pair<double, double>>& steps, Index first);

}  // namespace apart
