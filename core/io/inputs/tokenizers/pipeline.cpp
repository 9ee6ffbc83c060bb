#include "core/io/inputs/tokenizers/pipeline.h"

#include <algorithm>

namespace sonde::io {

void TokenTable::add(std::string token, std::int64_t id) {
    const auto [place, isNew] = m_ids.emplace(std::move(token), id);
    if (!isNew) return;
    m_tokens.emplace(id, &place->first);
    m_idCount = std::max(m_idCount, id + 1);
}

std::optional<std::int64_t> TokenTable::id(std::string_view token) const {
    const auto found = m_ids.find(token);
    return found == m_ids.end() ? std::nullopt : std::optional(found->second);
}

const std::string* TokenTable::token(std::int64_t id) const {
    const auto found = m_tokens.find(id);
    return found == m_tokens.end() ? nullptr : found->second;
}

base::Result<void> checkGrowth(std::size_t bytes) {
    if (bytes <= TokenizerLimits::kMaxNormalizedBytes) return {};
    return base::usageError("the tokenizer makes the text longer than " +
                            std::to_string(TokenizerLimits::kMaxNormalizedBytes >> 20U) + " MiB");
}

}  // namespace sonde::io
