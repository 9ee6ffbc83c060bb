#pragma once

#include "core/io/inputs/tokenizers/json_place.h"
#include "core/io/inputs/tokenizers/pipeline.h"

namespace sonde::io {

/// Blanks between tokens, but none before one that continues a word, and none that English punctuation has no use for.
Decoder wordPieceDecoder(std::string continuation, bool cleansUp);
/// `between`: " " or nothing.
Decoder joiningDecoder(std::string between);

/// "decoder" of a tokenizer.json. A new one is a row of the table at the end of decoders.cpp.
base::Result<Decoder> readDecoder(const JsonPlace& place);

}  // namespace sonde::io
