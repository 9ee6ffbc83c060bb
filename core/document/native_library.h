#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace sonde::document {

/// The bytes of a shared library, copied once into memory that nobody can write any more: what is looked at, hashed,
/// agreed to and loaded is one and the same, whatever becomes of the file. Reading runs none of its code.
class NativeLibrary {
  public:
    /// Errors (Unreadable): no such file, no regular file, no memory for the copy.
    static base::Result<std::shared_ptr<const NativeLibrary>> read(const std::filesystem::path& path);
    ~NativeLibrary();
    NativeLibrary(const NativeLibrary&) = delete;
    NativeLibrary& operator=(const NativeLibrary&) = delete;

    std::span<const std::byte> bytes() const { return {m_data, m_sizeBytes}; }
    /// See sha256().
    const std::string& hash() const { return m_hash; }

    /// Loads the library into this process, which runs its constructors: only for a hash that the user agreed to. The
    /// same content is loaded once; nothing is ever unloaded, as modules, their classes and what they throw live in it.
    /// Error (Unreadable): the file is cut off, or the loader's
    /// words.
    base::Result<void*> load() const;

  private:
    NativeLibrary() = default;

    std::filesystem::path m_path;
    int m_descriptor = -1;
    const std::byte* m_data = nullptr;
    std::size_t m_sizeBytes = 0;
    std::string m_hash;
};

/// Whether the user agreed, in this or an earlier session, that libraries of this content may run.
bool isNativeAgreed(const std::string& hash);
/// Remembers that. The list is "allowed-libraries" in the user's configuration folder ($XDG_CONFIG_HOME/sonde or
/// ~/.config/sonde): a line for each, with the hash and the path that it was agreed to under. Error (Run): cannot be
/// written.
base::Result<void> agreeToNative(const std::string& hash, const std::filesystem::path& path);
/// The list's file; empty if the user has no home.
std::filesystem::path nativeAgreementsFile();

/// What a person is asked to agree to.
struct NativeRequest {
    std::string location;  ///< as given, PATH or PATH#NAME
    std::filesystem::path path;
    std::string hash;
    std::vector<std::string> models;  ///< names of the models in it
};

/// What must be agreed to before MODEL can be opened; none if it is no library of models named .so, cannot be read, or
/// was agreed to before.
std::optional<NativeRequest> nativeRequest(const std::string& model);

/// What helps against a library that does not fit this program.
inline constexpr const char* kRebuildHint = "build it again with the headers and the compiler of this Sonde";

}  // namespace sonde::document
