#pragma once

#include <cstddef>

namespace sonde::tensor {

/// While one lives, no tensor of more bytes is allocated on this thread: larger ones are an error, as if memory were
/// out. For work that a file may ask for before anybody wanted a run.
class AllocationLimit {
  public:
    explicit AllocationLimit(std::size_t sizeBytes);
    ~AllocationLimit();
    AllocationLimit(const AllocationLimit&) = delete;
    AllocationLimit& operator=(const AllocationLimit&) = delete;

    /// Of this thread; the largest number if there is none.
    static std::size_t current();

  private:
    std::size_t m_before;
};

}  // namespace sonde::tensor
