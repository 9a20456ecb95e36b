#include <gtest/gtest.h>
#include <apart/core/sha256.hpp>

#include <string>

namespace apart::test {
namespace {

TEST(Sha256, GivesTheDigestsOfTheStandard) {
  // The examples that NIST publishes with FIPS 180-4.
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnHowTheBytesCome) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes.push_back(char(i * 7));
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const std::string_view all = std::string_view(bytes).substr(0, size);
    const std::string whole = sha256(all);
    for (const std::size_t piece : {1u, 3u, 63u, 64u, 65u}) {
      Sha256 hash;
      for (std::size_t at = 0; at < size; at += piece) hash.add(all.substr(at, piece));
      EXPECT_EQ(hash.digest(), whole) << size << " bytes in pieces of " << piece;
      EXPECT_EQ(hash.digest(), whole) << "asked again";
    }
  }
}

TEST(Sha256, ChangesWithEveryBit) {
  const std::string bytes(100, 'x');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string other = bytes;
    other[i] ^= char(1 << i % 8);
    EXPECT_NE(sha256(other), sha256(bytes)) << i;
  }
}

}  // namespace
}  // namespace apart::test
