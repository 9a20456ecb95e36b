#pragma once
#include <apart/io/located_json.hpp>

#include <memory>
#include <string>

namespace apart {

/// The place of an item of a description, for messages: its path in the scene ("bodies[2].mesh") and, if it
/// was read from a file, file and line. Items made in a program get their path when they are checked.
class Place : public Located<Place> {
 public:
  Place() = default;
  // Every description holds places; these are compiled once.
  Place(const Place&);
  Place(Place&&) noexcept;
  Place& operator=(const Place&);
  Place& operator=(Place&&) noexcept;
  ~Place();
  /// `root` keeps alive what `value` refers to.
  Place(const LocatedJson& value, const std::shared_ptr<const JsonValue>& root)
      : value_(root, &value.value()), path_(value.path()) {}

  /// Of what was read from another format; its path in the scene comes with checking.
  Place(std::shared_ptr<const std::string> file, int line);

  const std::string& path() const { return path_; }
  /// Gives file and line to JSON that is written from the item.
  void mark(JsonValue& value) const;
  /// Of a member or an entry; a member that is not given is where its object is.
  Place operator[](std::string_view key) const;
  Place operator[](std::size_t index) const;

  std::string message(std::string_view what) const;

 private:
  std::shared_ptr<const JsonValue> value_;  ///< what was read; null: nothing was
  std::string path_;
};

}  // namespace apart
