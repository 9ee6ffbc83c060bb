#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/session/debug/spill_file.h"
#include "core/session/debug/trace.h"
#include "core/tensor/value.h"

namespace sonde::session::debug {

/// How much a run that is debugged may keep of its values. Above that a process needs memory for what is done at the
/// time: an operation's inputs, results and working memory, also if they alone are more than this, and no more than
/// 32 MiB of memory that values have left. Weights and what they were packed into are the model's, as in any run.
struct KeptLimits {
    static constexpr std::size_t kDefaultMemory = std::size_t{1} << 30;
    static constexpr std::size_t kDefaultDisk = std::size_t{64} << 30;

    std::size_t memoryBytes = kDefaultMemory;  ///< of values that no operation is using
    /// Beyond the memory: what is in a file. Beyond that too, values are computed again.
    std::size_t diskBytes = kDefaultDisk;
    std::string folder;  ///< of that file, see SpillFile::create; may be empty
};

using BlockId = std::uint32_t;
inline constexpr BlockId kNoBlock = std::numeric_limits<BlockId>::max();

/// How the values of a run are kept at a moment.
struct KeptUse {
    KeptLimits limits;
    std::size_t memoryBytes = 0;
    std::size_t diskBytes = 0;      ///< of the file
    std::size_t droppedBytes = 0;   ///< neither in memory nor on disk: computed again when asked for
    std::size_t computedAgain = 0;  ///< operations, so far
};

/// A value apart from the memory that its elements are in: that may be elsewhere when the value is asked for.
struct KeptValue {
    tensor::Value value;  ///< neither a container nor a tensor in a block: the value itself; else its kind tells
    tensor::ValueKind kind = tensor::ValueKind::None;
    BlockId block = kNoBlock;  ///< of a tensor
    tensor::DType dtype = tensor::DType::Undefined;
    tensor::Shape shape;
    std::vector<std::int64_t> strides;
    std::int64_t offset = 0;
    std::vector<KeptValue> items;  ///< of a container; of a dict keys and values in turn
};

/// Values of a run within a limit of memory. The unit is the block: memory that one or several tensors share, as views
/// do. Blocks that were not used lately leave memory first: for disk; if there is no room, those that can be computed
/// again are dropped, so that some are left all along the run to go on from.
///
/// Not thread-safe.
class KeptValues {
  public:
    explicit KeptValues(KeptLimits limits);

    /// Memory that is there anyway, of weights and inputs: what shares it is kept for nothing.
    void addForeign(const tensor::Value& value);
    /// `maker`: the item that the value was made in, if nobody made its blocks before. `canDrop`: a block of that item
    /// can be computed again.
    KeptValue keep(const tensor::Value& value, ItemId maker, bool canDrop);
    /// A value that another run has kept. What that has not in memory counts as dropped here, so that `maker` must be
    /// able to compute it again.
    KeptValue adopt(const KeptValue& kept, KeptValues& other, ItemId maker);

    /// The block's memory, read from disk if it is there; null if it was dropped.
    base::Result<std::shared_ptr<tensor::Storage>> find(BlockId block);
    /// The item that a block was made in.
    ItemId makerOf(BlockId block) const { return m_blocks[block].maker; }
    /// A dropped block that was computed again.
    void restore(BlockId block, const std::shared_ptr<tensor::Storage>& storage);

    // From any thread.
    std::size_t memoryBytes() const { return m_memoryBytes; }
    std::size_t diskBytes() const { return m_diskBytes; }
    std::size_t droppedBytes() const { return m_droppedBytes; }
    const KeptLimits& limits() const { return m_limits; }

  private:
    struct Block {
        std::shared_ptr<tensor::Storage> held;  ///< null: not in memory, or only because somebody else holds it
        std::weak_ptr<tensor::Storage> known;   ///< wherever it is
        std::size_t bytes = 0;
        std::optional<std::int64_t> place;  ///< on disk
        ItemId maker = kNoItem;
        bool canDrop = false;
        std::uint64_t key = 0;  ///< in m_order
    };
    BlockId blockOf(const std::shared_ptr<tensor::Storage>& storage, ItemId maker, bool canDrop);
    void hold(BlockId id, const std::shared_ptr<tensor::Storage>& storage);
    void touch(BlockId id);
    void shrink();
    bool letGo(Block& block);

    KeptLimits m_limits;
    std::vector<Block> m_blocks;
    std::unordered_map<const tensor::Storage*, BlockId> m_ofStorage;
    std::unordered_map<BlockId, BlockId> m_adopted;  ///< by block of the other run: not in memory there
    std::map<std::uint64_t, BlockId> m_order;        ///< blocks in memory that may leave it, the next one first
    std::uint64_t m_clock = 0;
    std::atomic<std::size_t> m_memoryBytes = 0, m_diskBytes = 0, m_droppedBytes = 0;
    std::optional<SpillFile> m_file;
    bool m_hasNoFile = false;
};

/// Calls visit(tensor) for every tensor in a value.
void forEachTensor(const tensor::Value& value, const std::function<void(const tensor::Tensor&)>& visit);
/// The blocks of a value, each once.
void collectBlocks(const KeptValue& kept, std::vector<BlockId>& blocks);
/// The value on its blocks, all of which are there.
tensor::Value valueOn(const KeptValue& kept,
                      const std::unordered_map<BlockId, std::shared_ptr<tensor::Storage>>& blocks);
/// The memory of another value, made the same way, for each block. False if it is not the same but for its elements.
bool pairBlocks(const KeptValue& kept, const tensor::Value& again,
                std::unordered_map<BlockId, std::shared_ptr<tensor::Storage>>& blocks);

}  // namespace sonde::session::debug
