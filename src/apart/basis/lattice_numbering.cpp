#include <apart/basis/lattice_numbering.hpp>
#include <apart/core/error.hpp>

#include <algorithm>
#include <numeric>

namespace apart {

Index LatticeNumbering::number(std::span<const Index> corners, std::span<const int> point) {
  ensure(corners.size() == point.size() && corners.size() <= 4 &&
             std::accumulate(point.begin(), point.end(), 0) == degree_,
         "LatticeNumbering: a point of another lattice");
  std::array<std::pair<Index, Index>, 4> entries;
  std::size_t count = 0;
  for (std::size_t k = 0; k < corners.size(); ++k)
    if (point[k] > 0) entries[count++] = {corners[k], point[k]};
  std::sort(entries.begin(), entries.begin() + std::ptrdiff_t(count));
  Key key;
  key.fill(-1);
  for (std::size_t k = 0; k < count; ++k) key[2 * k] = entries[k].first, key[2 * k + 1] = entries[k].second;
  return numbers_.try_emplace(key, Index(numbers_.size())).first->second;
}

}  // namespace apart
