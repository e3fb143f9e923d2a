#pragma once

#include <algorithm>
#include <cstddef>
#include <list>
#include <string>
#include <utility>

namespace partwise::tensors {

// What belongs to the few keys that were asked for last; of the others nothing is kept.
template <class Value>
class RecentlyUsed {
 public:
  explicit RecentlyUsed(std::size_t most) : most_(most) {}

  // A new key's is made, in place of what was not asked for longest.
  Value& of(const std::string& key) {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const auto& entry) { return entry.first == key; });
    if (found != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, found);
    } else {
      if (entries_.size() == most_) entries_.pop_back();
      entries_.emplace_front(key, Value());
    }
    return entries_.front().second;
  }

 private:
  std::size_t most_;
  std::list<std::pair<std::string, Value>> entries_;  // the one asked for last is first
};

}  // namespace partwise::tensors
