#pragma once
// The processes of one simulation: all run the same program on the same scene, and each does its share of
// what is expensive. This is all that the layers know of them; how they talk to each other is somebody
// else's.
#include <apart/core/types.hpp>

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace apart {

using Bytes = std::vector<std::byte>;

/// The processes that simulate together. Without any other it is a team of one, whose functions return at
/// once what they are given.
///
/// Every function below must be called by all processes, in the same order. That is so as long as what they
/// decide follows from values that are the same everywhere, to the last bit. So sums are formed in the order
/// of ranks by one process each, and passed on: every process has the same bits, and the same number of
/// processes gives the same bits again.
class Team {
 public:
  virtual ~Team() = default;
  virtual int rank() const { return 0; }
  virtual int size() const { return 1; }
  /// What every process gave, in the order of ranks.
  virtual std::vector<Bytes> gather(Bytes own) const;
  /// `to`: something for each process. Returns what each of them had for this one.
  virtual std::vector<Bytes> exchange(std::vector<Bytes> to) const { return to; }

  static const Team& alone();  ///< a team of one
  bool is_alone() const { return size() == 1; }
  bool leads() const { return rank() == 0; }  ///< writes files, and does what is done once

  bool any(bool own) const;
  double sum(double own) const;
  double min(double own) const;
  double max(double own) const;
  /// Entry by entry; all processes have as many.
  void sum(std::span<double> values) const;
  void max(std::span<double> values) const;
  void sum(Matrix3X& values) const { sum(std::span(values.data(), std::size_t(values.size()))); }
  /// The bytes that the process of rank 0 gives.
  Bytes from_leader(Bytes own) const;
  /// What each process gave, one after the other in the order of ranks.
  template <class T>
  std::vector<T> joined(std::span<const T> own) const;
  /// The part of `count` things that this process does: [first, last).
  std::pair<Index, Index> share(Index count) const {
    const auto end = [&](int r) { return Index(std::int64_t(count) * r / size()); };
    return {end(rank()), end(rank() + 1)};
  }

 private:
  template <class Combine>
  void combine(std::span<double> values, const Combine& combine) const;
};

template <class T>
Bytes to_bytes(std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  Bytes bytes(values.size_bytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
void append_from_bytes(const Bytes& bytes, std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::size_t before = values.size();
  values.resize(before + bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data() + before, bytes.data(), bytes.size());
}

template <class T>
std::vector<T> Team::joined(std::span<const T> own) const {
  if (is_alone()) return {own.begin(), own.end()};
  std::vector<T> all;
  for (const Bytes& part : gather(to_bytes(own))) append_from_bytes(part, all);
  return all;
}

}  // namespace apart
