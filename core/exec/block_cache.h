#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/ops/registry/registry.h"

namespace sonde::exec {

/// Memory for the outputs of kernels that is kept between runs, so that a run touches pages that are already mapped
/// (a fresh page costs about six times as much as the write itself). Blocks come back when the last tensor on them goes,
/// from whatever thread. Blocks may outlive the cache.
class BlockCache : public ops::OutputAllocator {
  public:
    BlockCache();

    base::Result<tensor::Tensor> allocate(std::size_t output, tensor::DType dtype, const tensor::Shape& shape) override;
    /// Gives unused blocks back to the system.
    void trim();

  private:
    struct Pool {
        std::mutex mutex;
        std::multimap<std::size_t, std::shared_ptr<tensor::Storage>> unused;  ///< by size
    };
    std::shared_ptr<Pool> m_pool;
};

}  // namespace sonde::exec
