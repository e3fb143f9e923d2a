#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace partwise::atlas {

// What was made lately, up to `limit` in all by the weights given; what has not been asked for
// longest goes first. From any thread.
template <typename Key, typename Value>
class Recent {
 public:
  explicit Recent(std::size_t limit) : limit_(limit) {}

  std::optional<Value> find(const Key& key) {
    const std::lock_guard lock(guard_);
    const auto found = places_.find(key);
    if (found == places_.end()) return std::nullopt;
    items_.splice(items_.begin(), items_, found->second);
    return found->second->value;
  }

  void keep(const Key& key, Value value, std::size_t weight = 1) {
    const std::lock_guard lock(guard_);
    const auto found = places_.find(key);
    if (found != places_.end()) drop(found->second);
    items_.push_front({key, std::move(value), weight});
    places_[key] = items_.begin();
    weight_ += weight;
    while (weight_ > limit_ && items_.size() > 1) drop(std::prev(items_.end()));
  }

  // Kept, or made now; two who ask at once may both make it.
  template <typename Make>
  Value find_or(const Key& key, const Make& make, std::size_t weight = 1) {
    if (auto found = find(key)) return std::move(*found);
    auto value = make();
    keep(key, value, weight);
    return value;
  }

  void forget() {
    const std::lock_guard lock(guard_);
    items_.clear();
    places_.clear();
    weight_ = 0;
  }

  std::size_t size() {
    const std::lock_guard lock(guard_);
    return items_.size();
  }

 private:
  struct Item {
    Key key;
    Value value;
    std::size_t weight;
  };
  using Place = typename std::list<Item>::iterator;

  void drop(Place place) {
    weight_ -= place->weight;
    places_.erase(place->key);
    items_.erase(place);
  }

  std::size_t limit_;
  std::size_t weight_ = 0;
  std::list<Item> items_;
  std::map<Key, Place> places_;
  std::mutex guard_;
};

}  // namespace partwise::atlas
