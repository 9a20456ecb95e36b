#pragma once
#include <string>
#include <string_view>

namespace apart {

/// The bytes as one member of a gzip stream (RFC 1952), without name and time: equal bytes give equal
/// streams. `level`: 1 is fast, 9 is small.
std::string gzip(std::string_view bytes, int level = 1);

}  // namespace apart
