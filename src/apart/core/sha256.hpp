#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace apart {

/// SHA-256 [FIPS 180-4] of bytes added piece by piece.
class Sha256 {
 public:
  void add(std::string_view bytes);
  /// The digest of all bytes so far, as 64 lowercase hexadecimal digits, as printed by sha256sum. More bytes
  /// may follow.
  std::string digest() const;

 private:
  void process(const unsigned char* blocks, std::size_t count);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> rest_{};  ///< bytes that do not fill a block yet
  std::uint64_t size_ = 0;                ///< bytes so far
};

std::string sha256(std::string_view bytes);

}  // namespace apart
