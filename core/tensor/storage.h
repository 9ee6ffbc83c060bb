#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace sonde::tensor {

/// Bytes that tensors share: owned (64-byte aligned heap or a place in an arena) or mapped from a file (read-only).
/// String tensors keep their elements in `strings` instead. Immutable once published; thread-safe to read.
class Storage {
  public:
    /// Owned bytes, not initialised. Error if larger than memoryLimit() or if there is no memory.
    static base::Result<std::shared_ptr<Storage>> allocate(std::size_t sizeBytes);
    /// A window on bytes that `owner` keeps alive: a mapped file, or a place in a run's arena.
    static std::shared_ptr<Storage> view(const std::byte* data, std::size_t sizeBytes,
                                         std::shared_ptr<const void> owner, bool writable = false);
    /// Owned bytes that are made when they are first read: `fill` is called once, on zeroed memory (no function: they
    /// stay zero). Until then they take address space only. Errors as allocate().
    static base::Result<std::shared_ptr<Storage>> deferred(std::size_t sizeBytes,
                                                           std::function<void(std::byte*)> fill = {});
    static std::shared_ptr<Storage> ofStrings(std::vector<std::string> strings);

    const std::byte* data() const {
        if (m_deferred) fillOnce();
        return m_data;
    }
    std::byte* mutableData() {
        if (m_deferred) fillOnce();
        return m_writable ? m_data : nullptr;
    }
    std::size_t sizeBytes() const { return m_sizeBytes; }
    bool writable() const { return m_writable; }
    std::vector<std::string>& strings() { return m_strings; }
    const std::vector<std::string>& strings() const { return m_strings; }

  private:
    struct Deferred;
    void fillOnce() const;

    std::byte* m_data = nullptr;
    std::size_t m_sizeBytes = 0;
    bool m_writable = false;
    std::shared_ptr<const void> m_owner;
    std::shared_ptr<Deferred> m_deferred;  ///< null for bytes that are there from the beginning
    std::vector<std::string> m_strings;
};

/// The largest single allocation that a model may ask for, in bytes (default: 3/4 of the machine's memory).
std::size_t memoryLimit();
void setMemoryLimit(std::size_t sizeBytes);

}  // namespace sonde::tensor
