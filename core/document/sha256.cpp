#include "core/document/sha256.h"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <openssl/evp.h>

namespace sonde::document {

namespace {

using Digest = std::array<unsigned char, 32>;

// With this algorithm OpenSSL can only fail for want of memory.
void require(bool done) {
    if (!done) throw std::bad_alloc();
}

std::string hexadecimal(const Digest& digest) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const unsigned char byte : digest) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

}  // namespace

std::string sha256(std::span<const std::byte> bytes) {
    Digest digest{};
    unsigned int size = 0;
    require(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1 &&
            size == digest.size());
    return hexadecimal(digest);
}

base::Result<std::string> sha256(std::span<const std::byte> bytes, const base::WorkContext& work) {
    constexpr std::size_t kPiece = std::size_t{8} << 20;
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
    require(context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1);
    for (std::size_t done = 0; done < bytes.size(); done += kPiece) {
        if (work.cancelled()) return base::cancelled("computing the SHA-256");
        if (bytes.size() > kPiece) work.report("computing the SHA-256", done, bytes.size());
        const auto piece = bytes.subspan(done, std::min(kPiece, bytes.size() - done));
        require(EVP_DigestUpdate(context.get(), piece.data(), piece.size()) == 1);
    }
    Digest digest{};
    unsigned int size = 0;
    require(EVP_DigestFinal_ex(context.get(), digest.data(), &size) == 1 && size == digest.size());
    return hexadecimal(digest);
}

}  // namespace sonde::document
