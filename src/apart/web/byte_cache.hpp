#pragma once
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace apart {

/// Keeps the values used last, up to a number of bytes in all; the last one put in always. For several
/// threads.
template <class Value>
class ByteCache {
 public:
  explicit ByteCache(std::size_t limit) : limit_(limit) {}

  std::shared_ptr<const Value> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto at = entries_.find(key);
    if (at == entries_.end()) return nullptr;
    order_.splice(order_.begin(), order_, at->second.place);
    return at->second.value;
  }

  void put(const std::string& key, std::shared_ptr<const Value> value, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (const auto at = entries_.find(key); at != entries_.end()) remove(at);
    order_.push_front(key);
    entries_[key] = {std::move(value), bytes, order_.begin()};
    bytes_ += bytes;
    while (bytes_ > limit_ && order_.size() > 1) remove(entries_.find(order_.back()));
  }

  std::size_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  struct Entry {
    std::shared_ptr<const Value> value;
    std::size_t bytes = 0;
    std::list<std::string>::iterator place;
  };
  void remove(typename std::map<std::string, Entry>::iterator at) {
    bytes_ -= at->second.bytes;
    order_.erase(at->second.place);
    entries_.erase(at);
  }

  std::size_t limit_, bytes_ = 0;
  std::map<std::string, Entry> entries_;
  std::list<std::string> order_;  ///< keys, used last first
  mutable std::mutex mutex_;
};

}  // namespace apart
