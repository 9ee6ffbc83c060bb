#include "core/document/sha256.h"

#include <array>
#include <new>
#include <openssl/evp.h>

namespace sonde::document {

std::string sha256(std::span<const std::byte> bytes) {
    std::array<unsigned char, 32> digest{};
    unsigned int size = 0;
    // With this algorithm it can only fail for want of memory.
    if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1 ||
        size != digest.size())
        throw std::bad_alloc();
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const unsigned char byte : digest) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

}  // namespace sonde::document
