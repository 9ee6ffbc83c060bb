#pragma once

#include "core/io/inputs/tokenizers/json_place.h"
#include "core/io/inputs/tokenizers/pipeline.h"

namespace sonde::io {

/// Of BERT: removes control characters, and makes every blank a space; blanks around Chinese characters; no accents;
/// lower case.
struct BertNormalization {
    bool cleans = true;
    bool separatesChinese = true;
    bool stripsAccents = true;
    bool lowers = true;
};
Normalizer bertNormalizer(const BertNormalization& what);

/// "normalizer" of a tokenizer.json. A new one is a row of the table at the end of normalizers.cpp.
base::Result<Normalizer> readNormalizer(const JsonPlace& place);

/// The pattern of "pattern": {"String": …} or {"Regex": …}.
class TokenPattern;
base::Result<TokenPattern> readPattern(const JsonPlace& place);

}  // namespace sonde::io
