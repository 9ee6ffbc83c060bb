#include "core/session/debug/kept_values.h"

#include <algorithm>
#include <bit>

namespace sonde::session::debug {

using tensor::Storage;
using tensor::Tensor;
using tensor::Value;
using tensor::ValueKind;

namespace {

/// What a block that is one of few along the run is worth, in uses of other blocks; see touch().
constexpr std::uint64_t kSpread = 8;
constexpr int kMaxRank = 32;

constexpr BlockId kForeign = kNoBlock - 1;

}  // namespace

KeptValues::KeptValues(KeptLimits limits) : m_limits(std::move(limits)) {}

void forEachTensor(const Value& value, const std::function<void(const Tensor&)>& visit) {
    if (value.isTensor()) visit(value.tensor());
    if (value.isListLike()) {
        for (const Value& item : value.items()) forEachTensor(item, visit);
    }
    if (value.kind() == ValueKind::Dict) {
        for (const auto& [key, item] : value.dictItems()) {
            forEachTensor(key, visit);
            forEachTensor(item, visit);
        }
    }
}

void KeptValues::addForeign(const Value& value) {
    forEachTensor(value, [this](const Tensor& tensor) {
        if (tensor.storage()) m_ofStorage[tensor.storage().get()] = kForeign;
    });
}

BlockId KeptValues::blockOf(const std::shared_ptr<Storage>& storage, ItemId maker, bool canDrop) {
    const auto [found, isNew] = m_ofStorage.try_emplace(storage.get(), static_cast<BlockId>(m_blocks.size()));
    if (!isNew && found->second == kForeign) return kForeign;
    // Memory is used again, and then is another block.
    if (!isNew && m_blocks[found->second].known.lock() == storage) {
        if (m_blocks[found->second].held) touch(found->second);
        return found->second;
    }
    found->second = static_cast<BlockId>(m_blocks.size());
    Block block;
    block.known = storage;
    block.bytes = storage->sizeBytes();
    block.maker = maker;
    block.canDrop = canDrop;
    m_blocks.push_back(std::move(block));
    hold(found->second, storage);
    return static_cast<BlockId>(m_blocks.size() - 1);
}

KeptValue KeptValues::keep(const Value& value, ItemId maker, bool canDrop) {
    KeptValue kept;
    kept.kind = value.kind();
    if (value.isListLike()) {
        for (const Value& item : value.items()) kept.items.push_back(keep(item, maker, canDrop));
    } else if (value.kind() == ValueKind::Dict) {
        for (const auto& [key, item] : value.dictItems()) {
            kept.items.push_back(keep(key, maker, canDrop));
            kept.items.push_back(keep(item, maker, canDrop));
        }
    } else if (value.isTensor() && value.tensor().storage() && value.tensor().storage()->strings().empty()) {
        const Tensor& tensor = value.tensor();
        const BlockId block = blockOf(tensor.storage(), maker, canDrop);
        if (block == kForeign) {
            kept.value = value;
            return kept;
        }
        kept.block = block;
        kept.dtype = tensor.dtype();
        kept.shape = tensor.shape();
        kept.strides = tensor.strides();
        kept.offset = tensor.offsetElements();
    } else {
        kept.value = value;
    }
    return kept;
}

KeptValue KeptValues::adopt(const KeptValue& kept, KeptValues& other, ItemId maker) {
    KeptValue adopted = kept;
    for (KeptValue& item : adopted.items) item = adopt(item, other, maker);
    if (kept.block == kNoBlock) return adopted;
    const Block& block = other.m_blocks[kept.block];
    if (const auto storage = block.held ? block.held : block.known.lock()) {
        adopted.block = blockOf(storage, maker, true);
        if (adopted.block != kForeign) return adopted;
        adopted.value = Tensor::onStorage(kept.dtype, kept.shape, kept.strides, storage, kept.offset);
        adopted.block = kNoBlock;
        return adopted;
    }
    const auto [found, isNew] = m_adopted.try_emplace(kept.block, static_cast<BlockId>(m_blocks.size()));
    adopted.block = found->second;
    if (!isNew) return adopted;
    Block dropped;
    dropped.bytes = block.bytes;
    dropped.maker = maker;
    dropped.canDrop = true;
    m_droppedBytes += dropped.bytes;
    m_blocks.push_back(std::move(dropped));
    return adopted;
}

void KeptValues::hold(BlockId id, const std::shared_ptr<Storage>& storage) {
    Block& block = m_blocks[id];
    block.held = storage;
    block.known = storage;
    m_memoryBytes += block.bytes;
    touch(id);
    shrink();
}

/// The last used leave memory last. Half of all items count for more, half of those for even more, and so on: where
/// blocks are dropped, those that stay are spread over the run.
void KeptValues::touch(BlockId id) {
    Block& block = m_blocks[id];
    if (block.key != 0) m_order.erase(block.key);
    const int rank = std::min(std::countr_zero(block.maker + 1), kMaxRank);
    std::uint64_t key = ++m_clock + kSpread * ((std::uint64_t{1} << rank) - 1);
    while (m_order.contains(key)) ++key;
    block.key = key;
    m_order.emplace(key, id);
}

void KeptValues::shrink() {
    for (auto next = m_order.begin(); next != m_order.end() && m_memoryBytes > m_limits.memoryBytes;) {
        Block& block = m_blocks[next->second];
        next = m_order.erase(next);
        block.key = 0;
        if (letGo(block)) {
            block.held.reset();
            m_memoryBytes -= block.bytes;
        }  // else it stays in memory for good: there is no other place for it
    }
}

/// Whether the block may leave memory.
bool KeptValues::letGo(Block& block) {
    if (block.place) return true;
    if (!m_file && !m_hasNoFile && m_limits.diskBytes > 0) {
        auto file = SpillFile::create(m_limits.diskBytes, m_limits.folder);
        if (file) m_file = std::move(*file);
        else m_hasNoFile = true;
    }
    if (m_file) block.place = m_file->write({block.held->data(), block.bytes});
    if (m_file) m_diskBytes = m_file->sizeBytes();
    if (block.place) return true;
    if (block.canDrop) m_droppedBytes += block.bytes;
    return block.canDrop;
}

base::Result<std::shared_ptr<Storage>> KeptValues::find(BlockId id) {
    Block& block = m_blocks[id];
    if (block.held) {
        touch(id);
        return block.held;
    }
    if (auto storage = block.known.lock()) return storage;
    if (!block.place) return std::shared_ptr<Storage>();
    SONDE_ASSIGN(auto storage, Storage::allocate(block.bytes));
    SONDE_TRY(m_file->read(*block.place, {storage->mutableData(), block.bytes}));
    hold(id, storage);
    return storage;
}

void KeptValues::restore(BlockId id, const std::shared_ptr<Storage>& storage) {
    Block& block = m_blocks[id];
    if (block.held || block.bytes != storage->sizeBytes()) return;
    if (!block.place) m_droppedBytes -= block.bytes;
    hold(id, storage);
}

void collectBlocks(const KeptValue& kept, std::vector<BlockId>& blocks) {
    if (kept.block != kNoBlock && std::ranges::find(blocks, kept.block) == blocks.end()) blocks.push_back(kept.block);
    for (const KeptValue& item : kept.items) collectBlocks(item, blocks);
}

Value valueOn(const KeptValue& kept, const std::unordered_map<BlockId, std::shared_ptr<Storage>>& blocks) {
    if (kept.block != kNoBlock)
        return Tensor::onStorage(kept.dtype, kept.shape, kept.strides, blocks.at(kept.block), kept.offset);
    tensor::ValueList items;
    items.reserve(kept.items.size());
    for (const KeptValue& item : kept.items) items.push_back(valueOn(item, blocks));
    switch (kept.kind) {
        case ValueKind::List: return Value::list(std::move(items));
        case ValueKind::Tuple: return Value::tuple(std::move(items));
        case ValueKind::Sequence: return Value::sequence(std::move(items));
        case ValueKind::Optional: return Value::optional(std::move(items));
        case ValueKind::Dict: {
            tensor::ValueDict dict;
            for (std::size_t i = 0; i + 1 < items.size(); i += 2)
                dict.emplace_back(std::move(items[i]), std::move(items[i + 1]));
            return Value::dict(std::move(dict));
        }
        default: return kept.value;
    }
}

bool pairBlocks(const KeptValue& kept, const Value& again,
                std::unordered_map<BlockId, std::shared_ptr<Storage>>& blocks) {
    if (kept.kind != again.kind()) return false;
    if (kept.block != kNoBlock) {
        const Tensor& tensor = again.tensor();
        if (tensor.dtype() != kept.dtype || tensor.shape() != kept.shape || tensor.strides() != kept.strides ||
            tensor.offsetElements() != kept.offset)
            return false;
        blocks.emplace(kept.block, tensor.storage());
        return true;
    }
    std::vector<Value> items;
    if (again.isListLike()) items = again.items();
    if (again.kind() == ValueKind::Dict) {
        for (const auto& [key, item] : again.dictItems()) items.insert(items.end(), {key, item});
    }
    if (items.size() != kept.items.size()) return false;
    for (std::size_t i = 0; i < items.size(); ++i)
        if (!pairBlocks(kept.items[i], items[i], blocks)) return false;
    return true;
}

}  // namespace sonde::session::debug
