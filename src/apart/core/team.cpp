#include <apart/core/team.hpp>

#include <algorithm>

namespace apart {

std::vector<Bytes> Team::gather(Bytes own) const {
  std::vector<Bytes> all;
  all.push_back(std::move(own));
  return all;
}

const Team& Team::alone() {
  static const Team team;
  return team;
}

/// Numbers are divided among the processes: each combines its part of them, in the order of ranks, and passes
/// the result on. A few numbers are passed to everyone at once.
template <class Combine>
void Team::combine(std::span<double> values, const Combine& combine) const {
  if (is_alone()) return;
  constexpr std::size_t few = 64;
  const auto fold = [&](std::span<double> into, const std::vector<Bytes>& parts) {
    std::memcpy(into.data(), parts[0].data(), into.size_bytes());
    std::vector<double> next(into.size());
    for (std::size_t r = 1; r < parts.size(); ++r) {
      std::memcpy(next.data(), parts[r].data(), into.size_bytes());
      for (std::size_t i = 0; i < into.size(); ++i) into[i] = combine(into[i], next[i]);
    }
  };
  if (values.size() <= few) {
    fold(values, gather(to_bytes(std::span<const double>(values))));
    return;
  }
  const std::size_t n = std::size_t(size());
  const auto part = [&](std::size_t r) {
    const std::size_t begin = values.size() * r / n;
    return values.subspan(begin, values.size() * (r + 1) / n - begin);
  };
  std::vector<Bytes> to;
  for (std::size_t r = 0; r < n; ++r) to.push_back(to_bytes(std::span<const double>(part(r))));
  const std::span<double> own = part(std::size_t(rank()));
  fold(own, exchange(std::move(to)));
  std::size_t next = 0;
  for (const Bytes& bytes : gather(to_bytes(std::span<const double>(own)))) {
    if (!bytes.empty()) std::memcpy(values.data() + next, bytes.data(), bytes.size());
    next += bytes.size() / sizeof(double);
  }
}

void Team::sum(std::span<double> values) const {
  combine(values, [](double a, double b) { return a + b; });
}
void Team::max(std::span<double> values) const {
  combine(values, [](double a, double b) { return std::max(a, b); });
}
double Team::sum(double own) const {
  sum(std::span(&own, 1));
  return own;
}
double Team::max(double own) const {
  max(std::span(&own, 1));
  return own;
}
double Team::min(double own) const {
  return -max(-own);
}
bool Team::any(bool own) const {
  return max(own ? 1.0 : 0.0) > 0;
}

Bytes Team::from_leader(Bytes own) const {
  if (is_alone()) return own;
  return std::move(gather(leads() ? std::move(own) : Bytes())[0]);
}

}  // namespace apart
