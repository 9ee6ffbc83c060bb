#pragma once

#include <cstddef>

namespace sonde::base {

class MappedFile;

namespace detail {
struct MappingSlot;
}

/// Keeps the process alive when a mapped file is cut off, or its disk fails, while something uses the mapping: the
/// kernel then sends SIGBUS to the reading thread. Whoever reads goes on with zeros and readFailed() is true from then
/// on, so what was computed from them is thrown away (MappedFile::hasChanged).
///
/// The first guard installs the signal's handler. It only reads atomics and calls mmap, takes no lock and allocates
/// nothing, acts on addresses in guarded mappings alone and gives every other signal to the handler that was there
/// before.
class MappingGuard {
  public:
    /// Of `sizeBytes` > 0 bytes that were mapped at `begin`, a page's first byte, for `file`.
    MappingGuard(const std::byte* begin, std::size_t sizeBytes, const MappedFile* file);
    /// To be destroyed before the memory is unmapped: its addresses may then be somebody else's.
    ~MappingGuard();
    MappingGuard(const MappingGuard&) = delete;
    MappingGuard& operator=(const MappingGuard&) = delete;

    bool readFailed() const;
    /// The file whose guarded mapping holds the address; null if there is none. Valid for as long as the caller knows
    /// that the mapping is kept.
    static const MappedFile* fileAt(const void* address);

  private:
    detail::MappingSlot* m_slot;
};

}  // namespace sonde::base
