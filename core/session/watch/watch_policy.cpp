#include "core/session/watch/watch_policy.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace sonde::session {

using graph::NodeId;
using tensor::Tensor;
using tensor::Value;

namespace {

constexpr std::array<std::pair<WatchKeep, std::string_view>, 3> kKeepNames{
    {{WatchKeep::Full, "full"}, {WatchKeep::Sample, "sample"}, {WatchKeep::Statistics, "statistics"}}};

void collectStorages(const Value& value, std::vector<std::pair<const void*, std::size_t>>& storages) {
    if (value.isTensor()) {
        if (const auto& storage = value.tensor().storage()) storages.emplace_back(storage.get(), storage->sizeBytes());
        return;
    }
    if (value.isListLike())
        for (const Value& item : value.items()) collectStorages(item, storages);
    if (value.kind() == tensor::ValueKind::Dict)
        for (const auto& [key, item] : value.dictItems()) collectStorages(item, storages);
}

}  // namespace

std::string_view name(WatchKeep keep) { return kKeepNames[static_cast<std::size_t>(keep)].second; }

std::optional<WatchKeep> watchKeep(std::string_view name) {
    const auto found = std::ranges::find(kKeepNames, name, &std::pair<WatchKeep, std::string_view>::second);
    return found == kKeepNames.end() ? std::nullopt : std::optional<WatchKeep>(found->first);
}

std::string WatchedValues::text() const {
    if (overBudget == 0) return {};
    const std::size_t statistics = overBudget - std::min(sampleCount, overBudget);
    std::string text;
    if (statistics > 0)
        text = std::to_string(statistics) + " of " + std::to_string(watchedCount) + " values kept as statistics";
    if (statistics < overBudget) {
        text += text.empty() ? std::to_string(sampleCount) + " of " + std::to_string(watchedCount) + " values"
                             : ", " + std::to_string(sampleCount);
        text += text.find("kept") == std::string::npos ? " kept as a sample" : " as a sample";
    }
    return text + ": budget " + std::to_string(policy.budgetBytes >> 20U) + " MiB";
}

Tensor sampleOf(const Tensor& tensor, std::int64_t count, std::int64_t& step) {
    if (tensor.numel() == 0 || count < 1) return {};
    step = (tensor.numel() + count - 1) / count;
    const std::int64_t taken = (tensor.numel() + step - 1) / step;
    if (tensor.dtype() == tensor::DType::String) {
        std::vector<std::string> texts;
        for (std::int64_t i = 0; i < taken; ++i) texts.push_back(tensor.elementText(i * step));
        return Tensor::ofStrings({taken}, std::move(texts));
    }
    auto sample = Tensor::allocate(tensor.dtype(), {taken});
    if (!sample) return {};
    const std::size_t size = tensor::itemSize(tensor.dtype());
    std::byte* to = sample->mutableBytes();
    for (std::int64_t i = 0; i < taken; ++i)
        std::memcpy(to + static_cast<std::size_t>(i) * size,
                    tensor.bytes() + tensor.elementOffset(i * step) * static_cast<std::int64_t>(size), size);
    return *sample;
}

void WatchKeeper::begin() {
    m_values = {};
    m_values.policy = m_policy;
    m_storages.clear();
    m_storagesOf.clear();
    m_iterations.clear();
}

bool WatchKeeper::keep(NodeId node, const Value& value) {
    if (m_nodes.operands.contains(node)) m_values.operands[node] = value;
    if (m_nodes.whole.contains(node)) return true;
    if (m_nodes.unwatched.contains(node)) return false;
    const bool isKnown = m_storagesOf.contains(node) || m_values.summaries.contains(node);
    if (!isKnown) ++m_values.watchedCount;
    if (!m_values.summaries.contains(node) && m_policy.keep == WatchKeep::Full && fits(node, value)) return true;
    summarise(node, value);
    return false;
}

/// Whether the value's memory is within the budget; it is counted if so.
bool WatchKeeper::fits(NodeId node, const Value& value) {
    std::vector<std::pair<const void*, std::size_t>> storages;
    collectStorages(value, storages);
    std::size_t added = 0;
    for (const auto& [storage, bytes] : storages)
        if (!m_storages.contains(storage)) added += bytes;
    if (added > m_policy.budgetBytes || m_values.keptBytes > m_policy.budgetBytes - added) return false;
    ++m_iterations[node];
    std::vector<const void*>& own = m_storagesOf[node];
    for (const auto& [storage, bytes] : storages) {
        Shared& shared = m_storages[storage];
        if (shared.users++ == 0) {
            shared.bytes = bytes;
            m_values.keptBytes += bytes;
        }
        own.push_back(storage);
    }
    return true;
}

void WatchKeeper::summarise(NodeId node, const Value& value) {
    const auto [found, isNew] = m_values.summaries.try_emplace(node);
    WatchSummary& summary = found->second;
    if (isNew) {
        if (m_policy.keep == WatchKeep::Full) ++m_values.overBudget;
        // Iterations before this one were kept: of a node in a loop all are, or none.
        if (const auto before = m_storagesOf.find(node); before != m_storagesOf.end()) {
            summary.iterations = m_iterations[node] + 1;
            for (const void* storage : before->second) {
                Shared& shared = m_storages[storage];
                if (--shared.users > 0) continue;
                m_values.keptBytes -= shared.bytes;
                m_storages.erase(storage);
            }
            m_storagesOf.erase(before);
        }
    } else {
        ++summary.iterations;
    }
    summary.type = value.typeText();
    summary.stats.reset();
    if (!value.isTensor() || !value.tensor().defined()) return;
    const Tensor& tensor = value.tensor();
    summary.shape.assign(tensor.shape().begin(), tensor.shape().end());
    if (tensor.dtype() != tensor::DType::String) summary.stats = analysis::tensorStats(tensor, m_stop);
    if (m_policy.keep == WatchKeep::Statistics) return;
    const bool had = summary.sample.defined();
    const std::size_t hadBytes = had ? summary.sample.sizeBytes() : 0;
    m_values.keptBytes -= hadBytes;
    const std::int64_t count = std::min(m_policy.sampleElements, tensor.numel());
    const std::size_t bytes = static_cast<std::size_t>(count) * tensor::itemSize(tensor.dtype());
    summary.sample = {};
    if (bytes <= m_policy.budgetBytes && m_values.keptBytes <= m_policy.budgetBytes - bytes)
        summary.sample = sampleOf(tensor, m_policy.sampleElements, summary.sampleStep);
    if (summary.sample.defined()) m_values.keptBytes += summary.sample.sizeBytes();
    if (m_policy.keep != WatchKeep::Full) return;
    if (had && !summary.sample.defined()) --m_values.sampleCount;
    if (!had && summary.sample.defined()) ++m_values.sampleCount;
}

}  // namespace sonde::session
