#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "core/io/inputs/tokenizers/json_place.h"
#include "core/io/inputs/tokenizers/pipeline.h"
#include "core/io/inputs/tokenizers/token_pattern.h"

namespace sonde::io {

/// What becomes of the parts of a text that a pattern matches, by the names of Hugging Face's tokenizers.
enum class SplitBehavior : std::uint8_t { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };

/// "Isolated", or an error with the place.
base::Result<SplitBehavior> splitBehaviorOf(const JsonPlace& place);

/// Characters for which `matches` is true, each a span of its own.
std::vector<TextSpan> charactersWhere(std::string_view text, const std::function<bool(char32_t)>& matches);

/// Appends the pieces of a text; no empty ones. `spans`: all of it.
void split(std::string_view text, const std::vector<TextSpan>& spans, SplitBehavior behavior, Pieces& to);

}  // namespace sonde::io
