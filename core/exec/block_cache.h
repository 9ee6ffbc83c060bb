#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/ops/registry/registry.h"

namespace sonde::exec {

/// Memory for the outputs of kernels that is kept between runs, so that a run touches pages that are already mapped
/// (a fresh page costs about six times as much as the write itself). Blocks come back when the last tensor on them
/// goes, from whatever thread. Blocks may outlive the cache. What no run has used lately is given back to the system:
/// another input size has blocks of other sizes.
class BlockCache : public ops::OutputAllocator {
  public:
    BlockCache();

    base::Result<tensor::Tensor> allocate(std::size_t output, tensor::DType dtype, const tensor::Shape& shape) override;
    /// A run begins: unused blocks that neither it nor the two before it were given go.
    void nextRun();
    /// Frees unused blocks, the largest first, until no more than so many bytes of them are left.
    void trim(std::size_t keptBytes);
    std::size_t unusedBytes() const;

  private:
    struct Block {
        std::shared_ptr<tensor::Storage> storage;
        std::uint64_t run;  ///< in which it was given out last
    };
    struct Pool {
        std::mutex mutex;
        std::multimap<std::size_t, Block> unused;  ///< by size
        std::uint64_t run = 0;
    };
    std::shared_ptr<Pool> m_pool;
};

}  // namespace sonde::exec
